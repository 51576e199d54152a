// The queue: all clips, the most doubtful first, as the server orders them.
import { read } from "./api.js";
import { FPS } from "./clock.js";
import { count, field, make } from "./dom.js";
import { showProgress } from "./header.js";

const TODO = ["open", "started"];
const LOOK_MS = 3000;
export const clipAddress = (clip_id) => `/clip/${encodeURIComponent(clip_id)}`;

/** The clip to review after this one: the first in the queue's order that is open, or begun, and that nobody holds. */
export const nextOf = (clips, after = null) =>
  clips.find(({ clip_id, status, held_by }) => clip_id !== after && TODO.includes(status) && !held_by);

/** Show the queue, and keep it up to date: while clips are still looked at, and when the page is looked at again. */
export function showQueue(first) {
  let told = first;
  const again = async () => {
    try {
      told = await read("/api/queue");
      fill(told);
    } catch {
      /* the server is away; what is shown stays */
    }
  };
  field("queue-view").hidden = false;
  field("who").textContent = told.who;
  field("queue-filter").addEventListener("change", () => fill(told));
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) again();
  });
  setInterval(() => {
    if (told.left && !document.hidden) again();
  }, LOOK_MS);
  fill(told);
  field("queue-next").focus();
}

function fill({ clips, left }) {
  const done = clips.filter(({ status }) => !TODO.includes(status)).length;
  showProgress(done, clips.length, `${done} of ${count(clips.length, "clip")} done`);
  const next = nextOf(clips);
  field("queue-next").hidden = !next;
  if (next) field("queue-next").href = clipAddress(next.clip_id);
  field("queue-left").hidden = !left;
  field("queue-left").textContent = `${count(left, "clip is", "clips are")} still being looked at; the order may change.`;
  const wanted = field("queue-filter").value;
  const shown = clips.filter(({ status }) => !wanted || status === wanted || (wanted === "todo" && TODO.includes(status)));
  field("queue-rows").replaceChildren(
    ...(shown.length ? shown.map(row) : [make("tr", {}, make("td", { colSpan: 8, className: "none", textContent: "No clips." }))]),
  );
}

function row({ clip_id, category, frames, width_px, height_px, objects, focal_points, status, doubt, why, held_by, second }) {
  const number = (words) => make("td", { className: "num", textContent: words });
  const level = make("i");
  level.style.width = `${Math.round(doubt * 100)}%`;
  return make(
    "tr",
    { dataset: { clip: clip_id, status } },
    make(
      "th",
      { scope: "row" },
      make("span", { className: "letter", textContent: category }),
      " ",
      make("a", { href: clipAddress(clip_id), textContent: clip_id }),
    ),
    number(`${(frames / FPS).toFixed(1)} s`),
    number(`${width_px} × ${height_px}`),
    number(String(objects ?? "–")),
    number(String(focal_points ?? "–")),
    make("td", { className: "doubt-cell", title: doubt.toFixed(2) }, make("span", { className: "level" }, level)),
    make("td", { className: "why" }, ...why.slice(0, 3).map((words) => make("div", { textContent: words }))),
    make(
      "td",
      {},
      make("span", { className: `tag ${status}`, textContent: status }),
      second
        ? make("span", { className: "tag warn", textContent: "twice", title: "Two people review it, each for himself" })
        : null,
      held_by ? make("div", { className: "sub", textContent: `${held_by} works on it` }) : null,
    ),
  );
}
