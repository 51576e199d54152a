"""Agents from npm: which packages they are, where they are installed, and whether they are what they must be.

    <folder>/<name>-<version>/package-lock.json    npm's own lock: every package with its digest
                             /node_modules/...
                             /installed.json       written last: the lock's digest, and what the program says of itself

For the versions that this project pins, the locks are in resources/agents, and npm refuses a package of another digest. Nothing
that a package would run at its installation is run.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from codecap.config import PROJECT
from codecap.errors import UserError
from codecap.render.scratch import hold, remove_abandoned

LOCKS = PROJECT / "resources" / "agents"
MARK = "installed.json"
INSTALL_LIMIT_S = 1800
ASKED_WITHIN_S = 60.0
_BECOME = "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 9); os.execvp(sys.argv[1], sys.argv[1:])"
ENDS_WITH_US = (sys.executable, "-I", "-S", "-c", _BECOME)  # also where we are killed: PR_SET_PDEATHSIG, SIGKILL
VERSION = re.compile(r"\d+\.\d+\.\d+[0-9A-Za-z.+-]*")


class NotInstalled(UserError):
    """An agent, or what it runs on, is not there; the message says how to get it."""


@dataclass(frozen=True)
class Package:
    """Attributes:
    npm: the package's name; `{cpu}` stands for the machine's.
    program: pattern of the program in `node_modules`; `{cpu}` as above. Agents that come as a program of the machine's own are
        started as such, without the script around them.
    node: lowest version of Node.js that it runs on; empty where it needs none.
    about: one line.
    """

    npm: str
    program: str
    node: str = ""
    about: str = ""


PACKAGES = {
    "codex": Package(
        "@openai/codex", "@openai/codex-linux-{cpu}/vendor/*/bin/codex", about="Codex CLI of OpenAI, Apache-2.0, 350 MB"
    ),
    "claude_code": Package(
        "@anthropic-ai/claude-code",
        "@anthropic-ai/claude-code-linux-{cpu}*/claude",
        about="Claude Code of Anthropic, proprietary: see its licence, 250 MB",
    ),
    "pi": Package(
        "@earendil-works/pi-coding-agent",
        "@earendil-works/pi-coding-agent/dist/bundle/cli.js",
        node="22.19.0",
        about="Pi, MIT, 170 MB, on Node.js",
    ),
    "node": Package("node-linux-{cpu}", "node-linux-{cpu}/bin/node", about="Node.js, 190 MB, where the machine's is too old"),
}


@dataclass(frozen=True)
class Installed:
    """An agent that is there.

    Attributes:
        argv: what starts it, by absolute paths.
        programs: folders that it needs to see.
        node: version of the Node.js that it runs on; empty where it needs none.
    """

    name: str
    version: str
    argv: tuple[str, ...]
    programs: tuple[Path, ...]
    node: str = ""


def folder_of(told: Path | None) -> Path:
    """The folder of all agents: what the configuration says, or `codecap/agents` in the user's cache folder."""
    if told is not None:
        return Path(told).expanduser().absolute()
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "codecap" / "agents"


def find(name: str, version: str, folder: Path | None = None, node: str = "") -> Installed:
    """An installed agent.

    Args:
        version: which.
        folder: see `folder_of`.
        node: version of Node.js that was installed for it; the machine's own is taken where that is not there.

    Raises:
        NotInstalled: it is not there, or the Node.js that it needs is not.
    """
    place = folder_of(folder) / f"{name}-{version}"
    program = _program(name, place)
    if program is None or not (place / MARK).is_file():
        way_out = _command(name, version, folder)
        raise NotInstalled(f"{name} {version} is not in {place.parent}: install it by `{way_out}`")
    if not PACKAGES[name].node:
        return Installed(name, version, (str(program),), (place,))
    runtime, found = node_for(name, folder, node)
    programs = (place, runtime.parent.parent) if _is_own(runtime, folder) else (place, *_seen_with(runtime))
    return Installed(name, version, (str(runtime), str(program)), programs, found)


def _command(name: str, version: str, folder: Path | None) -> str:
    """What installs this version there, whatever the configuration says of others."""
    locked = _locked(name) == version
    where = "" if folder is None else f" --folder {shlex.quote(str(folder_of(folder)))}"
    return f"codecap harness install {name}{'' if locked else f' --version {version}'}{where}"


def node_for(name: str, folder: Path | None, version: str) -> tuple[Path, str]:
    """The Node.js that an agent runs on, and its version: the one installed for it, else the machine's own.

    Raises:
        NotInstalled: there is none, or it is too old.
    """
    least = PACKAGES[name].node
    place = folder_of(folder) / f"node-{version}"
    program = _program("node", place) if version and (place / MARK).is_file() else None
    if program is not None:
        return program, version
    way_out = "`codecap harness install node` gets a newer one, without root"
    machines = shutil.which("node")
    if machines is None:
        raise NotInstalled(f"{name} needs Node.js {least} or newer, and there is none on PATH; {way_out}")
    found = _said_version(Path(machines).resolve())
    if _numbers(found) < _numbers(least):
        raise NotInstalled(f"{name} needs Node.js {least} or newer, {machines} is {found or 'of no known version'}; {way_out}")
    return Path(machines).resolve(), found


