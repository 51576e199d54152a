// The form beside the picture: of the selected object, of the selected focal point, or none.
import { field } from "./dom.js";
import { ObjectForm } from "./object_form.js";
import { PointForm } from "./point_form.js";

export class Inspector {
  constructor(desk, acts) {
    Object.assign(this, { desk, acts });
    this.box = field("inspector");
    desk.on("selection", () => this.build());
    desk.on("annotation state found mode", () => this.update());
    desk.on("frame", () => this.form?.updateFrame());
    this.build();
  }

  build() {
    const { desk, acts, box } = this;
    this.of = desk.selected && `${desk.selected.kind}/${desk.selected.key}`;
    box.parentElement.scrollTop = 0;
    this.form = null;
    if (desk.object) this.form = new ObjectForm(box, desk, acts);
    else if (desk.point) this.form = new PointForm(box, desk, acts);
    else box.replaceChildren(field("nothing-form").content.cloneNode(true));
    this.update();
  }

  update() {
    const { desk } = this;
    const now = desk.selected && `${desk.selected.kind}/${desk.selected.key}`;
    if (now !== this.of || Boolean(desk.item) !== Boolean(this.form)) this.build();
    else this.form?.update();
    const some = desk.items.length > 0;
    for (const words of this.box.querySelectorAll(".some, .none")) words.hidden = words.className !== (some ? "some" : "none");
  }
}
