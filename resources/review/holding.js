// A clip is held by one tab: a lease that this page renews. Whoever does not hold it looks on.
import { Refused, clipPath, send } from "./api.js";

const RENEW_MS = 10_000; // a lease lasts 30 s

/** This tab's name: kept over a reload, never shared with a tab that was duplicated from it. */
export async function tabName() {
  const own = (name) =>
    new Promise((done) => {
      navigator.locks.request(`codecap-tab-${name}`, { ifAvailable: true }, (lock) => {
        done(Boolean(lock));
        return lock ? new Promise(() => {}) : undefined; // held for as long as the page lives
      });
    });
  let name = null;
  try {
    name = sessionStorage.getItem("codecap-tab");
  } catch {
    /* a browser that keeps nothing: a new name each time */
  }
  if (!name || !(await own(name))) {
    name = crypto.randomUUID();
    await own(name);
    try {
      sessionStorage.setItem("codecap-tab", name);
    } catch {
      /* as above */
    }
  }
  return name;
}

export class Hold {
  /** @param why the server could not give it, if so */
  constructor(clip_id, tab, told, why, changed) {
    Object.assign(this, { path: clipPath(clip_id), tab, told, why, changed });
    this.timer = setInterval(() => this.ask(false), RENEW_MS);
    addEventListener("pagehide", () => this.release());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.ask(false);
    });
  }

  get mine() {
    return this.told.mine;
  }

  async ask(take) {
    try {
      this.hear(await send(`${this.path}/hold`, { tab: this.tab, take }));
    } catch (error) {
      if (!take) return; // the server is away: saving says so
      this.why = error.message;
      this.changed(this.told);
    }
  }

  hear(told) {
    const before = this.told;
    this.told = told;
    this.why = "";
    if (before.mine !== told.mine || before.by !== told.by) this.changed(before);
  }

  release() {
    if (this.mine) send(`${this.path}/release`, { tab: this.tab }, { keepalive: true }).catch(() => {}); // else the lease runs out
  }
}
