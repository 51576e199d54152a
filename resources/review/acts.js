// What a reviewer can do with what is selected and shown; keys and buttons both lead here.
import { freeName, joined } from "./annotation.js";
import { FPS, framesBetween, timeOf } from "./clock.js";
import { clipPath, send } from "./api.js";
import { setSpan } from "./timeline.js";

export class Acts {
  constructor(desk, screen, overlay) {
    Object.assign(this, { desk, screen, overlay, problem: -1 });
  }

  // ---- going about
  goTo(frame) {
    this.screen.goTo(frame);
  }
  select(by) {
    const { items, selected } = this.desk;
    if (!items.length) return;
    const at = items.findIndex(({ kind, key }) => kind === selected?.kind && key === selected?.key);
    this.look(items[at < 0 ? (by > 0 ? 0 : items.length - 1) : Math.min(Math.max(at + by, 0), items.length - 1)]);
  }
  nextOpen() {
    const { desk } = this;
    const { items, selected } = desk;
    const at = items.findIndex(({ kind, key }) => kind === selected?.kind && key === selected?.key);
    const order = items.map((_, shift) => items[(at + 1 + shift) % items.length]);
    const open = order.find(({ kind, key }) => !desk.decision(kind, key));
    if (open) this.look(open);
    else desk.say("All items are decided.");
    return Boolean(open);
  }
  /** Select an item, and go to a frame on which it is to be seen. */
  look({ kind, key, item }) {
    const { desk } = this;
    desk.select(kind, key);
    if (kind === "focal_points") {
      const [first, stop] = framesBetween(item.start_s, item.end_s, desk.clip.frames);
      if (desk.frame < first || desk.frame >= stop) this.goTo(first);
    } else if (!desk.boxes(item)[desk.frame]) {
      const seen = desk.boxes(item).findIndex(Boolean);
      if (seen >= 0) this.goTo(seen);
    }
  }
  nextProblem() {
    const { desk } = this;
    if (!desk.problems.length) {
      desk.say("No problems were found.");
      return;
    }
    this.problem = (this.problem + 1) % desk.problems.length;
    this.lookAtProblem(desk.problems[this.problem]);
  }
  lookAtProblem({ about, frame, message }) {
    const { desk } = this;
    const entry = desk.items.find(({ kind, key }) => `${kind}/${key}` === about);
    if (entry) this.look(entry);
    if (Number.isInteger(frame)) this.goTo(frame);
    desk.say(message);
  }
  playSpan() {
    const { desk } = this;
    if (!desk.selected) {
      this.screen.toggle();
      return;
    }
    const spans = desk.point ? [[desk.point.start_s, desk.point.end_s]] : this.spans();
    const span = spans.find(([start, end]) => this.within(start, end)) ?? spans[0];
    const [first, stop] = framesBetween(...span, desk.clip.frames);
    this.screen.play(first, stop - 1);
  }

  // ---- decisions
  decide(word) {
    const { desk } = this;
    if (!desk.selected || !desk.editable) return;
    const { kind, key } = desk.selected;
    const before = desk.decision(kind, key);
    if (before !== word && !(word === "accept" && before === "edit")) desk.edit([{ path: `decision/${kind}/${key}`, value: word }]);
    if (desk.decidedCount < desk.items.length) this.nextOpen();
    else desk.say("All items are decided: the clip can be approved.");
  }

