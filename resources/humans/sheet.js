// The scoring sheet: one item after another, two videos, a score from 0 to 5. All that a person gives stays in localStorage until
// it is exported. Frame i is on screen from i / fps; a seek goes to its middle, so that no rounding shows its neighbour.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("sheet-data").textContent);
  const { sheet, fps, items } = data;
  const field = (id) => document.getElementById(id);
  const middleOf = (frame) => (frame + 0.5) / fps;
  const frameOf = (video, frames) => Math.min(Math.max(Math.floor(video.currentTime * fps + 1e-3), 0), frames - 1);
  const HOLD_MS = 600; // the segment's last frame stays that long before it repeats

  // ---- what a person gave: { rater, at, scores: { item: { score, at } } }, kept under the sheet's and the person's name
  const memory = {
    prefix: `codecap-sheet-${sheet}`,
    read(name) { try { return localStorage.getItem(this.prefix + name); } catch { return null; } },
    write(name, text) {
      try { localStorage.setItem(this.prefix + name, text); return true; } catch { return false; }
    },
  };
  let given = null;

  function recall(rater) {
    let kept = null;
    try { kept = JSON.parse(memory.read(`/${rater}`)); } catch { /* of an unfinished write */ }
    const known = new Set(items.map((item) => item.id));
    const scores = {};
    for (const [id, { score, at }] of Object.entries((kept && kept.scores) || {})) {
      if (known.has(id) && Number.isInteger(score) && score >= 0 && score <= 5) scores[id] = { score, at };
    }
    const at = kept && Number.isInteger(kept.at) ? Math.min(Math.max(kept.at, 0), items.length - 1) : 0;
    return { rater, at, advance: Boolean(kept && kept.advance), scores };
  }
  function keep() {
    field("not-kept").hidden = memory.write(`/${given.rater}`, JSON.stringify(given)) && memory.write("", given.rater);
  }
  const scored = () => Object.keys(given.scores).length;

  // ---- views
  const views = ["start", "work", "done"];
  function show(view) {
    for (const name of views) field(name).hidden = name !== view;
    document.body.classList.toggle("at-work", view === "work");
    field("progress").hidden = field("export").hidden = view === "start";
    if (view !== "work") stop();
  }
  function tellProgress() {
    const count = scored();
    field("progress-text").textContent = `${count} of ${items.length} scored`;
    field("progress-bar").setAttribute("aria-valuenow", count);
    field("progress-bar").firstElementChild.style.width = `${100 * count / items.length}%`;
  }

  // ---- the two videos
  const reference = field("reference");
  const render = field("render");
  let item = items[0];
  let playing = false;
  let together = false;
  let hold = 0;

  for (const video of [reference, render]) {
    const fault = video.parentElement.querySelector(".fault");
    video.addEventListener("error", () => {
      fault.textContent = "This browser cannot play the video. Try another one; do not score what you cannot see.";
      fault.hidden = false;
    });
    video.addEventListener("loadeddata", () => {
      fault.hidden = true;
      video.playbackRate = Number(field("speed").value);
      if (video === reference || together) video.currentTime = middleOf(item.from);
      if (playing) start(video);
    });
  }
  const start = (video) => video.play().catch(() => {}); // it waits for its data by itself; a pause in between is no error
  const source = (video, file) => {
    const path = `media/${file}.mp4`;
    if (video.getAttribute("src") !== path) { video.src = path; return; }
    if (video.readyState >= 2) video.dispatchEvent(new Event("loadeddata")); // the same video for the next item
  };

  function play() {
    playing = true;
    playButton();
    start(reference);
    start(render);
  }
  function stop() {
    playing = false;
    clearTimeout(hold);
    hold = 0;
    reference.pause();
    render.pause();
    playButton();
  }
  function playButton() {
    field("play").textContent = playing ? "❚❚" : "▶";
    field("play").setAttribute("aria-label", playing ? "Pause" : "Play");
  }
  function toSegment() {
    reference.currentTime = middleOf(item.from);
    if (together) render.currentTime = middleOf(Math.min(item.from, item.render.frames - 1));
  }

  // The segment repeats, its last frame held for a moment; `together`, the render does the same beside it.
  function watch() {
    if (!field("work").hidden) {
      if (playing && !hold && !reference.seeking && reference.readyState >= 2) {
        const past = reference.ended || reference.currentTime >= item.to / fps - 0.005;
        if (past) repeat();
        else if (reference.currentTime < item.from / fps - 0.05) toSegment();
        else if (together && !render.seeking && Math.abs(render.currentTime - reference.currentTime) > 2 / fps) {
          render.currentTime = Math.min(reference.currentTime, middleOf(item.render.frames - 1));
        }
      }
      if (playing && !together && render.ended && render.readyState >= 2) { render.currentTime = 0; start(render); }
      tellTime();
    }
    requestAnimationFrame(watch);
  }
  function repeat() {
    reference.pause();
    reference.currentTime = middleOf(item.to - 1);
    if (together) {
      render.pause();
      render.currentTime = middleOf(Math.min(item.to, item.render.frames) - 1);
    }
    hold = setTimeout(() => {
      hold = 0;
      if (!playing) return;
      toSegment();
      start(reference);
      start(render);
    }, HOLD_MS);
  }
  function tellTime() {
    const frame = frameOf(render, item.render.frames);
    if (document.activeElement !== field("frame") || playing) field("frame").value = frame;
    field("clock").textContent = `${(frame / fps).toFixed(2)} of ${(item.render.frames / fps).toFixed(2)} s`;
  }
  function setTogether(on) {
    together = on;
    field("together").setAttribute("aria-pressed", String(on));
    field("whole").textContent = on ? "the same time" : `all of it, ${seconds(item.render.frames)}`;
    if (on) toSegment();
    if (playing) play();
  }
  function step(by) {
    stop();
    if (together || document.activeElement === reference) {
      const frame = Math.min(Math.max(frameOf(reference, item.reference.frames) + by, item.from), item.to - 1);
      reference.currentTime = middleOf(frame);
      render.currentTime = middleOf(Math.min(frame, item.render.frames - 1));
    } else {
      render.currentTime = middleOf(Math.min(Math.max(frameOf(render, item.render.frames) + by, 0), item.render.frames - 1));
    }
  }

  // ---- items
  const seconds = (frames) => `${(frames / fps).toFixed(2)} s`;

  function open(place) {
    given.at = Math.min(Math.max(place, 0), items.length - 1);
    item = items[given.at];
    keep();
    show("work");
    clearTimeout(hold);
    hold = 0;
    together = false;
    field("kind").textContent = item.kind;
    field("kind").className = `tag ${item.kind}`;
    field("position").textContent = `Item ${given.at + 1} of ${items.length}`;
    field("description").textContent = item.description;
    field("segment").textContent = `segment ${(item.from / fps).toFixed(2)} – ${(item.to / fps).toFixed(2)} s`;
    field("frame").max = item.render.frames - 1;
    field("span").style.left = `${100 * item.from / item.render.frames}%`;
    field("span").style.width = `${100 * (item.to - item.from) / item.render.frames}%`;
    field("said").textContent = "";
    field("back").disabled = given.at === 0;
    field("advance").checked = given.advance;
    setTogether(false);
    playing = true;
    playButton();
    for (const [video, of] of [[reference, item.reference], [render, item.render]]) source(video, of.file);
    if (render.readyState >= 1) render.currentTime = 0;
    tellScore();
    tellProgress();
    field("description").focus({ preventScroll: true });
  }
  function tellScore() {
    const mine = given.scores[item.id];
    for (const radio of field("scores").querySelectorAll("input")) radio.checked = Boolean(mine) && Number(radio.value) === mine.score;
  }
  function give(score) {
    given.scores[item.id] = { score, at: new Date().toISOString() };
    keep();
    tellScore();
    tellProgress();
    field("said").textContent = `Scored ${score}`;
    if (given.advance) next();
  }
  function next() {
    if (given.at + 1 < items.length) open(given.at + 1);
    else finish();
  }
  function nextOpen() {
    const order = [...items.keys()].map((shift) => (given.at + 1 + shift) % items.length);
    const place = order.find((candidate) => !given.scores[items[candidate].id]);
    if (place === undefined) finish();
    else open(place);
  }
  function finish() {
    show("done");
    const left = items.length - scored();
    field("done-title").textContent = left ? "That was the last item" : "All items are scored. Thank you!";
    field("done-text").textContent = left
      ? `${left} of ${items.length} items have no score yet. You can go back to them, or export what there is.`
      : "Export the CSV file and send it to whoever gave you this sheet. Nothing has left this computer so far.";
    field("done-back").textContent = left ? "Back to the items without a score" : "Back to the items";
    field("done-title").focus();
  }

  // ---- export
  const quoted = (text) => /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  function exportScores() {
    const lines = [["sheet", "item", "score", "rater", "scored_at"]];
    for (const { id } of items) {
      const mine = given.scores[id];
      if (mine) lines.push([sheet, id, String(mine.score), given.rater, mine.at]);
    }
    const text = lines.map((line) => line.map(quoted).join(",") + "\r\n").join("");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = `scores-${sheet}-${given.rater.replace(/[^\p{L}\p{N}_-]+/gu, "_")}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    field("said").textContent = `${scored()} of ${items.length} exported`;
  }

  // ---- controls
  const named = () => field("rater").value.normalize("NFC").replace(/\s+/g, " ").trim();
  function tellResume() {
    const rater = named();
    const count = rater ? Object.keys(recall(rater).scores).length : 0;
    field("resume").textContent = count ? `You have scored ${count} of ${items.length} here; you go on where you were.` : "";
  }
  field("rater").addEventListener("input", tellResume);
  field("begin").addEventListener("submit", (event) => {
    event.preventDefault();
    if (!named()) { field("rater").value = ""; field("rater").reportValidity(); return; }
    given = recall(named());
    open(given.at);
  });
  field("play").addEventListener("click", () => playing ? stop() : play());
  field("together").addEventListener("click", () => setTogether(!together));
  field("speed").addEventListener("change", () => { for (const video of [reference, render]) video.playbackRate = Number(field("speed").value); });
  field("frame").addEventListener("input", () => {
    stop();
    render.currentTime = middleOf(Number(field("frame").value));
    if (together) reference.currentTime = middleOf(Math.min(Math.max(Number(field("frame").value), item.from), item.to - 1));
  });
  field("scores").addEventListener("change", (event) => give(Number(event.target.value)));
  field("advance").addEventListener("change", () => { given.advance = field("advance").checked; keep(); });
  field("back").addEventListener("click", () => open(given.at - 1));
  field("next").addEventListener("click", next);
  field("open-item").addEventListener("click", nextOpen);
  field("export").addEventListener("click", exportScores);
  field("done-export").addEventListener("click", exportScores);
  field("done-back").addEventListener("click", () => scored() < items.length ? nextOpen() : open(given.at));
  field("criteria-open").addEventListener("click", () => field("criteria").showModal());

  const keys = {
    enter: next, n: next, b: () => open(given.at - 1), u: nextOpen, " ": () => playing ? stop() : play(),
    s: () => setTogether(!together), ",": () => step(-1), ".": () => step(1),
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || field("criteria").open) return;
    const typing = event.target.matches("input:not([type=radio], [type=range], [type=checkbox]), select");
    if (event.key === "?" && !typing) field("criteria").showModal();
    if (typing || field("work").hidden) return;
    const pressed = event.target.closest("button, [type=checkbox]") && (event.key === " " || event.key === "Enter");
    if (pressed) return; // that is the button's own
    if (/^[0-5]$/.test(event.key)) give(Number(event.key));
    else if (keys[event.key.toLowerCase()]) keys[event.key.toLowerCase()]();
    else return;
    event.preventDefault();
  });

  field("rater").value = memory.read("") || "";
  field("not-kept").hidden = memory.write("", memory.read("") || "");
  tellResume();
  requestAnimationFrame(watch);
})();
