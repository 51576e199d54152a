// What a page is told of animations, and how it moves them: as if they ran, while they are held.

/** Where a page gets animations from: it never has one that is not held. */
function replaceAnimationLists(native, records) {
  const { timeOf, stateOf, effectOf, timingOf, pseudoOf, targetOf } = native;
  const { recordOf, isHeld, adopt } = records;
  const rootOf = method(Node.prototype, "getRootNode"), contains = method(Node.prototype, "contains");
  const isAmong = (list, count, wanted) => { for (let i = 0; i < count; i++) if (list[i] === wanted) return true; return false; };

  /** The browser does not list those that are before their start, at rate 0. */
  function isUnlisted(animation) {
    const record = recordOf(animation), effect = effectOf(animation);
    if (!isHeld(record) || record.rate <= 0 || !native.isKeyframes(effect) || stateOf(animation) === "idle") return false;
    return timeOf(animation) < timingOf(effect).delay;
  }

  function tellAll(owner, isInside) {
    replace(owner, "getAnimations", (self, args, list) => {
      const found = apply(list, self, args), count = found.length;
      for (let i = 0; i < count; i++) if (recordOf(found[i]) === undefined) adopt(found[i], 0);
      const known = records.known();
      for (let i = 0; i < known.length; i++) {
        if (isAmong(found, count, known[i]) || !isUnlisted(known[i])) continue;
        const effect = effectOf(known[i]), target = targetOf(effect);
        if (target && isInside(self, target, pseudoOf(effect), args[0]?.subtree)) append(found, known[i]);
      }
      return found;
    });
  }

  tellAll(Document.prototype, (root, target) => rootOf(target) === root);
  tellAll(ShadowRoot.prototype, (root, target) => rootOf(target) === root);
  tellAll(Element.prototype, (element, target, pseudo, subtree) =>
    subtree ? contains(element, target) : target === element && !pseudo);
  replace(Element.prototype, "animate", (self, args, animate) => {
    const animation = apply(animate, self, args);
    adopt(animation, 0);
    return animation;
  });
}

/** `leave` is told of each that the page moves: a transition is not finished then. */
function replaceAnimationControls(clock, native, records, leave) {
  const proto = Animation.prototype;
  const { recordOf } = records;
  const accessor = (name, get, set) => {
    const found = getOwnPropertyDescriptor(proto, name);
    defineProperty(proto, name, {
      ...found,
      get: new Mirror(found.get, { apply: (own, self, args) => get(recordOf(self), self, () => apply(own, self, args)) }),
      set: new Mirror(found.set, { apply: (own, self, args) => set(recordOf(self), self, args[0], () => apply(own, self, args)) }),
    });
  };
  replaceAnimationTimes(clock, native, records, leave, accessor);
  replaceAnimationRate(native, records, accessor);
  replaceAnimationPlaying(native, records, leave);
  replace(AnimationTimeline.prototype, "currentTime", (self, args, own) => {
    const time = apply(own, self, args);
    return typeof time === "number" ? clock.now() : time;
  });
}

function replaceAnimationTimes(clock, native, records, leave, accessor) {
  const { timeOf, stateOf, rateOf, setTime } = native;
  const { place, rebase, hasEnded, isRunning, adopt, revive } = records;

  /** The page has set a time, natively already. One that has finished runs again if that is before its end. */
  function putAt(animation, record, time) {
    if (record.finished && !hasEnded(record, time, native.endOf(animation))) revive(animation, record, time);
    record.driven = false;
    record.put = true;
    rebase(record, time);
  }

  /** A start has been set for one that is not held: it runs, or has ended, by real time. */
  function adoptStarted(animation) {
    const state = stateOf(animation);
    if (state !== "running" && state !== "finished") return undefined;
    if (!native.isInTime(animation) || native.isTransition(animation)) return undefined;
    setTime(animation, native.unended(rateOf(animation)));
    return adopt(animation, 0);
  }

  accessor("currentTime",
    (record, animation, own) => isRunning(record, animation) ? place(record) : own(),
    (record, animation, value, own) => {
      leave(animation);
      own();
      const time = timeOf(animation);
      record ??= adopt(animation, time);
      if (record !== undefined && typeof time === "number") putAt(animation, record, time);
    });
  accessor("startTime",
    (record, animation, own) => {
      const isKnown = record?.rate && (record.finished || isRunning(record, animation));
      return isKnown ? record.at - record.base / record.rate : own();
    },
    (record, animation, value, own) => {
      record ??= adopt(animation, 0);
      if (typeof value !== "number") { own(); return; }
      leave(animation);
      if (record === undefined) {
        own();
        record = adoptStarted(animation);
        if (record === undefined) return;
      }
      const time = (clock.now() - value) * record.rate;
      setTime(animation, time);
      putAt(animation, record, time);
    });
}

function replaceAnimationRate(native, records, accessor) {
  const { recordOf, place, isHeld, rebase, isRunning } = records;
  const change = (record, animation, value, own) => {
    if (!isHeld(record)) { own(); return; }
    const rate = +value;
    if (rate - rate !== 0) own(); // not finite: it throws
    if (isRunning(record, animation)) rebase(record, place(record));
    record.rate = rate;
  };
  accessor("playbackRate", (record, animation, own) => isHeld(record) ? record.rate : own(), change);
  replace(Animation.prototype, "updatePlaybackRate", (self, args, own) =>
    change(recordOf(self), self, args[0], () => apply(own, self, args)));
}

function replaceAnimationPlaying(native, records, leave) {
  const proto = Animation.prototype;
  const { timeOf, stateOf, rateOf, setTime, setRate, play } = native;
  const { recordOf, place, isHeld, isRunning, adopt, release } = records;
  const timeNow = (record, animation) => isRunning(record, animation) ? place(record) : timeOf(animation);
  const again = act => (self, args, own) => {
    leave(self);
    const time = timeNow(recordOf(self), self);
    release(self);
    if (time !== null && stateOf(self) !== "idle") setTime(self, time);
    try { return act(self, args, own); } finally { adopt(self, timeOf(self) ?? 0); }
  };
  replace(proto, "play", again((self, args, own) => apply(own, self, args)));
  replace(proto, "reverse", again(self => {
    const rate = rateOf(self);
    setRate(self, -rate);
    try { play(self); } catch (error) { setRate(self, rate); throw error; }
  }));
  replace(proto, "pause", (self, args, own) => {
    leave(self);
    const record = recordOf(self) ?? adopt(self, timeOf(self) ?? 0), time = timeNow(record, self);
    apply(own, self, args);
    if (time !== null) setTime(self, time); // a time that is set ends the pending of the pause, during which it would run on
    release(self);
  });
  replace(proto, "finish", (self, args, own) => {
    const record = recordOf(self), time = isHeld(record) ? place(record) : null;
    release(self);
    try {
      apply(own, self, args);
    } catch (error) { // it has no end, and goes on
      if (time !== null) adopt(self, time);
      throw error;
    }
  });
  replace(proto, "cancel", (self, args, own) => { release(self); apply(own, self, args); });
}
