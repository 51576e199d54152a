// One row a focal point and a row an object: its intervals as bars that can be dragged, key frames, and frames worth a look.
import { joined } from "./annotation.js";
import { runs } from "./boxes.js";
import { FPS, framesBetween, timeOf, told } from "./clock.js";
import { count, draw, field, make } from "./dom.js";
import { follow } from "./overlay.js";

const MARKS = { accept: "✓", edit: "✎", reject: "✕", "": "○" };
const WORDS = { accept: "accepted", edit: "edited", reject: "rejected", "": "not decided" };
const CLICK_PX = 3;
const CLOSEST = 20; // times wider than the window

export class Timeline {
  constructor(desk, screen) {
    Object.assign(this, { desk, screen, stretch: 1 });
    this.box = field("timeline");
    this.rows = field("rows");
    desk.on("annotation found", () => this.build());
    desk.on("selection", () => this.mark());
    desk.on("frame", () => this.box.style.setProperty("--now", String((desk.frame + 0.5) / desk.clip.frames)));
    desk.on("found", () => this.drawChanges());
    field("ruler").addEventListener("pointerdown", (event) => this.scrub(event));
    this.box.addEventListener("wheel", (event) => this.widen(event), { passive: false });
    new ResizeObserver(() => this.drawTicks()).observe(field("ruler"));
    this.build();
  }

  // ---- time on the screen
  share(seconds) {
    return `${(100 * seconds * FPS) / this.desk.clip.frames}%`;
  }
  frameUnder(event) {
    const { left, width } = field("ruler").getBoundingClientRect();
    return Math.min(Math.max(Math.floor(((event.clientX - left) / width) * this.desk.clip.frames), 0), this.desk.clip.frames - 1);
  }
  scrub(event) {
    event.preventDefault();
    this.screen.goTo(this.frameUnder(event));
    follow(
      event,
      (move) => this.screen.goTo(this.frameUnder(move)),
      () => {},
    );
  }
  /** A press beside the bars of a row chooses it, and goes to that frame. */
  scrubRow(event, track, kind, key) {
    if (event.button !== 0 || event.target !== track) return;
    this.desk.select(kind, key);
    this.scrub(event);
  }
  widen(event) {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const track = field("ruler");
    const { left, width } = track.getBoundingClientRect();
    const share = (event.clientX - left) / width;
    this.stretch = Math.min(Math.max(this.stretch * Math.exp(-event.deltaY / 300), 1), CLOSEST);
    this.box.style.setProperty("--stretch", String(this.stretch));
    const now = track.getBoundingClientRect();
    this.box.scrollLeft += now.left + share * now.width - event.clientX; // what was under the pointer stays there
    this.drawTicks();
  }
  drawTicks() {
    const wide = field("ruler").clientWidth;
    if (!wide) return;
    const second = wide / this.desk.seconds;
    const step = [0.25, 0.5, 1, 2, 5, 10, 20, 30, 60].find((seconds) => seconds * second >= 64) ?? 120;
    const ticks = [];
    for (let at = 0; at * second < wide - 24; at += step) {
      const tick = make("span", { className: "tick", textContent: `${Number(at.toFixed(2))} s` });
      tick.style.left = `${at * second}px`;
      ticks.push(tick);
    }
    field("ticks").replaceChildren(...ticks);
  }
  drawChanges() {
    const { changes, clip } = this.desk;
    const curve = field("changes");
    curve.setAttribute("viewBox", `0 0 ${clip.frames} 1`);
    const top = Math.max(...changes, 1e-6);
    const points = changes.map((value, frame) => `L${frame} ${1 - value / top}H${frame + 1}`).join("");
    curve.replaceChildren(...(changes.length ? [draw("path", { d: `M0 1${points}V1Z` })] : []));
  }

