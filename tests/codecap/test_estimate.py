"""What a run will ask: counted for the demo's clips by hand, with the real judge and prompter."""

import json
from decimal import Decimal

import pytest

from codecap import config as configuration
from codecap import plan
from codecap.config import PROJECT
from codecap.estimate import planned
from codecap.records import (
    Annotation,
    Caption,
    ObjectPrompt,
    ObjectPrompts,
    Outcome,
    Proposal,
    ProposedObject,
    Render,
    Score,
    read_record,
    write_rows,
)

ANNOTATIONS = [read_record(path, Annotation) for path in sorted((PROJECT / "resources" / "demo" / "annotations").glob("*.json"))]
POINTS = {annotation.clip_id: len(annotation.focal_points) for annotation in ANNOTATIONS}
JUDGE = {"endpoint": {"api": "openai", "model": "gpt-6.2-sol", "images": 20}, "repeats": 2}
PROMPTER = {"endpoint": {"api": "google", "model": "no-such-model", "key_env": None}}
OVER = {
    "systems": ["still", "blank"],
    "metrics": {
        "retention": {"judge": "mllm", "judges": {"mllm": JUDGE}},
        "object_iou": {"prompter": "mllm", "prompters": {"mllm": PROMPTER}},
    },
}


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return configuration.load(PROJECT / "config" / "demo.yaml", overrides=OVER)


def of(found, asker):
    return next(entry for entry in found[0] if entry.asker.startswith(asker))


def test_a_question_a_point_and_repeat(config):
    judge = of(planned(config), "retention")
    assert (judge.systems, judge.clips) == (2, len(POINTS))
    assert judge.questions == judge.left == 2 * 2 * sum(POINTS.values())
    assert judge.questions * 2 < judge.pictures <= judge.questions * 20
    assert 0 < judge.low_usd < judge.high_usd
    longest = judge.questions * 4096 * Decimal(10) / 1_000_000 if judge.high_usd else 0
    assert judge.low_usd < longest


FRAMES_AT_2_HZ = 14 + 13 + 12 + 14 + 13  # of the demo's clips, of 7, 6.5, 6, 7 and 6.5 s
MODEL = {"label": "m", "endpoint": {"api": "openai", "model": "gpt-6.2-sol", "images": 50, "key_env": None}}
CAPTIONERS = {
    "once": MODEL | {"harness": "direct"},
    "again": MODEL | {"harness": "revise", "rounds": 2},
    "agent": MODEL | {"harness": "codex", "most_usd": 3},
}


