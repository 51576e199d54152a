// A clip's page: all videos on one clock, boxes over them, and the overlap of boxes over time.
// Frame i is on screen from i / fps; a seek goes to its middle, (i + 0.5) / fps, so that no rounding shows its neighbour.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("player-data").textContent);
  const { fps, frames } = data;
  const SVG = "http://www.w3.org/2000/svg";
  const field = (id) => document.getElementById(id);
  const middleOf = (frame) => (frame + 0.5) / fps;
  const frameOf = (seconds) => Math.min(Math.max(Math.floor(seconds * fps + 1e-3), 0), frames - 1);

  // Boxes come as runs [count, box or null].
  function expand(runs) {
    const boxes = new Array(frames).fill(null);
    let frame = 0;
    for (const [count, box] of runs || []) {
      boxes.fill(box, frame, frame + count);
      frame += count;
    }
    boxes.length = frames;
    return boxes;
  }
  const once = (make) => { let made; return () => (made ??= make()); };
  const reference = once(() => data.reference.map(expand));
  const candidates = Object.fromEntries(Object.entries(data.candidates).map(
    ([system, tracks]) => [system, once(() => data.objects.map((name) => expand(Object.hasOwn(tracks, name) ? tracks[name] : [])))]));

  // Masks come by a script for each system, which calls this: COCO's run-length text, in runs of frames as boxes are.
  const masks = {};
  window.takeMasks = (system, told) => {
    masks[system] = { ...told, texts: data.objects.map((name) => expand(Object.hasOwn(told.objects, name) ? told.objects[name] : [])) };
    redraw();
  };
  function askForMasks(system) {
    if (!data.masks[system] || system in masks || !field("masks").checked) return;
    masks[system] = null; // asked for
    const script = document.createElement("script");
    script.src = data.masks[system];
    document.head.append(script);
  }
  function fillMask(context, text, height) {
    const counts = [];
    for (let place = 0; place < text.length;) {
      let value = 0;
      let shift = 0;
      let group;
      do {
        group = text.charCodeAt(place++) - 48;
        value |= (group & 31) << shift;
        shift += 5;
      } while (group & 32);
      if (group & 16) value |= -1 << shift;
      counts.push(counts.length > 2 ? value + counts[counts.length - 2] : value);
    }
    let start = 0;
    counts.forEach((count, place) => {
      for (let at = start; place % 2 && at < start + count;) { // down a column, on in the next
        const rows = Math.min(start + count - at, height - (at % height));
        context.fillRect(Math.floor(at / height), at % height, 1, rows);
        at += rows;
      }
      start += count;
    });
  }

  function overlap(a, b) {
    if (!a && !b) return null;
    if (!a || !b) return 0;
    const shared = Math.max(0, Math.min(a[2], b[2]) - Math.max(a[0], b[0])) * Math.max(0, Math.min(a[3], b[3]) - Math.max(a[1], b[1]));
    const both = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared;
    return both > 0 ? shared / both : 0;
  }

  // ---- screens
  class Screen {
    constructor(figure) {
      this.figure = figure;
      this.system = figure.dataset.system;
      this.video = figure.querySelector("video");
      this.overlay = figure.querySelector(".overlay");
      this.frame = 0;
      this.wanted = null;
      this.marks = [];
      this.video.addEventListener("seeked", () => this.settle());
      this.video.addEventListener("loadeddata", () => this.settle());
      if (!figure.hidden) this.open();
      if (this.video.requestVideoFrameCallback) this.watch();
    }
    get shown() { return !this.figure.hidden; }
    get isReference() { return this.system === ""; }
    open() {
      if (!this.video.src) this.video.src = this.video.dataset.src;
    }
    watch() {
      this.video.requestVideoFrameCallback((_, { mediaTime }) => {
        this.draw(frameOf(mediaTime));
        this.watch();
      });
    }
    // One seek at a time; while it runs, only the latest wish is kept.
    seek(frame) {
      this.wanted = frame;
      if (!this.video.seeking && this.video.readyState >= 1) this.video.currentTime = middleOf(frame);
    }
    settle() {
      if (this.wanted === null) return;
      if (Math.abs(this.video.currentTime - middleOf(this.wanted)) > 0.1 / fps) this.video.currentTime = middleOf(this.wanted);
      else if (!this.video.seeking && this.video.readyState >= 2) {
        this.draw(this.wanted);
        this.wanted = null;
      }
    }
    get settled() { return this.wanted === null && !this.video.seeking && this.video.readyState >= 2; }
    draw(frame) {
      this.frame = frame;
      const own = this.isReference ? reference() : candidates[this.system] && candidates[this.system]();
      const layers = [];
      if (!this.isReference && field("ghost").checked) layers.push([reference(), "ghost"]);
      if (own) layers.push([own, ""]);
      let used = 0;
      if (field("boxes").checked) {
        for (const [objects, style] of layers) objects.forEach((boxes, object) => {
          if (boxes[frame] && switchedOn(object)) this.mark(used++, boxes[frame], object, style);
        });
      }
      for (const mark of this.marks.slice(used)) mark.group.setAttribute("visibility", "hidden");
      if (data.masks[this.system]) this.paint(frame);
    }
    paint(frame) {
      askForMasks(this.system);
      if (!this.canvas) {
        this.canvas = document.createElement("canvas");
        this.canvas.className = "masks";
        this.overlay.before(this.canvas);
      }
      const found = masks[this.system];
      if (found && this.canvas.width !== found.width_px) [this.canvas.width, this.canvas.height] = [found.width_px, found.height_px];
      const context = this.canvas.getContext("2d");
      context.clearRect(0, 0, this.canvas.width, this.canvas.height);
      if (!found || !field("masks").checked) return;
      const colours = getComputedStyle(document.documentElement);
      found.texts.forEach((texts, object) => {
        if (!texts[frame] || !switchedOn(object)) return;
        context.fillStyle = colours.getPropertyValue(`--o${object % 10}`);
        fillMask(context, texts[frame], found.height_px);
      });
    }
    mark(place, [x0, y0, x1, y1], object, style) {
      let mark = this.marks[place];
      if (!mark) {
        mark = { group: document.createElementNS(SVG, "g"), box: document.createElementNS(SVG, "rect"), name: document.createElementNS(SVG, "text") };
        mark.group.append(mark.box, mark.name);
        this.overlay.append(mark.group);
        this.marks.push(mark);
      }
      mark.group.setAttribute("visibility", "visible");
      mark.group.setAttribute("class", `object-${object % 10} ${style}`);
      for (const [name, value] of Object.entries({ x: x0, y: y0, width: x1 - x0, height: y1 - y0 })) mark.box.setAttribute(name, value);
      const named = field("names").checked && !style;
      mark.name.textContent = named ? data.objects[object] : "";
      if (!named) return;
      const size = data.width / 40;
      mark.name.setAttribute("font-size", size);
      mark.name.setAttribute("x", Math.min(Math.max(x0, 2), data.width - size * 3));
      mark.name.setAttribute("y", y0 > size * 1.3 ? y0 - size * 0.35 : y1 + size);
    }
  }
  const switchedOn = (object) => {
    const box = document.querySelector(`.object-on[value="${object}"]`);
    return !box || box.checked;
  };

  const screens = [...document.querySelectorAll(".screen")].filter((figure) => figure.querySelector("video")).map((figure) => new Screen(figure));
  const master = screens[0];
  const shown = () => screens.filter((screen) => screen.shown);

  // ---- one clock
  let playing = false;
  let current = 0;
  let speed = 1;

  function show(frame) {
    current = Math.min(Math.max(frame, 0), frames - 1);
    field("scrubber").value = current;
    field("clock").textContent = `frame ${current} · ${(current / fps).toFixed(3)} s`;
    document.body.style.setProperty("--now", String((current + 0.5) / frames));
    showOverlaps();
  }
  function goTo(frame) {
    show(frame);
    for (const screen of shown()) screen.seek(current);
  }
  function pause() {
    if (!playing) return;
    playing = false;
    for (const screen of screens) screen.video.pause();
    playButton();
    goTo(frameOf(master.video.currentTime)); // all rest on the very same frame
  }
  async function play() {
    if (playing) return;
    playing = true;
    playButton();
    if (current >= frames - 1) goTo(0);
    await allSettled();
    if (!playing) return;
    for (const screen of shown()) screen.video.playbackRate = speed;
    await Promise.all(shown().map((screen) => screen.video.play().catch(() => {})));
    requestAnimationFrame(tick);
  }
  const allSettled = () => new Promise((done) => {
    const look = () => (shown().every((screen) => screen.settled || screen.video.error) ? done() : setTimeout(look, 10));
    look();
  });
  // While playing, all wait for the slowest: who is a little ahead runs slower, who is more than a frame ahead stands still.
  function tick() {
    if (!playing) return;
    if (master.video.ended || master.video.currentTime >= frames / fps - 0.2 / fps) {
      if (field("loop").checked) restart();
      else pause();
      return;
    }
    const running = shown().filter(({ video }) => !video.ended && !video.error);
    const slowest = Math.min(...running.map(({ video }) => video.currentTime));
    for (const screen of running) {
      const { video } = screen;
      const ahead = video.currentTime - slowest;
      if (!video.requestVideoFrameCallback) screen.draw(frameOf(video.currentTime));
      if (ahead > 1 / fps) video.pause();
      else if (video.paused && ahead < 0.5 / fps) video.play().catch(() => {});
      video.playbackRate = speed * Math.max(1 - ahead / 0.15, 0.7);
    }
    show(frameOf(slowest));
    requestAnimationFrame(tick);
  }
  function restart() {
    for (const screen of screens) screen.video.pause();
    goTo(0);
    playing = false;
    play();
  }
  function playButton() {
    field("play").textContent = playing ? "❚❚" : "▶";
    field("play").setAttribute("aria-label", playing ? "Pause" : "Play");
  }
  const step = (by) => { pause(); goTo(current + by); };

  // ---- overlap lanes
  const choice = field("iou-system");
  let overlaps = [];
  function drawLanes() {
    if (!choice || !choice.value) return;
    const found = candidates[choice.value]();
    overlaps = reference().map((boxes, object) => boxes.map((box, frame) => overlap(box, found[object][frame])));
    overlaps.forEach((values, object) => {
      const svg = document.querySelector(`.lane svg[data-object="${object}"]`);
      const path = (name, points) => {
        const made = document.createElementNS(SVG, "path");
        made.setAttribute("class", name);
        made.setAttribute("d", points.join(""));
        return made;
      };
      const ground = [];
      const area = [];
      let start = 0;
      for (let frame = 1; frame <= values.length; frame += 1) {
        if (frame < values.length && values[frame] === values[start]) continue;
        const value = values[start];
        if (value !== null) {
          ground.push(`M${start} 0H${frame}V1H${start}Z`);
          if (value > 0) area.push(`M${start} 1V${1 - value}H${frame}V1Z`);
        }
        start = frame;
      }
      svg.querySelectorAll("path").forEach((old) => old.remove());
      svg.append(path("ground", ground), path("area", area));
    });
    showOverlaps();
  }
  const outputs = [...document.querySelectorAll(".now")];
  function showOverlaps() {
    for (const output of outputs) {
      const values = overlaps[Number(output.dataset.object)];
      const value = values && values[current];
      output.textContent = value === undefined || value === null ? "–" : value.toFixed(2);
    }
  }

  // ---- what the reader does
  field("play").addEventListener("click", () => (playing ? pause() : play()));
  field("back").addEventListener("click", () => step(-1));
  field("on").addEventListener("click", () => step(1));
  field("scrubber").addEventListener("input", (event) => { const frame = Number(event.target.value); pause(); goTo(frame); });
  field("speed").addEventListener("change", (event) => {
    speed = Number(event.target.value);
    for (const screen of screens) screen.video.playbackRate = speed;
  });
  for (const button of document.querySelectorAll(".jump")) button.addEventListener("click", () => {
    pause();
    goTo(frameOf(Number(button.dataset.start)));
    if (button.classList.contains("link")) field("player").scrollIntoView({ behavior: "smooth", block: "start" });
  });
  for (const lane of document.querySelectorAll(".lane")) lane.addEventListener("click", (event) => {
    const { left, width } = lane.getBoundingClientRect();
    pause();
    goTo(Math.floor(((event.clientX - left) / width) * frames));
  });
  const redraw = () => shown().forEach((screen) => screen.draw(playing ? screen.frame : current));
  for (const id of ["boxes", "masks", "names", "ghost"]) if (field(id)) field(id).addEventListener("change", redraw);
  for (const box of document.querySelectorAll(".object-on")) box.addEventListener("change", redraw);
  if (choice) choice.addEventListener("change", drawLanes);
  for (const box of document.querySelectorAll(".show")) box.addEventListener("change", () => {
    const screen = screens.find(({ system }) => system === box.value);
    screen.figure.hidden = !box.checked;
    if (!box.checked) { screen.video.pause(); return; }
    screen.open();
    screen.seek(current); // while playing, it then waits for the others, or they for it
  });
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const tag = event.target.tagName;
    const typing = tag === "SELECT" || (tag === "INPUT" && !["checkbox", "range"].includes(event.target.type));
    if (typing || (event.key === " " && ["BUTTON", "INPUT", "SUMMARY", "A"].includes(tag) && event.target.id !== "scrubber")) return;
    const actions = {
      " ": () => (playing ? pause() : play()),
      ArrowLeft: () => step(event.shiftKey ? -fps : -1),
      ArrowRight: () => step(event.shiftKey ? fps : 1),
      Home: () => step(-frames),
      End: () => step(frames),
      b: () => { field("boxes").checked = !field("boxes").checked; redraw(); },
    };
    const act = actions[event.key] || actions[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  });

  drawLanes();
  goTo(0);
})();
