// Where the page begins: the queue, or a clip.
import { Refused, Silent, clipPath, read, send } from "./api.js";
import { ClipPage } from "./clip_page.js";
import { notice } from "./header.js";
import { tabName } from "./holding.js";
import { showQueue } from "./queue.js";

async function start() {
  const [, place, name] = location.pathname.split("/");
  try {
    const queue = await read("/api/queue");
    if (place !== "clip" || !name) {
      showQueue(queue);
      return;
    }
    const clip_id = decodeURIComponent(name);
    const tab = await tabName();
    await send(`${clipPath(clip_id)}/hold`, { tab, take: false });
    const answer = await read(`${clipPath(clip_id)}?tab=${encodeURIComponent(tab)}`);
    new ClipPage(clip_id, tab, queue.who, answer).begin();
  } catch (error) {
    if (!(error instanceof Refused || error instanceof Silent)) throw error;
    notice(`${error.message} ${error.status === 403 ? "Open the address that codecap review prints." : ""}`, "Try again", () =>
      location.reload(),
    );
  }
}

start();
