"""Fetching: what an entry of the table names comes into its folder, whole or not at all.

Everything is collected in a hidden draft folder beside the entry's, which a broken transfer leaves for the next try, checked,
and then takes the place of what was there. Files go on where they broke off. Only `codecap weights fetch` and the rule
fetch_weights come here.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlparse

from codecap import weights
from codecap.errors import UserError
from codecap.weights import SECURE, Entry, Part, WeightsMissing, folder, manifest
from codecap.weights.manifest import Manifest

TRIES = 5
FIRST_WAIT_S = 1.0  # after a broken transfer; doubled from try to try
TIMEOUT_S = 60.0  # without a byte
GIT_TIMEOUT_S = 1800.0
PIECE = 1 << 20
ZIPPED = ".archive.zip"
UNPACKED = ".archive.sha256"  # marks in a draft that an archive was unpacked whole
TOKEN_VARIABLE = "HF_TOKEN"

Told = Callable[[str], None]


class NotFetched(UserError):
    """A source could not be reached or gave something else than it should; the message says which and what to do."""

    may_pass = True


def fetch(name: str, tell: Told = lambda _: None) -> Manifest:
    """Fetch an entry, unless it is there and unchanged.

    Args:
        tell: is called with lines about the progress.

    Raises:
        NotFetched: a source cannot be reached, refuses, or gives what neither the table nor the first fetch has seen.
        WeightsMissing: there is no such entry, or the folder for the weights cannot be made.
    """
    told = weights.entry(name)
    with manifest.alone(name):
        try:
            return manifest.check(name, told)
        except WeightsMissing:
            known = _known(name)
        draft = folder() / f".{name}.draft"
        draft.mkdir(exist_ok=True)
        _take_over(name, told, known, draft)
        commits, archives = {}, {}
        for part in told.parts:
            _check_space(part, draft)
            tell(f"{name}: {part.source}")
            place = draft / part.into
            if part.kind == "git":
                commits[part.into] = _checkout(part, place)
            elif part.kind == "hub":
                commits[part.into] = _snapshot(part, place, told)
            elif part.kind == "archive":
                archives[part.into] = _unpacked(part, place, tell)
            else:
                _download(part, place, tell)
        for mark in draft.rglob(UNPACKED):
            mark.unlink()
        made = Manifest(files=manifest.take(draft), commits=commits, archives=archives)
        _check_found(name, told, made, known)
        shutil.rmtree(folder() / name, ignore_errors=True)
        draft.rename(folder() / name)
        manifest.write(name, made)
        return made


def _known(name: str) -> Manifest | None:
    """What an earlier fetch has recorded, if it can still be read."""
    try:
        return manifest.read(name)
    except WeightsMissing:
        return None


def _take_over(name: str, told: Entry, known: Manifest | None, draft: Path) -> None:
    """Have in the draft too what an earlier fetch left and is still right; the earlier fetch stays until the new one is whole.

    What is known to be wrong leaves the draft. Of archives and git nothing is taken: they come whole, and unpacking would write
    into what is linked.
    """
    right = {part.into: part.sha256 for part in told.parts if part.kind == "file" and part.sha256}
    if known is not None and not any(manifest.contradictions(name, told, known)):
        right |= {inner: kept.sha256 for inner, kept in known.files.items() if any(_holds(part, inner) for part in told.parts)}
    for inner, sha256 in right.items():
        here, there = folder() / name / inner, draft / inner
        if there.is_file() and weights.digest(there) != sha256:
            there.unlink()
        if here.is_file() and not there.exists() and weights.digest(here) == sha256:
            there.parent.mkdir(parents=True, exist_ok=True)
            try:
                there.hardlink_to(here)
            except OSError:  # not every file system has hard links
                shutil.copy2(here, there)


def _holds(part: Part, inner: str) -> bool:
    """A file of the entry's folder comes with this part, which replaces files and never writes into them."""
    if part.kind == "hub":
        return Path(part.into) in Path(inner).parents
    return part.kind == "file" and inner == part.into


def _check_space(part: Part, draft: Path) -> None:
    free = shutil.disk_usage(draft).free
    needed = max(0, part.size_bytes - _already_here(part, draft))
    if needed > free:
        wanted = f"{in_bytes(needed)} are needed, {in_bytes(free)} are free"
        raise NotFetched(f"{draft.parent}: {wanted}; free some space, or set {weights.FOLDER_VARIABLE} to a larger disk")


def _already_here(part: Part, draft: Path) -> int:
    """Bytes of a file or an archive that an earlier try has brought."""
    place = draft / part.into
    if part.kind == "archive" and (place / UNPACKED).is_file():
        return part.size_bytes
    place = place / ZIPPED if part.kind == "archive" else place
    return next((file.stat().st_size for file in (place, _piece(place)) if file.is_file()), 0)


