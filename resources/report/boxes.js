// Boxes and masks as a clip's page has them: how they are told, how they overlap, how a mask is drawn.
"use strict";
const boxes = (() => {
  // Boxes come as runs [count, box or null].
  function expand(runs, frames) {
    const boxes = new Array(frames).fill(null);
    let frame = 0;
    for (const [count, box] of runs || []) {
      boxes.fill(box, frame, frame + count);
      frame += count;
    }
    boxes.length = frames;
    return boxes;
  }

  // The overlap of two boxes [x0, y0, x1, y1] over their union; null where neither is there.
  function overlap(a, b) {
    if (!a && !b) return null;
    if (!a || !b) return 0;
    const shared = Math.max(0, Math.min(a[2], b[2]) - Math.max(a[0], b[0])) * Math.max(0, Math.min(a[3], b[3]) - Math.max(a[1], b[1]));
    const both = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared;
    return both > 0 ? shared / both : 0;
  }

  // COCO's run-length text, column by column, in the colour that the context fills with.
  function fillMask(context, text, height) {
    const counts = [];
    for (let place = 0; place < text.length;) {
      let value = 0;
      let shift = 0;
      let group;
      do {
        group = text.charCodeAt(place++) - 48;
        value |= (group & 31) << shift;
        shift += 5;
      } while (group & 32);
      if (group & 16) value |= -1 << shift;
      counts.push(counts.length > 2 ? value + counts[counts.length - 2] : value);
    }
    let start = 0;
    counts.forEach((count, place) => {
      for (let at = start; place % 2 && at < start + count;) { // down a column, on in the next
        const rows = Math.min(start + count - at, height - (at % height));
        context.fillRect(Math.floor(at / height), at % height, 1, rows);
        at += rows;
      }
      start += count;
    });
  }

  return { expand, overlap, fillMask };
})();
