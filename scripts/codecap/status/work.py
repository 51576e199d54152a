"""What a run has to do, shard by shard, without a plan of Snakemake's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codecap.annotate import proposers
from codecap.plan import Plan
from codecap.questions.planned import ORIGINAL
from codecap.score.engine.choice import OBJECTS_METRIC
from codecap.shards import RESULTS, Mark

DATASET = {  # rules of the stages that make a data set, or some of their shards; only their journals know how many clips there are
    "fetch_originals": "originals",
    "survey_originals": "surveys",
    "ingest_originals": "canonical clips",
    "filter_clips": "verdicts",
    "ask_proposer/drafts": "proposals",
    "draft_annotations": "drafts",
}


@dataclass(frozen=True)
class Task:
    """One job's work.

    Attributes:
        shard: the rule and its wildcards, as in its journal.
        stage: as a table heads it.
        output: the file that is there when it has ended well; None where only the journal tells.
        items: clips.
    """

    shard: str
    stage: str
    items: int
    output: Path | None
    system: str = ""
    lane: str = ""
    bucket: str = ""

    @property
    def rule(self) -> str:
        return self.shard.partition("/")[0]


def of_dataset(marks: Mapping[str, Mark]) -> Iterator[Task]:
    """The shards of the data set's stages that have begun."""
    for rule, stage in DATASET.items():
        for name, mark in marks.items():
            if name.startswith(f"{rule}/"):
                yield Task(name, stage, mark.total, None, bucket=name.rpartition("/")[2])


def of_benchmark(config: Mapping[str, Any], run: Plan) -> Iterator[Task]:
    """Every shard of stages 3 to 8 for a table of clips."""
    clips = {bucket: len(held) for bucket, held in run.buckets.items()}
    score = RESULTS / "6_score"
    objects = OBJECTS_METRIC in config["metrics"]
    making = "propose_annotations" if config["annotations"] == "proposed" else "gather_annotations"
    if config["annotations"] == "proposed" and proposers.asks(config):
        for bucket, items in clips.items():
            output = RESULTS / "3_annotate" / "asked" / "proposed" / f"{bucket}.jsonl"
            yield Task(f"ask_proposer/proposed/{bucket}", "proposals", items, output, bucket=bucket)
    for bucket, items in clips.items():
        output = RESULTS / "3_annotate" / config["annotations"] / f"{bucket}.jsonl"
        yield Task(f"{making}/{bucket}", "annotations", items, output, bucket=bucket)
    for rule, stage, folder in (
        ("generate_captions", "captions", RESULTS / "4_generate"),
        ("render_captions", "renders", RESULTS / "5_render"),
        *([("prompt_objects", "prompts", score / "prompts"), ("segment_objects", "tracks", score / "tracks")] if objects else []),
    ):
        for system in run.captioners if rule == "generate_captions" else run.systems:
            for bucket, items in clips.items():
                output = folder / system / f"{bucket}.jsonl"
                yield Task(f"{rule}/{system}/{bucket}", stage, items, output, system, bucket=bucket)
    for lane in run.lanes:
        for bucket, items in clips.items():
            output = score / "references" / lane / f"{bucket}.jsonl"
            yield Task(f"describe_references/{lane}/{bucket}", f"references {lane}", items, output, lane=lane, bucket=bucket)
    for lane in run.lanes:
        for system in run.systems:
            for bucket, items in clips.items():
                output = score / lane / system / f"{bucket}.jsonl"
                yield Task(f"score_renders/{lane}/{system}/{bucket}", f"scores {lane}", items, output, system, lane, bucket)
    for subject in run.questions.subjects:
        for bucket, held in run.buckets.items():
            if items := len(run.questions.about(held)):
                output = score / "answers" / subject / f"{bucket}.jsonl"
                system = "" if subject == ORIGINAL else subject
                yield Task(f"answer_questions/{subject}/{bucket}", "answers", items, output, system, bucket=bucket)
    if clips and run.systems:
        yield Task("compare_systems", "comparison", 1, RESULTS / "7_compare" / "comparison.json")
        yield Task("build_report", "report", 1, RESULTS / "8_report" / "index.html")


class Outputs:
    """Which outputs are there: each folder is listed once, as a file system in a network answers slowly."""

    def __init__(self) -> None:
        self._held: dict[Path, frozenset[Path]] = {}

    def has(self, path: Path) -> bool:
        if path.parent not in self._held:
            try:
                self._held[path.parent] = frozenset(path.parent.iterdir())
            except (FileNotFoundError, NotADirectoryError):
                self._held[path.parent] = frozenset()
        return path in self._held[path.parent]
