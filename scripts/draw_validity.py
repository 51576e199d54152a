"""Draw each metric's response to each kind of damage."""

import logging
from pathlib import Path

from codecap import job
from codecap.compare.columns import columns_of, describe
from codecap.errors import UserError
from codecap.records import Score, read_rows
from codecap.validity import candidates, demo, page

LOG = logging.getLogger("codecap")
TITLE = "CodeCap"


def draw_validity(*, config: dict, scores: list[str], index: Path) -> None:
    if not scores:
        raise UserError(f"{demo.TABLE}: there are no clips that could be damaged; take the project with its resources/demo")
    bulk = Path(config["store"]["bulk"])
    openings = {clip.clip_id: candidates.opening(clip, demo.annotation(clip.clip_id), bulk) for clip in demo.clips()}
    rows = [row for path in scores for row in read_rows(Path(path), Score)]
    measured = {row.metric for row in rows}
    columns = [column for column in columns_of(describe(config["metrics"]), rows) if column.metric in measured]
    for row in page.build(index.parent, columns, rows, openings, TITLE):
        if not row.held:
            LOG.warning("%s of %s must hold, and does not: %s (%s)", row.column, row.clip, row.what, row.detail)


if "snakemake" in globals():
    with job.shard(snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config):
        draw_validity(config=snakemake.config, scores=list(snakemake.input.scores), index=Path(snakemake.output.index))
