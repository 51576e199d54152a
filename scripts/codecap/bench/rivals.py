"""Other programs that render a page into a video: installed for the bench, and run as their own manuals say.

Each gets the bench's page with the same drawing function, and beside it the few lines by which it wants to be told the time. They
use the same browser binary and the same ffmpeg as all other commands, and write H.264 at their own default quality.
"""

from __future__ import annotations

import json
import logging
import os
import platform
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codecap.bench.commands import Command, Job
from codecap.clock import FPS
from codecap.config import PROJECT
from codecap.errors import UserError

LOG = logging.getLogger("codecap")
ADAPTERS = PROJECT / "resources" / "bench" / "rivals"
INSTALL_LIMIT_S = 900
MOST_LATE = 3  # frames; those that drive a page by animation frames begin some of them after its first
ARCHITECTURE = {"x86_64": "x64", "aarch64": "arm64"}
HYPERFRAMES, PUPPETEER_CAPTURE, TIMECUT = "hyperframes", "puppeteer-capture", "timecut"
PACKAGES = {  # each in a folder of its own: they bring different versions of puppeteer, and take the first that they find
    HYPERFRAMES: ("hyperframes@0.8.170",),
    PUPPETEER_CAPTURE: ("puppeteer-capture@1.58.0", "puppeteer-core@25.5.0"),
    TIMECUT: ("timecut@0.3.3",),
}
TOOLS = "tools"  # a newer Node than the system's, and the ffprobe that hyperframes insists on
TOOL_PACKAGES = ("node-linux-{cpu}@22.23.5", "@ffprobe-installer/linux-{cpu}@5.2.0")
QUIET = {  # no browser is downloaded, nothing is reported to anyone
    "PUPPETEER_SKIP_DOWNLOAD": "1",
    "PUPPETEER_SKIP_CHROMIUM_DOWNLOAD": "1",
    "DO_NOT_TRACK": "1",
    "HYPERFRAMES_NO_TELEMETRY": "1",
    "HYPERFRAMES_NO_UPDATE_CHECK": "1",
}

# How a page is told the time. Ours are drawn by `window.seek(seconds)` alone.
BY_SEEK_EVENT = """<script>
window.addEventListener("hf-seek", event => event.detail.waitUntil(Promise.resolve(window.seek(event.detail.time))));
</script>"""
BY_ANIMATION_FRAMES = """<script>
let begun;
const draw = now => { begun ??= now; window.seek((now - begun) / 1000); requestAnimationFrame(draw); };
BEGIN
</script>"""
AT_ONCE, WHEN_TOLD = "requestAnimationFrame(draw);", "window.begin = () => requestAnimationFrame(draw);"


@dataclass(frozen=True)
class Kit:
    """The installed programs; `missing` says of each of the others why it is not there."""

    root: Path
    browser: Path
    ffmpeg: Path
    node: Path
    ffprobe: Path
    missing: Mapping[str, str]

    def commands(self, job: Job) -> list[Command]:
        """A command for each program that is there; two for hyperframes, with one browser and with as many as it likes."""
        made = {
            HYPERFRAMES: lambda: [self._hyperframes(job, "1"), self._hyperframes(job, "auto")],
            PUPPETEER_CAPTURE: lambda: [self._puppeteer_capture(job)],
            TIMECUT: lambda: [self._timecut(job)],
        }
        return [command for name, make in made.items() if name not in self.missing for command in make()]

    def _hyperframes(self, job: Job, workers: str) -> Command:
        """One worker is one browser; `auto` is its default, as many as it thinks right.

        `data-no-timeline` spares it a wait of 45 s for a GSAP timeline. Its own capture by frame control, the default here, is its
        fastest; it skips unchanged frames only where GSAP moves everything, which it does on none of our pages.
        """
        project = job.folder / f"hyperframes-{workers}"
        project.mkdir()
        root = (
            '<div id="root" data-composition-id="main" data-no-timeline data-start="0" '
            f'data-duration="{job.frames / FPS}" data-fps="{FPS}" data-width="{job.width_px}" data-height="{job.height_px}">'
        )
        (project / "index.html").write_text(adapted(job.page, root, BY_SEEK_EVENT + "</div>"), encoding="utf-8")
        out = job.folder / f"hyperframes-{workers}.mp4"
        program = self.root / HYPERFRAMES / "node_modules" / "hyperframes" / "bin" / "hyperframes.mjs"
        arguments = [self.node, program, "render", project, "-o", out, "--fps", str(FPS), "--quiet", "--workers", workers]
        named = {
            "HYPERFRAMES_BROWSER_PATH": str(self.browser),
            "HYPERFRAMES_FFMPEG_PATH": str(self.ffmpeg),
            "HYPERFRAMES_FFPROBE_PATH": str(self.ffprobe),
        }
        name = f"{HYPERFRAMES}, 1 browser" if workers == "1" else f"{HYPERFRAMES}, default"
        return Command(name, arguments, out, self._environment() | named)

    def _puppeteer_capture(self, job: Job) -> Command:
        page = job.folder / "puppeteer-capture.html"
        page.write_text(adapted(job.page, "", BY_ANIMATION_FRAMES.replace("BEGIN", WHEN_TOLD)), encoding="utf-8")
        out = job.folder / "puppeteer-capture.mp4"
        home = self.root / PUPPETEER_CAPTURE
        browser = home / "chrome-headless-shell"  # it takes no browser whose path does not hold this name
        browser.unlink(missing_ok=True)
        browser.symlink_to(self.browser)
        size = [str(job.width_px), str(job.height_px)]
        adapter = ADAPTERS / "puppeteer_capture.cjs"
        arguments = [self.node, adapter, page.as_uri(), out, str(job.frames), *size, browser, self.ffmpeg]
        return Command(PUPPETEER_CAPTURE, ["env", "-C", home, *arguments], out, self._environment(), most_late=MOST_LATE)

    def _timecut(self, job: Job) -> Command:
        page = job.folder / "timecut.html"
        page.write_text(adapted(job.page, "", BY_ANIMATION_FRAMES.replace("BEGIN", AT_ONCE)), encoding="utf-8")
        out = job.folder / "timecut.mp4"
        program = self.root / TIMECUT / "node_modules" / "timecut" / "cli.js"
        size = f"{job.width_px},{job.height_px}"
        what = [f"--viewport={size}", f"--fps={FPS}", f"--frames={job.frames}", f"--output={out}", "--quiet"]
        which = [f"--executable-path={self.browser}", f"--ffmpeg-path={self.ffmpeg}", "--launch-arguments=--no-sandbox"]
        return Command(TIMECUT, [self.node, program, page.as_uri(), *what, *which], out, self._environment(), most_late=MOST_LATE)

    def _environment(self) -> dict[str, str]:
        path = os.pathsep.join([str(self.node.parent), os.environ.get("PATH", os.defpath)])
        home = self.root / "home"  # they leave settings there
        home.mkdir(exist_ok=True)
        return {**os.environ, **QUIET, "PATH": path, "HOME": str(home)}


