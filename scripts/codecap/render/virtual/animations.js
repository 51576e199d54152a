// CSS animations, Web Animations and CSS transitions of one window, held where the clock stands.

/** What the browser itself knows and does of animations, whatever the page puts in its place later. */
function nativeAnimations() {
  const proto = Animation.prototype;
  const [timeOf, rateOf, stateOf, effectOf, timelineOf] = ["currentTime", "playbackRate", "playState", "effect", "timeline"]
    .map(name => getter(proto, name));
  const [setTime, setRate] = [setter(proto, "currentTime"), setter(proto, "playbackRate")];
  const [play, finish] = ["play", "finish"].map(name => method(proto, name));
  const timingOf = method(AnimationEffect.prototype, "getComputedTiming");
  const [pseudoOf, targetOf] = ["pseudoElement", "target"].map(name => getter(KeyframeEffect.prototype, name));
  const { CSSAnimation, CSSTransition, DocumentTimeline, KeyframeEffect: Keyframes } = window;

  /** A time at which none has ended that runs at this rate. */
  const unended = rate => rate < 0 ? 1 : -1;

  /**
   * Let one go on at a rate from a time. One that is past its end when its rate changes would keep the start that it had, and with
   * the next frame drawn run on from there in real time; so it is given the rate where it has not ended.
   */
  function letGo(animation, rate, time) {
    setTime(animation, unended(rate));
    setRate(animation, rate);
    setTime(animation, time);
  }

  return {
    timeOf, rateOf, stateOf, effectOf, timelineOf, timingOf, pseudoOf, targetOf, setTime, setRate, play, finish, unended, letGo,
    endOf: animation => { const effect = effectOf(animation); return effect ? timingOf(effect).endTime : 0; },
    isTransition: animation => animation instanceof CSSTransition,
    isOfStyle: animation => animation instanceof CSSAnimation,
    isKeyframes: effect => effect instanceof Keyframes,
    isInTime: animation => timelineOf(animation) instanceof DocumentTimeline,
  };
}

/**
 * The records of animations that are held, one each. A running animation is held at the native rate 0, which leaves it running
 * for CSS and for the page. Its record is `{rate, base, at, delay, stopped, driven, finished, put, round}`: at the clock's `at` it
 * stood at `base`, and it goes on from there by `rate`. One is `stopped` while its style pauses it. A `driven` one is moved by the
 * page through its delay, and stands at 0. `finished` is one that the clock took to its end. `put`: the page has set its time in
 * the last frame. `round` tells one that was seen already in this round.
 */
function animationRecords(clock, native) {
  const { timeOf, rateOf, stateOf, effectOf, timingOf, setTime, setRate } = native;
  const records = new WeakMap();
  const [recordOf, remember, forget] = ["get", "set", "delete"].map(name => bound(records, name));
  let known = []; // all that are held: at rate 0 the browser does not list one that is before its start

  const place = record => record.stopped ? record.base : record.base + (clock.now() - record.at) * record.rate;
  const isHeld = record => record !== undefined && !record.finished;
  const rebase = (record, base) => { record.base = base; record.at = clock.now(); };
  const hasEnded = (record, time, end) => (record.rate > 0 && time >= end) || (record.rate < 0 && time <= 0);
  const isRunning = (record, animation) => isHeld(record) && !record.driven && stateOf(animation) === "running";

  /** A record for an animation that is to be held: one that runs, or a CSS one whose style pauses it and may let it go on. */
  function considered(animation, base) {
    const state = stateOf(animation), stopped = state === "paused";
    if (state !== "running" && !(stopped && native.isOfStyle(animation))) return undefined;
    if (!native.isInTime(animation) || native.isTransition(animation)) return undefined;
    const effect = effectOf(animation);
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
    const time = timeOf(animation);
    if (!record.finished) {
      if (time === null) setRate(animation, record.rate);
      else native.letGo(animation, record.rate, time);
    }
    forget(animation);
  }

  /** One that has finished is held again, at a time. */
  function revive(animation, record, time) {
    record.finished = false;
    setRate(animation, 0);
    setTime(animation, time);
    append(known, animation);
  }

  return {
    recordOf, place, isHeld, rebase, hasEnded, isRunning, considered, take, adopt, release, revive,
    known: () => known,
    keep: animation => append(known, animation),
    clear: () => { known = []; },
  };
}

