// The annotation under review, { objects, focal_points, decision }, and the edits that change it: { path, value }.
// A value holds the fields that change; null removes. `decision/...` paths hold a word: accept, edit, reject.

const KEY = { objects: "name", focal_points: "focal_id" };

/** "objects/NAME" -> { kind, key, decision }; a name may hold slashes. */
export function parsed(path) {
  const decision = path.startsWith("decision/");
  const rest = decision ? path.slice("decision/".length) : path;
  const slash = rest.indexOf("/");
  return { kind: rest.slice(0, slash), key: rest.slice(slash + 1), decision };
}

export const keyOf = (kind, item) => item[KEY[kind]];
export const find = (annotation, kind, key) => annotation[kind].find((item) => keyOf(kind, item) === key);

/** Change the annotation; returns the edits that undo it, in their order. */
export function apply(annotation, edits) {
  const inverse = [];
  for (const edit of edits) inverse.unshift(applyOne(annotation, edit));
  return inverse;
}

function applyOne(annotation, { path, value }) {
  const { kind, key, decision } = parsed(path);
  if (decision) return decide(annotation, kind, key, path, value);
  const items = annotation[kind];
  const place = items.findIndex((item) => keyOf(kind, item) === key);
  if (value === null) {
    const [gone] = items.splice(place, 1);
    (annotation.places ??= {})[path] = place; // so that undo puts it where it was
    return { path, value: gone };
  }
  if (place < 0) {
    items.splice(annotation.places?.[path] ?? items.length, 0, structuredClone(value));
    return { path, value: null };
  }
  const before = Object.fromEntries(Object.keys(value).map((field) => [field, items[place][field]]));
  items[place] = { ...items[place], ...structuredClone(value) };
  const now = keyOf(kind, items[place]);
  if (now !== key && key in annotation.decision[kind]) {
    annotation.decision[kind][now] = annotation.decision[kind][key];
    delete annotation.decision[kind][key];
  }
  return { path: `${kind}/${now}`, value: before };
}

function decide(annotation, kind, key, path, value) {
  const before = annotation.decision[kind][key] ?? null;
  if (value === null) delete annotation.decision[kind][key];
  else annotation.decision[kind][key] = value;
  return { path, value: before };
}

/** The edits that give an object another name, in the focal points that speak of it too. */
export function renaming(annotation, name, to) {
  const speaking = annotation.focal_points.filter(({ objects }) => objects.includes(name));
  return [
    { path: `objects/${name}`, value: { name: to } },
    ...speaking.map(({ focal_id, objects }) => ({
      path: `focal_points/${focal_id}`,
      value: { objects: objects.map((one) => (one === name ? to : one)) },
    })),
  ];
}

/** A name that no other item has: "object_3". */
export function freeName(annotation, kind, stem) {
  for (let number = annotation[kind].length + 1; ; number += 1) {
    if (!find(annotation, kind, `${stem}_${number}`)) return `${stem}_${number}`;
  }
}

/** Intervals in order, those that touch or overlap made one. */
export function joined(intervals) {
  const found = [];
  for (const [start, end] of [...intervals].sort(([a], [b]) => a - b)) {
    const last = found.at(-1);
    if (last && start <= last[1] + 1e-6) last[1] = Math.max(last[1], end);
    else found.push([start, end]);
  }
  return found;
}
