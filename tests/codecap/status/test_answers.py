"""Questions about clips in a run's status: a stage, a column of systems, and the clips themselves in no system's row."""

from questioned import question

from codecap.questions.sets import Question
from codecap.records import write_rows
from codecap.status.progress import look
from codecap.status.words import as_text

ENDPOINT = {"api": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}


def test_answers_are_a_stage_of_the_clips_with_questions(run, tmp_path):
    write_rows(tmp_path / "quiz.jsonl", Question, [question(n, clip_id=f"A_00{n}") for n in (1, 2, 3)])
    run.config["systems"] = run.config["systems"][:2]
    run.config["questions"] = {"sets": {"quiz": {"file": str(tmp_path / "quiz.jsonl")}}, "answerer": {"endpoint": ENDPOINT}}
    status = look(run.config, lambda: [])
    (answers,) = [stage for stage in status.stages if stage.name == "answers"]
    assert sum(shard.task.items for shard in answers.shards) == 3 * (2 + 1)  # of two systems, and of the clips themselves
    lines = as_text(status).splitlines()
    assert [line.split()[-1] for line in lines if line.startswith("system_0")] == ["0/3", "0/3"]
    assert not any("_original" in line for line in lines)
