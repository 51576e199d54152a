"""Drafts by a hosted model: its answers are bought in a job of their own, and a segmenter follows them in another one."""

import pytest
from loopback import Loopback, annotator
from running import planned

from codecap.annotate.validate import problems
from codecap.clips_table import write_clips
from codecap.records import Annotation, Proposal, read_rows

pytestmark = pytest.mark.slow

ASKED, PROPOSED = (f"results/3_annotate/{name}/00.jsonl" for name in ("asked/proposed", "proposed"))


def test_a_model_is_asked_once_and_what_it_proposes_becomes_an_annotation(workflow):
    run = workflow
    clip = annotator.film(run.folder / "T_001.mp4")
    write_clips(run.folder / "clips.tsv", [clip])
    with Loopback(annotator.seeing(), for_s=600) as server:
        endpoint = {"api": "openai", "model": "annotator-1", "base_url": server.base_url(), "key_env": None}
        told = {"clips": str(run.folder / "clips.tsv"), "buckets": 1, "annotations": "proposed", "proposer": "mllm"}
        run.configure(**told, proposers={"mllm": {"endpoint": endpoint}}, exchange={"tries": 1})
        server.behave("500")
        run.finish(PROPOSED)
        (row,) = read_rows(run.folder / ASKED, Proposal)
        assert row.retry and "500" in row.status
        assert list(read_rows(run.folder / PROPOSED, Annotation)) == []
        run.finish(PROPOSED)
        assert server.account.calls == 3
    (drafted,) = read_rows(run.folder / PROPOSED, Annotation)
    assert {item.name for item in drafted.objects} == {"ball", "sign"} and len(drafted.focal_points) == 3
    assert [problem for problem in problems(drafted, clip) if problem.severity == "error"] == []
    assert not planned(run.finish(PROPOSED, "--dry-run"))
    jobs = planned(run.finish("results/3_annotate/drafts/00.jsonl", "--dry-run"))
    assert {"ask_proposer", "draft_annotations", "filter_clips"} <= {rule for rule, _ in jobs}
