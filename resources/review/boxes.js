// Where an object is shown: the machine's boxes, corrected by those that a person set on key frames. The server's function is the same.
// Boxes are [x0, y0, x1, y1] in the clip's pixels, x1 and y1 exclusive.
import { framesBetween } from "./clock.js";

/** One box or null a frame, of { visible_s, base: [box|null]|null, keys: { frame: box|null } }. */
export function shownBoxes({ visible_s, base, keys }, { frames, width_px, height_px }) {
  const size = [width_px, height_px, width_px, height_px];
  const shown = new Array(frames).fill(null);
  const set = Object.entries(keys)
    .map(([frame, box]) => [Number(frame), box])
    .sort(([a], [b]) => a - b);
  for (const [first, stop] of runs(visibleFrames(visible_s, frames), (visible) => visible)) {
    const there = Array.from({ length: stop - first }, (_, shift) => Boolean(base?.[first + shift]));
    for (const [from, to] of runs(there, () => true)) fill(shown, base, set, first + from, first + to, size);
  }
  return shown;
}

/** One truth value a frame: is it in a visible interval? No interval at all says: always visible. */
export function visibleFrames(visible_s, frames) {
  const visible = new Array(frames).fill(visible_s.length === 0);
  for (const [start_s, end_s] of visible_s) visible.fill(true, ...framesBetween(start_s, end_s, frames));
  return visible;
}

/** The longest stretches [first, stop) of equal values, those whose value is wanted. */
export function runs(values, wanted) {
  const found = [];
  for (let first = 0, at = 1; at <= values.length; at += 1) {
    if (at < values.length && values[at] === values[first]) continue;
    if (wanted(values[first])) found.push([first, at]);
    first = at;
  }
  return found;
}

// Within a run either every frame has a machine's box, and keys correct it, or none has, and keys are all there is. What a correction
// moves out of the picture is cut off.
function fill(shown, base, set, first, stop, size) {
  const under = (frame) => base?.[frame] ?? [0, 0, 0, 0];
  const keys = set
    .filter(([frame]) => frame >= first && frame < stop)
    .map(([frame, box]) => ({ frame, correction: box && box.map((side, at) => side - under(frame)[at]) }));
  const known = Boolean(base?.[first]);
  let next = 0;
  for (let frame = first; frame < stop; frame += 1) {
    while (next < keys.length && keys[next].frame <= frame) next += 1;
    const [before, after] = [keys[next - 1], keys[next]];
    if (before && !before.correction) continue; // hidden until the next key
    const correction = between(before, after?.correction ? after : undefined, frame);
    if (correction) shown[frame] = under(frame).map((side, at) => Math.min(Math.max(side + correction[at], 0), size[at]));
    else if (known) shown[frame] = [...base[frame]];
  }
}

function between(before, after, frame) {
  if (!before || !after) return (before ?? after)?.correction;
  const share = (frame - before.frame) / (after.frame - before.frame);
  return before.correction.map((side, at) => side + share * (after.correction[at] - side));
}

/** A box with its sides in order, inside the picture, at least one pixel wide and high, to a hundredth of a pixel. */
export function tidy([x0, y0, x1, y1], { width_px, height_px }) {
  const side = (a, b, limit) => {
    const low = Math.min(Math.max(Math.min(a, b), 0), limit - 1);
    return [low, Math.min(Math.max(a, b, low + 1), limit)];
  };
  const [left, right] = side(x0, x1, width_px);
  const [top, bottom] = side(y0, y1, height_px);
  return [left, top, right, bottom].map((value) => Math.round(value * 100) / 100);
}

/** The box moved by (x, y), kept whole inside the picture. */
export function moved([x0, y0, x1, y1], x, y, { width_px, height_px }) {
  const right = Math.min(Math.max(x, -x0), width_px - x1);
  const down = Math.min(Math.max(y, -y0), height_px - y1);
  return [x0 + right, y0 + down, x1 + right, y1 + down];
}

export const area = ([x0, y0, x1, y1]) => (x1 - x0) * (y1 - y0);
export const holds = ([x0, y0, x1, y1], [x, y]) => x >= x0 && x < x1 && y >= y0 && y < y1;
