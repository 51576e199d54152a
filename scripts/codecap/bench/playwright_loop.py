"""The loop that a user would write: seek, screenshot, pipe the PNG to ffmpeg. What `codecap bench render` compares with.

    python -m codecap.bench.playwright_loop PAGE OUT.mp4 FRAMES WIDTHxHEIGHT BROWSER FFMPEG

Everything that is not named here is left at its default, in Playwright as in ffmpeg.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from playwright.sync_api import sync_playwright

FPS = 24


def screenshots(
    page: Path, frames: int, width_px: int, height_px: int, browser: Path, flags: Sequence[str] = ()
) -> Iterator[bytes]:
    """PNG of each frame `i` after `window.seek(i / 24)`; `flags` are given to the browser beside Playwright's own."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, headless=True, args=list(flags))
        tab = chromium.new_page(viewport={"width": width_px, "height": height_px})
        tab.goto(page.resolve().as_uri())
        for index in range(frames):
            tab.evaluate("seconds => window.seek(seconds)", index / FPS)
            yield tab.screenshot(type="png")
        chromium.close()


def ffmpeg_command(ffmpeg: Path, out_mp4: Path) -> list[str]:
    reading = ["-f", "image2pipe", "-framerate", str(FPS), "-i", "-"]
    return [str(ffmpeg), "-loglevel", "error", "-y", *reading, "-c:v", "libx264", "-pix_fmt", "yuv420p", str(out_mp4)]


def render(page: Path, out_mp4: Path, frames: int, width_px: int, height_px: int, browser: Path, ffmpeg: Path) -> None:
    encoder = subprocess.Popen(ffmpeg_command(ffmpeg, out_mp4), stdin=subprocess.PIPE)
    for png in screenshots(page, frames, width_px, height_px, browser):
        encoder.stdin.write(png)
    encoder.stdin.close()
    if encoder.wait():
        raise SystemExit(f"ffmpeg ended with status {encoder.returncode}")


if __name__ == "__main__":
    size = [int(part) for part in sys.argv[4].split("x")]
    render(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), *size, Path(sys.argv[5]), Path(sys.argv[6]))
