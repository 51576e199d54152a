// CSS animations, Web Animations and CSS transitions of one window, held where the clock stands.

/**
 * A running animation is held at the native rate 0, which leaves it running for CSS and for the page. Its record is
 * `{rate, base, at, delay, stopped, driven, finished, put, round}`: at the clock's `at` it stood at `base`, and it goes on from
 * there by `rate`. One is `stopped` while its style pauses it. A `driven` one is moved by the page through its delay, and stands
 * at 0. `finished` is one that the clock took to its end. `put`: the page has set its time in the last frame. `round` tells one
 * that was seen already in this round.
 */
function holdAnimations(clock, roots) {
  const MOST_ROUNDS = 8, MOST_PAST = 10000;
  const proto = Animation.prototype, records = new WeakMap(), left = new WeakSet();
  const [recordOf, remember, forget] = ["get", "set", "delete"].map(name => bound(records, name));
  const leave = bound(left, "add"), isLeft = bound(left, "has");
  const [timeOf, rateOf, stateOf, effectOf, timelineOf] = ["currentTime", "playbackRate", "playState", "effect", "timeline"]
    .map(name => getter(proto, name));
  const [setTime, setRate] = [setter(proto, "currentTime"), setter(proto, "playbackRate")];
  const [play, finish] = ["play", "finish"].map(name => method(proto, name));
  const timingOf = method(AnimationEffect.prototype, "getComputedTiming");
  const [pseudoOf, targetOf] = ["pseudoElement", "target"].map(name => getter(KeyframeEffect.prototype, name));
  const rootOf = method(Node.prototype, "getRootNode"), contains = method(Node.prototype, "contains");
  const inDocument = bound(document, "getAnimations"), inRoot = method(ShadowRoot.prototype, "getAnimations");
  const listen = bound(window, "addEventListener");
  const startsWith = method(String.prototype, "startsWith");
  const { CSSAnimation, CSSTransition, DocumentTimeline, KeyframeEffect: Keyframes } = window;
  let past = []; // finished by the clock; they come back when it goes backwards
  let known = []; // all that are held: at rate 0 the browser does not list one that is before its start
  let round = 0;
  let eventful = true; // handlers may have run since all were looked for

  const place = record => record.stopped ? record.base : record.base + (clock.now() - record.at) * record.rate;
  const isHeld = record => record !== undefined && !record.finished;
  const rebase = (record, base) => { record.base = base; record.at = clock.now(); };

  /** A record for an animation that is to be held: one that runs, or a CSS one whose style pauses it and may let it go on. */
  function considered(animation, base) {
    const state = stateOf(animation);
    if (state !== "running" && !(state === "paused" && animation instanceof CSSAnimation)) return undefined;
    if (!(timelineOf(animation) instanceof DocumentTimeline) || animation instanceof CSSTransition) return undefined;
    const effect = effectOf(animation), stopped = state === "paused";
    return {
      rate: rateOf(animation),
      base: stopped ? timeOf(animation) ?? 0 : base,
      at: clock.now(),
      delay: effect ? timingOf(effect).delay : 0,
      stopped,
      driven: false,
      finished: false,
      put: false,
      round: 0,
    };
  }

  function take(animation, record) {
    setRate(animation, 0);
    if (!record.stopped) setTime(animation, record.base);
    remember(animation, record);
    append(known, animation);
  }

  function adopt(animation, base) {
    const record = considered(animation, base);
    if (record !== undefined) take(animation, record);
    return record;
  }

  /** Give an animation back to the browser with the rate that the page knows. */
  function release(animation) {
    const record = recordOf(animation);
    if (record === undefined) return;
    if (!record.finished) setRate(animation, record.rate);
    forget(animation);
  }

  function revive(animation, record) {
    record.finished = false;
    setRate(animation, 0);
  }

  /** What the browser knows of an animation. It may have to compute all styles for it, so many are asked before any is changed. */
  function askAll(animations) {
    const answers = [];
    for (let i = 0; i < animations.length; i++) {
      const animation = animations[i], record = recordOf(animation) ?? considered(animation, 0);
      if (record === undefined || record.round === round) continue;
      record.round = round;
      const state = stateOf(animation), effect = effectOf(animation), timing = effect ? timingOf(effect) : null;
      append(answers, { animation, record, state, timing });
    }
    return answers;
  }

  /**
   * Put held animations where the clock says; true when any has come to its end by that. `before` the page has been asked for the
   * frame, those that it has put somewhere in the last one stay there: it will put them again.
   */
  function followAll(animations, before) {
    round++;
    const answers = askAll(animations);
    let ended = false;
    known = [];
    for (let i = 0; i < answers.length; i++) {
      const { animation, record, state, timing } = answers[i];
      if (recordOf(animation) === undefined) take(animation, record);
      else if (!record.finished || state === "running") append(known, animation);
      if (before && record.put) continue;
      record.put &&= record.at === clock.now();
      if (follow(animation, record, state, timing)) ended = true;
    }
    return ended;
  }

  function follow(animation, record, state, timing) {
    if (state === "idle" || timing === null) { release(animation); return false; }
    if (record.finished) {
      if (state !== "running") return false;
      revive(animation, record); // its style has made it longer
    }
    const { delay, endTime } = timing;
    if (state === "paused") {
      record.delay = delay;
      if (!record.stopped) stop(animation, record);
      return false;
    }
    if (record.stopped) {
      rebase(record, record.base);
      record.stopped = false;
    }
    if (delay < 0 && delay !== record.delay && animation instanceof CSSAnimation) record.driven = true;
    record.delay = delay;
    const time = record.driven ? 0 : place(record);
    if (!record.driven && ((record.rate > 0 && time >= endTime) || (record.rate < 0 && time <= 0))) {
      record.finished = true;
      setRate(animation, record.rate);
      finish(animation);
      append(past, animation);
      if (past.length > MOST_PAST) past = slice(past, MOST_PAST / 2);
      return true;
    }
    if (timeOf(animation) !== time) setTime(animation, time);
    return false;
  }

  /** Its style pauses it. Chromium shows the time 0 of such a one at rate 0, until it has computed another. */
  function stop(animation, record) {
    rebase(record, record.driven ? 0 : place(record));
    record.stopped = true;
    setTime(animation, record.base + 1);
    timingOf(effectOf(animation));
    setTime(animation, record.base);
  }

  /** A pending seek waits for nothing else: those that it has started come to their end while the clock stands. */
  function finishNew() {
    for (let i = 0; i < known.length; i++) {
      const record = recordOf(known[i]), effect = effectOf(known[i]);
      if (!isHeld(record) || record.stopped || record.driven || record.at !== clock.now() || !effect) continue;
      if (timingOf(effect).endTime === Infinity) continue;
      release(known[i]);
      finish(known[i]);
    }
  }

  function all() {
    const found = inDocument();
    for (let i = 0; i < roots.length; i++) {
      const inside = inRoot(roots[i]);
      for (let k = 0; k < inside.length; k++) append(found, inside[k]);
    }
    return found;
  }

  /** Hold all there are, and finish transitions, which may start others. True when any came to its end: its events need a frame. */
  function hold(before = false) {
    const passing = [];
    let ended = false;
    for (let round = 0; round < MOST_ROUNDS; round++) {
      let started = false;
      const found = all(), others = slice(known);
      for (let i = 0; i < found.length; i++) {
        const animation = found[i];
        if (!isEphemeral(animation)) append(others, animation);
        else if (!isLeft(animation)) { append(passing, animation); started = true; }
      }
      for (; passing.length > 0; passing.length--) finish(passing[passing.length - 1]);
      if (followAll(others, before)) ended = true;
      ended ||= started;
      if (!started) break;
    }
    eventful = ended;
    return ended;
  }

  /** Looking for all is what costs most on a page with many: between two frames only if its handlers may have started some. */
  function holdNew() {
    return eventful && hold(true);
  }

  /** A transition, or a part of a view transition: it is not shown, only its end. */
  function isEphemeral(animation) {
    if (animation instanceof CSSTransition) return stateOf(animation) === "running";
    if (!(animation instanceof CSSAnimation) || stateOf(animation) !== "running") return false;
    const effect = effectOf(animation), pseudo = effect instanceof Keyframes ? pseudoOf(effect) : null;
    return pseudo !== null && startsWith(pseudo, "::view-transition") && timingOf(effect).endTime !== Infinity;
  }

  /** After the clock has moved, before the page looks: no new ones are looked for. True when any came to its end. */
  function followKnown() {
    const before = past;
    past = [];
    for (let i = 0; i < before.length; i++) {
      const animation = before[i], record = recordOf(animation);
      if (record === undefined || !record.finished || stateOf(animation) === "idle") continue;
      const time = place(record), { endTime } = timingOf(effectOf(animation));
      if (record.rate > 0 ? time >= endTime : time <= 0) append(past, animation);
      else { revive(animation, record); setTime(animation, time); append(known, animation); }
    }
    return followAll(known, true);
  }

  replace(Element.prototype, "animate", (self, args, native) => {
    const animation = apply(native, self, args);
    adopt(animation, 0);
    return animation;
  });
  for (const name of ["animationstart", "animationiteration", "animationend", "transitionend"]) {
    listen(name, () => { eventful = true; }, true);
  }
  const isAmong = (list, count, wanted) => { for (let i = 0; i < count; i++) if (list[i] === wanted) return true; return false; };
  /** The page is also told of those that the browser does not list at rate 0, since they are before their start. */
  function tellAll(owner, isInside) {
    replace(owner, "getAnimations", (self, args, native) => {
      const found = apply(native, self, args), count = found.length;
      for (let i = 0; i < known.length; i++) {
        const animation = known[i], record = recordOf(animation), effect = effectOf(animation);
        if (!isHeld(record) || record.rate <= 0 || !(effect instanceof Keyframes)) continue;
        if (isAmong(found, count, animation) || stateOf(animation) === "idle") continue;
        if (!(timeOf(animation) < timingOf(effect).delay)) continue;
        if (targetOf(effect) && isInside(self, targetOf(effect), pseudoOf(effect), args[0]?.subtree)) append(found, animation);
      }
      return found;
    });
  }
  tellAll(Document.prototype, (root, target) => rootOf(target) === root);
  tellAll(ShadowRoot.prototype, (root, target) => rootOf(target) === root);
  tellAll(Element.prototype, (element, target, pseudo, subtree) =>
    subtree ? contains(element, target) : target === element && !pseudo);
  replaceControls();

  function replaceControls() {
    const accessor = (name, get, set) => {
      const found = getOwnPropertyDescriptor(proto, name);
      defineProperty(proto, name, {
        ...found,
        get: new Mirror(found.get, { apply: (native, self, args) => get(recordOf(self), self, () => apply(native, self, args)) }),
        set: new Mirror(found.set, {
          apply: (native, self, args) => set(recordOf(self), self, args[0], () => apply(native, self, args)),
        }),
      });
    };
    const moves = record => isHeld(record) && !record.driven;
    const isRunning = (record, animation) => moves(record) && stateOf(animation) === "running";
    accessor("currentTime",
      (record, animation, native) => isRunning(record, animation) ? place(record) : native(),
      (record, animation, value, native) => {
        leave(animation);
        native();
        const time = timeOf(animation);
        record ??= adopt(animation, time);
        if (record === undefined || typeof time !== "number") return;
        putAt(animation, record, time);
      });
    accessor("startTime",
      (record, animation, native) => {
        const isKnown = record?.rate && (record.finished || isRunning(record, animation));
        return isKnown ? record.at - record.base / record.rate : native();
      },
      (record, animation, value, native) => {
        record ??= adopt(animation, 0);
        if (typeof value !== "number" || record === undefined) { native(); return; }
        leave(animation);
        const time = (clock.now() - value) * record.rate;
        setTime(animation, time);
        putAt(animation, record, time);
      });
    /** The page has set a time, natively already. One that has finished runs again if that is before its end. */
    function putAt(animation, record, time) {
      const end = effectOf(animation) ? timingOf(effectOf(animation)).endTime : 0;
      if (record.finished && !(record.rate > 0 ? time >= end : time <= 0)) {
        revive(animation, record);
        setTime(animation, time);
        append(known, animation);
      }
      record.driven = false;
      record.put = true;
      rebase(record, time);
    }
    const changeRate = (record, animation, value, native) => {
      if (!isHeld(record)) { native(); return; }
      const rate = +value;
      if (rate - rate !== 0) native(); // not finite: it throws
      if (isRunning(record, animation)) rebase(record, place(record));
      record.rate = rate;
    };
    accessor("playbackRate", (record, animation, native) => isHeld(record) ? record.rate : native(), changeRate);
    replace(proto, "updatePlaybackRate", (self, args, native) =>
      changeRate(recordOf(self), self, args[0], () => apply(native, self, args)));

    const again = act => (self, args, native) => {
      leave(self);
      const record = recordOf(self);
      const time = isHeld(record) && stateOf(self) === "running" && !record.driven ? place(record) : timeOf(self);
      release(self);
      if (time !== null && stateOf(self) !== "idle") setTime(self, time);
      try { return act(self, args, native); } finally { adopt(self, timeOf(self) ?? 0); }
    };
    replace(proto, "play", again((self, args, native) => apply(native, self, args)));
    replace(proto, "reverse", again(self => {
      const rate = rateOf(self);
      setRate(self, -rate);
      try { play(self); } catch (error) { setRate(self, rate); throw error; }
    }));
    replace(proto, "pause", (self, args, native) => {
      leave(self);
      const record = recordOf(self) ?? adopt(self, timeOf(self) ?? 0);
      const time = isHeld(record) && stateOf(self) === "running" && !record.driven ? place(record) : timeOf(self);
      apply(native, self, args);
      if (time !== null) setTime(self, time); // a time that is set ends the pending of the pause, during which it would run on
      release(self);
    });
    replace(proto, "finish", (self, args, native) => {
      const record = recordOf(self), time = isHeld(record) ? place(record) : null;
      release(self);
      try {
        apply(native, self, args);
      } catch (error) { // it has no end, and goes on
        if (time !== null) adopt(self, time);
        throw error;
      }
    });
    replace(proto, "cancel", (self, args, native) => { release(self); apply(native, self, args); });
    replace(AnimationTimeline.prototype, "currentTime", (self, args, native) => {
      const time = apply(native, self, args);
      return typeof time === "number" ? clock.now() : time;
    });
  }

  return { hold, holdNew, followKnown, finishNew };
}
