// A system's page: its best and worst videos by a column of choice, and what its long table shows.
"use strict";
(() => {
  const SHOWN = 6;
  const field = (id) => document.getElementById(id);
  const rows = [...field("videos").tBodies[0].rows];
  const heads = [...field("videos").tHead.rows[0].cells];

  function card(row, column) {
    const [item, link, title, number] = ["li", "a", "span", "span"].map((tag) => document.createElement(tag));
    const address = row.querySelector("th a");
    link.href = address.href;
    if (row.dataset.noStill === undefined) {
      const picture = document.createElement("img");
      picture.src = `../assets/stills/${row.dataset.clip}.jpg`;
      picture.alt = "";
      picture.loading = "lazy";
      link.append(picture);
    }
    title.className = "title";
    title.textContent = row.dataset.clip;
    number.className = "number";
    const failed = row.querySelector("th .tag.bad");
    number.textContent = row.cells[column].firstChild.textContent.trim() + (failed ? ` · ${failed.textContent}` : "");
    link.append(title, number);
    item.append(link);
    return item;
  }

  const choice = field("extremes-column");
  function showExtremes() {
    const column = heads.findIndex((head) => head.dataset.column === choice.value);
    const sign = choice.selectedOptions[0].dataset.first === "ascending" ? 1 : -1;
    const key = (row) => Number(row.cells[column].dataset.sort);
    const measured = rows.filter((row) => row.cells[column].dataset.sort !== "");
    const byName = (a, b) => a.dataset.clip.localeCompare(b.dataset.clip, "en", { numeric: true });
    const ordered = measured.sort((a, b) => sign * (key(a) - key(b)) || byName(a, b));
    const half = Math.min(SHOWN, Math.ceil(ordered.length / 2));
    field("best").replaceChildren(...ordered.slice(0, half).map((row) => card(row, column)));
    field("worst").replaceChildren(...ordered.slice(half).slice(-half).reverse().map((row) => card(row, column)));
  }
  if (choice) {
    choice.addEventListener("change", showExtremes);
    showExtremes();
  }

  function find() {
    const wanted = field("find").value.trim().toLowerCase();
    let count = 0;
    for (const row of rows) {
      row.hidden = !(row.dataset.clip.toLowerCase().includes(wanted) || row.dataset.category.toLowerCase() === wanted);
      count += row.hidden ? 0 : 1;
    }
    field("count").textContent = `${count} of ${rows.length}`;
  }
  field("find").addEventListener("input", find);
  for (const link of document.querySelectorAll(".of-category")) link.addEventListener("click", () => {
    field("find").value = link.dataset.category;
    find();
  });
  find();
})();
