// The form of a focal point: its kind, its interval, and the objects that it speaks of.
import { make } from "./dom.js";
import { ItemForm } from "./item_form.js";

export class PointForm extends ItemForm {
  constructor(box, desk, acts) {
    super("point-form", box, desk, acts);
    this.part("strong").title = this.item.focal_id;
    for (const radio of this.all(".kinds input")) {
      radio.addEventListener("change", () => desk.change("focal_points", desk.selected.key, { kind: radio.value }));
    }
  }

  update() {
    if (!this.item) return;
    for (const radio of this.all(".kinds input")) radio.checked = radio.value === this.item.kind;
    this.part(".objects").replaceChildren(...this.desk.annotation.objects.map(({ name }) => this.objectChip(name)));
    super.update();
  }

  updateFrame() {} // nothing here depends on the frame that is shown

  spanRows() {
    const { start_s, end_s } = this.item;
    const length = make("span", { className: "sub", textContent: `${(end_s - start_s).toFixed(2)} s` });
    return [this.spanRow([start_s, end_s], 0, length)];
  }

  objectChip(name) {
    const { objects, focal_id } = this.item;
    const spoken = objects.includes(name);
    const changed = spoken ? objects.filter((one) => one !== name) : [...objects, name];
    return make(
      "button",
      {
        type: "button",
        className: `chip object-${this.desk.colour(name)}`,
        title: name,
        "aria-pressed": String(spoken),
        onclick: () => this.desk.change("focal_points", focal_id, { objects: changed }),
      },
      make("span", {}, make("span", { className: "swatch" }), name),
    );
  }
}
