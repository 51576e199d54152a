// Boxes over the picture: drawn, selected, moved and resized by the mouse; moved and resized by the arrow keys in box mode.
import { area, holds, moved, tidy } from "./boxes.js";
import { framesBetween, timeOf } from "./clock.js";
import { joined } from "./annotation.js";
import { draw, field } from "./dom.js";

const HANDLES = { nw: [0, 1], n: [1], ne: [1, 2], e: [2], se: [2, 3], s: [3], sw: [0, 3], w: [0] }; // the sides that each moves
const SMALL_PX = 48; // on screen
const LONGEST_NAME = 32; // signs that are written on the picture
const CLICK_PX = 3; // a pointer that moves less has not dragged

export class Overlay {
  constructor(desk, screen) {
    Object.assign(this, { desk, screen });
    this.svg = field("overlay");
    this.svg.setAttribute("viewBox", `0 0 ${desk.clip.width_px} ${desk.clip.height_px}`);
    this.mode = ""; // draw, box, plus, minus
    this.points = []; // [x, y, +1 | -1] of the selected object on this frame, for the next segmentation
    this.live = null; // the box while it is dragged
    this.others = true;
    desk.on("annotation frame view", () => this.draw());
    desk.on("selection", () => {
      this.setMode("");
      this.points = [];
      this.draw();
    });
    desk.on("frame", () => {
      if (this.points.length && this.points.frame !== desk.frame) {
        this.points = [];
        this.draw();
      }
    });
    screen.view.addEventListener("pointerdown", (event) => this.press(event));
    screen.view.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        screen.zoomAt(Math.exp(-event.deltaY / 400), screen.at(event));
      },
      { passive: false },
    );
  }

  setMode(mode) {
    this.mode = mode;
    this.desk.part();
    this.screen.view.dataset.mode = mode;
    this.desk.tell("mode");
    this.draw();
  }

  // ---- what is shown
  boxOf(object) {
    return this.live && object.name === this.desk.object?.name ? this.live : this.desk.boxes(object)[this.desk.frame];
  }
  get box() {
    return this.desk.object ? this.boxOf(this.desk.object) : null;
  }
  draw() {
    const { desk } = this;
    if (!this.screen.scale) return; // not laid out yet
    const spoken = new Set(desk.point?.objects ?? []);
    const shown = desk.annotation.objects
      .filter(({ name }) => desk.decision("objects", name) !== "reject" || name === desk.object?.name)
      .map((object) => ({ object, box: this.boxOf(object) }))
      .filter(({ box }) => box)
      .sort((a, b) => (a.object === desk.object) - (b.object === desk.object) || area(b.box) - area(a.box)); // small ones above large ones
    const size = 1 / this.screen.scale; // of one screen pixel
    this.names = []; // where names are written
    const drawn = shown.filter(({ object }) => this.others || object === desk.object || spoken.has(object.name));
    this.svg.replaceChildren(
      ...drawn.map(({ object, box }) => {
        const chosen = object === desk.object;
        const dim = desk.point && spoken.size && !spoken.has(object.name);
        const key = chosen && String(desk.frame) in object.keys;
        const classes = `object-${desk.colour(object.name)}${chosen ? " chosen" : ""}${dim ? " dim" : ""}${key ? " key" : ""}`;
        return this.drawBox(object, box, size, classes, desk.object ? chosen : !dim);
      }),
      ...this.points.map(([x, y, sign]) => draw("circle", { cx: x, cy: y, r: 5 * size, class: sign > 0 ? "plus" : "minus" })),
    );
  }
  drawBox(object, box, size, classes, named) {
    const [x0, y0, x1, y1] = box;
    const rect = (part) => draw("rect", { x: x0, y: y0, width: x1 - x0, height: y1 - y0, class: part });
    const group = draw("g", { class: classes, "data-name": object.name }, rect("under"), rect("box")); // seen on any ground
    const name = named && this.drawName(object.name, box, size);
    if (name) group.append(name);
    if (object === this.desk.object && this.desk.editable && this.mode !== "draw") {
      const small = Math.min(x1 - x0, y1 - y0) < SMALL_PX * size;
      for (const [handle, [x, y]] of Object.entries(corners(box, small ? 4 * size : 0))) {
        if (small && handle.length === 1) continue; // there is room for corners only, beside the box
        group.append(
          draw("rect", {
            x: x - 4 * size,
            y: y - 4 * size,
            width: 8 * size,
            height: 8 * size,
            class: `handle ${handle}`,
            "data-handle": handle,
          }),
        );
      }
    }
    return group;
  }
  /** An object's name above its box or in it, within the picture; none where it would lie over another name. */
  drawName(words, [x0, y0], size) {
    const high = 12.5 * size;
    const sign = high * 0.68; // its width, about
    const most = Math.max(Math.min(LONGEST_NAME, Math.floor(this.desk.clip.width_px / sign) - 1), 3);
    const told = words.length > most ? `${words.slice(0, most - 1).trimEnd()}…` : words;
    const wide = told.length * sign;
    const inside = y0 < high * 1.5;
    const x = Math.max(Math.min(x0 + (inside ? high * 0.3 : 0), this.desk.clip.width_px - wide), 2 * size);
    const y = inside ? Math.max(y0, 0) + high * 1.15 : y0 - high * 0.4;
    if (this.names.some((other) => Math.abs(other.y - y) < high * 1.2 && x < other.x + other.wide && other.x < x + wide))
      return null;
    this.names.push({ x, y, wide });
    const name = draw("text", { "font-size": high, "stroke-width": 3 * size, x, y });
    name.textContent = told;
    return name;
  }

  // ---- the pointer
  press(event) {
    if (event.button === 1) return this.panning(event);
    if (event.button !== 0) return undefined;
    if (this.screen.playing) return this.screen.pause();
    const start = this.screen.at(event);
    const { desk, box } = this;
    event.preventDefault(); // no text is selected
    document.activeElement?.blur();
    if (this.mode === "plus" || this.mode === "minus") return this.point(start);
    if (!desk.editable || !desk.object) return this.choosing(event, start);
    const handle = event.target.dataset.handle;
    const within = holds([0, 0, desk.clip.width_px, desk.clip.height_px], start);
    if (within && (this.mode === "draw" || (!box && this.pick(start).length === 0))) return this.drawing(event, start);
    if (handle)
      return this.drag(event, (x, y) => box.map((side, at) => (HANDLES[handle].includes(at) ? side + (at % 2 ? y : x) : side)));
    if (box && holds(box, start)) {
      return this.drag(
        event,
        (x, y) => moved(box, x, y, desk.clip),
        () => this.choose(start),
      );
    }
    return this.choosing(event, start);
  }
  drawing(event, start) {
    this.drag(
      event,
      (x, y) => [start[0], start[1], start[0] + x, start[1] + y],
      () => {},
    );
  }
  /** A click chooses the smallest box below it; a drag beside all boxes moves the zoomed picture. */
  choosing(event, start) {
    if (this.pick(start).length) this.choose(start);
    else this.panning(event, () => this.desk.select(null));
  }
  pick(at) {
    return this.desk.annotation.objects
      .filter((object) => this.desk.decision("objects", object.name) !== "reject")
      .map((object) => ({ object, box: this.desk.boxes(object)[this.desk.frame] }))
      .filter(({ box }) => box && holds(box, at))
      .sort((a, b) => area(a.box) - area(b.box))
      .map(({ object }) => object);
  }
  choose(at) {
    const below = this.pick(at);
    const next = below[(below.indexOf(this.desk.object) + 1) % below.length]; // again: the next one below
    if (next) this.desk.select("objects", next.name);
  }
  drag(event, changed, clicked = () => {}) {
    const start = this.screen.at(event);
    let dragged = false;
    follow(
      event,
      (move) => {
        dragged ||= Math.hypot(move.clientX - event.clientX, move.clientY - event.clientY) >= CLICK_PX;
        if (!dragged) return;
        const [x, y] = this.screen.at(move);
        this.live = tidy(changed(x - start[0], y - start[1]), this.desk.clip);
        this.draw();
      },
      (kept) => {
        const box = this.live;
        this.live = null;
        if (dragged && kept && box) this.set(box);
        else if (!dragged) clicked();
        if (this.mode === "draw") this.setMode("");
        this.draw();
      },
    );
  }
  panning(event, clicked = () => {}) {
    let last = event;
    let dragged = false;
    follow(
      event,
      (move) => {
        dragged ||= Math.hypot(move.clientX - event.clientX, move.clientY - event.clientY) >= CLICK_PX;
        if (dragged) this.screen.pan(move.clientX - last.clientX, move.clientY - last.clientY);
        last = move;
      },
      () => {
        if (!dragged) clicked();
      },
    );
  }
  point([x, y]) {
    this.points.push([Math.round(x * 10) / 10, Math.round(y * 10) / 10, this.mode === "plus" ? 1 : -1]);
    this.points.frame = this.desk.frame;
    this.draw();
  }

  // ---- edits
  /** Set the selected object's box (null: hidden from here) as a key on this frame, and make it visible there. */
  set(box, together = "") {
    const { desk } = this;
    const { object, frame } = desk;
    const value = { keys: { ...object.keys, [frame]: box } };
    const visible =
      object.visible_s.length === 0 ||
      object.visible_s.some(([start, end]) => {
        const [first, stop] = framesBetween(start, end, desk.clip.frames);
        return frame >= first && frame < stop;
      });
    if (box && !visible) value.visible_s = joined([...object.visible_s, [timeOf(frame), timeOf(frame + 1)]]);
    desk.change("objects", object.name, value, together);
  }
  /** Move the box's given sides by (x, y) pixels; a box that is not there yet is put in the middle. */
  nudge(sides, x, y) {
    const { box, desk } = this;
    const { width_px, height_px } = desk.clip;
    const from = box ?? [0.42, 0.42, 0.58, 0.58].map((share, at) => share * (at % 2 ? height_px : width_px));
    const to = sides ? from.map((side, at) => (sides.includes(at) ? side + (at % 2 ? y : x) : side)) : moved(from, x, y, desk.clip);
    this.set(tidy(to, desk.clip), `nudge ${desk.object.name} ${desk.frame}`);
  }
  removeKey() {
    const { object, frame } = this.desk;
    if (!object || !(String(frame) in object.keys)) return;
    const { [frame]: _gone, ...keys } = object.keys;
    this.desk.change("objects", object.name, { keys });
  }
  /** The key frame of the selected object next to this frame, before (-1) or after (+1) it. */
  keyBeside(way) {
    const frames = Object.keys(this.desk.object?.keys ?? {})
      .map(Number)
      .sort((a, b) => (a - b) * way);
    return frames.find((frame) => (frame - this.desk.frame) * way > 0);
  }
}

/** Where the handles lie, so far outside the box. */
function corners(box, out) {
  const [x0, y0, x1, y1] = [box[0] - out, box[1] - out, box[2] + out, box[3] + out];
  const [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2];
  return { n: [x, y0], e: [x1, y], s: [x, y1], w: [x0, y], nw: [x0, y0], ne: [x1, y0], se: [x1, y1], sw: [x0, y1] };
}

/** Follow a pointer that was pressed until it is released (`ended(true)`) or given up (`ended(false)`). */
export function follow(event, move, ended) {
  const stop = new AbortController();
  const end = (kept) => {
    stop.abort();
    ended(kept);
  };
  const on = (name, act) => addEventListener(name, act, { signal: stop.signal, capture: true });
  on("pointermove", (next) => {
    if (next.pointerId === event.pointerId) move(next);
  });
  on("pointerup", (next) => {
    if (next.pointerId === event.pointerId) {
      move(next);
      end(true);
    }
  });
  on("pointercancel", () => end(false));
  on("keydown", (key) => {
    key.preventDefault(); // no key goes on to another frame or item meanwhile
    key.stopPropagation();
    if (key.key === "Escape") end(false);
  });
}
