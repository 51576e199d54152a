// The header, the notice below it, and the controls under the picture.
import { read } from "./api.js";
import { timeOf, told } from "./clock.js";
import { count, field } from "./dom.js";

const MODES = {
  draw: "Draw the box: press at a corner, drag to the opposite one. Esc leaves.",
  box: "Arrow keys move the box, with Ctrl its right and lower side, with Ctrl+Alt the left and upper; Shift: by 10 px. Esc leaves.",
  plus: "Click on the object, as often as you like; then S segments it. Esc leaves.",
  minus: "Click beside the object, on what does not belong to it; then S segments it. Esc leaves.",
};

/** Say something that stays until it is answered or said otherwise; no words: nothing. */
export function notice(words, label = "", act = null) {
  field("notice").hidden = !words;
  field("notice-words").textContent = words;
  field("notice-act").hidden = !act;
  field("notice-act").textContent = label;
  field("notice-act").onclick = act;
}

/** Words that end as a sentence does, for others follow. */
export const sentence = (words) => words.replace(/[.!?]?$/, ".");

/** How far a review has come, of a clip's items or of all clips. */
export function showProgress(done, all, words) {
  const bar = field("progress-bar");
  field("progress-text").textContent = words;
  bar.setAttribute("aria-valuemax", all);
  bar.setAttribute("aria-valuenow", done);
  bar.firstElementChild.style.width = `${all ? (100 * done) / all : 0}%`;
}

export class Header {
  constructor(page) {
    this.page = page;
    const { desk, overlay } = page;
    for (const id of ["clip-told", "clip-steps", "saving"]) field(id).hidden = false;
    this.fill(desk);
    this.listen(page);
    desk.on("annotation state", () => this.update());
    desk.on("frame", () => {
      field("clock").textContent = `frame ${desk.frame} · ${told(timeOf(desk.frame))}`;
    });
    desk.on("mode", () => {
      field("mode-told").textContent = MODES[overlay.mode] ?? "";
      field("mode-told").hidden = !MODES[overlay.mode];
    });
    this.update();
  }

  fill({ clip, second }) {
    document.title = `${clip.clip_id} · Annotation review`;
    field("category").textContent = clip.category;
    field("clip-id").textContent = clip.clip_id;
    field("who").textContent = this.page.who;
    field("second").hidden = !second;
  }

  listen({ desk, screen, overlay, acts, dialogs, path }) {
    const on = (id, act) =>
      field(id).addEventListener("click", () => {
        act();
        field(id).blur(); // so that the next key is the page's
      });
    on("undo", () => desk.undo());
    on("redo", () => desk.redo());
    on("keys-open", () => field("keys").showModal());
    on("decide-open-button", () => (this.page.canReopen ? dialogs.tell("reopen") : dialogs.decide()));
    on("play", () => screen.toggle());
    on("step-back", () => screen.step(-1));
    on("step-on", () => screen.step(1));
    on("zoom", () => screen.zoomTo(overlay.box));
    on("add-point", () => dialogs.newPoint());
    on("add-object", () => acts.addObject());
    field("speed").addEventListener("change", ({ target }) => {
      screen.video.playbackRate = Number(target.value);
      target.blur();
    });
    field("history").addEventListener("toggle", async () => {
      if (!field("history").open) return;
      try {
        desk.history = (await read(path)).history;
        desk.tell("found");
      } catch (error) {
        desk.say(error.message, true);
      }
    });
  }

  update() {
    const { desk, screen } = this.page;
    field("status").textContent = desk.status;
    field("status").className = `tag ${desk.status}`;
    showProgress(desk.decidedCount, desk.items.length, `${desk.decidedCount} of ${desk.items.length} decided`);
    this.updateSaving(desk);
    field("undo").disabled = !desk.editable || !desk.done.length;
    field("redo").disabled = !desk.editable || !desk.undone.length;
    for (const id of ["add-point", "add-object"]) field(id).disabled = !desk.editable;
    const decide = field("decide-open-button");
    const { canReopen } = this.page;
    decide.disabled = !desk.editable && !canReopen;
    decide.firstChild.textContent = canReopen ? "Reopen" : "Decide ";
    decide.lastElementChild.hidden = canReopen;
    field("play").textContent = screen.playing ? "❚❚" : "▶";
    field("play").setAttribute("aria-label", screen.playing ? "Pause" : "Play");
  }

  updateSaving({ saving, editable }) {
    const words = {
      saved: "Saved",
      saving: "Saving…",
      offline: `${count(saving.unsaved, "edit")} not saved; trying again`,
      stopped: "Not saved",
      looking: "Looking on",
    };
    const state = editable || saving.unsaved ? saving.state : "looking";
    field("saving").textContent = words[state];
    field("saving").dataset.state = state;
    field("saving").title = saving.why;
  }
}
