// The clock, its timers and animation frames. All times are virtual milliseconds, unless a name says otherwise.

const LONGEST_CATCH_UP_MS = 1000; // of a longer jump only the last part is lived through by repeating timers
const MOST_CALLBACKS = 5000; // timers that one move of the clock may run
const MOST_TICKS = 3; // animation frames for what one seek has left to them
const AT_START = 3, IN_SEEK = 60; // how many animation frames in a chain are served as what start-up, or a pending seek, waits for
const NESTED = 5, NESTED_MS = 4; // from this depth on a timer waits at least so long, as HTML says
const SHORT_MS = 50; // a timer this near is what a pending seek waits for; a later one may be only its guard against hanging
const FREE_READS = 10000; // so often a task is told the same time; one that reads on seems to wait for it to pass
const COUNTED_READS = 1000; // from so many reads on it is asked where the task ends
const LONGEST_ROUND_MS = 10; // what a round counts at most: after a stop of the whole page its events are still on their way
const MOST_WORKS = 20; // pieces of work one after another that a timer waits for
const PATIENCE_MS = 100, STUCK_MS = 250, WORK_LIMIT_MS = 2000; // of real time

const { apply, construct } = Reflect;
const { defineProperty, getOwnPropertyDescriptor, freeze } = Object;
const bound = (owner, name) => { const native = owner[name]; return (...args) => apply(native, owner, args); };
const method = (owner, name) => { const native = owner[name]; return (self, ...args) => apply(native, self, args); };
const getter = (owner, name) => { const { get } = getOwnPropertyDescriptor(owner, name); return self => apply(get, self, []); };
const setter = (owner, name) => {
  const { set } = getOwnPropertyDescriptor(owner, name);
  return (self, value) => { apply(set, self, [value]); };
};
const NativeDate = Date, Later = Promise, Bytes = Uint8Array, Mirror = Proxy;
const { floor, round, ceil, max, min, imul } = Math;
const [slice, splice, sort, append] = ["slice", "splice", "sort", "push"].map(name => method(Array.prototype, name));
const then = method(Later.prototype, "then");

/** Put a function in the place of a native one that keeps its name, length and text. `act(self, args, native)`. */
const replace = (owner, name, act) => {
  const found = owner && getOwnPropertyDescriptor(owner, name);
  if (!found) return;
  const part = "value" in found ? "value" : "get";
  const put = new Mirror(found[part], { apply: (native, self, args) => act(self, args, native) });
  defineProperty(owner, name, { ...found, [part]: put });
};

/** What needs real time: a macrotask's turn, a rest, and how much work of the browser the page waits for. */
function realTime() {
  const wait = bound(window, "setTimeout"), now = bound(performance, "now"), request = bound(window, "requestAnimationFrame");
  const channel = new MessageChannel(), waiting = [];
  const post = bound(channel.port1, "postMessage");
  let next = 0, works = 0, observers = 0, transitions = 0;
  channel.port2.addEventListener("message", () => {
    const wake = waiting[next++];
    if (next === waiting.length) next = waiting.length = 0;
    wake();
  });
  channel.port2.start();
  const counted = (owner, name) => replace(owner, name, (self, args, native) => {
    works++;
    const kept = value => { works--; return value; }, failed = error => { works--; throw error; };
    return then(apply(native, self, args), kept, failed); // the native one would count as handled now
  });
  counted(HTMLImageElement.prototype, "decode");
  counted(window, "createImageBitmap");
  counted(window, "fetch");
  counted(window.FontFace?.prototype, "load");
  counted(Blob.prototype, "arrayBuffer");
  counted(Blob.prototype, "text");
  counted(window.OffscreenCanvas?.prototype, "convertToBlob");
  const loading = loadingImages();
  for (const Observer of [window.ResizeObserver, window.IntersectionObserver]) {
    replace(Observer?.prototype, "observe", (self, args, native) => { observers++; return apply(native, self, args); });
  }
  replace(Document.prototype, "startViewTransition", (self, args, native) => {
    const transition = apply(native, self, args), done = () => { transitions--; };
    transitions++;
    then(transition.finished, done, done);
    return transition;
  });
  /** Act in each frame that the browser draws, before it is drawn, as long as that gives true. */
  function beforeFrames(act) {
    const again = () => { if (act()) request(again); };
    request(again);
  }
  return {
    now, beforeFrames,
    turn: () => new Later(wake => { waiting[waiting.length] = wake; post(0); }),
    rest: ms => new Later(wake => { wait(wake, ms); }),
    working: () => works > 0 || loading(),
    needsFrames: () => observers > 0 || transitions > 0,
  };
}

