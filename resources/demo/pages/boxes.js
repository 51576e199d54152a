// Adds `objects()` to a demo page: where each named layer is, and the box of what can be seen of it, at the time of the last seek.
//
// Layers are painted one by one on canvases of their own, from front to back, and what lies before a layer is cut out of it. A pixel
// belongs to an object where the object covers at least half of it, so soft shadows and glows (under half opaque) do not count.
// Boxes are [x0, y0, x1, y1] in CSS pixels, x1 and y1 exclusive: those of the mask that a perfect segmenter would draw. An object of
// which fewer than MIN_PIXELS can be seen counts as not visible. `amodal_xyxy` also bounds what is hidden, clipped or outside the
// picture (as far as MARGIN_PX); it is null while nothing of the object is inside the picture.
"use strict";
(() => {
  const MARGIN_PX = 200, MIN_PIXELS = 16;
  const [width, height] = window.SIZE;
  const wide = width + 2 * MARGIN_PX, high = height + 2 * MARGIN_PX;
  let now = 0;
  const seek = window.seek;
  window.seek = time => { now = time; return seek(time); };

  const canvas = () => {
    const made = document.createElement("canvas");
    made.width = wide; made.height = high;
    return made.getContext("2d", { willReadFrequently: true });
  };
  const whole = canvas(), seen = canvas(), before = canvas();

  const paint = (context, layer, clipped) => {
    context.save();
    context.translate(MARGIN_PX, MARGIN_PX);
    if (clipped && layer.clip) layer.clip(context, now);
    layer.draw(context, now);
    context.restore();
  };

  // Box of the pixels that are at least half covered, in a window of the canvas; null when there are too few.
  const box = (context, left, top, w, h) => {
    const data = context.getImageData(left, top, w, h).data;
    let count = 0, x0 = w, y0 = h, x1 = -1, y1 = -1;
    for (let y = 0; y < h; y++) {
      for (let x = 0, at = y * w * 4 + 3; x < w; x++, at += 4) {
        if (data[at] < 128) continue;
        count++;
        if (x < x0) x0 = x;
        if (x > x1) x1 = x;
        if (y < y0) y0 = y;
        y1 = y;
      }
    }
    if (count < MIN_PIXELS) return null;
    return [x0 + left - MARGIN_PX, y0 + top - MARGIN_PX, x1 + 1 + left - MARGIN_PX, y1 + 1 + top - MARGIN_PX];
  };
  const touchesPicture = found => found && found[0] < width && found[1] < height && found[2] > 0 && found[3] > 0;

  window.objects = () => {
    const found = {};
    before.clearRect(0, 0, wide, high);
    const layers = window.LAYERS || [];
    const last = layers.findIndex(layer => layer.name);  // nothing behind it matters
    for (let at = layers.length - 1; at >= Math.max(last, 0); at--) {
      const layer = layers[at];
      if (layer.name) {
        whole.clearRect(0, 0, wide, high);
        paint(whole, layer, false);
        const amodal = box(whole, 0, 0, wide, high);
        seen.clearRect(0, 0, wide, high);
        paint(seen, layer, true);
        seen.globalCompositeOperation = "destination-out";
        seen.drawImage(before.canvas, 0, 0);
        seen.globalCompositeOperation = "source-over";
        found[layer.name] = {
          visible_xyxy: box(seen, MARGIN_PX, MARGIN_PX, width, height),
          amodal_xyxy: touchesPicture(amodal) ? amodal : null,
        };
      }
      paint(before, layer, true);
    }
    return found;
  };
})();
