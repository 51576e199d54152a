// What the engine calls: `ready`, `seek` and `settle` of CONTROL in the page's main frame.

function install() {
  const shared = ofTheFrameAround();
  const real = shared ? null : realTime();
  const clock = shared ? shared.clock : makeClock(real);
  const numbers = shared ? shared.numbers : [randomSource(SEED), randomSource(~SEED)];
  replaceTime(clock);
  replaceRandom(...numbers);
  const { roots, look } = shadowRoots();
  const animations = holdAnimations(clock, roots), smil = holdSmil(clock, roots);
  const pictures = shared ? shared.pictures : animatedPictures(), images = holdImages(clock, pictures, roots);
  const inPage = getter(Document.prototype, "defaultView"), here = document;
  const held = {
    alive: () => inPage(here) !== null,
    look,
    showImages: images.show,
    holdPending: () => { smil.hold(); return animations.hold(true); },
    hold: () => { smil.hold(); return animations.hold(); },
    holdNew: () => { smil.hold(); return animations.holdNew(); },
    finishNew: animations.finishNew,
    follow: () => { smil.hold(); return animations.followKnown(); },
  };
  const windows = shared ? shared.windows : [];
  append(windows, held);
  const share = () => ({ clock, numbers, windows, pictures });
  const control = shared ? { share } : { ...engineControl(clock, real, windows, numbers[0]), share };
  defineProperty(window, CONTROL, { value: freeze(control) });
}

/** The clock of the window around this one, if it is of the same origin. */
function ofTheFrameAround() {
  if (window.parent === window) return null;
  try { return window.parent[CONTROL]?.share() ?? null; } catch { return null; }
}

function engineControl(clock, real, windows, random) {
  const images = document.images, hopeless = new WeakSet();
  const giveUp = bound(hopeless, "add"), isGivenUp = bound(hopeless, "has");
  const isComplete = getter(HTMLImageElement.prototype, "complete"), loading = getter(HTMLImageElement.prototype, "loading");
  const stateOf = getter(Document.prototype, "readyState");
  const fonts = document.fonts, fontsState = getter(FontFaceSet.prototype, "status");
  const hasSeek = () => typeof window.seek === "function";
  let started = false;

  function each(act) {
    let any = false;
    for (let i = windows.length - 1; i >= 0; i--) {
      if (!windows[i].alive()) splice(windows, i, 1);
      else if (windows[i][act]()) any = true;
    }
    return any;
  }

  function unfinishedImage() {
    for (let i = 0; i < images.length; i++) {
      if (!isComplete(images[i]) && loading(images[i]) !== "lazy" && !isGivenUp(images[i])) return images[i];
    }
    return undefined;
  }

  /** What appears is held before it is drawn for the first time: it might end by real time before it is looked for otherwise. */
  function holdBeforeFrames(until) {
    real.beforeFrames(() => {
      if (until()) return false;
      each("look");
      each("holdPending");
      return true;
    });
  }

  /** Wait for pictures and fonts that are on their way, for a limited real time. True when there were any. */
  async function loaded() {
    const until = real.now() + WORK_LIMIT_MS;
    let any = false;
    for (;;) {
      const image = images.length > 0 ? unfinishedImage() : undefined;
      if (image === undefined && fontsState(fonts) !== "loading") return any;
      if (real.now() > until) {
        if (image === undefined) return any;
        giveUp(image);
      } else {
        await real.rest(1);
      }
      any = true;
    }
  }

  /** Animated pictures show what is due at the clock. */
  async function showImages() {
    for (let i = 0; i < windows.length; i++) {
      const shown = windows[i].alive() ? windows[i].showImages() : null;
      if (shown !== null) await shown;
    }
  }

  /** Everything that is left to do after the page has drawn. True when only a frame drawn for real can serve the rest. */
  async function settle() {
    await clock.serveRest();
    const ended = each("hold");
    const late = await loaded();
    await showImages();
    return late || ended || real.needsFrames();
  }

  async function ready(wait_ms) {
    const until = real.now() + wait_ms;
    each("look");
    each("hold");
    const hasStarted = () => stateOf(document) === "complete" && fontsState(fonts) !== "loading" && !real.working();
    await clock.serve(hasStarted, { furthest: 0, until });
    await clock.serveRest();
    await clock.serve(hasSeek, { furthest: wait_ms, until, all: true });
    await settle();
    clock.setSeeking(false);
    started = true;
    return hasSeek();
  }

  async function seek(seconds) {
    each(real.needsFrames() ? "hold" : "holdNew"); // what has appeared since the last frame began then
    clock.setSeeking(false);
    clock.forget();
    const time_us = round(seconds * 1e6);
    await clock.moveTo(time_us / 1e3);
    const ended = each("follow");
    random.restart(SEED ^ (time_us + 1)); // what is drawn by chance is so at its time, in whatever order frames are asked for
    clock.setSeeking(true);
    const state = hasSeek() ? "done" : "missing";
    if (state === "done") await seekOfPage(seconds);
    const needed = await settle();
    clock.setSeeking(false);
    return { state, settle: needed || ended };
  }

  /** `await window.seek(seconds)`, while all that it may wait for is served; its own error goes through. */
  async function seekOfPage(seconds) {
    let ended = false, failed = false, pending = false, reason;
    (async () => {
      try { await apply(window.seek, window, [seconds]); } catch (error) { failed = true; reason = error; }
      ended = true;
    })();
    const isOver = () => ended;
    const whenIdle = () => {
      each("holdPending");
      if (!pending) holdBeforeFrames(isOver);
      pending = true;
    };
    await clock.serve(isOver, { whenIdle, whenStuck: () => each("finishNew") });
    if (failed) throw reason;
  }

  holdBeforeFrames(() => started);
  return { ready, seek, settle };
}

install();