  // ---- intervals
  spans() {
    return this.desk.object.visible_s.length ? this.desk.object.visible_s : [[0, this.desk.seconds]];
  }
  within(start, end) {
    const [first, stop] = framesBetween(start, end, this.desk.clip.frames);
    return this.desk.frame >= first && this.desk.frame < stop;
  }
  begins() {
    this.cut(
      (spans, at) => spans.findIndex(([, end]) => end > at + 1e-6),
      (at, [, end]) => [at, end],
    );
  }
  ends() {
    this.cut(
      (spans, at) => spans.findLastIndex(([start]) => start <= at + 1e-6),
      (at, [start]) => [start, at + 1 / FPS],
    );
  }
  /** Put an end of an interval at the shown frame: of the one that is there, else of the nearest that it lengthens. */
  cut(which, made) {
    const { desk } = this;
    if (!desk.item) return;
    const at = timeOf(desk.frame);
    const spans = desk.point ? [[desk.point.start_s, desk.point.end_s]] : this.spans();
    const place = which(spans, at);
    if (place < 0) desk.say("No interval can begin or end here; move to the other side of it.");
    else setSpan(desk, place, made(at, spans[place]));
  }
  addSpan() {
    const { desk } = this;
    const until = Math.min(desk.frame + FPS, desk.clip.frames);
    if (desk.object)
      desk.change("objects", desk.object.name, {
        visible_s: joined([...desk.object.visible_s, [timeOf(desk.frame), timeOf(until)]]),
      });
  }
  removeSpan(place) {
    const { object } = this.desk;
    this.desk.change("objects", object.name, { visible_s: object.visible_s.filter((_, at) => at !== place) });
  }

  // ---- boxes
  modeNow() {
    return this.overlay.mode;
  }
  mode(mode) {
    const { desk, overlay } = this;
    if (!desk.object) {
      desk.say("Select an object first.");
      return;
    }
    if (this.screen.playing) this.screen.pause();
    overlay.setMode(overlay.mode === mode ? "" : mode);
  }
  setKey() {
    if (!this.desk.object) return;
    if (this.overlay.box) this.overlay.set(this.overlay.box.map((side) => Math.round(side * 100) / 100));
    else this.desk.say("There is no box on this frame; draw one.");
  }
  hide() {
    if (this.desk.object) this.overlay.set(null);
  }
  removeKey() {
    this.overlay.removeKey();
  }
  keyBeside(way) {
    const frame = this.overlay.keyBeside(way);
    if (frame !== undefined) this.goTo(frame);
  }
  async segment() {
    const { desk, overlay } = this;
    const { object, frame } = desk;
    if (!object || !desk.editable || desk.segmenting) return;
    if (!overlay.box && !overlay.points.length) {
      desk.say("Draw the object's box on this frame first, or mark points on it.");
      return;
    }
    desk.segmenting = object.name;
    desk.tell("state");
    try {
      await desk.saving.settled();
      const asked = {
        tab: desk.saving.tab,
        object: object.name,
        frame,
        box: overlay.box,
        points: overlay.points.map((point) => [...point]),
      };
      const told = await send(`${clipPath(desk.clip.clip_id)}/segment`, asked);
      const still = desk.annotation.objects.find(({ name }) => name === object.name);
      if (!still) return; // renamed or removed meanwhile
      overlay.points = [];
      desk.change("objects", object.name, { base: told.base });
      desk.hear({ signals: { ...desk.signals, [object.name]: told.signals } });
      desk.say(`${object.name} was segmented from frame ${frame}.`);
    } catch (error) {
      desk.say(`${object.name} was not segmented: ${error.message}`, true);
    } finally {
      desk.segmenting = null;
      desk.tell("state");
    }
  }

  // ---- new items
  addObject() {
    const { desk } = this;
    if (!desk.editable) return;
    const name = freeName(desk.annotation, "objects", "object");
    const value = { name, description: "", visible_s: [[timeOf(desk.frame), desk.seconds]], base: null, keys: {} };
    desk.edit([
      { path: `objects/${name}`, value },
      { path: `decision/objects/${name}`, value: "edit" },
    ]);
    desk.select("objects", name);
    this.mode("draw");
    desk.say("Draw its box on the picture, then name and describe it.");
  }
  addPoint(kind, description) {
    const { desk } = this;
    const id = freeName(desk.annotation, "focal_points", "point");
    const stop = Math.min(desk.frame + 2 * FPS, desk.clip.frames);
    const value = { focal_id: id, kind, description, start_s: timeOf(desk.frame), end_s: timeOf(stop), objects: [] };
    desk.edit([
      { path: `focal_points/${id}`, value },
      { path: `decision/focal_points/${id}`, value: "edit" },
    ]);
    desk.select("focal_points", id);
  }
}