/** How those that are held follow the clock; `follow` for one, `followAll` for many. */
function followClock(clock, native, records) {
  const { timeOf, stateOf, effectOf, timingOf, setTime } = native;
  const { recordOf, place, rebase, hasEnded, considered, take, release, revive } = records;
  const MOST_PAST = 10000;
  let past = []; // finished by the clock; they come back when it goes backwards
  let round = 0;

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
    records.clear();
    for (let i = 0; i < answers.length; i++) {
      const { animation, record, state, timing } = answers[i];
      if (recordOf(animation) === undefined) take(animation, record);
      else if (!record.finished) records.keep(animation);
      if (before && record.put) continue;
      record.put &&= record.at === clock.now();
      if (follow(animation, record, state, timing)) ended = true;
    }
    return ended;
  }

  function follow(animation, record, state, timing) {
    if (state === "idle" || timing === null) { release(animation); return false; }
    const { delay, endTime } = timing;
    if (record.finished) {
      if (hasEnded(record, place(record), endTime)) return false;
      revive(animation, record, place(record)); // the page has made it longer
    }
    if (state === "paused") {
      record.delay = delay;
      if (!record.stopped) stop(animation, record);
      return false;
    }
    if (record.stopped) {
      rebase(record, record.base);
      record.stopped = false;
    }
    if (delay < 0 && delay !== record.delay && native.isOfStyle(animation)) record.driven = true;
    record.delay = delay;
    const time = record.driven ? 0 : place(record);
    if (!record.driven && hasEnded(record, time, endTime)) { end(animation, record, time); return true; }
    if (timeOf(animation) !== time) setTime(animation, time);
    return false;
  }

  function end(animation, record, time) {
    record.finished = true;
    native.letGo(animation, record.rate, time);
    native.finish(animation);
    append(past, animation);
    if (past.length > MOST_PAST) past = slice(past, MOST_PAST / 2);
  }

  /** Its style pauses it. Chromium shows the time 0 of such a one at rate 0, until it has computed another. */
  function stop(animation, record) {
    rebase(record, record.driven ? 0 : place(record));
    record.stopped = true;
    setTime(animation, record.base + 1);
    timingOf(effectOf(animation));
    setTime(animation, record.base);
  }

  /** Of those that the clock has finished, the ones that have not ended any more run again: it went back, or they are longer. */
  function reviveEarlier() {
    const before = past;
    past = [];
    for (let i = 0; i < before.length; i++) {
      const animation = before[i], record = recordOf(animation);
      if (record === undefined || !record.finished || stateOf(animation) === "idle") continue;
      const time = place(record);
      if (hasEnded(record, time, native.endOf(animation))) append(past, animation);
      else revive(animation, record, time);
    }
  }

  return { followAll, reviveEarlier };
}

function holdAnimations(clock, roots) {
  const MOST_ROUNDS = 8;
  const native = nativeAnimations(), records = animationRecords(clock, native);
  const { stateOf, effectOf, timingOf, pseudoOf, finish } = native;
  const { followAll, reviveEarlier } = followClock(clock, native, records);
  const left = new WeakSet(), leave = bound(left, "add"), isLeft = bound(left, "has"); // transitions that the page moves
  const inDocument = bound(document, "getAnimations"), inRoot = method(ShadowRoot.prototype, "getAnimations");
  const listen = bound(window, "addEventListener"), startsWith = method(String.prototype, "startsWith");
  let eventful = true; // handlers may have run since all were looked for

  function all() {
    const found = inDocument();
    for (let i = 0; i < roots.length; i++) {
      const inside = inRoot(roots[i]);
      for (let k = 0; k < inside.length; k++) append(found, inside[k]);
    }
    return found;
  }

  /** A transition, or a part of a view transition: it is not shown, only its end. */
  function isEphemeral(animation) {
    if (native.isTransition(animation)) return stateOf(animation) === "running";
    if (!native.isOfStyle(animation) || stateOf(animation) !== "running") return false;
    const effect = effectOf(animation), pseudo = native.isKeyframes(effect) ? pseudoOf(effect) : null;
    return pseudo !== null && startsWith(pseudo, "::view-transition") && timingOf(effect).endTime !== Infinity;
  }

  /** Hold all there are, and finish transitions, which may start others. True when any came to its end: its events need a frame. */
  function hold(before = false) {
    const passing = [];
    let ended = false;
    reviveEarlier();
    for (let round = 0; round < MOST_ROUNDS; round++) {
      let started = false;
      const found = all(), others = slice(records.known());
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

  /** After the clock has moved, before the page looks: no new ones are looked for. True when any came to its end. */
  function followKnown() {
    reviveEarlier();
    return followAll(records.known(), true);
  }

  /** A pending seek waits for nothing else: those that it has started come to their end while the clock stands. */
  function finishNew() {
    const known = records.known();
    for (let i = 0; i < known.length; i++) {
      const record = records.recordOf(known[i]);
      if (!records.isHeld(record) || record.stopped || record.driven || record.at !== clock.now()) continue;
      if (!effectOf(known[i]) || native.endOf(known[i]) === Infinity) continue;
      records.release(known[i]);
      finish(known[i]);
    }
  }

  for (const name of ["animationstart", "animationiteration", "animationend", "transitionend"]) {
    listen(name, () => { eventful = true; }, true);
  }
  replaceAnimationLists(native, records);
  replaceAnimationControls(clock, native, records, leave);
  return { hold, holdNew, followKnown, finishNew };
}
