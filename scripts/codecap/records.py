"""The rows that pass between stages, and the only code that reads or writes them; the clips table is in `clips_table`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from codecap.errors import UserError, check_replaceable

Box = tuple[float, float, float, float]  # xyxy in canonical pixels, x1 and y1 exclusive
Interval = tuple[float, float]  # start_s, end_s; the end is exclusive
ClipId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$", max_length=80)]


def writable(text: object) -> object:
    """A text that UTF-8 can hold: half of a character, which JSON and JavaScript allow, and bytes of a file's name that are no
    text are replaced.

    >>> writable("half " + chr(0xD83D))
    'half ?'
    """
    return text.encode("utf-8", "replace").decode() if isinstance(text, str) else text


Words = Annotated[str, BeforeValidator(writable)]  # what models, pages, programs and file names say: anything

CATEGORIES = {
    "A": "Desktop and application interfaces",
    "B": "2D games",
    "C": "Visual design and media animation",
    "E": "Data and scientific visualization",
    "F": "Icons and abstract motion graphics",
    "U": "Not yet assigned",
}

os.umask(UMASK := os.umask(0))  # the only way to read it; drafts are made for their owner alone, finished files as usual


class RecordError(UserError, ValueError):
    """A record or a table that cannot be read; the message names the file, the line and what is wrong."""


class Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Outcome(StrEnum):
    """What became of one (system, clip) task; METRICS.md's order."""

    OK = "ok"
    GENERATION_TIMEOUT = "generation_timeout"
    NO_COMPLETE_HTML = "no_complete_html"
    REFUSED = "refused"
    RUNTIME_ERROR = "runtime_error"
    MISSING_SEEK = "missing_seek"
    RENDER_TIMEOUT = "render_timeout"
    RENDER_CRASH = "render_crash"
    INFRA_ERROR = "infra_error"

    @property
    def scores_zero(self) -> bool:
        """The model or its page failed. Our own failures are retried, never scored."""
        return self not in (Outcome.OK, Outcome.INFRA_ERROR)


class Candidate(Row):
    """A video that a source offers: where it is and what is known of it before it is fetched."""

    candidate_id: str
    source: str  # name of its entry in the config
    locator: str  # path or URL
    category: Literal["A", "B", "C", "E", "F", "U"] = "U"
    licence: str = ""  # as the site or the entry states it
    title: str = ""
    uploader: str = ""
    published: str = ""  # date, 2026-11-30; "" where the site does not say
    duration_s: float | None = Field(default=None, gt=0)  # as the site says
    query: str = ""  # that found it, as the config has it
    whole: bool = True  # one clip, as it is; else parts of it are chosen


# Why a video cannot be had. Those of LATER may be had at another time, and are tried again by the next run.
FetchCause = Literal[
    "gone",  # 404, 410, removed, account closed
    "private",  # 401, 403, a password or a login is asked for
    "age",
    "country",
    "no_video",  # a page without one, or of a live stream
    "unwanted",  # too long or too large for the entry's limits
    "not_a_video",  # what came is no video: a page of HTML, pictures alone
    "cut_short",  # less came than was promised
    "refused",  # 412, 429: too many requests, or a robot was suspected
    "network",  # no answer, 5xx
]
LATER = frozenset({"cut_short", "refused", "network"})


class Asked(Row):
    """What a source was asked for, and how much it offered; or why it did not answer."""

    source: str
    query: str = ""
    category: str = ""
    quota: int | None = None  # None: all that there are
    offered: int = 0
    cause: FetchCause | None = None
    reason: str = ""


class Original(Row):
    """A candidate after the fetch: the file as it came, or why there is none."""

    candidate: Candidate
    status: Literal["ok", "failed"]
    cause: FetchCause | None = None  # of a failed one; None where a file of this machine is wrong
    path: Path | None = None
    sha256: str = ""
    size_bytes: int = 0
    fetched: str = ""  # when, UTC: 2026-11-30T11:45:00Z
    reason: str = ""
    terms: str = ""  # of a failed one: digest of the settings with which it was asked for


