// Tables that sort by their heads: each body by itself, its heading row first, what has no number last.
"use strict";
(() => {
  for (const table of document.querySelectorAll("table:has(thead .sort)")) {
    const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
    heads.forEach((head, column) => head.querySelector(".sort").addEventListener("click", (event) => {
      const button = event.currentTarget;
      const first = button.dataset.first || (button.dataset.kind === "text" ? "ascending" : "descending");
      const other = first === "ascending" ? "descending" : "ascending";
      const order = head.getAttribute("aria-sort") === first ? other : first;
      heads.forEach((cell) => cell.setAttribute("aria-sort", cell === head ? order : "none"));
      for (const body of table.tBodies) sortRows(body, column, button.dataset.kind === "text", order === "ascending" ? 1 : -1);
    }));
  }

  function sortRows(body, column, asText, sign) {
    const key = (row) => row.cells[column].dataset.sort;
    const rows = [...body.rows].filter((row) => !row.classList.contains("heading"));
    rows.sort((a, b) => {
      if (asText) return sign * key(a).localeCompare(key(b), "en", { numeric: true });
      if (key(a) === "" || key(b) === "") return (key(a) === "") - (key(b) === "");
      return sign * (Number(key(a)) - Number(key(b)));
    });
    body.append(...rows);
  }
})();
