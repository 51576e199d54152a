// The first page: which systems its tables show, the choice of a plot, and the gallery's bars, filters and order.
"use strict";
(() => {
  // Systems by name and group, in all tables at once; a group without any has no heading.
  const lines = [...document.querySelectorAll("table.board tr[data-system]")];
  function findSystems() {
    const wanted = document.getElementById("find-system").value.trim().toLowerCase();
    const group = document.getElementById("group").value;
    const shown = new Set();
    for (const line of lines) {
      line.hidden = !(line.dataset.words.includes(wanted) && (!group || line.parentElement.className === `group-${group}`));
      if (!line.hidden) shown.add(line.dataset.system);
    }
    for (const body of document.querySelectorAll("table.board tbody")) body.hidden = [...body.rows].every((row) => row.hidden || row.className === "heading");
    const all = new Set(lines.map((line) => line.dataset.system)).size;
    document.getElementById("system-count").textContent = shown.size === all ? "" : `${shown.size} of ${all}`;
  }
  document.getElementById("system-filters").addEventListener("input", findSystems);
  document.getElementById("system-filters").addEventListener("submit", (event) => event.preventDefault());

  const choice = document.getElementById("plot-choice");
  choice.addEventListener("change", () => {
    for (const plot of document.querySelectorAll(".plot")) plot.hidden = plot.dataset.plot !== choice.value;
  });

  const pair = document.getElementById("pair-choice");
  if (pair) pair.addEventListener("change", () => {
    for (const view of document.querySelectorAll(".agreement")) view.hidden = view.dataset.pair !== pair.value;
  });

  const data = JSON.parse(document.getElementById("gallery-data").textContent);
  const gallery = document.getElementById("gallery");
  const cards = [...gallery.children];
  const field = (id) => document.getElementById(id);

  function fill(card, column) {
    const { ends: [lowest, highest], decimals } = data.columns[column];
    const lines = data.clips[card.dataset.clip].slice(0, data.shown).map((task, place) => {
      const line = document.createElement("div");
      line.className = "line";
      const value = task && task.v[column];
      const share = value === null ? 0 : Math.min(Math.max((value - lowest) / (highest - lowest), 0), 1);
      const [name, track, number] = ["span", "span", "span"].map((tag) => document.createElement(tag));
      name.className = "who";
      name.textContent = name.title = data.systems[place];
      track.className = "track";
      track.append(document.createElement("i"));
      track.firstChild.style.width = `${100 * share}%`;
      number.className = "number";
      number.textContent = task && task.o !== "ok" ? "✕" : value === null ? "–" : value.toFixed(decimals);
      if (task && task.o !== "ok") number.title = task.o;
      line.append(name, track, number);
      return line;
    });
    if (data.systems.length > data.shown) {
      const more = document.createElement("div");
      more.className = "more";
      more.textContent = `${data.systems.length - data.shown} more on its page`;
      lines.push(more);
    }
    card.querySelector(".bars").replaceChildren(...lines);
  }

  function arrange() {
    const column = Number(field("bars").value);
    const wanted = field("find").value.trim().toLowerCase();
    const category = field("category").value;
    const numbers = (card) => data.clips[card.dataset.clip].map((task) => task && task.v[column]).filter((value) => value !== null);
    const mean = (values) => values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : Infinity;
    const spread = (values) => values.length ? Math.max(...values) - Math.min(...values) : -1;
    const keys = {
      id: () => 0,
      low: (card) => mean(numbers(card)),
      spread: (card) => -spread(numbers(card)),
    };
    const key = keys[field("order").value];
    gallery.append(...[...cards].sort((a, b) => key(a) - key(b) || a.dataset.clip.localeCompare(b.dataset.clip, "en", { numeric: true })));
    let count = 0;
    for (const card of cards) {
      card.hidden = !(card.dataset.clip.toLowerCase().includes(wanted)
        && (!category || card.dataset.category === category)
        && (!field("failed").checked || card.dataset.failed !== "0"));
      if (card.hidden) continue;
      count += 1;
      fill(card, column);
    }
    field("count").textContent = `${count} of ${cards.length}`;
  }

  field("filters").addEventListener("input", arrange);
  field("filters").addEventListener("submit", (event) => event.preventDefault());
  if (data.columns.length) arrange();
})();
