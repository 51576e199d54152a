// The keyboard: one table says which key does what; the sheet that `?` opens is made of it.
import { FPS } from "./clock.js";
import { field, make } from "./dom.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Rows of [group, keys, words, act, repeats]; a key is named as the event names it, "Shift+" and "Ctrl+" before it. */
function table({ desk, screen, overlay, acts, dialogs }) {
  const last = desk.clip.frames - 1;
  return [
    ["Video", ["ArrowLeft", "ArrowRight"], "a frame back, on", (way) => screen.step(way ? 1 : -1), true],
    ["Video", ["Shift+ArrowLeft", "Shift+ArrowRight"], "a second back, on", (way) => screen.step(way ? FPS : -FPS), true],
    ["Video", ["Home", "End"], "first frame, last frame", (way) => screen.goTo(way ? last : 0)],
    ["Video", [" "], "play, pause", () => screen.toggle()],
    ["Video", ["p"], "play the selected interval", () => acts.playSpan()],
    ["Video", ["z"], "zoom to the selected box, and back (the wheel zooms too)", () => screen.zoomTo(overlay.box)],
    [
      "Video",
      ["v"],
      "show the selected box alone, or all",
      () => {
        overlay.others = !overlay.others;
        overlay.draw();
      },
    ],
    ["Items", ["ArrowUp", "ArrowDown"], "item above, below", (way) => acts.select(way ? 1 : -1), true],
    ["Items", ["n"], "next item that is not decided", () => acts.nextOpen()],
    ["Items", ["a"], "accept, and on to the next", () => acts.decide("accept")],
    ["Items", ["x"], "reject, and on to the next", () => acts.decide("reject")],
    ["Items", ["e"], "edit the description (Esc leaves it)", () => field("description")?.focus()],
    ["Items", ["r"], "rename the object", () => field("item-name")?.select()],
    ["Items", ["[", "]"], "its interval begins, ends on this frame", (way) => (way ? acts.ends() : acts.begins())],
    ["Items", ["f"], "new focal point, from this frame", () => dialogs.newPoint()],
    ["Items", ["o"], "new object", () => acts.addObject()],
    ["Items", ["j"], "next problem", () => acts.nextProblem()],
    [
      "Boxes",
      ["b"],
      "box mode: arrow keys move by 1 px, Shift by 10; Ctrl moves right and lower side, Ctrl+Alt left and upper",
      () => acts.mode("box"),
    ],
    ["Boxes", ["d"], "draw the box by the mouse", () => acts.mode("draw")],
    ["Boxes", ["k"], "make this frame a key frame", () => acts.setKey()],
    ["Boxes", ["Delete", "Backspace"], "remove this key frame", () => acts.removeKey()],
    ["Boxes", ["h"], "hidden from this frame on, until its next key frame", () => acts.hide()],
    ["Boxes", [",", "."], "key frame before, after", (way) => acts.keyBeside(way ? 1 : -1)],
    ["Boxes", ["+", "-"], "mark points on the object, beside it, by the mouse", (way) => acts.mode(way ? "minus" : "plus")],
    ["Boxes", ["s"], "segment the object from this frame", () => acts.segment()],
    ["Boxes", ["Escape"], "leave a mode; let go of the selection", () => (overlay.mode ? overlay.setMode("") : desk.select(null))],
    ["Clip", ["u", "Ctrl+z"], "undo", () => desk.undo(), true],
    ["Clip", ["Shift+U", "Ctrl+y", "Ctrl+Shift+Z"], "redo", () => desk.redo(), true],
    ["Clip", ["Ctrl+Enter"], "approve or reject the clip", () => dialogs.decide()],
    [
      "Clip",
      ["q"],
      "back to the queue",
      () => {
        location.href = "/";
      },
    ],
    ["Clip", ["?"], "this sheet", () => field("keys").showModal()],
  ];
}

const SIGNS = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  " ": "Space",
  Delete: "Del",
  Backspace: "⌫",
  Escape: "Esc",
};
const sign = (name) =>
  name
    .split(/\+(?=.)/)
    .map((part) => SIGNS[part] ?? (part.length === 1 ? part.toUpperCase() : part))
    .join(" ");

export function listen(page) {
  const rows = table(page);
  // of a row with two opposite keys, the act is told which one; of one with several ways to the same, it makes no difference
  const known = new Map(
    rows.flatMap(([, keys, , act, repeats]) => keys.map((key, way) => [key, { act: () => act(way), repeats }])),
  );
  addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]")) return;
    if (event.target.matches("input:not([type=radio]), textarea, select")) {
      leave(event);
      return;
    }
    if (event.target.closest("button, a, summary") && [" ", "Enter"].includes(event.key) && !event.ctrlKey) return; // its own
    if (nudged(event, page)) {
      event.preventDefault();
      return;
    }
    if (event.altKey && !writes(event)) return;
    const found = known.get(named(event));
    if (!found || (event.repeat && !found.repeats)) return;
    event.preventDefault();
    found.act();
  });
  fillSheet(rows);
}

/** Whether Alt only helps to write the sign, as AltGr does for [ on many keyboards, and Option on a Mac's. */
const writes = (event) => (event.altKey || event.getModifierState("AltGraph")) && /^[^\p{L}\p{N}\s]$/u.test(event.key);

function named(event) {
  const control = (event.ctrlKey || event.metaKey) && !writes(event);
  const letter = /^\p{L}$/u.test(event.key);
  const key = letter && !event.shiftKey ? event.key.toLowerCase() : letter ? event.key.toUpperCase() : event.key;
  return `${control ? "Ctrl+" : ""}${event.shiftKey && (letter || key.length > 1) ? "Shift+" : ""}${key}`;
}

function leave(event) {
  const done = event.key === "Escape" || (event.key === "Enter" && (event.target.matches("input") || event.ctrlKey));
  if (!done) return;
  event.preventDefault();
  event.target.blur();
}

function nudged(event, { overlay, desk }) {
  if (overlay.mode !== "box" || !desk.object || !ARROWS[event.key]) return false;
  const by = event.shiftKey ? 10 : 1;
  const [x, y] = ARROWS[event.key].map((way) => way * by);
  const control = event.ctrlKey || event.metaKey;
  overlay.nudge(control ? (event.altKey ? [0, 1] : [2, 3]) : null, x, y);
  return true;
}

function fillSheet(rows) {
  const groups = [...new Set(rows.map(([group]) => group))];
  field("key-list").replaceChildren(
    ...groups.map((group) =>
      make(
        "section",
        {},
        make("h3", { textContent: group }),
        make(
          "dl",
          {},
          ...rows
            .filter((row) => row[0] === group)
            .map(([, keys, words]) =>
              make(
                "div",
                {},
                make("dt", {}, ...keys.flatMap((key, place) => [place ? " " : null, make("kbd", { textContent: sign(key) })])),
                make("dd", { textContent: words }),
              ),
            ),
        ),
      ),
    ),
  );
}