class Survey(Row):
    """What an original shows, measured in one pass over its pictures on the 24 fps clock; or why that cannot be."""

    candidate_id: str
    sha256: str  # of the file
    status: Literal["ok", "failed"]
    reason: str = ""
    frames: int = 0
    width_px: int = 0
    height_px: int = 0
    shots: list[tuple[int, int]] = []  # first frame, and the frame after the last
    hashes: list[str] = []  # one perceptual hash a half second, in hex
    activity: list[float] = []  # share of the picture that changes, of each half second
    looks: list[dict[str, float]] = []  # the filter's features of each shot


class Part(Row):
    """A stretch of an original that becomes a clip: frames `start` to before `stop` on the original's 24 fps clock."""

    candidate_id: str
    clip_id: ClipId
    start: int = Field(ge=0)
    stop: int = Field(gt=0)
    reasons: list[str] = []  # why this one


class PassedOver(Row):
    """An original of which nothing becomes a clip, and why."""

    candidate_id: str
    reason: Words


class Duplicate(Row):
    """An original that shows what another one shows, which is kept in its place."""

    candidate_id: str
    twin: str  # candidate_id of the one that is kept
    offset_s: float  # what it shows at t, its twin shows at t + offset_s
    shared_s: float  # for so long
    likeness: float  # correlation of their pictures, 0-1


class LedgerEntry(Row):
    """What became of a candidate, for as long as the data set lives: where it came from, and where it is now."""

    candidate: Candidate
    status: Literal["fetched", "failed", "gone", "duplicate", "waiting"]  # gone: it was fetched once, and its site has it no more
    cause: FetchCause | None = None
    reason: str = ""
    sha256: str = ""
    size_bytes: int = 0
    fetched: str = ""
    first_seen: str = ""
    last_seen: str = ""  # when a source offered it last
    gone: str = ""  # when it was found to be no more, whether or not its file is here
    checked: str = ""  # when its site was last asked whether it is there still
    terms: str = ""  # of a failed one: digest of the settings with which it was asked for
    twin: str = ""  # candidate_id of the one that is kept in its place
    clips: list[str] = []  # ids of the clips made of it


class Clip(Row):
    """One canonical clip: constant 24 fps, even size, H.264 yuv420p BT.709, no audio."""

    clip_id: ClipId
    category: Literal["A", "B", "C", "E", "F", "U"]
    mp4: Path
    sha256: str
    frames: int = Field(ge=1)
    width_px: int = Field(gt=0)
    height_px: int = Field(gt=0)
    source: str = ""
    licence: str = ""
    source_start_s: float = 0.0
    source_end_s: float | None = None
    annotation_sha256: str = ""  # of what its approved annotation says, where `codecap dataset freeze` has written the table
    dataset_version: str = ""  # of the data set in which this row came in or changed last


class Ingested(Row):
    """What became of one original at ingest: a clip, or the reason why not."""

    source: str
    status: Literal["ok", "failed"]
    clip: Clip | None = None
    reason: str = ""


class Verdict(Row):
    clip_id: ClipId
    decision: Literal["keep", "drop"]
    features: dict[str, float]
    reasons: list[str] = []
    protocol: str = ""
    retry: bool = False  # a model's vote could not be had this time


class AnnotatedObject(Row):
    """One object of a reference: what it is, when it is visible, where it is in each frame (null: not visible)."""

    name: str = Field(min_length=1)
    description: str = ""
    visible_s: list[Interval] = []
    boxes_xyxy: list[Box | None]
    amodal_xyxy: list[Box | None] | None = None  # the whole object, hidden parts too; only pages of our own know it


class FocalPoint(Row):
    focal_id: str = Field(min_length=1)
    kind: Literal["static", "dynamic"]
    description: str = Field(min_length=1)
    start_s: float = Field(ge=0)
    end_s: float
    objects: list[str] = []  # names of the objects that it speaks of

    @model_validator(mode="after")
    def _not_reversed(self) -> FocalPoint:
        if self.end_s <= self.start_s:
            raise ValueError(f"focal point {self.focal_id}: end_s {self.end_s} is not after start_s {self.start_s}")
        return self


class Review(Row):
    who: str
    when: str
    changed: str