def in_bytes(size: int) -> str:
    """1.2 GB, 34.5 MB."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"


def _check_found(name: str, told: Entry, made: Manifest, known: Manifest | None) -> None:
    """What came is what the table pins and what was seen at the first fetch."""
    for problem in manifest.contradictions(name, told, made):
        shutil.rmtree(folder() / f".{name}.draft", ignore_errors=True)
        raise NotFetched(f"{problem}; the source may have changed: nothing was kept")
    if known is not None and not all(part.pinned for part in told.parts) and known.commits == made.commits:
        for inner, kept in known.files.items():
            if inner in made.files and made.files[inner].sha256 != kept.sha256:
                shutil.rmtree(folder() / f".{name}.draft", ignore_errors=True)
                raise NotFetched(
                    f"{folder() / name / inner}: the source gives {made.files[inner].sha256} now, at the first fetch it was "
                    f"{kept.sha256}; nothing was kept. To accept the new one, remove {manifest.path_of(name)} and fetch again"
                )


def _download(part: Part, place: Path, tell: Told) -> None:
    """A file by https, begun or gone on with; its size is checked, and its digest where the table has one."""
    piece = _piece(place)
    if place.is_file():  # whole, from a fetch that broke off later
        _tag(piece).unlink(missing_ok=True)
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    for number in range(TRIES):
        try:
            _go_on(part, piece, tell)
            break
        except (OSError, http.client.HTTPException) as error:
            reason = _in_words(error)
            if isinstance(error, urllib.error.HTTPError) and error.code < 500 and error.code not in (408, 429):
                raise NotFetched(f"{part.source}: {reason}; see whether the address in {weights.TABLE.name} is right") from error
            if number + 1 == TRIES:
                raise NotFetched(f"{part.source}: {reason}, {TRIES} times; run the command again: it goes on from there") from error
            time.sleep(FIRST_WAIT_S * 2**number)
    wrong = ""
    if part.size_bytes and (size := piece.stat().st_size) != part.size_bytes:
        wrong = f"has {size} bytes, {weights.TABLE.name} names {part.size_bytes}"
    elif part.sha256 and (found := weights.digest(piece)) != part.sha256:
        wrong = f"has sha256 {found}, {weights.TABLE.name} names {part.sha256}"
    if wrong:
        piece.unlink()
    else:
        piece.replace(place)
    _tag(piece).unlink(missing_ok=True)  # not before: of a piece without one nothing is known, it would come again
    if wrong:
        raise NotFetched(f"{part.source}: {wrong}; nothing was kept")


def _piece(place: Path) -> Path:
    return place.with_name(place.name + ".part")


def _tag(piece: Path) -> Path:
    """Beside a piece of a file: what the server calls the file's version, for going on with this one only."""
    return piece.with_name(piece.name + ".tag")


def _go_on(part: Part, piece: Path, tell: Told) -> None:
    """Append what is missing of a file; begin anew where the server's file is another one than before.

    Raises:
        OSError: the transfer broke off.
    """
    tag = _tag(piece)
    begun = piece.stat().st_size if piece.is_file() and tag.is_file() else 0
    request = urllib.request.Request(part.source, headers={"User-Agent": "codecap"})
    if begun:
        request.add_header("Range", f"bytes={begun}-")
        request.add_header("If-Range", tag.read_text())
    try:
        answer = urllib.request.urlopen(request, timeout=TIMEOUT_S)
    except urllib.error.HTTPError as error:
        if error.code != 416 or not begun:
            raise
        version = tag.read_text()
        if error.headers.get("Content-Range", "").endswith(f"*/{begun}") and error.headers.get("ETag", version) == version:
            return  # all of it is there
        tell(f"{part.source}: the server cannot go on after the {begun} bytes of an earlier try; it is begun anew")
        piece.unlink()
        return _go_on(part, piece, tell)
    with answer:
        if not answer.url.startswith(SECURE):
            raise NotFetched(f"{part.source}: leads to {urlparse(answer.url).netloc} without https")
        if answer.status != 206:
            begun = 0
        length = answer.headers.get("Content-Length")
        total = begun + int(length) if length else 0
        validator = answer.headers.get("ETag") or answer.headers.get("Last-Modified")
        if validator and not validator.startswith("W/"):
            tag.write_text(validator)
        else:
            tag.unlink(missing_ok=True)
        with piece.open("ab" if begun else "wb") as file:
            _copy(answer, file, part, begun, total, tell)
            file.flush()
            os.fsync(file.fileno())
    if total and piece.stat().st_size != total:
        raise OSError(f"the transfer broke off at {piece.stat().st_size} of {total} bytes")


def _copy(answer: http.client.HTTPResponse, file: BinaryIO, part: Part, done: int, total: int, tell: Told) -> None:
    told_at = time.monotonic()
    while data := answer.read(PIECE):
        file.write(data)
        done += len(data)
        if time.monotonic() - told_at > 10:
            told_at = time.monotonic()
            tell(f"{part.into or part.source}: {done / 1e9:.2f} GB" + (f" of {total / 1e9:.2f}" if total else ""))


