// Where the page begins: the queue, or a clip.
import { Refused, Silent, clipPath, read, send } from "./api.js";
import { ClipPage } from "./clip_page.js";
import { notice } from "./header.js";
import { tabName } from "./holding.js";
import { showQueue } from "./queue.js";

async function start() {
  const [, place, name] = location.pathname.split("/");
  try {
    if (place !== "clip" || !name) {
      showQueue(await read("/api/queue"));
      return;
    }
    const clip_id = decodeURIComponent(name);
    const tab = await tabName();
    const refused = await holds(clip_id, tab);
    const answer = await read(`${clipPath(clip_id)}?tab=${encodeURIComponent(tab)}`);
    new ClipPage(clip_id, tab, answer.who, answer, refused).begin();
  } catch (error) {
    if (!(error instanceof Refused || error instanceof Silent)) throw error;
    notice(`${error.message} ${error.status === 403 ? "Open the address that codecap review prints." : ""}`, "Try again", () =>
      location.reload(),
    );
  }
}

/** Hold the clip, if that is possible; else why the server could not write it down: the clip can be looked at all the same. */
async function holds(clip_id, tab) {
  try {
    await send(`${clipPath(clip_id)}/hold`, { tab, take: false });
    return "";
  } catch (error) {
    if (error.status !== 507) throw error;
    return error.message;
  }
}

start();