def install(browser: Path, ffmpeg: Path) -> Kit:
    """Install what is not there yet, with npm, into `~/.cache/codecap/bench` (`XDG_CACHE_HOME`). Needs the network the first time.

    Raises:
        UserError: there is no npm, or no build of Node for this machine.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise UserError("bench render --rivals: npm is not on PATH; install Node.js with npm, or leave the flag out")
    cpu = ARCHITECTURE.get(platform.machine())
    if cpu is None or platform.system() != "Linux":
        raise UserError(f"bench render --rivals: runs on Linux on {', '.join(ARCHITECTURE)} only")
    root = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "codecap" / "bench"
    trouble = _install(npm, root / TOOLS, [package.format(cpu=cpu) for package in TOOL_PACKAGES])
    if trouble:
        raise UserError(f"bench render --rivals: {trouble}")
    missing = {}
    for name, packages in PACKAGES.items():
        trouble = _install(npm, root / name, packages)
        if trouble:
            missing[name] = trouble
    modules = root / TOOLS / "node_modules"
    ffprobe = modules / "@ffprobe-installer" / f"linux-{cpu}" / "ffprobe"
    ffprobe.chmod(0o755)
    return Kit(root, browser, ffmpeg, modules / f"node-linux-{cpu}" / "bin" / "node", ffprobe, missing)


def _install(npm: str, folder: Path, packages: Sequence[str]) -> str:
    """Empty when these packages are there; else why they are not."""
    wanted = {"private": True, "codecap": list(packages)}
    manifest = folder / "package.json"
    done = folder / "installed.json"
    if done.is_file() and json.loads(done.read_text(encoding="utf-8")) == wanted:
        return ""
    LOG.info("installing %s into %s", ", ".join(packages), folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    manifest.write_text(json.dumps({"private": True}), encoding="utf-8")
    command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", *packages]
    try:
        ran = subprocess.run(
            command, cwd=folder, env={**os.environ, **QUIET}, capture_output=True, text=True, timeout=INSTALL_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return f"npm install {' '.join(packages)} took more than {INSTALL_LIMIT_S} s"
    if ran.returncode:
        words = (ran.stderr + ran.stdout).strip().splitlines()
        return f"npm install {' '.join(packages)} failed: {words[0] if words else f'exit status {ran.returncode}'}"
    done.write_text(json.dumps(wanted), encoding="utf-8")
    return ""


def adapted(page: Path, after_start: str, before_end: str) -> str:
    """The page with a few lines at the start and at the end of its body."""
    html = page.read_text(encoding="utf-8")
    head, opening, rest = html.partition("<body>")
    body, closing, tail = rest.rpartition("</body>")
    if not (opening and closing):
        raise ValueError(f"{page}: has no <body> to put a rival's lines into")
    return f"{head}{opening}\n{after_start}{body}{before_end}\n{closing}{tail}"
