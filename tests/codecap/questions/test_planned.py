"""What a run asks, and of whom: nothing by default, one set and one answerer where they are named."""

import pytest
from questioned import question

from codecap.errors import UserError
from codecap.questions import planned
from codecap.questions.sets import Question
from codecap.records import Clip, write_rows

ANSWERER = {"endpoint": {"api": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}}


def clip(clip_id):
    return Clip(clip_id=clip_id, category="A", mp4="x.mp4", sha256="0" * 64, frames=24, width_px=64, height_px=48)


@pytest.fixture
def made(tmp_path):
    """The questions of a configuration, and what it tells."""
    path = tmp_path / "set.jsonl"
    write_rows(path, Question, [question(1, clip_id="A_1"), question(2, clip_id="A_2"), question(3, clip_id="Z_9")])

    def plan(**told):
        problems = []
        section = {"sets": {"quiz": {"file": str(path)}}, "answerer": ANSWERER} | told
        found = planned.plan({"questions": section, "clips": "clips.tsv"}, ["A_1", "A_2", "A_3"], ["a", "b"], ["words"], problems)
        return found, problems

    return plan


def test_nothing_is_asked_by_default():
    found = planned.plan({"questions": None, "clips": "c"}, ["A_1"], ["a"], ["words"], [])
    assert found.outputs({"00": [clip("A_1")]}) == [] and found.contents([clip("A_1")]) == [] and not found.subjects
    assert planned.plan({"questions": {"maker": None}, "clips": "c"}, ["A_1"], ["a"], [], []).outputs({"00": [clip("A_1")]}) == []


def test_all_videos_texts_and_the_originals_are_asked_about(made):
    found, problems = made()
    assert dict(found.subjects) == {"a": "render", "b": "render", "words": "caption", "_original": "original"}
    assert problems == ["questions.sets.quiz: 1 question about clips that are not in clips.tsv; not asked"]
    buckets = {"00": [clip("A_3")], "01": [clip("A_1"), clip("A_2")]}  # the first has no questions
    assert found.outputs(buckets) == [f"results/6_score/answers/{name}/01.jsonl" for name in ("a", "b", "words", "_original")]
    assert found.reads("a", "01") == ["results/5_render/a/01.jsonl"]
    assert found.reads("words", "01") == ["results/4_generate/words/01.jsonl"]
    assert found.reads("_original", "01") == []


def test_some_of_them_are(made):
    assert list(made(systems=["words"], original=False)[0].subjects) == ["words"]
    with pytest.raises(UserError, match="questions.systems: 'c' does not take part; there are a, b, words"):
        made(systems=["c"])


def test_only_the_shards_whose_questions_changed_change(made, tmp_path):
    before = made()[0]
    write_rows(tmp_path / "set.jsonl", Question, [question(1, clip_id="A_1"), question(2, clip_id="A_2", type="other")])
    after = made()[0]
    assert before.contents([clip("A_1")]) == after.contents([clip("A_1")])
    assert before.contents([clip("A_2")]) != after.contents([clip("A_2")])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"answerer": None}, "answerer: sets are named, and no model that answers"),
        ({"answerer": ANSWERER | {"rate": 2}}, "answerer.rate: Extra inputs"),
        ({"sets": {"quiz": {"file": "none.jsonl"}}}, "none.jsonl: cannot be read"),
        ({"sets": {"quiz": {}}}, "sets.quiz.file: Field required"),
        (
            {"answerer": {"endpoint": ANSWERER["endpoint"] | {"key_env": "OPENAI_API_KEY"}}},
            "the key in OPENAI_API_KEY would be sent",
        ),
        ({"maker": {"writers": [ANSWERER], "blind": [ANSWERER], "grouper": ANSWERER, "solved_in": 4}}, "solved_in is 4"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_asked(made, wrong, words):
    with pytest.raises(UserError, match=words):
        made(**wrong)