def test_what_captions_take(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = configuration.load(PROJECT / "config" / "demo.yaml", overrides={"models": CAPTIONERS, "systems": list(CAPTIONERS)})
    found, problems = planned(config)
    once, again = found
    assert [entry.asker for entry in found] == ["once, direct", "again, revise"]
    assert (once.questions, once.pictures) == (5, FRAMES_AT_2_HZ)
    assert (again.questions, again.pictures) == (5 * 5, 5 * FRAMES_AT_2_HZ)
    assert once.low_usd < again.low_usd
    assert problems == ["agent: what an agent asks is up to its model, not counted; at most 3 USD a clip (most_usd)"]


PROPOSING = {"annotations": "proposed", "proposer": "mllm", "proposers": {"mllm": {"endpoint": MODEL["endpoint"]}}}


def test_what_drafts_take(tmp_path, monkeypatch):
    """Two passes over each clip, and 17 objects on 3 frames each, 8 in a question."""
    monkeypatch.chdir(tmp_path)
    over = PROPOSING | {"models": {"once": CAPTIONERS["once"]}, "systems": ["once"]}
    config = configuration.load(PROJECT / "config" / "demo.yaml", overrides=over)
    drafts, once = planned(config)[0]
    assert (drafts.asker, drafts.systems, drafts.clips) == ("annotations, proposer mllm", 1, 5)
    assert drafts.questions == drafts.left == 5 * (2 + 3)
    assert 2 * FRAMES_AT_2_HZ < drafts.pictures <= 2 * FRAMES_AT_2_HZ + 5 * 17 * 3
    assert once.low_usd < drafts.low_usd < drafts.high_usd
    approved = configuration.load(PROJECT / "config" / "demo.yaml", overrides=over | {"annotations": "approved"})
    assert [entry.asker for entry in planned(approved)[0]] == ["once, direct"]


def test_clips_that_are_proposed_for_are_not_asked_about(tmp_path, monkeypatch):
    from codecap import registry

    monkeypatch.chdir(tmp_path)
    config = configuration.load(PROJECT / "config" / "demo.yaml", overrides=PROPOSING)
    protocol = registry.make("annotate.proposers", "mllm", PROPOSING["proposers"]["mllm"]).protocol
    clip_id = min(POINTS)
    rows = plan.RESULTS / "3_annotate" / "asked" / "proposed" / f"{plan.bucket_of(clip_id, config['buckets'])}.jsonl"
    thing = ProposedObject(description="a ball", prompt=ObjectPrompt(name="ball", status="found"))
    for told, recorded in [
        ({"status": "ok", "objects": [thing], "protocol": protocol}, 5),
        ({"status": "ok", "objects": [thing], "protocol": "another model"}, 0),
        ({"status": "no usable answer"}, 0),
    ]:
        write_rows(rows, Proposal, [Proposal(clip_id=clip_id, **told)])
        assert planned(config)[0][0].recorded == recorded


def test_captions_that_are_there_are_not_asked(tmp_path, monkeypatch):
    from codecap import registry

    monkeypatch.chdir(tmp_path)
    over = {"models": {"once": CAPTIONERS["once"]}, "systems": ["once"]}
    config = configuration.load(PROJECT / "config" / "demo.yaml", overrides=over)
    protocol = registry.make("generate.harnesses", "direct", {"endpoint": MODEL["endpoint"]}).protocol
    clip_id = min(POINTS)
    rows = plan.RESULTS / "4_generate" / "once" / f"{plan.bucket_of(clip_id, config['buckets'])}.jsonl"
    for outcome, of_protocol, left in [("refused", protocol, 4), ("infra_error", protocol, 5), ("refused", "another model", 5)]:
        row = Caption(system="once", clip_id=clip_id, key="k", outcome=Outcome(outcome), protocol=of_protocol)
        write_rows(rows, Caption, [row])
        assert planned(config)[0][0].left == left


def test_without_a_price_the_cost_is_not_known(config):
    prompter = of(planned(config), "object_iou")
    assert prompter.questions > 0
    assert (prompter.low_usd, prompter.high_usd) == (None, None)


def test_embedded_backends_ask_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert planned(configuration.load(PROJECT / "config" / "demo.yaml")) == ([], [])


def test_what_is_answered_or_has_no_video_is_not_asked(config):
    from codecap import registry

    protocol = registry.make("score.judges", "mllm", JUDGE).protocol
    clip_id = min(POINTS)
    bucket = plan.bucket_of(clip_id, config["buckets"])

    def score(item, **told):
        return Score(metric="retention", system="still", clip_id=clip_id, item=item, value=80.0, status="ok", **told)

    scores = plan.RESULTS / "6_score" / config["metrics"]["retention"]["lane"] / "still" / f"{bucket}.jsonl"
    write_rows(scores, Score, [score("a", protocol=f"0-5 x 20, {protocol}"), score("b", protocol=f"0-5 x 20, {protocol}")])
    render = Render(system="blank", clip_id=clip_id, key="k", outcome=Outcome.RUNTIME_ERROR)
    write_rows(plan.RESULTS / "5_render" / "blank" / f"{bucket}.jsonl", Render, [render])
    judge = of(planned(config), "retention")
    assert (judge.recorded, judge.dropped) == (2 * POINTS[clip_id], 2 * POINTS[clip_id])
    assert judge.left == 2 * 2 * (sum(POINTS.values()) - POINTS[clip_id])
    for other in (score("a", protocol="another judge"), score("a", protocol=f"0-5 x 20, {protocol}", retry=True)):
        write_rows(scores, Score, [other])
        assert of(planned(config), "retention").recorded == 0


def test_prompts_that_are_there_are_not_asked(config):
    from codecap import registry

    protocol = registry.make("score.prompters", "mllm", OVER["metrics"]["object_iou"]["prompters"]["mllm"]).protocol
    clip_id = min(POINTS)
    bucket = plan.bucket_of(clip_id, config["buckets"])
    found = ObjectPrompt(name="x", status="absent")
    row = ObjectPrompts(system="still", clip_id=clip_id, key="k", status="ok", prompts=[found], protocol=protocol)
    write_rows(plan.RESULTS / "6_score" / "prompts" / "still" / f"{bucket}.jsonl", ObjectPrompts, [row])
    assert of(planned(config), "object_iou").recorded > 0


def test_a_clip_without_an_annotation_is_told(config, tmp_path):
    (tmp_path / "annotations").mkdir()
    found, problems = planned(config | {"annotations_folder": str(tmp_path / "annotations")})
    assert {entry.questions for entry in found} == {0}
    assert len(problems) == len(POINTS)
    assert json.dumps(problems).count("no annotation yet") == len(POINTS)


def test_without_clips_the_way_to_name_some_is_told(config, tmp_path):
    (tmp_path / "none.tsv").write_text((PROJECT / "config" / "clips.tsv").read_text().splitlines()[0] + "\n")
    found, problems = planned(config | {"clips": str(tmp_path / "none.tsv")})
    assert {entry.questions for entry in found} == {0}
    assert any("has no clips" in problem and "--config FILE" in problem for problem in problems)
    with pytest.raises(plan.PlanError, match="no clips table there; .*--config FILE"):
        planned(config | {"clips": str(tmp_path / "missing.tsv")})


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"module": "retentoin"}, "no metric called 'retentoin'"),
        ({"module": "object_iou"}, "object_iou cannot be measured under this name"),
        ({"judge": "mlm"}, "metrics.second.judge: no judge called 'mlm'"),
        ({"colour": 1}, "metrics.second: wrong settings: .*colour"),
    ],
)
def test_a_wrong_entry_is_refused_as_a_run_refuses_it(config, entry, words):
    from codecap import registry

    told = config["metrics"]["retention"] | {"module": "retention"} | entry
    with pytest.raises(registry.Unavailable, match=words):
        planned(config | {"metrics": config["metrics"] | {"second": told}})
