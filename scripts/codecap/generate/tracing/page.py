"""The page: one HTML file of SVG layers, with the script that shows them at a time."""

from __future__ import annotations

from codecap.clock import FPS
from codecap.generate.tracing.layers import Layer

HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Traced video</title>
<style>html,body{{margin:0;overflow:hidden;background:{background}}}svg{{display:block}}</style></head>
<body><svg width="{width}" height="{height}" viewBox="0 0 {width} {height}">
"""
FOOT = """</svg><script>
const FPS = {fps}, FRAMES = {frames};
const layers = [...document.querySelectorAll("[data-show]")].map(g => ({{
  g, on: true, at: "",
  show: g.dataset.show.split(" ").map(Number),
  keys: (g.dataset.move || "").split(";").filter(Boolean).map(key => key.split(" ").map(Number)),
}}));
function place(keys, frame) {{
  let next = keys.findIndex(key => key[0] > frame);
  if (next < 0) return keys[keys.length - 1].slice(1);
  if (next === 0) return keys[0].slice(1);
  const [f0, x0, y0] = keys[next - 1], [f1, x1, y1] = keys[next], share = (frame - f0) / (f1 - f0);
  return [x0 + share * (x1 - x0), y0 + share * (y1 - y0)];
}}
window.seek = seconds => {{
  const frame = Math.min(Math.max(seconds * FPS + 1e-6, 0), FRAMES - 1);
  for (const layer of layers) {{
    const on = layer.show[0] <= frame && frame < layer.show[1];
    if (on !== layer.on) {{
      layer.on = on;
      layer.g.style.display = on ? "" : "none";
    }}
    if (!on || !layer.keys.length) continue;
    const at = `translate(${{place(layer.keys, frame).map(v => Math.round(v * 1000) / 1000).join(" ")}})`;
    if (at !== layer.at) layer.g.setAttribute("transform", layer.at = at);
  }}
}};
seek(0);
</script></body></html>
"""


def page_of(layers: list[Layer], width_px: int, height_px: int, frames: int, background: str = "#fff") -> str:
    """Write a page.

    Args:
        layers: traced layers, the lowest first.
        frames: length of the clip.
        background: CSS colour where no layer lies.
    """
    head = HEAD.format(background=background, width=width_px, height=height_px)
    foot = FOOT.format(fps=FPS, frames=frames)
    return head + "\n".join(markup_of(layer) for layer in layers if layer.markup) + foot


def markup_of(layer: Layer) -> str:
    """A layer as a group; `data-show` has its first frame and the one after its last, `data-move` its key positions."""
    keys = layer.keys
    place = ""
    if len(keys) > 1:
        place = f' data-move="{";".join(f"{frame} {_short(x)} {_short(y)}" for frame, x, y in keys)}"'
    elif keys[0][1:] != (0.0, 0.0):
        place = f' transform="translate({_short(keys[0][1])} {_short(keys[0][2])})"'
    return f'<g data-show="{layer.start} {layer.stop}"{place}>{layer.markup}</g>'


def _short(value: float) -> str:
    return f"{round(value, 1):g}"