/** Whether pictures are on their way that scripts have asked for: also such as are in no document. */
function loadingImages() {
  const { prototype } = HTMLImageElement, found = getOwnPropertyDescriptor(prototype, "src");
  const isComplete = getter(prototype, "complete"), loading = getter(prototype, "loading");
  const MOST_WATCHED = 256;
  let asked = [];
  function prune() {
    const before = asked;
    asked = [];
    for (let i = 0; i < before.length; i++) {
      if (!isComplete(before[i]) && loading(before[i]) !== "lazy") append(asked, before[i]);
    }
    return asked.length > 0;
  }
  const set = (native, self, args) => {
    apply(native, self, args);
    if (asked.length >= MOST_WATCHED) prune();
    if (asked.length < MOST_WATCHED) append(asked, self);
  };
  defineProperty(prototype, "src", { ...found, set: new Mirror(found.set, { apply: set }) });
  return () => asked.length > 0 && prune();
}

/**
 * The clock with its timers and animation frames, one for a page and the frames of its origin.
 *
 * A timer is `{id, due, first, order, delay, repeats, nesting, ahead, fresh, live, call}`. `fresh` is not 0 if it was set while a
 * seek was under way: only such a one is run ahead of the clock when the seek waits for it. `ahead` is by how much its due time
 * lies ahead because the clock stood meanwhile. A frame is `{id, fresh, live, call}`; one that is asked for in another is less
 * fresh by one, so that a loop is not run for ever while a seek is pending.
 */
