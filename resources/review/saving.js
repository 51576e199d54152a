// Autosave: edits go to the server at once, one batch at a time, each with the revision and the draft that it is based on, and a name
// by which the server knows it again, so that it counts once however often it is sent. What is not yet saved stays in this browser
// too, and is sent again when the server is back.
import { Refused, Silent, clipPath, send } from "./api.js";

const AGAIN_MS = 1000;
const MOST_AT_ONCE = 200; // edits, of which the server takes no more

export class Saving {
  /**
   * @param first what the server told of the clip: its draft, its revision, and the name of the last batch
   * @param heard called with what the server says of a saved batch: { revision, problems }
   * @param changed called when the state does; @param stopped called with the refusal of a batch
   */
  constructor(clip_id, who, tab, first, { heard, changed, stopped }) {
    const { draft, revision, batch } = first;
    Object.assign(this, { path: clipPath(clip_id), who, tab, draft, revision, heard, changed, stopped });
    this.first = { draft, revision, batch };
    this.place = `codecap-unsaved-${who}-${clip_id}`;
    this.waiting = []; // not sent yet
    this.sent = null; // { batch, edits } that were sent and are not known to be saved
    this.asking = false; // for an answer
    this.state = "saved"; // saving, offline, stopped
    this.barred = false;
    this.failures = 0; // in a row
    this.why = "";
  }

  get unsaved() {
    return (this.sent?.edits.length ?? 0) + this.waiting.length;
  }

  /** Take up what an earlier visit left unsaved: { edits } to be made on the page, and how many are `lost`, for the clip has changed. */
  takeUp() {
    const kept = this.kept();
    const { draft, revision, batch } = this.first;
    const saved = kept.sent !== null && kept.sent.batch === batch; // only its answer was lost
    const sent = saved ? null : kept.sent;
    const edits = [...(sent?.edits ?? []), ...kept.waiting];
    if (edits.length && (kept.draft !== draft || (!saved && kept.revision !== revision))) {
      this.drop();
      return { edits: [], lost: edits.length };
    }
    [this.sent, this.waiting] = [sent, kept.waiting];
    this.keep();
    return { edits, lost: 0 };
  }
  kept() {
    try {
      const { draft, revision, sent, waiting } = JSON.parse(localStorage.getItem(this.place));
      if (Array.isArray(waiting) && (sent === null || Array.isArray(sent.edits))) return { draft, revision, sent, waiting };
    } catch {
      /* nothing was kept, or this browser keeps nothing */
    }
    return { sent: null, waiting: [] };
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
    const { draft, revision, sent, waiting } = this;
    try {
      localStorage.removeItem(this.place);
      if (this.unsaved) localStorage.setItem(this.place, JSON.stringify({ draft, revision, sent, waiting }));
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
    if (this.asking || !this.unsaved || this.state === "stopped") return;
    this.sent ??= { batch: crypto.randomUUID(), edits: this.waiting.splice(0, MOST_AT_ONCE) };
    this.keep();
    this.asking = true;
    this.tell(this.state === "offline" ? "offline" : "saving", this.why);
    const { tab, draft, revision } = this;
    try {
      const told = await send(`${this.path}/edits`, { tab, draft, revision, ...this.sent }, more);
      this.asking = false;
      if (this.left) return;
      this.sent = null;
      this.barred = false;
      this.failures = 0;
      this.revision = told.revision;
      this.keep();
      this.heard(told);
      this.tell(this.waiting.length ? "saving" : "saved");
      if (!this.timer) this.push();
    } catch (error) {
      this.asking = false;
      if (!this.left) this.failed(error);
    }
  }

  failed(error) {
    this.barred = error instanceof Refused && error.status === 403; // a server that was started anew does not know this browser yet
    if (this.barred || error instanceof Silent || (error instanceof Refused && error.status >= 500)) {
      this.failures += 1;
      this.tell("offline", error.message);
      this.timer = setTimeout(() => this.push(), AGAIN_MS);
    } else if (error instanceof Refused) {
      this.failures = 0;
      this.tell("stopped", error.message);
      this.stopped(error);
    } else throw error;
  }

  /** Give up what is not saved: another's work stands, or the server refused it. */
  drop() {
    [this.waiting, this.sent] = [[], null];
    this.keep();
  }

  /** Send nothing any more: another `Saving` takes over, with what is kept. */
  leave() {
    clearTimeout(this.timer);
    this.left = true;
    this.state = "stopped";
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
