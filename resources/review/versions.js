// A clip that two people reviewed, each for himself: when both have finished, anybody may look at either version and settle which holds.
import { clipPath, read, send } from "./api.js";
import { field, make } from "./dom.js";

export class Versions {
  /** @param page shows another's version (`look`), and loads the clip anew (`reload`) */
  constructor(desk, page) {
    Object.assign(this, { desk, page, shown: page.who });
    this.box = field("versions");
    desk.on("state", () => this.update());
    this.update();
  }
  update() {
    const { reviews } = this.desk;
    const held = reviews.find(({ holds }) => holds);
    this.box.hidden = reviews.length === 0;
    this.box.replaceChildren(
      make("h3", {
        textContent: held ? `The version of ${held.who} holds.` : "Two people have reviewed this clip. Whose version holds?",
      }),
      ...reviews.map(({ who, status }) =>
        make(
          "div",
          { className: "version" },
          make("strong", { textContent: who }),
          make("span", { className: `tag ${status}`, textContent: status }),
          make("span", { className: "spacer" }),
          make("button", {
            type: "button",
            className: "plain",
            textContent: "Show",
            "aria-pressed": String(this.shown === who),
            onclick: () => this.show(who),
          }),
          make("button", {
            type: "button",
            className: "plain",
            textContent: status === "approved" ? "Approve" : "Reject",
            disabled: !this.page.hold?.mine,
            onclick: () => this.settle(who, status),
          }),
        ),
      ),
    );
  }
  async show(who) {
    try {
      const answer = await read(`${this.page.path}&of=${encodeURIComponent(who)}`);
      this.shown = who;
      this.page.look(answer, who);
    } catch (error) {
      this.desk.say(error.message, true);
    }
  }
  async settle(who, status) {
    const { saving } = this.desk;
    try {
      const told = await send(`${clipPath(this.desk.clip.clip_id)}/decide`, {
        tab: saving.tab,
        draft: saving.draft,
        revision: saving.revision,
        decision: status === "approved" ? "approve" : "reject",
        note: "",
        of: who,
      });
      this.shown = this.page.who;
      await this.page.reload();
      this.page.offer(told);
    } catch (error) {
      this.desk.say(error.message, true);
    }
  }
}
