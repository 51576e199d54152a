// What tells or waits for time, or gives random numbers, in one window.

const EPOCH_MS = 1767225600000; // 2026-01-01T00:00:00Z
const toText = method(Number.prototype, "toString");

/** A generator of 32-bit integers, the same for the same seed (splitmix32). */
function randomSource(seed) {
  let state = seed | 0;
  const draw = () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
  return { draw, restart: from => { state = from | 0; } };
}

/** Put the clock in the place of all that tells or waits for time in this window. */
function replaceTime(clock) {
  const report = bound(window, "reportError"), evaluate = eval; // eslint-disable-line no-eval
  const alive = getter(Document.prototype, "defaultView"), here = document;
  const guarded = (act, args) => {
    if (alive(here) === null) return; // this frame is no longer part of the page
    try { apply(act, window, args); } catch (error) { report(error); }
  };
  const timerOf = repeats => (self, args, native) => {
    if (!args.length) return apply(native, self, args);
    const handler = args[0], rest = slice(args, 2);
    const act = typeof handler === "function" ? handler : () => evaluate(`${handler}`);
    return clock.setTimer(() => guarded(act, rest), args[1], repeats);
  };
  const clear = (self, args) => clock.clearTimer(args[0] | 0);
  replace(window, "setTimeout", timerOf(false));
  replace(window, "setInterval", timerOf(true));
  replace(window, "clearTimeout", clear);
  replace(window, "clearInterval", clear);
  const frameOf = (self, args, native) => {
    const draw = args[0];
    return typeof draw === "function" ? clock.requestFrame(time => guarded(draw, [time])) : apply(native, self, args);
  };
  const cancel = (self, args) => clock.cancelFrame(args[0] | 0);
  for (const prefix of ["requestAnimationFrame", "webkitRequestAnimationFrame"]) replace(window, prefix, frameOf);
  for (const prefix of ["cancelAnimationFrame", "webkitCancelAnimationFrame"]) replace(window, prefix, cancel);
  replace(window, "requestIdleCallback", (self, args, native) => {
    const act = args[0];
    if (typeof act !== "function") return apply(native, self, args);
    return clock.setTimer(() => guarded(act, [{ didTimeout: false, timeRemaining: () => 50 }]), 0, false);
  });
  replace(window, "cancelIdleCallback", clear);

  const date_ms = () => EPOCH_MS + floor(clock.read());
  replace(NativeDate, "now", date_ms);
  window.Date = NativeDate.prototype.constructor = new Mirror(NativeDate, {
    apply: () => `${new NativeDate(date_ms())}`,
    construct: (target, args, asked) => construct(target, args.length ? args : [date_ms()], asked === window.Date ? target : asked),
  });
  defineProperty(window, "Date", { enumerable: false });
  defineProperty(NativeDate.prototype, "constructor", { enumerable: false });
  replaceTemporal(date_ms);
  replaceFormats(date_ms);
  replacePerformance(clock);
  replaceDelays(clock);
  replace(Event.prototype, "timeStamp", () => clock.now());
}

function replaceTemporal(date_ms) {
  const told = window.Temporal?.Now;
  if (!told) return;
  const { Instant } = Temporal, zone = bound(told, "timeZoneId");
  const instant = () => Instant.fromEpochMilliseconds(date_ms());
  const zoned = args => instant().toZonedDateTimeISO(args.length && args[0] !== undefined ? args[0] : zone());
  replace(told, "instant", instant);
  replace(told, "zonedDateTimeISO", (self, args) => zoned(args));
  replace(told, "plainDateTimeISO", (self, args) => zoned(args).toPlainDateTime());
  replace(told, "plainDateISO", (self, args) => zoned(args).toPlainDate());
  replace(told, "plainTimeISO", (self, args) => zoned(args).toPlainTime());
}

/** What formats the present time if it is given none. */
function replaceFormats(date_ms) {
  const { prototype } = Intl.DateTimeFormat;
  const given = args => args.length && args[0] !== undefined ? args : [date_ms()];
  replace(prototype, "format", (self, args, native) => {
    const format = apply(native, self, args);
    return date => format(date === undefined ? date_ms() : date);
  });
  replace(prototype, "formatToParts", (self, args, native) => apply(native, self, given(args)));
}

/** Delays that are no timers. */
function replaceDelays(clock) {
  const abort = method(AbortController.prototype, "abort"), signalOf = getter(AbortController.prototype, "signal");
  const Controller = AbortController, Exception = DOMException;
  replace(AbortSignal, "timeout", (self, args, native) => {
    const delay = +args[0];
    if (!(delay >= 0 && delay < 2 ** 31)) return apply(native, self, args); // too long for any page, or refused
    const controller = new Controller();
    clock.setTimer(() => abort(controller, new Exception("signal timed out", "TimeoutError")), delay, false);
    return signalOf(controller);
  });
  replace(window.Scheduler?.prototype, "postTask", (self, args, native) => {
    const how = args[1], delay = +how?.delay;
    if (!(delay > 0)) return apply(native, self, args);
    return new Later((done, failed) => {
      clock.setTimer(() => then(apply(native, self, [args[0], { ...how, delay: 0 }]), done, failed), delay, false);
    });
  });
}

function replacePerformance(clock) {
  const { prototype } = Performance;
  replace(prototype, "now", clock.read);
  replace(prototype, "timeOrigin", () => EPOCH_MS);
  replace(prototype, "mark", (self, args, native) => apply(native, self, [args[0], { startTime: clock.now(), ...args[1] }]));
  replace(prototype, "measure", (self, args, native) => {
    const span = typeof args[1] === "object" && args[1] !== null ? { ...args[1] } : { start: args[1], end: args[2] };
    if (span.start === undefined && (span.end === undefined || span.duration === undefined)) span.start = 0;
    if (span.end === undefined && span.duration === undefined) span.end = clock.now();
    return apply(native, self, [args[0], span]);
  });
  const timing = window.PerformanceTiming?.prototype;
  for (const name of timing ? Object.getOwnPropertyNames(timing) : []) {
    if (getOwnPropertyDescriptor(timing, name).get) replace(timing, name, () => EPOCH_MS);
  }
}

/** Seeded Math.random, crypto.getRandomValues and crypto.randomUUID. */
function replaceRandom(source, secrets) {
  const { random } = { random() { return source.draw() / 4294967296; } };
  defineProperty(Math, "random", { value: random, writable: true, enumerable: false, configurable: true });
  const fill = bytes => { for (let i = 0; i < bytes.length; i++) bytes[i] = secrets.draw(); return bytes; };
  replace(Crypto.prototype, "getRandomValues", (self, args, native) => {
    const array = apply(native, self, args); // the native one knows what it refuses
    fill(new Bytes(array.buffer, array.byteOffset, array.byteLength));
    return array;
  });
  replace(Crypto.prototype, "randomUUID", () => {
    const bytes = fill(new Bytes(16));
    bytes[6] = (bytes[6] & 15) | 64;
    bytes[8] = (bytes[8] & 63) | 128;
    let text = "";
    for (let i = 0; i < 16; i++) {
      text += (i === 4 || i === 6 || i === 8 || i === 10 ? "-" : "") + (bytes[i] < 16 ? "0" : "") + toText(bytes[i], 16);
    }
    return text;
  });
}