class Annotation(Row):
    clip_id: ClipId
    objects: list[AnnotatedObject] = []
    focal_points: list[FocalPoint] = []
    reviews: list[Review] = []
    proposer: str = ""  # plugin and version that drafted it; empty when a person did

    @model_validator(mode="after")
    def _names_are_unique(self) -> Annotation:
        for kind, names in (
            ("object", [item.name for item in self.objects]),
            ("focal point", [item.focal_id for item in self.focal_points]),
        ):
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f"{kind} {', '.join(twice)} occurs more than once")
        return self


class Usage(Row):
    """Tokens as the provider bills them: `output` includes `reasoning`, the three inputs are apart."""

    input_uncached: int = 0
    input_cache_read: int = 0
    input_cache_write: int = 0
    output: int = 0
    reasoning: int = 0


class Caption(Row):
    """What a system made of a clip: a page, a text or a video, or why there is none."""

    system: str
    clip_id: ClipId
    key: str  # store key: digest of all that determines it
    outcome: Outcome
    detail: Words = ""
    kind: Literal["code", "text", "video"] = "code"
    html: Path | None = None
    text: Path | None = None
    mp4: Path | None = None
    salvaged: bool = False
    usage: Usage = Usage()
    cost_usd: float | None = None
    rounds: int | None = None
    wall_s: float | None = None
    tool_calls: dict[str, int] = {}
    harness_version: str = ""
    protocol: str = ""


class Certificate(Row):
    """What a renderer vouches for about one render."""

    outcome: Outcome
    detail: Words = ""
    frames: int = 0
    width_px: int = 0
    height_px: int = 0
    frames_sha256: str = ""  # over the captured RGB frames, before they are encoded
    mp4_sha256: str = ""  # of the video's file; the same frames give the same file
    seek_repeatable: bool | None = None
    unique_frame_ratio: float | None = None
    blank_frames: int = 0  # frames of one colour
    console_errors: list[Words] = []
    requests_blocked: list[Words] = []
    purity: list[Words] = []  # each finding with its place
    engine: str = ""
    flags: list[str] = []


class Render(Row):
    system: str
    clip_id: ClipId
    key: str
    outcome: Outcome
    detail: Words = ""
    mp4: Path | None = None
    certificate: Certificate | None = None
    salvaged: bool = False
    wall_s: float | None = None
    protocol: str = ""


class PromptFrame(Row):
    """Where an object is on one frame: a box, and points on it (positive) and beside it (negative)."""

    frame: int = Field(ge=0)
    box_xyxy: Box
    positive_xy: list[tuple[float, float]] = []
    negative_xy: list[tuple[float, float]] = []


class ObjectPrompt(Row):
    """What a prompter says of one reference object in a candidate video."""

    name: str
    status: Literal["found", "absent", "ambiguous"]
    visible_s: list[Interval] = []
    frames: list[PromptFrame] = []
    detail: Words = ""


class ObjectTrack(Row):
    """An object's box in each frame of a video, as a segmenter found it."""

    name: str
    status: Literal["found", "absent", "ambiguous"]
    boxes_xyxy: list[Box | None]
    detail: Words = ""


class ObjectPrompts(Row):
    system: str
    clip_id: ClipId
    key: str
    status: str  # ok, or why there are none
    retry: bool = False  # they could not be had this time
    prompts: list[ObjectPrompt] = []
    protocol: str = ""
    proxy: bool = False


class ObjectTracks(Row):
    system: str
    clip_id: ClipId
    key: str
    status: str  # ok, or why there are none
    retry: bool = False  # they could not be had this time
    tracks: list[ObjectTrack] = []
    masks: Path | None = None  # what the boxes hold (see score/masks/kept.py), where the segmenter finds masks
    protocol: str = ""
    proxy: bool = False


class ProposedObject(Row):
    """An object that a model proposes; its boxes are still to be found, from its prompt."""

    description: str
    prompt: ObjectPrompt


class Proposal(Row):
    """What a model proposes for the annotation of a clip; or why it does not."""

    clip_id: ClipId
    status: str  # ok, or why there is none
    retry: bool = False  # it could not be had this time
    objects: list[ProposedObject] = []
    focal_points: list[FocalPoint] = []
    protocol: str = ""


