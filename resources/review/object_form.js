// The form of an object: its name, its box on the shown frame, its key frames, and when it is visible.
import { find, renaming } from "./annotation.js";
import { count, make } from "./dom.js";
import { ItemForm, keepTyped } from "./item_form.js";

export class ObjectForm extends ItemForm {
  constructor(box, desk, acts) {
    super("object-form", box, desk, acts);
    this.name = this.part("#item-name");
    this.name.addEventListener("change", () => this.rename());
  }

  update() {
    const { desk, item } = this;
    if (!item) return;
    keepTyped(this.name, item.name);
    this.name.title = item.name;
    this.part(".name").className = `name object-${desk.colour(item.name)}`;
    this.updateKeys();
    this.part("#segment span").textContent = desk.segmenting ? "Segmenting…" : "Segment";
    super.update();
    this.part("#segment").disabled ||= Boolean(desk.segmenting);
  }

  updateKeys() {
    const { keys, base } = this.item;
    const frames = Object.keys(keys)
      .map(Number)
      .sort((a, b) => a - b);
    let words = "No key frames: the boxes are the machine's.";
    if (frames.length) words = `${count(frames.length, "key frame")}:`;
    else if (!base) words = "No box yet: draw one, then segment from it, or draw more on other frames.";
    const chips = frames.map((frame) =>
      keys[frame] ? this.chip(`◆ ${frame}`, frame) : this.chip(`◇ ${frame}`, frame, `Hidden from frame ${frame}`),
    );
    this.part(".keys-told").replaceChildren(make("span", { className: "sub", textContent: words }), ...chips);
  }

  updateFrame() {
    const { desk, item } = this;
    if (!item) return;
    const box = desk.boxes(item)[desk.frame];
    const isKey = String(desk.frame) in item.keys;
    const corrected = Object.keys(item.keys).length > 0;
    this.part(".here .tag").textContent = isKey ? "key frame" : !box ? "no box" : corrected ? "between keys" : "machine";
    this.part(".here .tag").classList.toggle("dynamic", isKey);
    this.part(".box-told").textContent = box ? toldBox(box) : "not visible on this frame";
    this.part("#remove-key").disabled = !isKey || !desk.editable;
  }

  spanRows() {
    const spans = this.acts.spans();
    const remove = (place) =>
      make("button", {
        type: "button",
        className: "plain icon remove",
        title: "Remove this interval",
        textContent: "✕",
        onclick: () => this.acts.removeSpan(place),
      });
    return spans.map((span, place) => this.spanRow(span, place, spans.length > 1 ? remove(place) : null));
  }

  rename() {
    const { desk, name } = this;
    const [from, to] = [this.item.name, name.value.replace(/\s+/g, " ").trim()];
    if (to && to !== from && !find(desk.annotation, "objects", to)) {
      const decided = desk.decision("objects", from) ? [] : [{ path: `decision/objects/${to}`, value: "edit" }];
      desk.edit([...renaming(desk.annotation, from, to), ...decided]);
      desk.select("objects", to);
    } else if (to !== from) {
      desk.say(to ? `Another object is called “${to}”.` : "An object needs a name.");
      name.value = from;
    }
  }
}

function toldBox([x0, y0, x1, y1]) {
  return `x ${x0.toFixed(1)}  y ${y0.toFixed(1)}  ${(x1 - x0).toFixed(1)} × ${(y1 - y0).toFixed(1)} px`;
}
