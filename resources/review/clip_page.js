// A clip under review: the parts of the page that work on it, what is saved when, and who holds it.
import { Refused, Silent, clipPath, read } from "./api.js";
import { Acts } from "./acts.js";
import { Desk } from "./desk.js";
import { Dialogs } from "./dialogs.js";
import { count, field } from "./dom.js";
import { Found } from "./found.js";
import { Header, notice, sentence } from "./header.js";
import { Hold } from "./holding.js";
import { Inspector } from "./inspector.js";
import { listen } from "./keys.js";
import { Overlay } from "./overlay.js";
import { clipAddress, nextOf } from "./queue.js";
import { Saving } from "./saving.js";
import { Screen } from "./screen.js";
import { layOut } from "./split.js";
import { Timeline } from "./timeline.js";
import { Versions } from "./versions.js";

const BARRED =
  "The server was started anew and does not know this browser. Open the address that it prints, in another tab; " +
  "what is not saved yet is saved then.";

export class ClipPage {
  /** @param refused why the clip could not be held, if the server could not do that */
  constructor(clip_id, tab, who, answer, refused) {
    Object.assign(this, { clip_id, tab, who });
    this.path = `${clipPath(clip_id)}?tab=${encodeURIComponent(tab)}`;
    const { desk } = Object.assign(this, { desk: new Desk(answer) });
    desk.say = () => {};
    field("clip-view").hidden = false;
    this.screen = new Screen(desk);
    this.overlay = new Overlay(desk, this.screen);
    this.acts = new Acts(desk, this.screen, this.overlay);
    this.timeline = new Timeline(desk, this.screen);
    this.found = new Found(desk, this.acts);
    this.inspector = new Inspector(desk, this.acts);
    this.dialogs = new Dialogs(desk, this.acts, this);
    layOut(this.screen);
    desk.saving = this.makeSaving(answer);
    this.hold = new Hold(clip_id, tab, answer.hold, refused, (before) => this.held(before));
    this.versions = new Versions(desk, this);
    this.header = new Header(this);
    listen(this);
    addEventListener("beforeunload", (event) => {
      desk.saving.push({ keepalive: true });
      if (["offline", "stopped"].includes(desk.saving.state) && desk.saving.unsaved) event.preventDefault();
    });
  }

  begin() {
    this.settleHold();
    this.takeUp();
    this.measure();
  }
  /** Make the edits that an earlier visit left unsaved, as soon as this tab may. */
  takeUp() {
    const { desk } = this;
    if (!this.hold.mine || !desk.editable) return;
    const { edits, lost } = desk.saving.takeUp();
    if (edits.length) {
      desk.adopt(edits);
      desk.saving.push();
      desk.say(`${count(edits.length, "edit")} of your last visit, not saved then, ${edits.length === 1 ? "was" : "were"} made now.`);
    } else if (lost)
      desk.say(`${count(lost, "edit")} of your last visit could not be made: the clip has changed since.`, true);
  }
  async measure() {
    try {
      this.desk.hear(await read(`${clipPath(this.clip_id)}/changes`));
    } catch (error) {
      this.desk.say(`What changes in the clip could not be measured: ${error.message}`, true);
    }
  }

  // ---- saving and holding
  makeSaving(answer) {
    return new Saving(this.clip_id, this.who, this.tab, answer, {
      heard: (told) => {
        this.desk.status = told.status ?? this.desk.status;
        this.desk.hear(told);
      },
      changed: () => this.savingChanged(),
      stopped: (error) => this.stopped(error),
    });
  }
  savingChanged() {
    const { barred, failures, why } = this.desk.saving;
    const kept = "What you do is kept in this browser, and saved when that is possible.";
    const words = barred ? BARRED : failures > 1 ? `${sentence(why)} ${kept}` : ""; // one that is lost is sent again
    if (words && words !== this.away) notice(words);
    else if (!words && this.away) this.settleHold();
    this.away = words;
    this.desk.tell("state");
  }
  /** The server refused edits: what it has stands, and this page looks on until it has loaded that. */
  stopped(error) {
    this.desk.editable = false;
    const words = error.status === 409 ? `Nothing was overwritten. ${error.message}` : `An edit was refused: ${error.message}`;
    if (error.told.hold) this.hold.told = error.told.hold;
    notice(words, "Load what is saved", () => this.reload());
    this.desk.tell("annotation", "state");
  }
  async reload() {
    this.desk.editable = false; // until it is loaded
    try {
      const answer = await read(this.path);
      if (this.desk.saving.state === "stopped") this.desk.saving.drop();
      this.desk.saving.leave();
      this.desk.saving = this.makeSaving(answer);
      this.desk.take(answer);
      this.hold.told = answer.hold;
      this.settleHold();
      this.takeUp();
    } catch (error) {
      if (!(error instanceof Refused || error instanceof Silent)) throw error;
      notice(`The clip could not be loaded. ${error.message}`, "Try again", () => this.reload());
    }
  }
  /** Show another's version, which cannot be changed here. */
  look(answer, who) {
    this.desk.editable = false;
    this.desk.take(answer);
    if (who === this.who) this.settleHold();
    else
      notice(`This is the version of ${who}.`, "Back to the present one", () => {
        this.versions.shown = this.who;
        this.reload();
      });
  }
  async held(before) {
    if (this.hold.mine && !before.mine)
      await this.reload(); // what others did while this page looked on
    else this.settleHold();
  }
  settleHold() {
    const { desk, hold, finished } = this;
    const settles = desk.reviews.length > 0 && desk.reviews.every(({ who }) => who !== this.who);
    const before = desk.editable;
    desk.editable = hold.mine && !finished && !settles && desk.saving.state !== "stopped";
    const by = hold.told.by === this.who ? "You have this clip open in another tab." : `${hold.told.by} works on this clip.`;
    if (!hold.mine && hold.told.by)
      notice(`${by} You can look; nothing can be changed here meanwhile.`, "Take it over", () => hold.ask(true));
    else if (!hold.mine)
      notice(`${sentence(hold.why || "This clip is not held by this tab")} Nothing can be changed here.`, "Try again", () =>
        hold.ask(true),
      );
    else if (settles) notice("Two people have reviewed this clip. Look at their versions, and say which one holds.");
    else if (finished) notice(`This clip is ${desk.status}${this.byWhom()}.`, "Reopen it", () => this.dialogs.tell("reopen"));
    else notice("");
    document.body.classList.toggle("looking-on", !desk.editable);
    desk.tell("annotation", "state");
    if (before !== desk.editable) desk.tell("selection"); // else nobody is torn from what he types
  }
  get finished() {
    return ["approved", "rejected"].includes(this.desk.status);
  }
  /** Whether an ended review can be gone on with here. */
  get canReopen() {
    return this.hold.mine && this.finished && this.versions.shown === this.who;
  }
  byWhom() {
    const { ended } = this.desk;
    return ended ? ` by ${ended.who}${ended.note ? `: ${ended.note}` : ""}` : "";
  }
  async offer({ status, waits_for }) {
    const { clips } = await read("/api/queue");
    const next = nextOf(clips, this.clip_id);
    const words = `${this.clip_id} is ${status}${waits_for ? `, and waits for ${waits_for}` : ""}.`;
    if (next)
      notice(words, `Next clip: ${next.clip_id}`, () => {
        location.href = clipAddress(next.clip_id);
      });
    else
      notice(`${words} No other clip is open.`, "To the queue", () => {
        location.href = "/";
      });
    field("notice-act").focus();
  }
}
