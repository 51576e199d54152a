"""What a run asks: the questions about its clips, and whose videos and texts they are put to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from codecap import config as configuration
from codecap.errors import UserError
from codecap.records import Clip
from codecap.showing import prompts
from codecap.store import digest_of

if TYPE_CHECKING:  # what asks is loaded where something is to be asked: every job of a run reads its plan
    from codecap.questions.sets import Question
    from codecap.questions.settings import QuestionSettings

PROMPT = "question_answerer.md"
Medium = Literal["render", "caption", "original"]
ORIGINAL = "_original"  # stands where a system's name does: the clips themselves, which no system can be called


@dataclass(frozen=True)
class AskedQuestion:
    """A question as it is asked: under which set's name, and whether with "cannot be determined" as a last option."""

    question_set: str
    undetermined: bool
    question: Question

    @property
    def options(self) -> list[str]:
        """All that can be chosen, in order."""
        told = list(self.question.options)
        return [*told, prompts.load(PROMPT).sections["undetermined"]] if self.undetermined else told


@dataclass(frozen=True)
class Questions:
    """The questions of a run; none where the configuration names no set.

    Attributes:
        settings: the section `questions`.
        subjects: what each one who is asked about gives: systems by name, and ORIGINAL.
        asked: of each clip that has questions, all of them.
    """

    settings: QuestionSettings | None = None
    subjects: Mapping[str, Medium] = field(default_factory=dict)
    asked: Mapping[str, Sequence[AskedQuestion]] = field(default_factory=dict)

    def about(self, clips: Iterable[Clip]) -> list[Clip]:
        """Those of some clips that have questions."""
        return [clip for clip in clips if clip.clip_id in self.asked]

    def contents(self, clips: Iterable[Clip]) -> list[str]:
        """What the questions about some clips are, as plain values: a shard is asked anew only where its own have changed."""
        told = []
        for clip in self.about(clips):
            held = [[one.question_set, one.undetermined, one.question.model_dump(mode="json")] for one in self.asked[clip.clip_id]]
            told.append(f"{clip.clip_id}:{digest_of(held)}")
        return told

    def answerer(self) -> dict[str, Any]:
        """The settings of the model that answers, as plain values."""
        return self.settings.answerer.model_dump(mode="json") if self.settings and self.settings.answerer else {}

    def reads(self, subject: str, bucket: str) -> list[str]:
        """The rows of a shard that name what is shown."""
        stage = {"render": "5_render", "caption": "4_generate"}.get(self.subjects[subject])
        return [] if stage is None else [f"results/{stage}/{subject}/{bucket}.jsonl"]

    def outputs(self, buckets: Mapping[str, Sequence[Clip]]) -> list[str]:
        """All shards of answers."""
        held = [bucket for bucket, clips in buckets.items() if self.about(clips)]
        return [f"results/6_score/answers/{subject}/{bucket}.jsonl" for subject in self.subjects for bucket in held]


def plan(
    config: Mapping[str, Any], clips: Iterable[str], systems: Iterable[str], texts: Iterable[str], problems: list[str]
) -> Questions:
    """The questions of a configuration.

    Args:
        clips: ids of the run's clips; questions about others are left out, and told in `problems`.
        systems, texts: that take part: those whose videos are seen, and those whose texts are read.

    Raises:
        UserError: the section or a set is wrong, or it names a system that does not take part.
    """
    if config.get("questions") is None:
        return Questions()
    from codecap.questions.sets import many
    from codecap.questions.settings import of as settings_of

    settings = settings_of(config)
    if not settings.sets:
        return Questions(settings)
    subjects: dict[str, Medium] = dict.fromkeys(systems, "render") | dict.fromkeys(texts, "caption")
    if settings.systems != "all":
        unknown = [name for name in settings.systems if name not in subjects]
        if unknown:
            raise UserError(f"questions.systems: {unknown[0]!r} does not take part; there are {', '.join(subjects) or 'none'}")
        subjects = {name: subjects[name] for name in settings.systems}
    if settings.original:
        subjects[ORIGINAL] = "original"
    asked, lost = asked_about(settings, clips)
    for name, count in lost.items():
        problems.append(
            f"questions.sets.{name}: {many(count, 'question')} about clips that are not in {config['clips']}; not asked"
        )
    return Questions(settings, subjects, asked)


def asked_about(settings: QuestionSettings, clips: Iterable[str]) -> tuple[dict[str, list[AskedQuestion]], dict[str, int]]:
    """The questions of each of some clips that has any, and how many of each set are about none of them.

    Raises:
        UserError: a set is wrong.
    """
    from codecap.questions.sets import read_set

    known = set(clips)
    asked: dict[str, list[AskedQuestion]] = {}
    lost: dict[str, int] = {}
    for name, told in settings.sets.items():
        for question in read_set(configuration.find(Path(told.file))):
            if question.clip_id in known:
                asked.setdefault(question.clip_id, []).append(AskedQuestion(name, told.undetermined, question))
            else:
                lost[name] = lost.get(name, 0) + 1
    return asked, lost
