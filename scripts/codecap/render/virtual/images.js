// Animated pictures of <img>: in the place of its own picture each one shows the frame that is due at the clock.
// GIF, WebP, APNG and AVIF. They are opened once for an address, and all elements of it are in step, as they are in the browser.

const MOST_HELD_BYTES = 64 << 20; // of frames made ready to be shown; beyond it those not used for longest are made again when due
const SHORTEST_US = 10000, USUAL_US = 100000; // a frame that is to last no longer than that lasts so long, as in the browser
const HEAD_CHARS = 5464; // of base64: so much of a data: address mostly tells whether it moves
const MOST_STILLS = 256; // addresses that are known not to move
const MOST_BLOBS = 64; // of the page's, the last ones: their addresses are often taken back as soon as the picture is shown

/**
 * What the browser itself does with pictures. A watch over what the page makes pictures of may stand before it: the decoder is
 * taken past it, and the rest is not, so that it knows the pictures made here as drawn ones.
 */
function nativePictures() {
  const Decoder = window.ImageDecoder?.prototype.constructor, Canvas = window.OffscreenCanvas;
  if (!Decoder || !Canvas) return null; // not for a page of no secure origin
  const tracksOf = getter(Decoder.prototype, "tracks"), whole = getter(Decoder.prototype, "completed");
  const isReady = getter(ImageTrackList.prototype, "ready"), selected = getter(ImageTrackList.prototype, "selectedTrack");
  const [framesOf, repeatsOf] = ["frameCount", "repetitionCount"].map(name => getter(ImageTrack.prototype, name));
  const [widthOf, heightOf, durationOf] = ["displayWidth", "displayHeight", "duration"]
    .map(name => getter(VideoFrame.prototype, name));
  const decode = method(Decoder.prototype, "decode"), close = method(VideoFrame.prototype, "close");
  const bring = bound(window, "fetch"), bytesOf = method(Response.prototype, "arrayBuffer");
  const bytesOfBlob = method(Blob.prototype, "arrayBuffer");
  const context = method(Canvas.prototype, "getContext"), encode = method(Canvas.prototype, "convertToBlob");
  const draw = method(OffscreenCanvasRenderingContext2D.prototype, "drawImage"), sizeOf = getter(Blob.prototype, "size");
  const [addressOf, revoke] = ["createObjectURL", "revokeObjectURL"].map(name => bound(URL, name));

  async function open(bytes, type) {
    const decoder = new Decoder({ data: bytes, type });
    await isReady(tracksOf(decoder));
    await whole(decoder);
    const track = selected(tracksOf(decoder));
    return { decoder, count: framesOf(track), repeats: repeatsOf(track) };
  }

  /** A picture of a decoded frame, at an address of its own. */
  async function make(frame) {
    const width = widthOf(frame), canvas = new Canvas(width, heightOf(frame));
    draw(context(canvas, "2d"), frame, 0, 0);
    const blob = await encode(canvas);
    return { address: addressOf(blob), width, bytes: sizeOf(blob) };
  }

  return {
    open, make, close, durationOf, revoke,
    decode: async (decoder, frameIndex) => (await decode(decoder, { frameIndex })).image,
    read: async (address, blob) => blob ? bytesOfBlob(blob) : bytesOf(await bring(address)),
  };
}

/** Tells animated files from others by their first bytes. */
function knowPictures() {
  const codeAt = method(String.prototype, "charCodeAt"), startsWith = method(String.prototype, "startsWith");
  const indexOf = method(String.prototype, "indexOf"), cut = method(String.prototype, "slice"), fromBase64 = bound(window, "atob");
  const says = (bytes, at, word) => {
    for (let i = 0; i < word.length; i++) if (bytes[at + i] !== codeAt(word, i)) return false;
    return true;
  };
  const number = (bytes, at) => bytes[at] * 0x1000000 + (bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3]);

  /** The media type of a file that may be animated, "" of any other, null if these are too few bytes to tell. */
  function typeOf(bytes) {
    if (bytes.length < 32) return null;
    if (says(bytes, 0, "GIF8")) return "image/gif";
    if (says(bytes, 0, "RIFF") && says(bytes, 8, "WEBPVP8X")) return bytes[20] & 2 ? "image/webp" : "";
    if (says(bytes, 1, "PNG\r\n")) {
      for (let at = 8; at + 8 <= bytes.length; at += 12 + number(bytes, at)) {
        if (says(bytes, at + 4, "acTL")) return "image/png";
        if (says(bytes, at + 4, "IDAT")) return "";
      }
      return null;
    }
    if (says(bytes, 4, "ftyp")) {
      const end = min(number(bytes, 0), bytes.length);
      for (let at = 8; at + 4 <= end; at += 4) if (says(bytes, at, "avis")) return "image/avif";
    }
    return "";
  }

  /** Whether an address alone tells that its picture does not move. */
  function isStill(address) {
    if (!startsWith(address, "data:")) return false;
    if (startsWith(address, "data:image/svg")) return true;
    const comma = indexOf(address, ",");
    if (indexOf(cut(address, 0, comma), ";base64") < 0) return false;
    try {
      const head = fromBase64(cut(address, comma + 1, comma + 1 + HEAD_CHARS)), bytes = new Bytes(head.length);
      for (let i = 0; i < head.length; i++) bytes[i] = codeAt(head, i);
      return typeOf(bytes) === "";
    } catch {
      return false; // written in another way
    }
  }

  return { typeOf, isStill };
}