  // ---- rows
  build() {
    if (this.dragging) return; // it is built when the drag ends
    const { desk } = this;
    const items = desk.items;
    const doubted = new Map(
      desk.problems.map((problem) => [problem.about, problem.severity]).sort(([, a]) => (a === "error" ? 1 : -1)),
    );
    this.rows.replaceChildren(...items.map((entry, at) => this.row(entry, at, doubted.get(`${entry.kind}/${entry.key}`))));
    field("counts").textContent = count(items.length, "item");
    this.mark(false);
    this.drawTicks();
  }
  row({ kind, key, item }, at, severity) {
    const { desk } = this;
    const decision = desk.decision(kind, key);
    const words = kind === "objects" ? item.name : item.description;
    const track = make("div", { className: "track", onpointerdown: (event) => this.scrubRow(event, track, kind, key) });
    if (kind === "objects") this.fillObject(track, item);
    else track.append(this.bar(kind, key, [item.start_s, item.end_s], 0));
    const row = make(
      "div",
      {
        className: `row ${kind} ${kind === "objects" ? `object-${desk.colour(key)}` : item.kind}`,
        id: `row-${at}`,
        role: "option",
        dataset: { kind, key, decision },
        "aria-label": `${kind === "objects" ? "object" : `${item.kind} point`} ${words}, ${WORDS[decision]}`,
      },
      make(
        "div",
        {
          className: "gutter",
          title: words,
          onmousedown: (event) => event.preventDefault(),
          onclick: () => desk.select(kind, key),
          ondblclick: () => this.open(kind, key),
        },
        make("span", { className: "token", textContent: MARKS[decision], title: WORDS[decision] }),
        make("span", { className: "sign", title: kind === "objects" ? "object" : item.kind }),
        make("span", { className: "called", textContent: words }),
        severity
          ? make("span", {
              className: `flag ${severity}`,
              textContent: "!",
              title: severity === "error" ? "An error blocks approval" : "A warning",
            })
          : null,
      ),
      track,
    );
    return row;
  }
  open(kind, key) {
    this.desk.select(kind, key);
    const item = this.desk.item;
    this.screen.goTo(
      framesBetween(...(kind === "objects" ? this.intervals(item)[0] : [item.start_s, item.end_s]), this.desk.clip.frames)[0],
    );
  }
  intervals(object) {
    return object.visible_s.length ? object.visible_s : [[0, this.desk.seconds]];
  }
  fillObject(track, object) {
    const { desk } = this;
    this.intervals(object).forEach((interval, place) => track.append(this.bar("objects", object.name, interval, place)));
    for (const [first, stop] of runs(desk.boxes(object).map(Boolean), Boolean)) track.append(this.span("there", first, stop));
    const frames = new Set((desk.signals[object.name] ?? []).flatMap((signal) => signal.frames));
    const doubt = Array.from({ length: desk.clip.frames }, (_, frame) => frames.has(frame));
    for (const [first, stop] of runs(doubt, Boolean)) track.append(this.span("doubt", first, stop));
    for (const frame of Object.keys(object.keys))
      track.append(this.span(`at-key${object.keys[frame] ? "" : " hidden-from"}`, Number(frame), Number(frame) + 1));
  }
  span(className, first, stop) {
    const span = make("i", { className });
    Object.assign(span.style, { left: this.share(timeOf(first)), width: this.share(timeOf(stop - first)) });
    return span;
  }
  bar(kind, key, [start, end], place) {
    const bar = make(
      "div",
      { className: "bar-of", title: `${told(start)} – ${told(end)}`, dataset: { place } },
      make("i", { className: "end", dataset: { end: "start" } }),
      make("i", { className: "end", dataset: { end: "end" } }),
    );
    Object.assign(bar.style, { left: this.share(start), width: this.share(end - start) });
    bar.addEventListener("pointerdown", (event) => this.press(event, bar, kind, key, place));
    return bar;
  }
  mark(scroll = true) {
    const { selected } = this.desk;
    for (const row of this.rows.children) {
      const chosen = row.dataset.kind === selected?.kind && row.dataset.key === selected?.key;
      row.setAttribute("aria-selected", String(chosen));
      if (chosen && scroll) row.scrollIntoView({ block: "nearest" });
      if (chosen) this.rows.setAttribute("aria-activedescendant", row.id);
    }
    if (!selected) this.rows.removeAttribute("aria-activedescendant");
  }

  // ---- dragging an interval: one end, or all of it
  press(event, bar, kind, key, place) {
    if (event.button !== 0) return;
    event.preventDefault();
    document.activeElement?.blur();
    const { desk, screen } = this;
    const { end } = event.target.dataset;
    desk.select(kind, key);
    if (!desk.editable) {
      screen.goTo(this.frameUnder(event));
      return;
    }
    const before = kind === "objects" ? this.intervals(desk.object)[place] : [desk.point.start_s, desk.point.end_s];
    const frames = [Math.round(before[0] * FPS), Math.max(Math.round(before[1] * FPS), Math.round(before[0] * FPS) + 1)];
    const pressed = this.frameUnder(event);
    let now = frames;
    this.dragging = true;
    follow(
      event,
      (move) => {
        if (Math.abs(move.clientX - event.clientX) < CLICK_PX && now === frames) return;
        now = shifted(frames, this.frameUnder(move) - pressed, end, desk.clip.frames);
        Object.assign(bar.style, { left: this.share(timeOf(now[0])), width: this.share(timeOf(now[1] - now[0])) });
        screen.goTo(end === "end" ? now[1] - 1 : now[0]); // the picture shows what the end cuts at
      },
      (kept) => {
        this.dragging = false;
        const changed = now.some((frame, at) => frame !== frames[at]);
        if (now === frames) screen.goTo(pressed);
        else if (kept && changed) setSpan(desk, place, now.map(timeOf));
        this.build();
      },
    );
  }
}

/** Set one interval of the selected item, in seconds. */
export function setSpan(desk, place, [start, end]) {
  const { kind, key } = desk.selected;
  if (kind === "focal_points") return desk.change(kind, key, { start_s: start, end_s: end });
  const told_s = desk.object.visible_s.length ? desk.object.visible_s : [[0, desk.seconds]];
  return desk.change(kind, key, { visible_s: joined(told_s.map((one, at) => (at === place ? [start, end] : one))) });
}

/** First frame and the frame after the last, moved by a drag and kept within the clip, at least a frame long. */
function shifted([first, stop], by, end, frames) {
  if (end === "start") return [Math.min(Math.max(first + by, 0), stop - 1), stop];
  if (end === "end") return [first, Math.max(Math.min(stop + by, frames), first + 1)];
  const kept = Math.min(Math.max(by, -first), frames - stop);
  return [first + kept, stop + kept];
}
