"""Questions of one type about one clip, written by a model that sees it. Each model writes of every type: more than will be kept.

Source: CapQuiz, section 3.2.2. **Ours**: the wording, the examples, and five of the ten types' definitions
(`resources/prompts/question_writer.md`); the right option and the wrong ones are asked for apart, so that no letter can be wrong.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, ValidationError

from codecap.exchange import Question as Request
from codecap.exchange import Reply, Text
from codecap.exchange.question import Part
from codecap.questions.asking import shown_video
from codecap.questions.published import shuffled
from codecap.questions.sets import Question, QuestionError, same
from codecap.questions.settings import OPTIONS, Maker
from codecap.records import Clip, Row, Words, in_words
from codecap.score import Unscored
from codecap.score.asking.answers import Unreadable, plain, read_answer
from codecap.score.asking.rounds import Asking, ask_all, ask_until_read
from codecap.showing import prompts
from codecap.store import digest_of

PROMPT = "question_writer.md"
OF_TYPE = "type "  # how the section of a type begins
LONGEST_EVIDENCE = 400
Line = Annotated[Words, Field(min_length=1)]

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "questions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "evidence": {"type": "string"},
                    "question": {"type": "string"},
                    "right": {"type": "string"},
                    "wrong": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["evidence", "question", "right", "wrong"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["questions"],
    "additionalProperties": False,
}


class Candidate(Row):
    """A question as it was written.

    Attributes:
        writer: the model.
        evidence: what of the clip it rests on, for whoever reviews it.
    """

    question: Question
    writer: str
    evidence: Words


class Said(Row):
    evidence: Line
    question: Line
    right: Line
    wrong: list[Line] = Field(min_length=OPTIONS - 1, max_length=OPTIONS - 1)


class SaidAll(Row):
    questions: list[Said]


def types_of(maker: Maker) -> dict[str, str]:
    """The types that are written, with their definitions and examples.

    Raises:
        QuestionError: the configuration names one that the prompt does not have.
    """
    sections = prompts.load(PROMPT).sections
    known = {name.removeprefix(OF_TYPE): text for name, text in sections.items() if name.startswith(OF_TYPE)}
    for name in maker.types or ():
        if name not in known:
            raise QuestionError(f"questions.maker.types: no type {name!r}; there are {', '.join(known)}")
    return {name: known[name] for name in maker.types or known}


def write_questions(clip: Clip, writer: Asking, maker: Maker) -> tuple[list[Candidate], list[str]]:
    """Candidates about a clip by one model, of all types. Within an open session of the exchange.

    Returns:
        The candidates, and in words what could not be used.

    Raises:
        codecap.score.Unreached: an answer could not be had this time.
        codecap.video.VideoError: the clip cannot be read.
    """
    types = types_of(maker)
    material = shown_video(clip, clip.mp4, writer, PROMPT)
    asked = [functools.partial(_ask, clip, material, name, types[name], writer, maker) for name in types]
    found: list[Candidate] = []
    problems: list[str] = []
    for name, answer in zip(types, ask_all(writer.endpoint, asked), strict=True):
        if isinstance(answer, Unscored):
            problems.append(f"{clip.clip_id}, {name}, {writer.endpoint.model}: {answer}")
            continue
        candidates, spoilt = answer
        found += candidates
        problems += [f"{clip.clip_id}, {name}, {writer.endpoint.model}: one question cannot be used: {why}" for why in spoilt]
    return found, problems


def once_each(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Without those that say word for word what one before them says of the same clip."""
    seen: dict[tuple[str, str], Candidate] = {}
    for candidate in candidates:
        seen.setdefault((candidate.question.clip_id, same(candidate.question.question)), candidate)
    return list(seen.values())


def request(material: Sequence[Part], name: str, definition: str, writer: Asking, maker: Maker) -> Request:
    prompt = prompts.load(PROMPT)
    told = {"type": name, "definition": definition, "count": maker.per_type, "wrong": OPTIONS - 1}
    parts = (*material, Text(prompt.say("task", **told)))
    return Request(parts, prompt.sections["system"], SCHEMA, writer.most_output_tokens)


def read_questions(reply: Reply, clip: Clip, name: str, model: str, most: int) -> tuple[list[Candidate], list[str]]:
    """The questions of an answer, and what is wrong with those that cannot be used.

    Raises:
        Unreadable: the answer is not as asked, or none of its questions can be used.
    """
    said = read_answer(reply, SaidAll).questions
    found, spoilt = [], []
    for one in said[:most]:
        try:
            found.append(_candidate(one, clip, name, model))
        except ValidationError as error:
            spoilt.append(plain(in_words(error), LONGEST_EVIDENCE))
    if not found:
        raise Unreadable(f"no question that can be used: {'; '.join(spoilt) or 'there is none'}")
    return found, spoilt


def _ask(
    clip: Clip, material: Sequence[Part], name: str, definition: str, writer: Asking, maker: Maker
) -> tuple[list[Candidate], list[str]]:
    read = functools.partial(read_questions, clip=clip, name=name, model=writer.endpoint.model, most=maker.per_type)
    return ask_until_read(writer.endpoint, request(material, name, definition, writer, maker), read, writer.asks)


def _candidate(said: Said, clip: Clip, name: str, model: str) -> Candidate:
    question_id = f"{clip.clip_id}-{name}-{digest_of([said.question, said.right])[:8]}"
    options, answer = shuffled(question_id, said.right, said.wrong)
    told: Mapping[str, Any] = {"question_id": question_id, "clip_id": clip.clip_id, "type": name, "question": said.question}
    question = Question(**told, options=list(options), answer=answer, source=f"written by {model}")
    return Candidate(question=question, writer=model, evidence=plain(said.evidence, LONGEST_EVIDENCE))