/**
 * The animated pictures of a page and of the frames of its origin, by their addresses. One is `{since, decoder, count, repeats,
 * ends, ready, last}`: `since` the clock's time when it was first seen, `ends` when each frame is over, as far as they have been
 * decoded, `ready` those made to be shown, `last` the one decoded last. Times of frames are in microseconds from `since`.
 */
function animatedPictures() {
  const native = PICTURES, { typeOf, isStill } = knowPictures();
  const moving = new Map(), stills = new Set();
  const [known, remember] = ["get", "set"].map(name => bound(moving, name));
  const [isKnownStill, addStill, forgetStills] = ["has", "add", "clear"].map(name => bound(stills, name));
  let made = [], blobs = [], bytes = 0, uses = 0;

  function keepBlob(address, blob) {
    append(blobs, { address, blob });
    if (blobs.length > 2 * MOST_BLOBS) blobs = slice(blobs, MOST_BLOBS);
  }

  const blobAt = address => {
    for (let i = 0; i < blobs.length; i++) if (blobs[i].address === address) return blobs[i].blob;
    return undefined;
  };

  async function open(address, since) {
    const file = await native.read(address, blobAt(address)), type = typeOf(new Bytes(file)) || "";
    const opened = type && await native.open(file, type);
    return opened && opened.count > 1 ? { ...opened, since, ends: [], ready: [], last: null } : null;
  }

  /** The animated picture at an address, or null: it is still, or cannot be read, and is left to the browser. */
  async function find(address, since) {
    const found = known(address);
    if (found !== undefined || isKnownStill(address)) return found ?? null;
    let opened = null;
    try { opened = await open(address, since); } catch { /* not to be read */ }
    if (opened !== null) {
      remember(address, opened);
    } else {
      if (stills.size >= MOST_STILLS) forgetStills();
      addStill(address);
    }
    return opened;
  }

  async function decode(one, index) {
    if (one.last?.index === index) return one.last.frame;
    const frame = await native.decode(one.decoder, index);
    if (one.last !== null) native.close(one.last.frame);
    one.last = { index, frame };
    return frame;
  }

  /** Decode on until it is known which frame is due, and when it ends. */
  async function learn(one, time_us) {
    const { ends } = one;
    while (ends.length < one.count && !(ends[ends.length - 1] > time_us)) {
      let frame;
      try {
        frame = await decode(one, ends.length);
      } catch (error) {
        if (ends.length === 0) throw error;
        one.count = ends.length; // the file is cut short
        break;
      }
      const told_us = native.durationOf(frame) ?? 0, before = ends[ends.length - 1] ?? 0;
      append(ends, before + (told_us > SHORTEST_US ? told_us : USUAL_US));
    }
  }

  async function indexAt(one, time_us) {
    await learn(one, time_us);
    const { ends } = one, all_us = ends[ends.length - 1];
    if (time_us >= all_us * (one.repeats + 1)) return one.count - 1;
    const within_us = time_us % all_us;
    let index = 0;
    while (ends[index] <= within_us) index++;
    return index;
  }

  /** What has not been used for longest is given up, but nothing that is now shown. */
  function makeRoom(from) {
    sort(made, (one, other) => one.used - other.used);
    let given = 0;
    while (given < made.length && bytes > MOST_HELD_BYTES && made[given].used <= from) {
      const old = made[given++];
      bytes -= old.bytes;
      native.revoke(old.address);
      old.owner.ready[old.index] = undefined;
    }
    if (given) made = slice(made, given);
  }

  /** The frame due at the clock, ready to be shown: `{address, width}`. `from` is what `uses()` was when this seek began. */
  async function at(one, clock_ms, from) {
    const index = await indexAt(one, max(0, round((clock_ms - one.since) * 1e3)));
    let ready = one.ready[index];
    if (ready === undefined) {
      ready = one.ready[index] = { ...await native.make(await decode(one, index)), owner: one, index };
      append(made, ready);
      bytes += ready.bytes;
    }
    ready.used = ++uses;
    if (bytes > MOST_HELD_BYTES) makeRoom(from);
    return ready;
  }

  return { isStill: address => native === null || isStill(address), find, at, keepBlob, uses: () => uses };
}

