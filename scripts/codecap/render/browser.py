"""The headless browser: where it is, whether it starts, and how to get one."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

from codecap.render.failures import BrowserMissing

VARIABLE = "CODECAP_BROWSER"
NAMES = (  # the shell first: it starts faster and needs less
    "chromium-headless-shell",
    "chrome-headless-shell",
    "headless_shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
USUAL_PLACES = (
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/lib/chromium/headless_shell",
    "/opt/google/chrome/chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
PLAYWRIGHT_FOLDERS = ("~/.cache/ms-playwright", "~/Library/Caches/ms-playwright")
PLAYWRIGHT_LAYOUTS = (
    "chromium_headless_shell-*/*/chrome-headless-shell",
    "chromium_headless_shell-*/*/headless_shell",
    "chromium-*/*/chrome",
    "chromium-*/*/*.app/Contents/MacOS/*",
)
HOW_TO_GET_ONE = (
    "Get one with `make install`, or `python -m playwright install chromium-headless-shell`, "
    "or (as root, Debian) `apt-get install chromium-headless-shell`; "
    f"or set {VARIABLE} to the path of a Chromium or Chrome."
)
START_LIMIT_S = 30
DOWNLOAD_LIMIT_S = 900


def find_browser(shell_only: bool = False) -> Path:
    """The first browser that starts: `CODECAP_BROWSER`, then PATH, usual places, and Playwright's own downloads.

    Args:
        shell_only: pass over full browsers, which cannot be told when to draw a frame.

    Raises:
        BrowserMissing: none does; or the one that `CODECAP_BROWSER` names does not, in which case no other is looked for.
    """
    named = os.environ.get(VARIABLE)
    if named:
        reason = why_it_does_not_start(Path(named))
        if reason:
            raise BrowserMissing(f"{VARIABLE} is {named!r}, which {reason}. {HOW_TO_GET_ONE}")
        return Path(named)
    broken = []
    for path in _candidates():
        if shell_only and not is_shell(path):
            broken.append(f"{path} is a full browser, which engine playwright can use and engine beginframe cannot")
            continue
        reason = why_it_does_not_start(path)
        if reason is None:
            return path
        broken.append(f"{path} {reason}")
    found = f"Found, but not usable: {'; '.join(broken)}. " if broken else ""
    raise BrowserMissing(f"No Chromium or Chrome was found to render pages with. {found}{HOW_TO_GET_ONE}")


def is_shell(path: Path) -> bool:
    """The headless shell, by its name (Debian's, Chrome for Testing's, Playwright's)."""
    return "headless" in path.name.replace("_", "-") and "shell" in path.name


def browser_version(path: Path) -> str:
    """What `--version` prints: "Chromium 156.0.8078.108"."""
    reason, version = _start(Path(path), _modified_ns(path))
    if reason:
        raise BrowserMissing(f"{path} {reason}. {HOW_TO_GET_ONE}")
    return version


def why_it_does_not_start(path: Path) -> str | None:
    """Start it with `--version`; None when it does, else the reason as the end of a sentence."""
    return _start(Path(path), _modified_ns(path))[0]


def install_browser(say: Callable[[str], None] = print) -> Path:
    """Find the headless shell, or get it: from Playwright, else from the system's packages (as root, or by a silent sudo).

    Quick when it is there already. Every step says in words what it does. Where only a full browser can be had, it is that one, and
    what to set for it is said.

    Raises:
        BrowserMissing: none can be had; the message tells what was tried, and what only root can do.
    """
    try:
        return find_browser(shell_only=True)
    except BrowserMissing as error:
        if os.environ.get(VARIABLE):
            raise
        reason = str(error)
    tried = []
    for what, commands in _ways_to_install():
        say(f"no headless shell yet: {what}")
        trouble = _run_all(commands)
        if trouble:
            tried.append(f"{what}: {trouble}")
            say(f"  that did not work: {trouble}")
            continue
        try:
            return find_browser(shell_only=True)
        except BrowserMissing as error:
            reason = str(error)
            tried.append(f"{what}: done, but no shell starts")
            say(f"  done, but no shell starts: {reason}")
    with contextlib.suppress(BrowserMissing):
        full = find_browser()
        say(f"  there is only a full browser, {full}: set `render: {{engine: playwright}}` in your configuration")
        return full
    raise BrowserMissing(f"{reason}\nTried: {'; '.join(tried)}.\n{_what_only_root_can_do()}")


def _candidates() -> Iterator[Path]:
    """Paths that exist, each once, best first."""
    seen: set[Path] = set()
    for path in (*_on_path(), *map(Path, USUAL_PLACES), *_from_playwright()):
        if path.is_file() and path.resolve() not in seen:
            seen.add(path.resolve())
            yield path


def _on_path() -> Iterator[Path]:
    for name in NAMES:
        found = shutil.which(name)
        if found:
            yield Path(found)


def _from_playwright() -> Iterator[Path]:
    told = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    folders = [told] if told and told != "0" else PLAYWRIGHT_FOLDERS
    for folder in folders:
        for layout in PLAYWRIGHT_LAYOUTS:
            yield from sorted(Path(folder).expanduser().glob(layout), key=_revision, reverse=True)


def _revision(path: Path) -> int:
    """Playwright's number of a download: 1208 of `.../chromium-1208/chrome-linux/chrome`."""
    numbers = [part.rpartition("-")[2] for part in path.parts if part.startswith("chromium")]
    return max((int(number) for number in numbers if number.isdigit()), default=0)


def _modified_ns(path: Path) -> int:
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=64)
def _start(path: Path, modified_ns: int) -> tuple[str | None, str]:  # noqa: ARG001 - a new file at the old path is asked again
    """Reason why it does not start (None: it does), and its version."""
    if not path.is_file():
        return "does not exist", ""
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, text=True, errors="replace", timeout=START_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return f"did not answer `--version` in {START_LIMIT_S} s", ""
    except OSError as error:
        return f"cannot be run ({error.strerror or error})", ""
    if done.returncode == 0 and "Chrom" in done.stdout:
        return None, done.stdout.strip().splitlines()[-1].strip()
    return _in_words(done.stderr + done.stdout, done.returncode), ""


