"""From a published set to one of ours: its multiple-choice questions, about the clips that were made of its videos."""

from __future__ import annotations

import csv
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import ValidationError

from codecap import registry
from codecap.collect.naming import clip_id_of
from codecap.questions.published import LeftOut, Published, WrongForm, rows_of
from codecap.questions.sets import Question, QuestionError, many
from codecap.records import CATEGORIES, in_words, write_rows

FAMILY = "questions.formats"
COLUMNS = ["video", "clip_id"]  # of a table of videos


@dataclass(frozen=True)
class Imported:
    """What became of a published set.

    Attributes:
        left_out: rows that are no multiple-choice question with one right option, by what they are.
        wrong: rows that cannot be used: their place, and why.
        without_clip: videos that no clip is known to be made of, with the number of their questions.
    """

    questions: list[Question]
    left_out: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    without_clip: Counter[str] = field(default_factory=Counter)


def import_set(
    name: str,
    files: Sequence[Path],
    out: Path,
    clips: Iterable[str],
    videos: Path | None = None,
    sample: int | None = None,
    seed: int = 0,
) -> Imported:
    """Read the files of a published set, and write its questions to `out`.

    Args:
        name: of its format, a module of `codecap.questions.formats`.
        clips: ids of the clips that there are.
        videos: table of which clip is which video, see `read_videos`; by default a clip is the video whose name its id has.
        sample: keep the questions about so many clips, drawn by `seed`; all by default.

    Raises:
        QuestionError: no row is in this form, no question is about a clip, or two have one id.
        registry.Unavailable: there is no such format.
    """
    form = registry.load(FAMILY, name)
    found = Imported([])
    known = sorted(set(clips))
    of_video = _by_name(known) if videos is None else read_videos(videos, known)
    theirs: dict[str, str] = {}  # clip -> video
    for place, row in (pair for path in files for pair in rows_of(path)):
        try:
            taken = form.take(row)
        except LeftOut as what:
            found.left_out[str(what)] += 1
            continue
        except (WrongForm, ValidationError) as error:
            found.wrong.append(f"{place}: {in_words(error) if isinstance(error, ValidationError) else error}")
            continue
        clip_id = of_video.get(taken.video) if videos is not None else of_video.get(clip_id_of(Path(taken.video)))
        if clip_id is None:
            found.without_clip[taken.video] += 1
            continue
        if theirs.setdefault(clip_id, taken.video) != taken.video:
            raise QuestionError(
                f"{place}: clip {clip_id} would be both {theirs[clip_id]} and {taken.video}; say which clip is which video in a "
                "table with the columns video and clip_id, and name it with --videos"
            )
        try:
            found.questions.append(_question(name, form.LABEL, taken, clip_id))
        except ValidationError as error:
            found.wrong.append(f"{place}: {in_words(error)}")
    if found.wrong and not (found.questions or found.left_out or found.without_clip):
        raise QuestionError(f"no row is in the form of {form.LABEL}; {found.wrong[0]}")
    return _written(out, found, sample, seed)


def read_videos(path: Path, clips: Sequence[str]) -> dict[str, str]:
    """Which clip was made of which video: a table, separated by tabs or commas, with the columns `video` and `clip_id`.

    Raises:
        QuestionError: it is none, names a video twice, or a clip that is not there.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise QuestionError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or 'not a text file in UTF-8'}") from error
    reader = csv.DictReader(text.splitlines(), delimiter="\t" if "\t" in text.partition("\n")[0] else ",")
    if not set(COLUMNS) <= set(reader.fieldnames or []):
        raise QuestionError(
            f"{path}:1: must have the columns video and clip_id; there are {', '.join(reader.fieldnames or ['none'])}"
        )
    found: dict[str, str] = {}
    for row in reader:
        video, clip_id = (row[name] or "" for name in COLUMNS)
        if clip_id not in clips:
            raise QuestionError(f"{path}:{reader.line_num}: {clip_id!r} is not in the clips table")
        if video in found:
            raise QuestionError(f"{path}:{reader.line_num}: {video!r} stands there twice")
        found[video] = clip_id
    return found


def _by_name(clips: Iterable[str]) -> dict[str, str]:
    """Clips by the name of a video: their id, with or without the letter of a category before it; none for a name of several."""
    found: dict[str, list[str]] = defaultdict(list)
    for clip_id in clips:
        letter, underscore, rest = clip_id.partition("_")
        for name in {clip_id, rest} if underscore and letter in CATEGORIES else {clip_id}:
            found[name].append(clip_id)
    return {name: held[0] for name, held in found.items() if len(held) == 1}


def _question(form: str, label: str, taken: Published, clip_id: str) -> Question:
    word = re.sub(r"\s+", "-", taken.question_id.strip())
    return Question(
        question_id=f"{form}-{word}",
        clip_id=clip_id,
        type=taken.type,
        question=taken.question,
        options=list(taken.options),
        answer=taken.answer,
        source=label,
    )


def _written(out: Path, found: Imported, sample: int | None, seed: int) -> Imported:
    if not found.questions:
        raise QuestionError(
            f"no question to import: {sum(found.left_out.values())} rows are no multiple-choice questions, "
            f"{sum(found.without_clip.values())} are about videos that no clip is named after (--videos says which clip is which)"
        )
    for name, count in Counter(question.question_id for question in found.questions).items():
        if count > 1:
            raise QuestionError(f"question {name!r} is there {count} times; name files of one task only, each once")
    kept = sorted(found.questions, key=lambda question: question.question_id)
    clips = sorted({question.clip_id for question in kept})
    if sample is not None:
        if sample > len(clips):
            raise QuestionError(f"--sample {sample}: there are questions about {len(clips)} clips")
        drawn = set(random.Random(seed).sample(clips, sample))
        kept = [question for question in kept if question.clip_id in drawn]
    write_rows(out, Question, kept)
    return replace(found, questions=kept)


def account_of(found: Imported) -> Iterator[str]:
    """What became of the set, in words."""
    clips = len({question.clip_id for question in found.questions})
    yield f"{many(len(found.questions), 'question')} about {many(clips, 'clip')}"
    for what, count in found.left_out.most_common():
        yield f"left out: {many(count, 'row')}: {what}"
    if found.wrong:
        yield f"left out: {many(len(found.wrong), 'row')} that cannot be used, the first: {found.wrong[0]}"
    if found.without_clip:
        videos, lost = list(found.without_clip), sum(found.without_clip.values())
        some = ", ".join(videos[:5]) + (f" and {len(videos) - 5} more" if len(videos) > 5 else "")
        yield f"left out: {many(lost, 'question')} about {many(len(videos), 'video')} without a clip: {some}"
