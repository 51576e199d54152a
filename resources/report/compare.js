// Two systems side by side. What all share comes by `takeClips`, a system's numbers by `takeSystem` when it is chosen;
// the choice is kept in the address: compare.html#first=NAME&second=NAME&column=NAME.
"use strict";
(() => {
  const PAGE = 20; // rows shown, and added by "Show more"
  const field = (id) => document.getElementById(id);
  const shared = {};
  const systems = {}; // by name in addresses
  const limits = { clips: PAGE, items: PAGE };

  window.takeClips = (told) => {
    Object.assign(shared, told);
    begin();
  };
  window.takeSystem = (name, told) => {
    systems[name] = told;
    show();
  };
  function ask(name) {
    if (name in systems) return;
    systems[name] = null; // asked for
    const script = document.createElement("script");
    script.src = `data/system-${name}.js`;
    script.addEventListener("error", () => { field("verdict").textContent = `The file ${script.src} is missing or broken.`; });
    document.head.append(script);
  }

  // ---- small parts of a page; whatever came from a file is set as text
  function element(tag, className = "", ...content) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    made.append(...content);
    return made;
  }
  const cell = (text, className = "num") => element("td", className, text);
  function link(href, ...content) {
    const made = element("a", "", ...content);
    made.href = href;
    return made;
  }
  function number(value, decimals) {
    if (value === null || value === undefined) return "–";
    const places = Math.abs(value) >= 1000 && decimals === 1 ? 0 : decimals;
    const text = value.toLocaleString("en", { minimumFractionDigits: places, maximumFractionDigits: places }).replace("-", "−");
    return /[1-9]/.test(text) ? text : text.replace("−", "");
  }
  const signed = (value, decimals) => {
    const text = number(value, decimals);
    return value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
  };
  // From the middle to the right where the first system is better, to the left where the second is.
  function bar(advantage, largest) {
    const share = largest > 0 ? Math.min(Math.abs(advantage) / largest, 1) * 50 : 0;
    const fill = element("i", advantage >= 0 ? "object-0" : "object-1");
    fill.style.cssText = `width:${share}%;left:${advantage >= 0 ? 50 : 50 - share}%`;
    return element("td", "wide", element("span", "versus", fill));
  }
  // An interval and its mean on a scale of its own, 0 in the middle: what crosses the middle is not told apart.
  function forest(advantage, low, high) {
    const largest = Math.max(Math.abs(low), Math.abs(high), Math.abs(advantage));
    const place = (value) => (largest > 0 ? 50 + (48 * value) / largest : 50);
    const [range, middle] = ["range", "mean"].map((name) => element("i", `${name} ${advantage >= 0 ? "object-0" : "object-1"}`));
    range.style.cssText = `left:${place(low)}%;width:${place(high) - place(low)}%`;
    middle.style.left = `${place(advantage)}%`;
    return element("td", "wide", element("span", "versus", range, middle));
  }
  const record = (counts) => element("td", "num record",
    element("b", "object-0", String(counts[0])), ` · ${counts[1]} · `, element("b", "object-1", String(counts[2])));

  // ---- numbers
  const chosen = () => [field("first").value, field("second").value];
  const columnOf = (name) => shared.columns.find((column) => column.name === name);
  // Clips that both have a number for, with both and the first system's advantage.
  function duels(column) {
    const [first, second] = chosen().map((name) => systems[name].values[column.name]);
    const found = [];
    shared.clips.forEach((clip, place) => {
      const [a, b] = [first[place], second[place]];
      if (a !== null && b !== null) found.push({ clip, place, a, b, advantage: column.sign * (a - b) });
    });
    return found;
  }
  const tally = (found) => [
    found.filter(({ advantage }) => advantage > 0).length,
    found.filter(({ advantage }) => advantage === 0).length,
    found.filter(({ advantage }) => advantage < 0).length,
  ];
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  // What the comparison says of the two in a column, as first minus second, whichever way round it was made.
  function tested(column) {
    const [first, second] = chosen();
    const [there, back] = [systems[first].pairs[second], systems[second].pairs[first]];
    if (there && there[column.name]) return there[column.name];
    if (!back || !back[column.name]) return null;
    const [middle, low, high, p, holm] = back[column.name];
    const turned = (value) => (value === null ? null : -value);
    return [turned(middle), turned(high), turned(low), p, holm];
  }
  const shownP = (p) => (p < 0.001 ? "< 0.001" : p.toFixed(3));

  // ---- sections
  function showColumns() {
    const rows = [];
    const verdict = { better: 0, worse: 0, equal: 0, separated: [0, 0] };
    for (const column of shared.columns) {
      const found = duels(column);
      if (!found.length) continue;
      const [a, b] = [mean(found.map((duel) => duel.a)), mean(found.map((duel) => duel.b))];
      const advantage = column.sign * (a - b);
      const test = tested(column);
      if (column.paper) verdict[advantage > 0 ? "better" : advantage < 0 ? "worse" : "equal"] += 1;
      const measured = test && test[1] !== null;
      const apart = measured && (test[1] > 0 || test[2] < 0);
      if (column.paper && apart) verdict.separated[advantage > 0 ? 0 : 1] += 1;
      const ends = measured && (column.sign > 0 ? [test[1], test[2]] : [-test[2], -test[1]]);
      const pick = element("button", "pick", column.label);
      pick.type = "button";
      pick.setAttribute("aria-pressed", String(field("column").value === column.name));
      pick.addEventListener("click", () => { choose(column.name); field("where").scrollIntoView({ block: "start" }); });
      const unit = element("span", "unit", ` ${column.unit} ${column.sign > 0 ? "↑" : "↓"}`);
      const head = element("th", "", pick, unit);
      head.scope = "row";
      if (column.proxy) head.append(" ", element("span", "tag proxy", "stand-in"));
      const p = test && test[3] !== null ? shownP(test[3]) : "–";
      const pCell = cell(p);
      if (test && test[4] !== null && test[4] !== undefined) pCell.append(element("span", "ends", `Holm ${shownP(test[4])}`));
      const linked = (name, value) => element("td", "num", link(`systems/${name}.html#${column.id}`, number(value, column.decimals)));
      rows.push(element("tr", apart ? "apart" : "", head,
        linked(chosen()[0], a), linked(chosen()[1], b),
        cell(signed(a - b, column.decimals)),
        measured ? forest(advantage, ...ends) : bar(advantage, Math.max(...found.map((duel) => Math.abs(duel.advantage)))),
        cell(measured ? `${signed(test[1], column.decimals)} to ${signed(test[2], column.decimals)}` : "–"),
        pCell,
        record(tally(found))));
    }
    field("column-rows").replaceChildren(...rows);
    tellVerdict(verdict);
  }

  function tellVerdict({ better, worse, equal, separated }) {
    const [first, second] = chosen();
    if (first === second) {
      field("verdict").textContent = "The same system on both sides: choose another.";
      return;
    }
    const all = better + worse + equal;
    const tests = ` Told apart by the 95 % interval of their difference: ${separated[0]} for the first, ${separated[1]} for the second.`;
    field("verdict").replaceChildren(
      element("b", "object-0", shared.systems[first]), ` is better in ${better} of the paper's ${all} columns, `,
      element("b", "object-1", shared.systems[second]), ` in ${worse}${equal ? `; ${equal} equal` : ""}.${tests}`);
  }

  function showWhere(column, found) {
    for (const place of document.querySelectorAll(".chosen")) place.textContent = column.label;
    const ordered = [...found].sort((a, b) => b.advantage - a.advantage || a.place - b.place);
    const largest = Math.max(...ordered.map(({ advantage }) => Math.abs(advantage)), 0);
    const SVG = "http://www.w3.org/2000/svg";
    const svg = field("waterfall");
    svg.setAttribute("viewBox", `0 -1 ${Math.max(ordered.length, 1)} 2`);
    const bars = ordered.map((duel, place) => {
      const made = document.createElementNS(SVG, "rect");
      const height = largest > 0 ? Math.max(Math.abs(duel.advantage) / largest, 0.006) : 0.006;
      const box = { x: place + 0.06, y: duel.advantage > 0 ? -height : 0, width: 0.88, height };
      for (const [name, value] of Object.entries(box)) made.setAttribute(name, value);
      made.setAttribute("class", duel.advantage > 0 ? "object-0" : duel.advantage < 0 ? "object-1" : "same");
      const title = document.createElementNS(SVG, "title");
      title.textContent = `${duel.clip.id}: ${number(duel.a, column.decimals)} and ${number(duel.b, column.decimals)}`;
      made.append(title);
      made.addEventListener("click", () => { location.href = clipAddress(duel.clip); });
      return made;
    });
    svg.replaceChildren(...bars);
    const [wins, ties, losses] = tally(found);
    field("waterfall-words").textContent = `${wins} won, ${ties} equal, ${losses} lost of ${found.length}`;
    svg.setAttribute("aria-label", `${column.label}: ${field("waterfall-words").textContent}`);
    const letters = [...new Set(found.map(({ clip }) => clip.category))].sort();
    const lines = letters.map((letter) => {
      const of = found.filter(({ clip }) => clip.category === letter);
      return { letter, of, advantage: mean(of.map(({ advantage }) => advantage)), difference: mean(of.map(({ a, b }) => a - b)) };
    });
    const widest = Math.max(...lines.map(({ advantage }) => Math.abs(advantage)), 0);
    field("category-rows").replaceChildren(...lines.map(({ letter, of, advantage, difference }) => {
      const head = element("th", "", element("span", "letter", letter), ` ${nameOf(letter)}`);
      head.scope = "row";
      return element("tr", "", head, cell(String(of.length)), cell(signed(difference, column.decimals)), bar(advantage, widest), record(tally(of)));
    }));
  }
  const nameOf = (letter) => {
    const option = [...field("category").options].find(({ value }) => value === letter);
    return option ? option.textContent.slice(option.textContent.indexOf("·") + 2) : letter;
  };
  const clipAddress = (clip, point = "") => `clips/${clip.id}.html#show=${chosen().join(",")}${point ? `&point=${point}` : ""}`;

  function showClips(column, found) {
    const [winner, category] = [field("winner").value, field("category").value];
    const kept = found.filter(({ clip, advantage }) => (!winner || Math.sign(advantage) === Number(winner)) && (!category || clip.category === category));
    kept.sort((a, b) => Math.abs(b.advantage) - Math.abs(a.advantage) || a.place - b.place);
    const largest = Math.max(...found.map(({ advantage }) => Math.abs(advantage)), 0);
    const rows = kept.slice(0, limits.clips).map((duel) => {
      const address = link(clipAddress(duel.clip));
      if (duel.clip.still) {
        const picture = element("img", "still");
        Object.assign(picture, { src: `assets/stills/${duel.clip.id}.jpg`, alt: "", loading: "lazy" });
        address.append(picture);
      }
      address.append(duel.clip.id);
      const head = element("th", "clip", address, " ", element("span", "letter", duel.clip.category));
      head.scope = "row";
      return element("tr", "", head, valueCell(0, duel, column), valueCell(1, duel, column),
        cell(signed(duel.a - duel.b, column.decimals)), bar(duel.advantage, largest));
    });
    field("clip-rows").replaceChildren(...rows);
    field("clip-count").textContent = `${Math.min(limits.clips, kept.length)} of ${kept.length}`;
    field("more-clips").hidden = kept.length <= limits.clips;
  }
  function valueCell(side, duel, column) {
    const made = cell(number(side ? duel.b : duel.a, column.decimals));
    const outcome = systems[chosen()[side]].outcomes[duel.place];
    if (outcome !== "ok") made.append(element("span", "mark", outcome.replaceAll("_", " ")));
    return made;
  }

  function showItems() {
    if (!field("metric")) return;
    const metric = field("metric").value;
    const items = field("metric").selectedOptions[0].dataset.items;
    const points = items === "focal_points";
    field("kind-label").hidden = !points;
    const [winner, kind] = [field("item-winner").value, points ? field("kind").value : ""];
    const [first, second] = chosen().map((name) => systems[name].items[metric]);
    const found = [];
    shared.clips.forEach((clip, place) => clip[items].forEach((item, at) => {
      const [a, b] = [first[place][at] ?? null, second[place][at] ?? null];
      if (a === null || b === null || (kind && item[1] !== kind)) return;
      if (!winner || Math.sign(a - b) === Number(winner)) found.push({ clip, item, a, b });
    }));
    found.sort((x, y) => Math.abs(y.a - y.b) - Math.abs(x.a - x.b)); // stable: then by clip and item
    const rows = found.slice(0, limits.items).map(({ clip, item, a, b }) => {
      const head = element("th", "", link(clipAddress(clip, points ? item[0] : ""), clip.id));
      head.scope = "row";
      const words = points
        ? element("td", "words", element("span", `tag ${item[1]}`, item[1]), ` ${item[3]}`)
        : element("td", "words", item[0], element("span", "sub", item[1]));
      return element("tr", "", head, words, cell(number(a, 1)), cell(number(b, 1)), cell(signed(a - b, 1)), bar(a - b, 100));
    });
    field("item-rows").replaceChildren(...rows);
    field("item-count").textContent = `${Math.min(limits.items, found.length)} of ${found.length}`;
    field("more-items").hidden = found.length <= limits.items;
  }

  // ---- choices
  function show() {
    if (!shared.clips) return;
    const names = chosen();
    names.forEach(ask);
    for (const [place, className] of [[0, ".of-first"], [1, ".of-second"]]) {
      for (const head of document.querySelectorAll(className)) head.textContent = shared.systems[names[place]];
    }
    if (names.some((name) => !systems[name])) return;
    const column = columnOf(field("column").value);
    const found = duels(column);
    showColumns();
    showWhere(column, found);
    showClips(column, found);
    showItems();
  }
  function keep() {
    const [first, second] = chosen();
    history.replaceState(null, "", `#first=${first}&second=${second}&column=${field("column").value}`);
  }
  function changed() {
    [limits.clips, limits.items] = [PAGE, PAGE];
    keep();
    show();
  }
  function choose(name) {
    field("column").value = name;
    changed();
  }
  function has(select, value) { return [...select.options].some((option) => option.value === value); }
  function readAddress() {
    const told = new URLSearchParams(location.hash.slice(1));
    for (const id of ["first", "second", "column"]) if (has(field(id), told.get(id))) field(id).value = told.get(id);
    if (field("first").value === field("second").value && !told.get("second")) {
      const other = [...field("second").options].find(({ value }) => value !== field("first").value);
      if (other) field("second").value = other.value;
    }
  }
  function begin() {
    const overall = shared.columns.find(({ name }) => name === "retention_overall") || shared.columns[shared.columns.length > 1 ? 1 : 0];
    field("column").value = overall.name;
    readAddress();
    show();
  }

  for (const id of ["first", "second", "column"]) field(id).addEventListener("change", changed);
  field("swap").addEventListener("click", () => {
    const [first, second] = chosen();
    [field("first").value, field("second").value] = [second, first];
    changed();
  });
  for (const id of ["winner", "category"]) field(id).addEventListener("change", () => { limits.clips = PAGE; show(); });
  for (const id of ["metric", "item-winner", "kind"]) {
    if (field(id)) field(id).addEventListener("change", () => { limits.items = PAGE; show(); });
  }
  for (const [id, of] of [["more-clips", "clips"], ["more-items", "items"]]) {
    if (field(id)) field(id).addEventListener("click", () => { limits[of] += 2 * PAGE; show(); });
  }
  for (const form of document.querySelectorAll("form")) form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", () => { if (location.hash.includes("=") && shared.clips) { readAddress(); show(); } });
})();
