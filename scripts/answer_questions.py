"""Have a model answer the questions about one shard of clips, from what one system made of them or from the clips themselves."""

from pathlib import Path

from codecap import job, plan
from codecap.exchange import session
from codecap.questions import planned
from codecap.questions.answering import Source, answer_shard, of_clips, of_renders, of_texts
from codecap.questions.settings import Answerer
from codecap.questions.settings import of as settings_of
from codecap.records import Answer, Caption, Clip, Render, read_rows, write_rows


def answer_questions(
    shard: job.Shard, *, config: dict, bucket: str, answered: str, params: dict, shown: list[Path], answers: Path
) -> None:
    clips = plan.shard_clips(config, bucket)
    sources = _sources(params["medium"], clips, shown)
    asked, _ = planned.asked_about(settings_of(config), [clip.clip_id for clip in clips])
    clips, durable = [clip for clip in clips if clip.clip_id in asked], Path(config["store"]["durable"])
    shard.reads(source.file for source in sources.values())
    with session(durable, config.get("exchange"), stage="answer_questions", system=answered) as exchange:
        made = answer_shard(
            answered,
            params["medium"],
            clips,
            sources,
            asked,
            Answerer.model_validate(params["answerer"]),
            params["code"],
            durable,
        )
        of_clip = shard.counted(made, f"answers about {answered}", len(clips), usd=lambda: exchange.paid_usd)
        rows = [row for held in of_clip for row in held]
    write_rows(answers, Answer, rows)
    shard.settle(f"answers about {answered}", [(row.clip_id, row.detail, row.question_id) for row in rows if row.retry])


def _sources(medium: str, clips: list[Clip], shown: list[Path]) -> dict[str, Source]:
    if medium == "original":
        return of_clips(clips)
    if medium == "caption":
        return of_texts(row for path in shown for row in read_rows(path, Caption))
    return of_renders(row for path in shown for row in read_rows(path, Render))


if "snakemake" in globals():
    with job.shard(
        snakemake.rule, snakemake.wildcards, snakemake.log, snakemake.resources, snakemake.params, snakemake.config
    ) as shard:
        answer_questions(
            shard,
            config=snakemake.config,
            bucket=snakemake.wildcards.bucket,
            answered=snakemake.wildcards.answered,
            params=dict(snakemake.params.items()),
            shown=[Path(path) for path in snakemake.input],
            answers=Path(snakemake.output.answers),
        )
