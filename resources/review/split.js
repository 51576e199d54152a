// How the window's height is shared by the picture and the timeline; kept in this browser.
import { field } from "./dom.js";
import { follow } from "./overlay.js";

const PLACE = "codecap-review-timeline";
const STEP_PX = 24;
const LEAST_PX = 80;

export function layOut(screen) {
  const desk = field("clip-view");
  const split = field("split");
  const height = () => field("timeline").clientHeight;
  const set = (wanted) => {
    const px = Math.round(Math.min(Math.max(wanted, LEAST_PX), desk.clientHeight - 2 * LEAST_PX));
    desk.style.setProperty("--timeline", `${px}px`);
    try {
      localStorage.setItem(PLACE, px);
    } catch {
      /* not kept then */
    }
    screen.lay();
  };
  try {
    const kept = Number(localStorage.getItem(PLACE));
    if (kept) set(kept);
  } catch {
    /* nothing is kept here */
  }
  split.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    const before = height();
    follow(
      event,
      (move) => set(before + event.clientY - move.clientY),
      () => {},
    );
  });
  split.addEventListener("keydown", (event) => {
    const way = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    event.stopPropagation();
    set(height() + way * STEP_PX);
  });
}