def install(name: str, version: str, folder: Path | None, node: str, tell: Callable[[str], None]) -> Installed:
    """Install an agent, and Node.js too where it needs one that the machine does not have. What is there is left.

    Args:
        node: version of Node.js to install.
        tell: gets a line for each thing that is done.

    Raises:
        UserError: there is no such package or no npm, npm fails, or what came is not what it must be.
    """
    root = folder_of(folder)
    if name not in PACKAGES:
        raise UserError(f"there is no harness {name} to install; there are: {', '.join(PACKAGES)}")
    for program, told in ((name, version), ("node", node or version)):
        if not VERSION.fullmatch(told):
            raise UserError(f"{told!r} is no version of {program}: give an exact one, as 1.2.3")
    if PROJECT in (root, *root.parents) and (PROJECT / ".git").exists():
        raise UserError(f"{root}: is in the project's own folder; choose another by --folder or the key agents.folder")
    place = root / f"{name}-{version}"
    if (place / MARK).is_file() and _program(name, place) is not None:
        tell(f"{name} {version}: is in {place}")
    else:
        _fetch(name, version, place, tell)
    if name == "node":
        return Installed(name, version, (str(_program(name, place)),), (place,))
    if PACKAGES[name].node:
        try:
            node_for(name, folder, node)
        except NotInstalled as error:
            tell(str(error).partition(";")[0])
            install("node", node, folder, node, tell)
    return find(name, version, folder, node)


def _fetch(name: str, version: str, place: Path, tell: Callable[[str], None]) -> None:
    """Have npm install a package beside its place, look whether it is what it must be, then put it there."""
    npm = shutil.which("npm")
    if npm is None:
        raise UserError("npm is not on PATH: install Node.js with npm (it need not be new), then run this again")
    place.parent.mkdir(parents=True, exist_ok=True)
    remove_abandoned(place.parent, f".{name}-")
    draft = Path(tempfile.mkdtemp(dir=place.parent, prefix=f".{name}-{version}."))
    held = hold(draft)
    try:
        locked = _put_lock(name, version, draft)
        how = ["ci"] if locked else ["install", "--save-exact", f"{_npm_name(name)}@{version}"]
        tell(f"{name} {version}: npm {how[0]} " + ("by the project's lock" if locked else "without a lock of the project's"))
        quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--omit-lockfile-registry-resolved"]
        _run([npm, *how, *quiet], draft)
        program = _program(name, draft)
        if program is None:
            raise UserError(f"{name} {version}: npm has installed no program for this machine ({platform.machine()}, Linux)")
        lock = hashlib.sha256((draft / "package-lock.json").read_bytes()).hexdigest()
        said = "" if PACKAGES[name].node else _said_version(program)
        if said and said != version:
            raise UserError(f"{name} {version}: what npm has installed says that it is {said}")
        told = {"name": name, "version": version, "lock_sha256": lock, "said": said, "by_the_projects_lock": locked}
        (draft / MARK).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
        draft.chmod(0o755)
        put = _put(name, draft, place)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        if held is not None:
            os.close(held)
    tell(f"{name} {version}: {'installed in' if put else 'another process has installed it in'} {place}")


def _put(name: str, draft: Path, place: Path) -> bool:
    """Put an installation in its place, unless another process has done so meanwhile. Whether it was put."""
    with _alone(place.parent):
        if (place / MARK).is_file() and _program(name, place) is not None:
            return False
        if place.exists():
            shutil.rmtree(place)  # an installation that was broken off, or lost its program
        draft.rename(place)
    return True


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One process at a time, where the file system knows locks."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)


def _put_lock(name: str, version: str, draft: Path) -> bool:
    """Write a package.json, and the project's lock where there is one for this version. Whether there is."""
    told = {"name": f"codecap-{name.replace('_', '-')}", "version": "1.0.0", "private": True}
    if _locked(name) == version:
        (draft / "package.json").write_text(json.dumps({**told, "dependencies": {_npm_name(name): version}}), encoding="utf-8")
        shutil.copyfile(_lock(name), draft / "package-lock.json")
        return True
    (draft / "package.json").write_text(json.dumps(told), encoding="utf-8")
    return False


def _lock(name: str) -> Path:
    return LOCKS / name / "package-lock.json"


def _locked(name: str) -> str | None:
    """The version that the project's lock is of; None where it has none for this machine."""
    if not _lock(name).is_file():
        return None
    root = json.loads(_lock(name).read_text(encoding="utf-8"))["packages"][""]
    return root.get("dependencies", {}).get(_npm_name(name))


def _run(command: list[str], folder: Path) -> None:
    try:
        ran = subprocess.run(
            [*ENDS_WITH_US, *command],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=INSTALL_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise UserError(f"npm took more than {INSTALL_LIMIT_S} s") from error
    if ran.returncode:
        words = [line for line in ran.stderr.splitlines() if line.strip()]
        raise UserError(f"npm failed: {' '.join(words[:4])[:600] or f'exit status {ran.returncode}'}")


def _cpu() -> str:
    return {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


def _npm_name(name: str) -> str:
    return PACKAGES[name].npm.format(cpu=_cpu())


def _program(name: str, place: Path) -> Path | None:
    """The program of a package that is installed in a place; None where it is not."""
    found = sorted((place / "node_modules").glob(PACKAGES[name].program.format(cpu=_cpu())))
    return next((path for path in found if path.is_file()), None)


@functools.cache
def _said_version(program: Path) -> str:
    """What a program says of its version; empty where it says nothing that is one."""
    try:
        ran = subprocess.run(
            [program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=ASKED_WITHIN_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = VERSION.search(ran.stdout)
    return found[0] if found else ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _is_own(program: Path, folder: Path | None) -> bool:
    return folder_of(folder) in program.parents


def _seen_with(program: Path) -> tuple[Path, ...]:
    """What must be seen for a program of the machine's: nothing in /usr, else the folder above its own."""
    return () if Path("/usr") in program.parents else (program.parent.parent,)
