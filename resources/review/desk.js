// What is on the desk: one clip, its annotation as edited so far, what is selected, which frame is shown, and what can be undone.
// Parts of the page listen: "annotation", "selection", "frame", "state" (saving, holding), "found" (problems, signals, changes).
import { apply, find, keyOf } from "./annotation.js";
import { shownBoxes } from "./boxes.js";
import { timeOf } from "./clock.js";

const MORE_MS = 600; // before edits that are likely to be followed by more of their kind are sent

/** The same without a prototype: an object may be called "constructor". */
const plain = (told) => Object.assign(Object.create(null), told);

export class Desk extends EventTarget {
  constructor(told) {
    super();
    this.clip = told.clip;
    this.frame = 0; // on screen now
    this.selected = null; // { kind, key }
    this.done = [];
    this.undone = [];
    this.editable = false;
    this.take(told);
  }

  /** Take over what the server tells of the clip, at first or anew. */
  take(told) {
    Object.assign(this, {
      annotation: told.annotation,
      status: told.status ?? "open",
      history: told.history,
      reviews: told.reviews ?? [],
      second: told.second ?? false,
      ended: told.decided ?? null,
    });
    const { decision } = this.annotation;
    for (const kind of Object.keys(decision)) decision[kind] = plain(decision[kind]);
    this.tracks = new Map();
    this.hear(told);
    if (this.selected && !this.item) this.selected = null;
    [this.done, this.undone] = [[], []];
    this.tell("annotation", "selection", "state");
  }

  hear({ problems, signals, changes }) {
    if (problems) this.problems = problems;
    if (signals) this.signals = plain(signals);
    if (changes) this.changes = changes;
    this.tell("found");
  }

  tell(...names) {
    for (const name of names) this.dispatchEvent(new Event(name));
  }
  on(names, act) {
    for (const name of names.split(" ")) this.addEventListener(name, act);
  }

  // ---- the clip
  get seconds() {
    return timeOf(this.clip.frames);
  }
  show(frame) {
    this.frame = frame;
    this.tell("frame");
  }

  // ---- the items: focal points first, then objects, as the timeline shows them
  get items() {
    const told = (kind) => this.annotation[kind].map((item) => ({ kind, key: keyOf(kind, item), item }));
    return [...told("focal_points").sort((a, b) => a.item.start_s - b.item.start_s), ...told("objects")];
  }
  get item() {
    return this.selected && find(this.annotation, this.selected.kind, this.selected.key);
  }
  get object() {
    return this.selected?.kind === "objects" ? this.item : undefined;
  }
  get point() {
    return this.selected?.kind === "focal_points" ? this.item : undefined;
  }
  decision(kind, key) {
    return this.annotation.decision[kind][key] ?? "";
  }
  get decidedCount() {
    return this.items.filter(({ kind, key }) => this.decision(kind, key)).length;
  }
  colour(name) {
    return this.annotation.objects.findIndex((one) => one.name === name) % 10;
  }

  select(kind, key) {
    if (this.selected?.kind === kind && this.selected?.key === key) return;
    this.selected = kind ? { kind, key } : null;
    this.part();
    this.tell("selection");
  }

  /** The boxes of an object as shown: one or null a frame. */
  boxes(object) {
    const known = this.tracks.get(object.name);
    if (known?.of === object) return known.boxes;
    const boxes = shownBoxes(object, this.clip);
    this.tracks.set(object.name, { of: object, boxes });
    return boxes;
  }

  // ---- edits
  /** Make edits that can be undone. `together`: a name; edits of one name that follow on one another are one step of undo. */
  edit(edits, together = "") {
    if (!this.editable || !edits.length) return;
    const last = this.done.at(-1);
    const inverse = apply(this.annotation, edits);
    const { selected, frame } = this;
    if (together && last?.together === together) {
      last.edits.push(...edits);
      last.inverse.unshift(...inverse);
    } else this.done.push({ edits: [...edits], inverse, together, selected, frame });
    this.undone = [];
    this.passOn(edits, together ? MORE_MS : 0);
  }

  /** Show edits that are being saved already; they cannot be undone. */
  adopt(edits) {
    apply(this.annotation, edits);
    this.tell("annotation", "state");
  }

  /** What follows is a step of its own, as after a field was left. */
  part() {
    if (this.done.length) this.done.at(-1).together = "";
  }

  /** An edit of an item by hand: who changed it has decided about it. */
  change(kind, key, value, together = "") {
    const decided = ["edit", "reject"].includes(this.decision(kind, key));
    this.edit(
      [{ path: `${kind}/${key}`, value }, ...(decided ? [] : [{ path: `decision/${kind}/${key}`, value: "edit" }])],
      together,
    );
  }

  undo() {
    this.turn(this.done, this.undone, "inverse");
  }
  redo() {
    this.turn(this.undone, this.done, "edits");
  }
  turn(from, to, which) {
    if (!this.editable || !from.length) return;
    const step = from.pop();
    apply(this.annotation, step[which]);
    to.push({ ...step, together: "" });
    this.selected = step.selected && find(this.annotation, step.selected.kind, step.selected.key) ? step.selected : null;
    this.passOn(step[which]);
    this.tell("selection");
    this.wish?.(step.frame);
  }

  passOn(edits, wait_ms = 0) {
    this.saving?.add(edits, wait_ms);
    this.tell("annotation", "state");
  }
}