/** What a window itself does to show a picture in the place of an image's own: by an animation of its style in no timeline. */
function nativeCovers() {
  const Effect = KeyframeEffect, Cover = Animation, Picture = Image;
  const setKeyframes = method(Effect.prototype, "setKeyframes"), setTime = setter(Cover.prototype, "currentTime");
  const listen = method(EventTarget.prototype, "addEventListener"), setSource = setter(HTMLImageElement.prototype, "src");
  return {
    cover: image => {
      const effect = new Effect(image, null, { duration: 1, fill: "both" }), animation = new Cover(effect, null);
      setTime(animation, 0);
      return { animation, show: content => setKeyframes(effect, { content: [content, content] }) };
    },
    uncover: method(Cover.prototype, "cancel"),
    load: address => new Later((done, failed) => {
      const picture = new Picture();
      listen(picture, "load", () => done(picture));
      listen(picture, "error", failed);
      setSource(picture, address);
    }),
  };
}

// as they are before anything else is put in their place
const PICTURES = nativePictures(), COVERS = nativeCovers();

/**
 * The images of one window. Each that was looked at has a record `{address, one, scale, cover, shown}`: `one` is its animated
 * picture, null if it has none, undefined until that is known; `shown` the frame that covers it. No attribute and no style rule of
 * the element changes by that, and the page is told of no animation.
 */
function holdImages(clock, pictures, roots) {
  const images = document.images, inRoot = method(DocumentFragment.prototype, "querySelectorAll");
  const proto = HTMLImageElement.prototype;
  const [isComplete, widthOf, sourceOf] = ["complete", "naturalWidth", "currentSrc"].map(name => getter(proto, name));
  const records = new WeakMap(), recordOf = bound(records, "get"), remember = bound(records, "set");
  const loads = new WeakMap(), loadOf = bound(loads, "get"), keepLoad = bound(loads, "set"); // what is loaded is drawn at once
  const covers = new WeakSet(), isCover = bound(covers, "has"), addCover = bound(covers, "add");
  const styleOf = bound(window, "getComputedStyle"), valueOf = method(CSSStyleDeclaration.prototype, "getPropertyValue");
  const PlainBlob = Blob, typeOf = getter(PlainBlob.prototype, "type"), startsWith = method(String.prototype, "startsWith");
  let covered = false;

  function look(list, due) {
    for (let i = 0; i < list.length; i++) {
      const image = list[i];
      if (!isComplete(image)) continue;
      const address = sourceOf(image);
      let record = recordOf(image);
      if (record === undefined || record.address !== address) {
        if (record !== undefined) uncover(record);
        const known = widthOf(image) === 0 || pictures.isStill(address);
        record = { address, one: known ? null : undefined, cover: null, shown: null };
        remember(image, record);
      }
      if (record.one !== null) append(due, image);
    }
  }

  function uncover(record) {
    if (record.cover !== null) COVERS.uncover(record.cover.animation);
    record.cover = record.shown = null;
  }

  async function load(frame) {
    if (loadOf(frame) === undefined) keepLoad(frame, await COVERS.load(frame.address));
  }

  /** Cover an image by the frame due. `image-set` keeps the size of one whose picture has several pixels for each of its own. */
  async function show(image, record, from) {
    const frame = await pictures.at(record.one, clock.now(), from);
    if (frame === record.shown) return;
    await load(frame);
    const scale = frame.width / widthOf(image);
    record.cover ??= COVERS.cover(image);
    record.cover.show(scale === 1 ? `url("${frame.address}")` : `image-set(url("${frame.address}") ${scale}x)`);
    record.shown = frame;
    addCover(record.cover.animation);
    covered = true;
  }

  /** The page has put something else in the place of its picture already. */
  const hasContent = image => valueOf(styleOf(image), "content") !== "normal";

  async function showAll(due) {
    const from = pictures.uses();
    for (let i = 0; i < due.length; i++) {
      const image = due[i], record = recordOf(image);
      if (record.one === undefined) record.one = hasContent(image) ? null : await pictures.find(record.address, clock.now());
      if (record.one === null) continue;
      try {
        await show(image, record, from);
      } catch { // its file is damaged: left to the browser
        uncover(record);
        record.one = null;
      }
    }
  }

  function hideCovers(owner) {
    replace(owner, "getAnimations", (self, args, native) => {
      const found = apply(native, self, args);
      if (!covered) return found;
      const told = [];
      for (let i = 0; i < found.length; i++) if (!isCover(found[i])) append(told, found[i]);
      return told;
    });
  }

  for (const owner of [Document, ShadowRoot, Element]) hideCovers(owner.prototype);
  replace(URL, "createObjectURL", (self, args, native) => {
    const address = apply(native, self, args), blob = args[0];
    if (blob instanceof PlainBlob && startsWith(typeOf(blob), "image/")) pictures.keepBlob(address, blob);
    return address;
  });
  return {
    /** Let all show what is due at the clock: a promise, or null if none moves. */
    show: () => {
      const due = [];
      if (images.length > 0) look(images, due);
      for (let i = 0; i < roots.length; i++) look(inRoot(roots[i], "img"), due);
      return due.length > 0 ? showAll(due) : null;
    },
  };
}