class Answer(Row):
    """What a model answers to one question about a clip, from what a system has made of it or from the clip itself."""

    question_set: str
    question_id: str
    type: Words  # of the question
    system: str  # whose video or text it was shown; `questions.planned.ORIGINAL` for the clip itself
    clip_id: ClipId
    medium: Literal["render", "caption", "original"]
    option: Words | None = None  # the words of the one that it chose
    undetermined: bool = False  # it chose "cannot be determined"
    correct: bool | None = None  # None: not answered by our fault
    status: str  # ok, an Outcome of what it was to be shown, or "unscored"
    retry: bool = False  # unscored this time (a service was down): asked again at the next run
    detail: Words = ""  # its evidence, or why there is no answer
    protocol: str = ""


class Score(Row):
    """One number. `value` is None when it could not be measured, which is not zero."""

    metric: str
    system: str
    clip_id: ClipId
    item: str | None = None  # an object or a focal point, where the metric has them
    kind: str | None = None  # of the item: static or dynamic; found, absent or ambiguous
    value: float | None
    status: str  # an Outcome, or "unscored"
    retry: bool = False  # unscored this time (a service was down): tried again at the next run
    detail: Words = ""
    given: list[float] = []  # by a judge that was asked several times: its points each time
    protocol: str = ""
    proxy: bool = False

    @field_validator("value")
    @classmethod
    def _finite(cls, value: float | None) -> float | None:
        if value is not None and not abs(value) < float("inf"):
            raise ValueError("a score is a finite number or None")
        return value


class HumanScore(Row):
    """What a person gave one focal point of one render, by the judge's own criteria."""

    system: str
    clip_id: ClipId
    focal_id: str = Field(min_length=1)
    score: int = Field(ge=0, le=5)
    rater: str = Field(min_length=1, max_length=80)
    scored_at: str = ""  # ISO 8601
    sheet: str = ""  # the scoring page that it comes from; empty: a table of another origin
    shown: str = ""  # digest of what the person saw: clip, render and focal point; empty: not known


R = TypeVar("R", bound=Row)


def read_rows(path: Path, kind: type[R]) -> Iterator[R]:
    """Yield the rows of a JSON Lines file; a bad line is an error that names the file and the line."""
    with Path(path).open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                yield kind.model_validate_json(line)
            except ValidationError as error:
                raise RecordError(f"{path}:{number}: not a valid {kind.__name__}: {in_words(error)}") from error


def write_rows(path: Path, kind: type[R], rows: Iterable[R]) -> None:
    """Write rows as JSON Lines; the file appears whole or not at all."""

    def lines() -> Iterator[str]:
        for row in rows:
            if not isinstance(row, kind):
                raise TypeError(f"{path}: expected {kind.__name__}, got {type(row).__name__}")
            yield row.model_dump_json() + "\n"

    write_whole(path, lines())


def read_record(path: Path, kind: type[R]) -> R:
    """Read a file that holds one record as JSON."""
    try:
        return kind.model_validate_json(Path(path).read_text(encoding="utf-8"))
    except ValidationError as error:
        raise RecordError(f"{path}: not a valid {kind.__name__}: {in_words(error)}") from error
    except UnicodeDecodeError as error:
        raise RecordError(f"{path}: not a text file in UTF-8") from error
    except IsADirectoryError as error:
        raise RecordError(f"{path}: is a folder, not a file") from error


def write_record(path: Path, record: Row) -> None:
    write_whole(path, [record.model_dump_json(indent=1) + "\n"])


def write_whole(path: Path, parts: Iterable[str]) -> None:
    """Write a text file so that it is there whole or not at all, also after SIGKILL."""
    path = Path(path)
    check_replaceable(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".draft")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        Path(draft).chmod(0o666 & ~UMASK)
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def in_words(error: ValidationError) -> str:
    """A validation error on one line: each place and what is wrong there."""
    problems = []
    for problem in error.errors(include_url=False):
        place = ".".join(str(part) for part in problem["loc"])
        problems.append(f"{place}: {problem['msg']}" if place else problem["msg"])
    return "; ".join(problems[:5]) + (f"; and {len(problems) - 5} more" if len(problems) > 5 else "")
