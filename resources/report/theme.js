// Light or dark: the system's choice until the reader makes one. Runs in the head, so the page never flashes.
"use strict";
(() => {
  const root = document.documentElement;
  const read = () => { try { return localStorage.getItem("codecap-theme"); } catch { return null; } };
  const keep = (theme) => { try { localStorage.setItem("codecap-theme", theme); } catch { /* not kept where the browser forbids it */ } };
  const chosen = read();
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  addEventListener("DOMContentLoaded", () => {
    document.getElementById("theme").addEventListener("click", () => {
      const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark";
      keep(root.dataset.theme);
    });
  });
})();