def _in_words(output: str, status: int) -> str:
    """Why a browser that was found does not start."""
    marker = "error while loading shared libraries: "
    if marker in output:
        library = output.partition(marker)[2].split(":")[0].strip()
        return (
            f"misses the system library {library} (as root: `python -m playwright install-deps chromium-headless-shell`, "
            f"or `apt-get install chromium-headless-shell`, which brings all of them)"
        )
    if "snap" in output:
        return "is only a pointer to the snap package, which is not installed and does not work in most containers"
    last = output.strip().splitlines()[-1][:200] if output.strip() else "no output"
    return f"exits with status {status} ({last})"


def _ways_to_install() -> Iterator[tuple[str, list[list[str]]]]:
    """What to try in turn: in words, and the commands (all must succeed)."""
    playwright = [sys.executable, "-m", "playwright"]
    yield "downloading Playwright's Chromium", [[*playwright, "install", "chromium-headless-shell"]]
    root = _as_root()
    if root is None or not shutil.which("apt-get"):
        return
    if _playwright_has_one():
        yield "installing the libraries that it misses", [[*root, *playwright, "install-deps", "chromium-headless-shell"]]
    get = [*root, "apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=60"]
    packages = ["chromium-headless-shell"] if _is_ubuntu() else ["chromium-headless-shell", "chromium"]
    for package in packages:  # Ubuntu's chromium package is only a pointer to a snap
        install = [*get, "install", "--no-install-recommends", package]
        yield f"installing the system's package {package}", [[*get, "update"], install]


def _playwright_has_one() -> bool:
    return next(_from_playwright(), None) is not None


def _run_all(commands: list[list[str]]) -> str:
    """Run commands until one fails; its last words, empty when all succeed."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in commands:
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=DOWNLOAD_LIMIT_S,
                env=environment,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"`{' '.join(command)}` took more than {DOWNLOAD_LIMIT_S} s"
        except OSError as error:
            return f"`{command[0]}`: {error.strerror or error}"
        if done.returncode:
            words = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
            telling = [line for line in words if "rror" in line or line.startswith("E:")] or words[-1:]
            return telling[0].strip()[:300] if telling else f"exit status {done.returncode}"
    return ""


def _as_root() -> list[str] | None:
    """What to put before a command that needs root: nothing, or sudo when it asks nothing; None when it cannot be had."""
    if os.geteuid() == 0:
        return []
    sudo = shutil.which("sudo")
    if sudo:
        asked = subprocess.run([sudo, "-n", "true"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if asked.returncode == 0:
            return [sudo, "-n"]
    return None


def _is_ubuntu() -> bool:
    try:
        return "ID=ubuntu" in Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    except OSError:
        return False


def _what_only_root_can_do() -> str:
    if _is_ubuntu():
        return (
            "Ubuntu's chromium package is only a pointer to a snap, so ask root for Google Chrome's .deb, or for "
            "`python -m playwright install --with-deps chromium-headless-shell` on a machine with network."
        )
    if _as_root() is None:
        return "Only root can install system packages; ask for `apt-get install chromium-headless-shell` (Debian)."
    return HOW_TO_GET_ONE