def _in_words(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answers {error.code} {error.reason}"
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    return f"cannot be reached ({reason})" if isinstance(error, urllib.error.URLError) else str(reason) or type(error).__name__


def _unpacked(part: Part, place: Path, tell: Told) -> str:
    """A zip archive's contents; the archive itself goes. Returns its sha256."""
    done = place / UNPACKED
    if done.is_file():
        return done.read_text()
    zipped = place / ZIPPED
    _download(part.model_copy(update={"into": part.source.rsplit("/", 1)[-1]}), zipped, tell)
    sha256 = weights.digest(zipped)
    try:
        with zipfile.ZipFile(zipped) as archive:
            archive.extractall(place)  # leaves out leading / and ..
    except zipfile.BadZipFile as error:
        zipped.unlink()
        raise NotFetched(f"{part.source}: is no zip archive ({error}); nothing was kept") from error
    zipped.unlink()
    done.write_text(sha256)
    return sha256


def _checkout(part: Part, place: Path) -> str:
    """The files of one commit of a git repository, without its history. Returns the commit."""
    if shutil.which("git") is None:
        raise NotFetched(f"{part.source}: git is needed to fetch it; install git")
    shutil.rmtree(place / ".git", ignore_errors=True)
    place.mkdir(parents=True, exist_ok=True)
    _git(place, part, "init", "--quiet")
    _git(place, part, "fetch", "--quiet", "--depth", "1", part.source, part.revision)
    _git(place, part, "-c", "advice.detachedHead=false", "checkout", "--quiet", "--force", part.revision)
    commit = _git(place, part, "rev-parse", "HEAD").strip()
    shutil.rmtree(place / ".git")
    return commit


def _git(place: Path, part: Part, *arguments: str) -> str:
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    env |= {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "https:http:file", "GIT_CEILING_DIRECTORIES": str(place.parent)}
    command = ["git", "-c", "core.hooksPath=/dev/null", "-c", "core.symlinks=false", "-C", str(place), *arguments]
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=GIT_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise NotFetched(f"{part.source}: git took over {GIT_TIMEOUT_S:.0f} s; run the command again") from error
    if done.returncode:
        why = " ".join(done.stderr.split())[-300:]
        raise NotFetched(f"{part.source} at {part.revision}: git cannot fetch it: {why}")
    return done.stdout


def _snapshot(part: Part, place: Path, told: Entry) -> str:
    """A repository of the Hugging Face hub at one commit, each file compared with the digest that the hub has of it."""
    import httpx2
    import huggingface_hub
    from huggingface_hub import errors

    token = os.environ.get(TOKEN_VARIABLE) or False
    agree = f"{part.source} is gated: agree to its terms at https://huggingface.co/{part.source}"
    if told.gated and not token:
        raise NotFetched(f"{agree}, and set {TOKEN_VARIABLE} to a token of yours that may read it")
    try:
        api = huggingface_hub.HfApi(token=token)
        info = api.model_info(part.source, revision=part.revision or "main", files_metadata=True, timeout=TIMEOUT_S)
        if part.revision and info.sha != part.revision:
            raise NotFetched(f"{part.source}: the hub gives commit {info.sha}, {weights.TABLE.name} names {part.revision}")
        huggingface_hub.snapshot_download(
            part.source, revision=info.sha, local_dir=place, allow_patterns=list(part.only) or None, token=token
        )
    except errors.GatedRepoError as error:
        raise NotFetched(f"{agree}; the token in {TOKEN_VARIABLE} may not read it yet") from error
    except errors.RepositoryNotFoundError as error:
        raise NotFetched(f"{part.source}: the hub has no such repository, or shows it only to others") from error
    except errors.OfflineModeIsEnabled as error:
        raise NotFetched(f"{part.source}: HF_HUB_OFFLINE is set; unset it where there is a network") from error
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise NotFetched(f"{part.source}: the hub cannot be reached ({type(error).__name__}); run the command again") from error
    shutil.rmtree(place / ".cache", ignore_errors=True)
    for told_file in info.siblings or []:
        file = place / told_file.rfilename
        if file.is_file() and not _is_what_the_hub_has(file, told_file):
            file.unlink()
            raise NotFetched(f"{part.source}: {told_file.rfilename} came damaged; run the command again")
    if not any(weights.files_of(place)):
        raise NotFetched(f"{part.source}: none of its files is like {', '.join(part.only)}")
    return info.sha


def _is_what_the_hub_has(file: Path, told: Any) -> bool:
    """Large files have their sha256 there, small ones git's digest of a blob."""
    if told.lfs is not None:
        return weights.digest(file) == told.lfs.sha256
    if told.blob_id is None:
        return True
    data = file.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() == told.blob_id
