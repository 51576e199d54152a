// A clip's page: all videos on one clock, boxes over them, and the overlap of boxes over time.
// Frame i is on screen from i / fps; a seek goes to its middle, (i + 0.5) / fps, so that no rounding shows its neighbour.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("player-data").textContent);
  const { fps, frames } = data;
  const SVG = "http://www.w3.org/2000/svg";
  const { overlap, fillMask } = boxes;
  const expand = (runs) => boxes.expand(runs, frames);
  const field = (id) => document.getElementById(id);
  const middleOf = (frame) => (frame + 0.5) / fps;
  const frameOf = (seconds) => Math.min(Math.max(Math.floor(seconds * fps + 1e-3), 0), frames - 1);

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

  const figures = [...document.querySelectorAll(".screen")];
  const screens = figures.filter((figure) => figure.querySelector("video")).map((figure) => new Screen(figure));
  const shown = () => screens.filter((screen) => screen.shown);
  const leading = () => shown().find(({ video }) => !video.error); // the reference, where its video is there

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
    const lead = leading();
    goTo(lead ? frameOf(lead.video.currentTime) : current); // all rest on the very same frame
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
    const lead = leading();
    if (!lead) return pause(); // there is nothing to play
    if (lead.video.ended || lead.video.currentTime >= frames / fps - 0.2 / fps) {
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
  // ---- which systems are shown: kept in the address as #show=NAME,NAME, to which &point=NAME may add a focal point to go to
  const choices = [...document.querySelectorAll(".show")];
  function showSystem(box) {
    const figure = figures.find(({ dataset }) => dataset.system === box.value);
    const screen = screens.find(({ system }) => system === box.value);
    figure.hidden = !box.checked;
    if (!screen) return; // it has no video
    if (!box.checked) { screen.video.pause(); return; }
    screen.open();
    screen.seek(current); // while playing, it then waits for the others, or they for it
  }
  function markShown() {
    const wanted = new Set(choices.filter(({ checked }) => checked).map(({ value }) => value));
    for (const part of document.querySelectorAll("[data-of]")) part.classList.toggle("on", wanted.has(part.dataset.of));
    for (const article of document.querySelectorAll(".certificates article")) article.hidden = !(field("all-certificates").checked || wanted.has(article.dataset.of));
  }
  field("all-certificates").addEventListener("change", markShown);
  for (const box of choices) box.addEventListener("change", () => {
    showSystem(box);
    markShown();
    const names = choices.filter(({ checked }) => checked).map(({ dataset }) => dataset.stem);
    history.replaceState(null, "", `#show=${names.join(",")}`);
  });
  function readAddress() {
    const told = new URLSearchParams(location.hash.slice(1));
    if (told.has("show")) {
      const names = told.get("show").split(",");
      for (const box of choices) {
        const wanted = names.includes(box.dataset.stem);
        if (wanted !== box.checked) {
          box.checked = wanted;
          showSystem(box);
        }
      }
      const first = choices.find(({ dataset }) => dataset.stem === names[0]);
      if (first && choice && [...choice.options].some(({ value }) => value === first.value)) choice.value = first.value;
      const code = field("code-system");
      if (first && code && [...code.options].some(({ value }) => value === names[0])) {
        code.value = names[0];
        code.dispatchEvent(new Event("change"));
      }
      drawLanes();
    }
    markShown();
    const point = [...document.querySelectorAll(".jump.link")].find(({ dataset }) => dataset.point === told.get("point"));
    for (const row of document.querySelectorAll("tr.told")) row.classList.remove("told");
    if (!point) return;
    point.closest("tr").classList.add("told");
    pause();
    goTo(frameOf(Number(point.dataset.start)));
  }
  addEventListener("hashchange", readAddress);

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const tag = event.target.tagName;
    const typing = tag === "SELECT" || (tag === "INPUT" && !["checkbox", "range"].includes(event.target.type));
    if (typing || event.target.matches('[role="region"]')) return; // a table or code that these keys scroll
    if (event.key === " " && ["BUTTON", "INPUT", "SUMMARY", "A"].includes(tag) && event.target.id !== "scrubber") return;
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
  readAddress();
})();
