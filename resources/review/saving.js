// Autosave: edits go to the server at once, one batch at a time, each with the revision it is based on. What is not yet saved
// stays in this browser too, and is sent again when the server is back.
import { Refused, Silent, clipPath, read, send } from "./api.js";

const AGAIN_MS = 1000;
const MOST_AT_ONCE = 200; // edits, of which the server takes no more

export class Saving {
  /**
   * @param first what the server told of the clip: its revision, and its history
   * @param heard called with what the server says of a saved batch: { revision, problems }
   * @param changed called when the state does; @param stopped called with the refusal of a batch
   */
  constructor(clip_id, who, tab, first, { heard, changed, stopped }) {
    Object.assign(this, { path: clipPath(clip_id), who, tab, revision: first.revision, heard, changed, stopped });
    this.place = `codecap-unsaved-${who}-${clip_id}`;
    this.waiting = []; // not sent yet
    this.sent = []; // sent, no answer yet
    this.state = "saved"; // saving, offline, stopped
    this.barred = false;
    this.why = "";
    this.left = this.leftBehind(first.history);
    this.lost = this.left.length > 0; // an answer was: a batch may be saved without our knowing
  }

  get unsaved() {
    return this.sent.length + this.waiting.length;
  }

  /** Edits of an earlier visit that were never seen to be saved, if nobody else has changed the clip since. */
  leftBehind(history) {
    try {
      const kept = JSON.parse(localStorage.getItem(this.place));
      return kept && Array.isArray(kept.edits) && this.onlyOurs(history, kept.revision) ? kept.edits : [];
    } catch {
      return []; // a browser that keeps nothing
    }
  }
  /** Whether at most one batch came after a revision, and that of this person: the one whose answer was lost. */
  onlyOurs(history, revision) {
    const later = history.filter((one) => one.revision > revision);
    return new Set(later.map((one) => one.revision)).size <= 1 && later.every(({ who }) => who === this.who);
  }

  /** Save edits; after `wait_ms` where more of the kind are to be expected, as while somebody types. */
  add(edits, wait_ms = 0) {
    for (const edit of edits) this.merge(edit);
    this.keep();
    if (!wait_ms) this.push();
    else if (!this.timer) {
      this.timer = setTimeout(() => this.push(), wait_ms);
      if (this.state === "saved") this.tell("saving");
    }
  }

  // The later of two values of one path holds, where nothing between them removes or renames.
  merge(edit) {
    const plain = ({ value }) => value !== null && typeof value === "object" && !("name" in value) && !("focal_id" in value);
    const before =
      plain(edit) &&
      this.waiting.every((one) => plain(one) || one.path.startsWith("decision/")) &&
      this.waiting.findLast(({ path }) => path === edit.path);
    if (before) before.value = { ...before.value, ...edit.value };
    else this.waiting.push({ ...edit });
  }

  keep() {
    try {
      if (this.unsaved)
        localStorage.setItem(this.place, JSON.stringify({ revision: this.revision, edits: [...this.sent, ...this.waiting] }));
      else localStorage.removeItem(this.place);
    } catch {
      /* a browser that keeps nothing, or no more: all is sent to the server the same */
    }
  }

  tell(state, why = "") {
    this.state = state;
    this.why = why;
    this.changed();
  }

  /** @param more of the request; { keepalive: true } for a page that is being left */
  async push(more = {}) {
    clearTimeout(this.timer);
    this.timer = null;
    if (this.sent.length || !this.waiting.length || this.state === "stopped") return;
    this.sent = this.waiting.splice(0, MOST_AT_ONCE);
    this.tell(this.state === "offline" ? "offline" : "saving", this.why);
    try {
      const told = await send(`${this.path}/edits`, { tab: this.tab, revision: this.revision, edits: this.sent }, more);
      this.sent = [];
      this.lost = this.barred = false;
      this.revision = told.revision;
      this.keep();
      this.heard(told);
      this.tell(this.waiting.length ? "saving" : "saved");
      if (!this.timer) this.push();
    } catch (error) {
      [this.waiting, this.sent] = [[...this.sent, ...this.waiting], []];
      await this.failed(error);
    }
  }

  async failed(error) {
    this.barred = error instanceof Refused && error.status === 403; // a server that was started anew does not know this browser yet
    if (
      this.barred ||
      error instanceof Silent ||
      (error instanceof Refused && error.status >= 500) ||
      (await this.wasOurs(error))
    ) {
      this.lost = true;
      this.keep();
      this.tell("offline", error.message);
      this.timer = setTimeout(() => this.push(), AGAIN_MS);
    } else if (error instanceof Refused) {
      this.tell("stopped", error.message);
      this.stopped(error);
    } else throw error;
  }

  // Whether a batch was called stale because it had been saved before, and only its answer was lost. Then nobody else holds the clip,
  // and to make its edits twice does no harm.
  async wasOurs(error) {
    if (!(error instanceof Refused) || error.status !== 409 || error.told.hold || !this.lost) return false;
    const { history, revision } = await read(`${this.path}?tab=${encodeURIComponent(this.tab)}`);
    if (!this.onlyOurs(history, this.revision)) return false;
    this.revision = revision;
    return true;
  }

  /** Give up what is not saved: another's work stands, or the server refused it. */
  drop() {
    clearTimeout(this.timer);
    [this.waiting, this.sent] = [[], []];
    this.keep();
  }

  /** Resolves when all is saved; throws when it cannot be. */
  async settled() {
    this.push();
    while (this.unsaved) {
      if (this.state === "stopped" || this.state === "offline") throw new Error(`Not everything is saved. ${this.why}`);
      await new Promise((done) => setTimeout(done, 20));
    }
  }
}
