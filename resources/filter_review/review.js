// The review sheet: one clip after another, a key keeps or drops it. What is decided stays in localStorage until it is exported.
"use strict";
(() => {
  const { sheet, columns, clips } = JSON.parse(document.getElementById("review-data").textContent);
  const field = (id) => document.getElementById(id);
  const known = new Map(clips.map((clip) => [clip.id, clip]));
  const PLACE = `codecap-review-${sheet}`;

  // ---- what was decided here: { who, at, given: { clip: { decision, who, decided_at, note } }, done: [clip, what stood before it here] }
  const memory = {
    read() { try { return localStorage.getItem(PLACE); } catch { return null; } },
    write(text) { try { localStorage.setItem(PLACE, text); return true; } catch { return false; } },
  };
  const right = (one) => one !== null && typeof one === "object" && (one.decision === "keep" || one.decision === "drop")
    && [one.who, one.decided_at, one.note].every((text) => typeof text === "string");
  const state = recall();

  function recall() {
    let kept = null;
    try { kept = JSON.parse(memory.read()); } catch { /* of an unfinished write */ }
    const entries = Object.entries((kept && kept.given) || {}).filter(([id, one]) => known.has(id) && right(one));
    const done = ((kept && Array.isArray(kept.done) && kept.done) || []).filter(
      (step) => Array.isArray(step) && known.has(step[0]) && (step[1] === null || right(step[1])));
    const at = kept && Number.isInteger(kept.at) ? Math.min(Math.max(kept.at, 0), clips.length - 1) : 0;
    return { who: kept && typeof kept.who === "string" ? kept.who : "", at, given: Object.assign(Object.create(null), Object.fromEntries(entries)), done };
  }
  function keep() { field("not-kept").hidden = memory.write(JSON.stringify(state)); }
  const standing = (clip) => clip.id in state.given ? state.given[clip.id] : clip.given;
  const here = () => clips[state.at];
  const who = () => field("who").value.replace(/\s+/g, " ").trim();

  // ---- what is shown
  const marks = new Map();
  const drafts = new Map(); // notes on clips that are open still
  for (const [place, clip] of clips.entries()) {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.title = clip.id;
    if (!clip.fault) {
      const image = document.createElement("img");
      image.src = `sheets/${clip.id}.small.jpg`;
      image.loading = "lazy";
      image.alt = "";
      button.append(image);
    }
    const words = document.createElement("span");
    words.textContent = clip.id;
    button.append(words);
    button.addEventListener("click", () => go(place));
    item.append(button);
    field("all").append(item);
    marks.set(clip.id, button);
  }

  function tellMark(clip) {
    const mark = marks.get(clip.id);
    const told = standing(clip);
    mark.dataset.decision = told ? told.decision : "";
    mark.setAttribute("aria-label", `${clip.id}: ${told ? told.decision : "open"}, the filter says ${clip.filter}`);
  }
  function tellProgress() {
    const count = clips.filter((clip) => standing(clip)).length;
    const keeps = clips.filter((clip) => standing(clip)?.decision === "keep").length;
    field("progress-text").textContent = `${count} of ${clips.length} decided, ${keeps} kept`;
    field("progress-bar").setAttribute("aria-valuenow", count);
    field("progress-bar").firstElementChild.style.width = `${100 * count / clips.length}%`;
  }
  function tellStanding() {
    const told = standing(here());
    field("standing").textContent = told ? `${told.decision === "keep" ? "Kept" : "Dropped"} by ${told.who}, ${told.decided_at.slice(0, 10)}` : "Open";
    field("standing").dataset.decision = told ? told.decision : "";
    field("note").value = told ? told.note : drafts.get(here().id) || "";
    field("undo").disabled = state.done.length === 0;
  }
  function go(place) {
    marks.get(here().id).removeAttribute("aria-current");
    state.at = Math.min(Math.max(place, 0), clips.length - 1);
    keep();
    const clip = here();
    stop();
    field("sheet").hidden = Boolean(clip.fault);
    if (!clip.fault) field("sheet").src = `sheets/${clip.id}.jpg`;
    field("sheet").alt = `Twelve frames of ${clip.id}`;
    field("fault").hidden = !clip.fault;
    field("fault").textContent = clip.fault;
    field("name").textContent = clip.id;
    field("facts").textContent = [clip.category, `${clip.seconds.toFixed(1)} s`, clip.size, clip.licence || "no licence stated"].join(" · ");
    field("filter").textContent = `the filter says ${clip.filter}`;
    field("filter").className = `tag ${clip.filter}`;
    field("chance").textContent = clip.chance === null ? "" : `chance to keep ${clip.chance.toFixed(2)}`;
    field("reasons").replaceChildren(...clip.reasons.map((reason) => Object.assign(document.createElement("li"), { textContent: reason })));
    field("source").textContent = clip.source;
    tellStanding();
    tellProgress();
    const mark = marks.get(clip.id);
    mark.setAttribute("aria-current", "true");
    mark.scrollIntoView({ block: "nearest", inline: "center" });
    scrollTo(0, 0);
  }

  // ---- the video, in the place of the contact sheet
  const video = field("video");
  function play() {
    if (here().fault) return;
    if (!video.hidden) { stop(); return; }
    video.src = `media/${here().id}.mp4`;
    video.hidden = false;
    field("sheet").hidden = true;
    video.play().catch(() => {}); // it waits for its data by itself
  }
  function stop() {
    video.pause();
    video.hidden = true;
    video.removeAttribute("src");
    video.load();
    field("sheet").hidden = Boolean(here().fault);
  }
  video.addEventListener("error", () => {
    if (!video.getAttribute("src")) return;
    stop();
    field("fault").textContent = "This browser cannot play the video.";
    field("fault").hidden = false;
  });

  // ---- decisions
  function decide(decision) {
    field("no-name").hidden = Boolean(who());
    if (!who()) { field("who").focus(); return; }
    const clip = here();
    state.done.push([clip.id, state.given[clip.id] || null]);
    state.given[clip.id] = { decision, who: who(), decided_at: new Date().toISOString(), note: written() };
    keep();
    tellMark(clip);
    nextOpen();
  }
  const written = () => field("note").value.replace(/\s+/g, " ").trim();
  function undo() {
    const last = state.done.pop();
    if (!last) return;
    const [id, before] = last;
    if (before === null) delete state.given[id];
    else state.given[id] = before;
    tellMark(known.get(id));
    go(clips.findIndex((clip) => clip.id === id));
  }
  function noted() {
    const told = standing(here());
    if (!told) drafts.set(here().id, written());
    if (!told || told.note === written()) return;
    field("no-name").hidden = Boolean(who());
    if (!who()) return; // nobody else's name may stand beside it
    state.given[here().id] = { ...told, note: written(), who: who(), decided_at: new Date().toISOString() };
    keep();
    tellStanding();
  }
  function nextOpen() {
    const order = [...clips.keys()].map((shift) => (state.at + 1 + shift) % clips.length);
    const place = order.find((candidate) => !standing(clips[candidate]));
    go(place === undefined ? state.at : place);
  }

  // ---- export: those decisions that were made here
  function exportTable() {
    const lines = [columns];
    for (const clip of clips) {
      const told = state.given[clip.id];
      if (told) {
        const cells = { ...told, clip_id: clip.id, cut: clip.cut };
        lines.push(columns.map((name) => String(cells[name]).replace(/\s+/g, " ").trim()));
      }
    }
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([lines.map((line) => line.join("\t") + "\n").join("")], { type: "text/tab-separated-values" }));
    link.download = `decisions-${sheet}-${(who() || "nobody").replace(/[^\p{L}\p{N}_-]+/gu, "_")}.tsv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  // ---- controls
  const on = (id, act) => field(id).addEventListener("click", () => { act(); field(id).blur(); });
  on("keep", () => decide("keep"));
  on("drop", () => decide("drop"));
  on("agree", () => decide(here().filter));
  on("undo", undo);
  on("back", () => go(state.at - 1));
  on("next", () => go(state.at + 1));
  on("open", nextOpen);
  on("play", play);
  on("export", exportTable);
  on("keys-open", () => field("keys").showModal());
  field("note").addEventListener("change", noted);
  field("who").addEventListener("change", noted); // a note that waited for a name
  field("who").addEventListener("input", () => { state.who = who(); field("no-name").hidden = true; keep(); });

  const acts = {
    k: () => decide("keep"), d: () => decide("drop"), a: () => decide(here().filter), u: undo,
    n: () => go(state.at + 1), arrowright: () => go(state.at + 1), b: () => go(state.at - 1), arrowleft: () => go(state.at - 1),
    o: nextOpen, " ": play, m: () => field("note").focus(), e: exportTable, "?": () => field("keys").showModal(),
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || field("keys").open) return;
    if (event.target.matches("input")) {
      if (event.key === "Enter" || event.key === "Escape") event.target.blur();
      return;
    }
    if (event.repeat && "kdau".includes(event.key.toLowerCase())) return; // a held key decides once
    if (event.target.closest("button") && (event.key === " " || event.key === "Enter")) return; // the button's own
    const act = acts[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  });

  field("who").value = state.who;
  clips.forEach(tellMark);
  go(state.at);
})();
