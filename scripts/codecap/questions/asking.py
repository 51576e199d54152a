"""The question to an answering model: what is shown of a clip, and what is said with it.

What all questions about one video or text share comes first, so that a provider that keeps a prompt's beginning charges it once.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from codecap import store, video
from codecap.exchange import Question as Request
from codecap.exchange import Reply, Text, Video
from codecap.exchange.question import Part
from codecap.generate.shown import as_shown, facts_of, pictures_of, sheets_of
from codecap.questions.planned import PROMPT, AskedQuestion, Medium
from codecap.questions.sets import LETTERS
from codecap.questions.settings import Answerer
from codecap.records import Clip, Row, Words
from codecap.score import Unreached
from codecap.score.asking.answers import Unreadable, plain, read_answer
from codecap.score.asking.rounds import Asking
from codecap.score.asking.segments import Segment, blank_video
from codecap.score.engine.watching import watch
from codecap.showing import prompts
from codecap.showing.album import BlankAlbum
from codecap.showing.sheets import Sheet
from codecap.showing.showing import Pictures, shown

LONGEST_EVIDENCE = 600  # characters that a row keeps


@dataclass(frozen=True)
class Choice:
    """An answer that could be read.

    Attributes:
        place: of the chosen option in `AskedQuestion.options`.
    """

    place: int
    evidence: str


class Said(Row):
    evidence: Annotated[Words, Field(min_length=1)]
    choice: str


def shown_video(clip: Clip, mp4: Path, settings: Asking, prompt: str = PROMPT) -> tuple[Part, ...]:
    """The parts of a request that show a video of a clip: the clip's own or one of its renders, of whatever length and size.

    Where whole videos are shown, all are encoded alike, so that none looks better for it.

    Args:
        prompt: whose sections `frames` and `video` say what is shown.

    Raises:
        codecap.video.VideoError: it cannot be read.
    """
    info = video.probe(mp4)
    told = {"mp4": mp4, "frames": info.frames, "width_px": info.width_px, "height_px": info.height_px}
    made = clip.model_copy(update=told)
    if not settings.endpoint.video:
        sheets = sheets_of(made, settings)
        return _frame_parts(made, settings, sheets, pictures_of(made, sheets, settings), prompt)
    with tempfile.TemporaryDirectory(prefix="codecap-video-") as folder:
        whole = Segment(range(made.frames), made, Path(folder), settings.rate_hz)
        watch(mp4, made, [whole])
        return _video_parts(made, settings, whole.video(), prompt)


def blank_parts(clip: Clip, settings: Answerer) -> tuple[Part, ...]:
    """The same with blank pictures, to tell what a request costs before there is a video."""
    if settings.endpoint.video:
        return _video_parts(clip, settings, blank_video(range(clip.frames), settings.rate_hz), PROMPT)
    return _frame_parts(clip, settings, sheets_of(clip, settings), BlankAlbum(), PROMPT)


def shown_text(text: Path) -> tuple[Part, ...]:
    """The parts of a request that hold a caption in words.

    Raises:
        Unreached: the file is gone.
    """
    try:
        caption = store.open_at(text, lambda place: place.read_text(encoding="utf-8"))
    except OSError as error:
        raise Unreached(f"{text}: {error.strerror}") from error
    return worded(caption)


def worded(caption: str) -> tuple[Part, ...]:
    return (Text(prompts.load(PROMPT).say("caption", caption=json.dumps(caption, ensure_ascii=False))),)


def request(material: tuple[Part, ...], asked: AskedQuestion, settings: Answerer) -> Request:
    """The question after what it is about."""
    prompt = prompts.load(PROMPT)
    letters = LETTERS[: len(asked.options)]
    told = {"question": asked.question.question, "options": dict(zip(letters, asked.options, strict=True))}
    form = prompt.say("form", letter=letters[0], letters=", ".join(letters))
    said = {"form": form} | ({"undetermined": asked.options[-1]} if asked.undetermined else {})
    parts = (
        *material,
        Text(prompt.say("question", question=json.dumps(told, ensure_ascii=False, indent=1))),
        Text(prompt.say("task_undetermined" if asked.undetermined else "task", **said)),
    )
    return Request(parts, prompt.sections["system"], schema_of(letters), settings.most_output_tokens)


def schema_of(letters: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"evidence": {"type": "string"}, "choice": {"type": "string", "enum": list(letters)}},
        "required": ["evidence", "choice"],
        "additionalProperties": False,
    }


def read_choice(reply: Reply, options: int) -> Choice:
    """The chosen one of so many options.

    Raises:
        Unreadable: the answer is not as asked, or its letter is none of those offered.
    """
    said = read_answer(reply, Said)
    if said.choice not in tuple(LETTERS[:options]):
        raise Unreadable(f"chooses {plain(json.dumps(said.choice, ensure_ascii=False), 40)}, which was not offered")
    return Choice(LETTERS.index(said.choice), plain(" ".join(said.evidence.split()), LONGEST_EVIDENCE))


def protocol_of(medium: Medium, undetermined: bool, settings: Answerer) -> str:
    """The readable fingerprint of how answers come about."""
    seen = "caption text" if medium == "caption" else as_shown(settings.endpoint)
    offered = "with" if undetermined else "without"
    return f"answers of {settings.told}, {seen}, prompt {prompts.load(PROMPT).digest}, {offered} 'cannot be determined'"


def _frame_parts(clip: Clip, settings: Asking, sheets: Sequence[Sheet], pictures: Pictures, prompt: str) -> tuple[Part, ...]:
    told = Text(prompts.load(prompt).say("frames", **facts_of(clip, settings)))
    return (told, *shown("Video", sheets, pictures))


def _video_parts(clip: Clip, settings: Asking, whole: Video, prompt: str) -> tuple[Part, ...]:
    return (Text(prompts.load(prompt).say("video", **facts_of(clip, settings))), whole)
