"""The way from clips to a draft of questions: written, tried blind, thinned. Every answer is recorded, so it may be broken off."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codecap.clips import check_file
from codecap.questions.making.blind import Trial, accuracy, is_solved, try_blind
from codecap.questions.making.grouping import group, hardest
from codecap.questions.making.reviewing import write_review
from codecap.questions.making.writing import Candidate, once_each, types_of, write_questions
from codecap.questions.sets import Question, QuestionError, spread_answers
from codecap.questions.settings import Maker
from codecap.records import Clip, write_rows
from codecap.score import Unreached, Unscored
from codecap.video import VideoError

LOG = logging.getLogger("codecap")
CANDIDATES, TRIALS, DRAFT, REVIEW = "candidates.jsonl", "trials.jsonl", "draft.jsonl", "review.csv"


@dataclass
class Course:
    """What became of the questions.

    Attributes:
        solved: that can be answered blind.
        draft: what is left, for people to review.
        problems: what could not be used or had, in words.
    """

    candidates: list[Candidate] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)
    solved: list[Question] = field(default_factory=list)
    draft: list[Question] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def make_questions(clips: Sequence[Clip], maker: Maker, out: Path, tell: Callable[[str], None] = LOG.info) -> Course:
    """Make a draft of questions about some clips, and write it into the folder `out` with all that led to it.

    Within an open session of the exchange: what was asked before is not asked again, so a broken course goes on where it was.

    Args:
        tell: is told of each clip that is done.

    Returns:
        What was written: `candidates.jsonl`, `trials.jsonl`, `draft.jsonl`, and `review.csv` for reviewers.

    Raises:
        QuestionError: an answer could not be had this time, a clip cannot be read, or nothing is left.
    """
    types_of(maker)
    made = Course()
    for clip in clips:
        try:
            _make(clip, maker, made)
        except Unreached as why:
            raise QuestionError(f"{clip.clip_id}: {why}; what was answered is recorded: run again to go on") from why
        except VideoError as why:
            raise QuestionError(f"{clip.clip_id}: {why}") from why
        tell(f"{clip.clip_id}: {sum(question.clip_id == clip.clip_id for question in made.draft)} questions")
    if not made.draft:
        raise QuestionError("no question is left: " + ("; ".join(made.problems[:3]) or "all can be answered without the clips"))
    made.draft = spread_answers(sorted(made.draft, key=lambda question: question.question_id))
    write_rows(out / CANDIDATES, Candidate, made.candidates)
    write_rows(out / TRIALS, Trial, made.trials)
    write_rows(out / DRAFT, Question, made.draft)
    write_review(out / REVIEW, made.draft, {clip.clip_id: clip for clip in clips}, _evidence(made.candidates))
    return made


def _make(clip: Clip, maker: Maker, made: Course) -> None:
    check_file(clip)
    written: list[Candidate] = []
    for writer in maker.writers:
        found, problems = write_questions(clip, writer, maker)
        written += found
        made.problems += problems
    candidates = once_each(written)
    questions = [candidate.question for candidate in candidates]
    trials = [trial for place in range(len(maker.blind)) for trial in try_blind(questions, place, maker)]
    of_question: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        of_question[trial.question_id].append(trial)
    solved = [question for question in questions if is_solved(of_question[question.question_id], maker)]
    made.candidates += candidates
    made.trials += trials
    made.solved += solved
    left = [question for question in questions if question not in solved]
    accuracies = {name: accuracy(held) for name, held in of_question.items()}
    try:
        made.draft += hardest(group(left, maker.grouper), accuracies)
    except Unreached:
        raise
    except Unscored as why:
        made.problems.append(
            f"{clip.clip_id}: {len(left)} questions are left out, as nobody says which of them ask the same: {why}"
        )


def _evidence(candidates: Sequence[Candidate]) -> dict[str, str]:
    return {candidate.question.question_id: candidate.evidence for candidate in candidates}