function makeClock(real) {
  const timers = []; // by due time, then by order of setting
  let frames = [];
  const waiting = new Map(), frameOf = bound(waiting, "get"), keep = bound(waiting, "set"), drop = bound(waiting, "delete");
  let clock = 0, now = 0, lead = 0; // where seek put it; what the page is told; how far ahead of it timers have been run
  let last = 0, order = 0, nesting = 0, parent = null, fresh = AT_START;
  let reads = 0; // of the time, in this task of the page
  const beginTask = () => { reads = 0; };

  /**
   * The time as the page reads it. To a task that reads it very often it passes, at first unnoticeably and then ever faster
   * (1 ms after 111,000 reads, 1 s after 1,011,000), or one that waits for it would not end. Afterwards the clock is where it was.
   */
  function read() {
    if (++reads <= COUNTED_READS) return now;
    if (reads === COUNTED_READS + 1) then(real.turn(), beginTask);
    const extra = (reads - COUNTED_READS - FREE_READS) / 1e4;
    return extra <= 0 ? now : now + extra * extra * extra / 1e3;
  }

  const later = (one, other) => one.due - other.due || one.order - other.order;
  const insert = timer => {
    let place = timers.length;
    while (place > 0 && timers[place - 1].due > timer.due) place--;
    splice(timers, place, 0, timer);
  };
  const remove = timer => {
    for (let place = 0; place < timers.length; place++) if (timers[place] === timer) splice(timers, place, 1);
  };
  const someFresh = () => {
    for (let i = 0; i < frames.length; i++) if (frames[i].fresh && frames[i].live) return true;
    return false;
  };
  const firstFresh = () => { for (let i = 0; i < timers.length; i++) if (timers[i].fresh) return timers[i]; return undefined; };

  function setTimer(call, asked, repeats) {
    const delay = max(asked | 0, nesting >= NESTED ? NESTED_MS : repeats ? 1 : 0);
    const due = now + lead + delay;
    const first = parent && parent.delay === delay && nesting >= NESTED ? parent.first : due;
    const timer = { id: ++last, due, first, order: ++order, delay, repeats, nesting, ahead: lead, fresh, live: true, call };
    insert(timer);
    return timer.id;
  }

  function clearTimer(id) {
    for (let i = 0; i < timers.length; i++) {
      if (timers[i].id === id) { timers[i].live = false; splice(timers, i, 1); return; }
    }
    if (parent && parent.id === id) parent.live = false;
  }

  function requestFrame(call) {
    const frame = { id: ++last, fresh, live: true, call };
    append(frames, frame);
    keep(frame.id, frame);
    return frame.id;
  }

  function cancelFrame(id) {
    const frame = frameOf(id);
    if (frame) frame.live = false;
    drop(id);
  }

  /** Run one timer and the promises that hang on it, with the page's clock at `at`. */
  async function run(timer, at) {
    remove(timer);
    now = at;
    nesting = timer.nesting + 1;
    parent = timer;
    const outer = fresh;
    fresh = timer.fresh;
    beginTask();
    timer.call();
    fresh = outer;
    if (timer.repeats && timer.live) {
      timer.due += timer.delay;
      timer.order = ++order;
      insert(timer);
    }
    await real.turn();
    parent = null;
    nesting = 0;
  }

  async function runDue(from) {
    for (let left = MOST_CALLBACKS; left > 0 && timers.length && timers[0].due <= clock; left--) {
      await run(timers[0], max(timers[0].due, from));
    }
    now = clock;
  }

  /** One animation frame. */
  async function tick() {
    const due = frames, outer = fresh;
    frames = [];
    for (let i = 0; i < due.length; i++) {
      if (!due[i].live) continue;
      drop(due[i].id);
      fresh = max(due[i].fresh - 1, 0);
      beginTask();
      due[i].call(now);
      fresh = outer;
      await undefined;
    }
    await real.turn();
  }

  /** Shift timers that repeat by whole periods, so that after a jump they are due where they would have been. */
  function align(target) {
    const least = target - LONGEST_CATCH_UP_MS;
    for (let i = 0; i < timers.length; i++) {
      const timer = timers[i];
      if (!timer.delay || !(timer.repeats || timer.nesting >= NESTED)) continue;
      if (timer.due < least) timer.due += floor((least - timer.due) / timer.delay) * timer.delay;
      else if (target < clock && timer.due > target) {
        const due = timer.due - ceil((timer.due - target) / timer.delay) * timer.delay;
        if (due >= timer.first - timer.delay) timer.due = due; // also when it was set: what was drawn then is drawn again
        else timer.due = min(timer.first, timer.due);
      }
    }
    sort(timers, later);
  }

  async function moveTo(target) {
    const from = target < clock ? -Infinity : clock;
    if (target < clock || target - clock > LONGEST_CATCH_UP_MS) align(target);
    clock = target;
    await runDue(from);
  }

  /** Is the browser given time enough, before a timer that lies ahead is run? `idle` rounds and `quiet_ms` without any event. */
  function mayRun(timer, idle, quiet_ms, all) {
    const step = timer.due - clock - lead;
    if (step <= 0) return true;
    if (real.working()) return quiet_ms > WORK_LIMIT_MS;
    return step <= SHORT_MS || all ? idle >= 2 : quiet_ms >= min(step, PATIENCE_MS);
  }

  /** Timers were run ahead of the clock: set all to when they would be due had that taken no time. */
  function fallBack() {
    for (let i = 0; i < timers.length; i++) {
      timers[i].due -= timers[i].ahead;
      timers[i].ahead = 0;
    }
    lead = 0;
    sort(timers, later);
  }

  /** Serve animation frames and timers while the clock stands, until `done()`; those due up to `furthest`, of any age if `all`. */
  async function serve(done, how) {
    const { furthest = Infinity, until = Infinity, all = false, whenIdle = () => {}, whenStuck = () => {} } = how;
    let idle = 0, ticked = false, quiet_ms = 0, at = real.now(), working = false, works = 0;
    while (!done()) {
      await real.turn();
      const before = at;
      at = real.now();
      if (done() || at > until) break;
      quiet_ms += min(at - before, LONGEST_ROUND_MS);
      if (working && !real.working() && works++ < MOST_WORKS) idle = quiet_ms = 0; // the page is only now told of it
      working = real.working();
      const timer = all || quiet_ms > STUCK_MS || timers[0]?.due <= clock ? timers[0] : firstFresh();
      const drawing = someFresh() || (frames.length > 0 && (all || idle === 1 || quiet_ms > STUCK_MS));
      const ringing = timer && timer.due - clock <= furthest && mayRun(timer, idle, quiet_ms, all);
      if (drawing && !(ticked && ringing)) {
        ticked = true;
        idle = someFresh() ? 0 : idle + 1;
        if (idle > 10) await real.rest(1);
        await tick();
      } else if (ringing) {
        ticked = false;
        lead = max(timer.due - clock, lead);
        if (timer.repeats && timer.due > clock) timer.ahead += timer.delay;
        await run(timer, clock);
        idle = quiet_ms = works = 0;
      } else {
        ticked = false;
        if (++idle === 2 || idle % 25 === 0) whenIdle();
        if (quiet_ms > STUCK_MS && !timer) whenStuck();
        if (idle > 10) await real.rest(idle > 100 ? 8 : 1);
      }
    }
    if (lead > 0) fallBack();
  }

  /** What a seek has left to animation frames and to timers of no delay. */
  async function serveRest() {
    await real.turn();
    for (let n = 0; n < MOST_TICKS && frames.length && (n === 0 || someFresh()); n++) {
      await tick();
      await runDue(clock);
    }
    await runDue(clock);
    await real.turn();
  }

  return {
    now: () => now,
    read,
    setSeeking: seeking => { fresh = seeking ? IN_SEEK : 0; beginTask(); },
    forget: () => { // what is waiting now is none of the next seek's
      for (let i = 0; i < timers.length; i++) timers[i].fresh = 0;
      for (let i = 0; i < frames.length; i++) frames[i].fresh = 0;
    },
    setTimer, clearTimer, moveTo, serve, serveRest,
    requestFrame, cancelFrame,
  };
}
