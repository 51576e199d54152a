// What is asked before it is done: the words of a new focal point, and the decision on the whole clip.
import { clipPath, send } from "./api.js";
import { count, field, make } from "./dom.js";

export class Dialogs {
  constructor(desk, acts, next) {
    Object.assign(this, { desk, acts, next });
    field("new-point").addEventListener("submit", (event) => this.makePoint(event.submitter?.value));
    field("new-point-words").addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey) return;
      event.preventDefault();
      field("new-point").querySelector("form").requestSubmit(field("new-point-make"));
    });
    desk.on("found annotation", () => {
      if (field("decide").open) this.fill();
    });
    field("accept-rest").addEventListener("click", () => this.acceptRest());
    for (const word of ["approve", "reject"]) field(`decide-${word}`).addEventListener("click", () => this.tell(word));
  }

  newPoint() {
    if (!this.desk.editable) return;
    field("new-point-words").value = "";
    field("new-point").showModal();
    field("new-point-words").focus();
  }
  makePoint(answer) {
    const words = field("new-point-words").value.trim();
    const kind = field("new-point").querySelector("input[name=new-kind]:checked").value;
    if (answer === "make" && words) this.acts.addPoint(kind, words);
  }

  decide() {
    if (!this.desk.editable) return;
    field("decide-note").value = "";
    this.fill();
    field("decide").showModal();
    field("decide-note").focus();
  }
  get open() {
    return this.desk.items.filter(({ kind, key }) => !this.desk.decision(kind, key));
  }
  fill(why = "") {
    const { desk, open } = this;
    const errors = desk.problems.filter(({ severity }) => severity === "error");
    const warnings = desk.problems.length - errors.length;
    const { objects, focal_points } = desk.annotation;
    field("decide-title").textContent =
      `${desk.clip.clip_id}: ${count(objects.length, "object")}, ${count(focal_points.length, "focal point")}`;
    field("decide-open").hidden = !open.length;
    field("decide-open-words").textContent = `${count(open.length, "item is", "items are")} not decided.`;
    field("decide-errors").replaceChildren(
      ...errors.map((problem) => make("li", { className: "error", textContent: `${problem.place}: ${problem.message}` })),
    );
    field("decide-told").textContent =
      why ||
      (errors.length
        ? `${count(errors.length, "error blocks", "errors block")} approval.`
        : warnings
          ? `No errors, ${count(warnings, "warning")}.`
          : "No problems were found.");
    field("decide-told").classList.toggle("bad", Boolean(why) || errors.length > 0);
    field("decide-approve").disabled = errors.length > 0 || open.length > 0;
  }
  acceptRest() {
    this.desk.edit(this.open.map(({ kind, key }) => ({ path: `decision/${kind}/${key}`, value: "accept" })));
    this.fill();
    field("decide-approve").focus();
  }
  async tell(decision) {
    const { desk } = this;
    if (this.telling) return;
    this.telling = true;
    try {
      await desk.saving.settled();
      const told = await send(`${clipPath(desk.clip.clip_id)}/decide`, {
        tab: desk.saving.tab,
        draft: desk.saving.draft,
        revision: desk.saving.revision,
        decision,
        note: decision === "reopen" ? "" : field("decide-note").value.trim(),
      });
      field("decide").close();
      desk.hear(told);
      await this.next.reload();
      if (decision !== "reopen") this.next.offer(told);
    } catch (error) {
      if (error.told?.problems) desk.hear(error.told);
      this.fill(error.message);
      if (!field("decide").open) desk.say(error.message, true);
    } finally {
      this.telling = false;
    }
  }
}
