"""What answering will take is told before it is paid for, and less once some of it is answered."""

import pytest
from questioned import question

from codecap import config
from codecap.config import PROJECT
from codecap.estimate import planned
from codecap.questions.asking import protocol_of
from codecap.questions.planned import ORIGINAL
from codecap.questions.sets import Question
from codecap.questions.settings import Answerer
from codecap.records import Answer, write_rows

ANSWERER = {"endpoint": {"api": "google", "model": "gemini-3.8-flash", "video": True, "key_env": "GEMINI_API_KEY"}}
WORDS = {"label": "Words", "harness": "describe", "endpoint": {"api": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}}


@pytest.fixture
def told(tmp_path, monkeypatch):
    """The askers of a run with two questions about A_001 and one about B_001."""
    monkeypatch.chdir(tmp_path)
    rows = [question(1, clip_id="A_001"), question(2, clip_id="A_001"), question(3, clip_id="B_001")]
    write_rows(tmp_path / "quiz.jsonl", Question, rows)

    def plan():
        section = {"sets": {"quiz": {"file": "quiz.jsonl"}}, "answerer": ANSWERER}
        models = {"words": WORDS}
        overrides = {"questions": section, "models": models, "systems": ["blank", "words"]}
        return {entry.asker: entry for entry in planned(config.load(PROJECT / "config" / "demo.yaml", overrides=overrides))[0]}

    return plan


def test_questions_of_all_subjects_are_counted(told):
    asked = told()
    videos, texts = asked["questions, from videos"], asked["questions, from texts"]
    assert (videos.systems, videos.questions, videos.clips, videos.left) == (2, 6, 2, 6)  # blank and the originals
    assert (texts.systems, texts.questions) == (1, 3)
    assert videos.input_tokens > texts.input_tokens > 3 * 800 and videos.low_usd < videos.high_usd


def test_what_is_answered_is_not_counted_again(told, tmp_path):
    protocol = protocol_of("original", True, Answerer.model_validate(ANSWERER))
    place = {"question_set": "quiz", "type": "action", "system": ORIGINAL, "medium": "original", "status": "ok", "correct": True}
    rows = [Answer(question_id=f"q{n}", clip_id="A_001", protocol=protocol, **place) for n in (1, 2)]
    rows.append(Answer(question_id="q3", clip_id="B_001", protocol="another", **place))
    for bucket in ("00", "01"):
        write_rows(tmp_path / "results" / "6_score" / "answers" / ORIGINAL / f"{bucket}.jsonl", Answer, rows)
    assert (told()["questions, from videos"].recorded, told()["questions, from videos"].left) == (2, 4)
