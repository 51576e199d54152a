"""Annotations that people approved: one file a clip, `<clip_id>.json`, read and checked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from codecap.annotate.validate import Problem, problems, unknown_clips
from codecap.records import Annotation, Clip, RecordError, read_record


def gather(
    clips: Iterable[Clip], folder: Path, known: Iterable[str] | None = None
) -> tuple[dict[str, Annotation | str], list[Problem]]:
    """Read the annotation of each clip. A bad file keeps its own clip from being scored, and no other.

    Args:
        clips: the clips to read for; a shard of them, or the whole table.
        folder: holds `<clip_id>.json`.
        known: ids of all clips of the table. If given, files of other clips are problems too.

    Returns:
        For each clip id the annotation, or the reason why it cannot be used; and all problems found (warnings too).
    """
    folder = Path(folder)
    gathered: dict[str, Annotation | str] = {}
    found = strays(folder, known) if known is not None else []
    for clip in clips:
        path = folder / f"{clip.clip_id}.json"
        annotation, ours = _read(clip, path)
        errors = [problem for problem in ours if problem.severity == "error"]
        gathered[clip.clip_id] = _reason(path, errors) if annotation is None or errors else annotation
        found += ours
    return gathered, found


def is_approved(annotation: Annotation) -> bool:
    """Whether a person has reviewed it; who writes a file by hand says so in its `reviews`."""
    return bool(annotation.reviews)


def content_digest(annotation: Annotation) -> str:
    """sha256 of what an annotation says of its clip. Who drafted and reviewed it is not in it, nor how its file is laid out."""
    told = annotation.model_dump(mode="json", exclude={"reviews", "proposer"})
    return hashlib.sha256(json.dumps(told, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def strays(folder: Path, known: Iterable[str]) -> list[Problem]:
    """A problem for each file of the folder whose clip is not in the table."""
    found = unknown_clips((path.stem for path in Path(folder).glob("*.json")), known)
    return [problem.model_copy(update={"place": str(Path(folder) / f"{problem.clip_id}.json")}) for problem in found]


def _read(clip: Clip, path: Path) -> tuple[Annotation | None, list[Problem]]:
    try:
        annotation = read_record(path, Annotation)
    except FileNotFoundError:
        return None, [
            _unreadable(clip, "missing", path, "no approved annotation; write the file, or run with annotations: proposed")
        ]
    except RecordError as error:
        said = str(error).removeprefix(f"{path}: ")
        return None, [_unreadable(clip, "unreadable", path, f"{said}; correct the file or remove it")]
    except OSError as error:
        return None, [_unreadable(clip, "unreadable", path, f"cannot be read: {error.strerror}; see to its permissions")]
    found = [problem.model_copy(update={"place": f"{path}: {problem.place}"}) for problem in problems(annotation, clip)]
    if clip.annotation_sha256 and content_digest(annotation) != clip.annotation_sha256:
        message = (
            f"does not say what version {clip.dataset_version or '?'} of the clips table was frozen with; "
            "take the frozen file back, or freeze a new version with `codecap dataset freeze`"
        )
        found.append(_unreadable(clip, "not_as_frozen", path, message))
    return annotation, found


def _unreadable(clip: Clip, rule: str, path: Path, message: str) -> Problem:
    return Problem(clip_id=clip.clip_id, rule=rule, severity="error", place=str(path), message=message)


def _reason(path: Path, errors: list[Problem]) -> str:
    """Why a clip has no usable annotation, on one line."""
    first = errors[0]
    place = first.place if first.place.startswith(str(path)) else f"{path}: {first.place}"
    more = f" (and {len(errors) - 1} more problems)" if len(errors) > 1 else ""
    return f"{place}: {first.message}{more}"
