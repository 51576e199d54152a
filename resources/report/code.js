// Code of captions with its highlighting: a script for each system, taken in when its code is to be seen.
// Pieces come as lengths with a letter for what they are, `4t12.`; all of them are set as text.
"use strict";
(() => {
  const field = (id) => document.getElementById(id);
  const choice = field("code-system");
  const view = field("code-view");
  const [numbers, code] = [view.querySelector(".numbers"), view.querySelector("code")];
  const told = {}; // by system's name in addresses
  let seen = false; // until then nothing is taken in

  window.takeCode = (system, found) => {
    told[system] = found;
    show();
  };
  function ask(system) {
    if (system in told) return;
    told[system] = null; // asked for
    const script = document.createElement("script");
    script.src = choice.selectedOptions[0].dataset.src;
    document.head.append(script);
  }

  function show() {
    if (!seen) return;
    const system = choice.value;
    ask(system);
    const { page } = choice.selectedOptions[0].dataset;
    field("code-page").href = page;
    const found = told[system];
    if (!found) {
      code.textContent = "";
      return;
    }
    const pieces = [];
    let start = 0;
    for (const [, length, kind] of found.runs.matchAll(/(\d+)(\D)/g)) {
      const text = found.text.slice(start, start += Number(length));
      if (kind === ".") pieces.push(text);
      else {
        const span = document.createElement("span");
        span.className = `code-${kind}`;
        span.textContent = text;
        pieces.push(span);
      }
    }
    code.replaceChildren(...pieces, found.text.slice(start));
    const lines = found.text.split("\n").length;
    numbers.textContent = Array.from({ length: lines }, (_, line) => line + 1).join("\n");
    const cut = found.cut ? `; the last ${found.cut.toLocaleString("en")} characters are on the page alone` : "";
    const lit = start < found.text.length ? `; coloured up to character ${start.toLocaleString("en")}` : "";
    field("code-size").textContent = `${lines.toLocaleString("en")} lines, ${found.text.length.toLocaleString("en")} characters${lit}${cut}`;
    view.scrollTop = 0;
  }

  choice.addEventListener("change", show);
  field("wrap").addEventListener("change", (event) => view.classList.toggle("wrapped", event.target.checked));
  new IntersectionObserver((entries, observer) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    seen = true;
    show();
  }, { rootMargin: "400px" }).observe(view);
})();
