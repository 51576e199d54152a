"""Draft annotations of the kept clips of one shard, for people to review."""

from functools import partial
from pathlib import Path

from codecap import job
from codecap.annotate.drafts import drafts as drafts_of
from codecap.annotate.drafts import to_try_again
from codecap.collect.known_boxes import annotation_of
from codecap.filtering import decisions
from codecap.records import Annotation, Ingested, Verdict, read_rows, write_rows


def draft_annotations(
    shard: job.Shard, *, config: dict, params: dict, clips: Path, verdicts: Path, proposals: Path | None, drafts: Path
) -> None:
    found = {row.clip_id: row for row in read_rows(verdicts, Verdict)}
    kept = decisions.kept(
        [row.clip for row in read_rows(clips, Ingested) if row.clip is not None], found, decisions.of_config(config)
    )
    roots = {name: Path(config["store"][name]) for name in ("durable", "bulk")}
    known = partial(annotation_of, bulk=roots["bulk"])
    made = drafts_of(kept, params["drafted_by"], roots["durable"], proposals, known)
    rows = list(shard.counted(made, "drafts", len(kept)))
    write_rows(drafts, Annotation, rows)
    shard.settle("drafts", to_try_again(kept, rows, proposals))


if "snakemake" in globals():
    with job.shard(
        snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config
    ) as shard:
        draft_annotations(
            shard,
            config=snakemake.config,
            params=dict(snakemake.params.items()),
            clips=Path(snakemake.input.clips),
            verdicts=Path(snakemake.input.verdicts),
            proposals=Path(snakemake.input.proposals) if snakemake.input.proposals else None,
            drafts=Path(snakemake.output.drafts),
        )
