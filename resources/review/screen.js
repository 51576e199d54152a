// The picture: exact frames from the server while it rests, the clip's video while it plays, and how far it is zoomed in.
import { FPS, timeOf } from "./clock.js";
import { field } from "./dom.js";

const KEPT = 48; // frames, about 8 MB each at 1080p once decoded
const AHEAD = 2;

/** Frames as pictures, those asked for last kept. */
class Frames {
  constructor(clip) {
    this.clip = clip;
    this.kept = new Map();
  }
  get(frame) {
    const known = this.kept.get(frame);
    this.kept.delete(frame);
    const found = known ?? this.fetch(frame);
    this.kept.set(frame, found); // now the youngest
    for (const old of this.kept.keys()) {
      if (this.kept.size <= KEPT) break;
      this.kept.delete(old);
    }
    return found;
  }
  fetch(frame) {
    const image = new Image();
    image.src = `/frames/${encodeURIComponent(this.clip.clip_id)}/${frame}.jpg?v=${this.clip.sha256.slice(0, 12)}`;
    const found = image.decode().then(() => image);
    found.catch(() => this.kept.delete(frame)); // so that the next wish asks again
    return found;
  }
}

export class Screen {
  constructor(desk) {
    this.desk = desk;
    this.frames = new Frames(desk.clip);
    this.view = field("view");
    this.canvas = field("canvas");
    this.video = field("video");
    this.picture = field("picture");
    const { width_px, height_px, clip_id } = desk.clip;
    Object.assign(this.canvas, { width: width_px, height: height_px });
    this.video.src = `/video/${encodeURIComponent(clip_id)}.mp4`;
    this.wanted = 0;
    this.busy = false;
    this.playing = false;
    this.until = null; // frame at which playing stops by itself
    this.zoom = 1;
    this.centre = [width_px / 2, height_px / 2]; // the clip's pixel in the middle of the view
    desk.wish = (frame) => this.goTo(frame);
    new ResizeObserver(() => this.lay()).observe(this.view);
    this.video.addEventListener("ended", () => this.pause());
    this.video.addEventListener("error", () => this.fault("This browser cannot play the video; frames can still be stepped."));
    this.lay();
    this.goTo(0);
  }

  // ---- frames at rest: one request at a time, only the latest wish is kept
  goTo(frame) {
    this.stopVideo();
    this.wanted = Math.min(Math.max(Math.round(frame), 0), this.desk.clip.frames - 1);
    this.serve();
  }
  step(by) {
    this.goTo((this.playing ? this.desk.frame : this.wanted) + by);
  }
  async serve() {
    if (this.busy) return;
    this.busy = true;
    while (!this.playing) {
      const frame = this.wanted;
      try {
        const image = await this.frames.get(frame);
        if (this.playing) break;
        this.canvas.getContext("2d").drawImage(image, 0, 0, this.canvas.width, this.canvas.height);
        this.fault("");
        this.desk.show(frame);
      } catch {
        this.fault(`Frame ${frame} could not be had from the server.`);
      }
      if (frame === this.wanted) break;
    }
    this.busy = false;
    this.readAhead();
  }
  readAhead() {
    const way = this.wanted >= (this.before ?? 0) ? 1 : -1;
    this.before = this.wanted;
    for (const shift of [...Array(AHEAD).keys()].map((at) => (at + 1) * way)) {
      const frame = this.wanted + shift;
      if (frame >= 0 && frame < this.desk.clip.frames) this.frames.get(frame).catch(() => {}); // told when it is wanted
    }
  }
  fault(why) {
    field("picture-fault").textContent = why;
    field("picture-fault").hidden = !why;
  }

  // ---- the video
  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }
  async play(from = null, until = null) {
    if (from === null && this.desk.frame >= this.desk.clip.frames - 1) from = 0;
    this.until = until;
    this.video.currentTime = timeOf((from ?? this.desk.frame) + 0.5); // a frame's middle: no rounding shows its neighbour
    this.playing = true;
    this.desk.tell("state");
    this.watch();
    try {
      await this.video.play();
    } catch {
      this.stopVideo(); // paused before it began, or it cannot be played: its error event says so
    }
  }
  watch() {
    this.video.requestVideoFrameCallback((_, { mediaTime }) => {
      if (!this.playing) return;
      this.video.classList.add("shown"); // not before it shows where it begins
      const frame = Math.min(Math.floor(mediaTime * FPS + 1e-3), this.desk.clip.frames - 1);
      this.desk.show(frame);
      if (this.until !== null && frame >= this.until) this.goTo(this.until); // the video may have passed it by some frames
      else this.watch();
    });
  }
  pause() {
    if (this.playing) this.goTo(this.desk.frame);
  }
  stopVideo() {
    if (!this.playing) return;
    this.video.pause();
    this.video.classList.remove("shown");
    this.playing = false;
    this.desk.tell("state");
  }

  // ---- where the picture lies in the view
  get fit() {
    return Math.min(this.view.clientWidth / this.canvas.width, this.view.clientHeight / this.canvas.height);
  }
  get scale() {
    return this.fit * this.zoom;
  } // screen pixels of one of the clip's
  lay() {
    const { scale } = this;
    const place = (size, view, middle) => {
      if (size * scale <= view) return (view - size * scale) / 2;
      return Math.min(Math.max(view / 2 - middle * scale, view - size * scale), 0);
    };
    const [width, height] = [this.canvas.width, this.canvas.height];
    this.corner = [place(width, this.view.clientWidth, this.centre[0]), place(height, this.view.clientHeight, this.centre[1])];
    Object.assign(this.picture.style, {
      width: `${width * scale}px`,
      height: `${height * scale}px`,
      left: `${this.corner[0]}px`,
      top: `${this.corner[1]}px`,
    });
    this.picture.classList.toggle("coarse", scale >= 2);
    field("zoom").textContent = this.zoom === 1 ? "Fit" : `${Math.round(scale * 100)} %`;
    this.desk.tell("view");
  }
  /** The clip's pixel under a pointer. */
  at(event) {
    const { left, top } = this.view.getBoundingClientRect();
    return [(event.clientX - left - this.corner[0]) / this.scale, (event.clientY - top - this.corner[1]) / this.scale];
  }
  zoomAt(factor, [x, y]) {
    const before = this.scale;
    this.zoom = Math.min(Math.max(this.zoom * factor, 1), 16 / Math.min(this.fit, 1));
    const kept = before / this.scale; // the pixel under the pointer stays there
    const middle = [(this.view.clientWidth / 2 - this.corner[0]) / before, (this.view.clientHeight / 2 - this.corner[1]) / before];
    this.centre = [x + (middle[0] - x) * kept, y + (middle[1] - y) * kept];
    this.lay();
  }
  zoomTo(box) {
    const fitted = this.zoom !== 1 || !box;
    this.zoom = fitted
      ? 1
      : Math.max(
          1,
          (Math.min(this.view.clientWidth / (box[2] - box[0]), this.view.clientHeight / (box[3] - box[1]), 16) * 0.5) / this.fit,
        );
    if (!fitted) this.centre = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
    this.lay();
  }
  pan(x, y) {
    this.centre = [this.centre[0] - x / this.scale, this.centre[1] - y / this.scale];
    this.lay();
  }
}
