// The one clock: 24 frames a second; frame i is on screen from i / 24 s. As the project's clock.py has it.
export const FPS = 24;
const SLACK = 1e-6; // of floating point: a time on a frame's start belongs to that frame

export const timeOf = (frame) => frame / FPS;

export const frameAt = (seconds, frames) => Math.min(Math.max(Math.floor(seconds * FPS + SLACK), 0), frames - 1);

/** First frame on screen within [start_s, end_s), and the frame after the last: at least one frame. */
export function framesBetween(start_s, end_s, frames) {
  const first = frameAt(start_s, frames);
  const last = Math.min(Math.ceil(end_s * FPS - SLACK) - 1, frames - 1);
  return [first, Math.max(last, first) + 1];
}

/** "2.500 s": to the millisecond, so that two frames never read the same. */
export const told = (seconds) => `${seconds.toFixed(3)} s`;
