"""`codecap questions`: sets of questions about clips, taken over, made, looked at and approved."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from codecap import config as configuration
from codecap import job, store
from codecap.errors import UserError, check_replaceable

app = typer.Typer(no_args_is_help=True, help="Questions about clips, which a model answers from what systems have made.")
Config = Annotated[
    list[Path], typer.Option("--config", help="Configuration files laid over config/config.yaml; by default config/demo.yaml.")
]
DEMO = [configuration.PROJECT / "config" / "demo.yaml"]


@app.command("import")
def import_(
    form: Annotated[str, typer.Argument(help="dvbench, videomathqa, gui_world or capquiz.")],
    files: Annotated[list[Path], typer.Argument(help="Files of the published set: JSON Lines, JSON or Parquet.")],
    out: Annotated[Path, typer.Option("--out", help="The set, a file of JSON Lines.")],
    videos: Annotated[
        Path | None, typer.Option("--videos", help="Table with the columns video and clip_id; by default clips go by their names.")
    ] = None,
    sample: Annotated[int | None, typer.Option("--sample", min=1, help="Keep the questions about so many clips, drawn.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of that draw.")] = 0,
    config: Config = DEMO,
) -> None:
    """Take over a published set: its multiple-choice questions about videos that clips were made of.

    codecap questions import dvbench DVBench_QA.jsonl --videos videos.tsv --out questions/dvbench.jsonl --config my.yaml
    """
    from codecap.plan import all_clips
    from codecap.questions.importing import account_of, import_set

    with job.running():
        check_replaceable(out)
        clips = [clip.clip_id for clip in all_clips(configuration.load(*config))]
        found = import_set(form, files, out, clips, videos, sample, seed)
    for line in account_of(found):
        typer.echo(line)
    typer.echo(f"{out}  to have them answered: name it in the configuration, `questions: {{sets: {{{form}: {{file: {out}}}}}}}`")


@app.command()
def make(
    out: Annotated[Path, typer.Option("--out", help="Folder for the draft, and for all that led to it.")],
    clip: Annotated[list[str] | None, typer.Option("--clip", help="Clip ids; all of the clips table by default.")] = None,
    config: Config = DEMO,
) -> None:
    """Have models write questions about clips, drop those that can be answered blind and those that ask the same.

    What is left is a draft for people: copy review.csv for each of them, then `codecap questions approve`. Models are asked as the
    key `questions.maker` says; what was answered before is not asked again.
    """
    from codecap.exchange import session
    from codecap.plan import all_clips
    from codecap.questions.making import course
    from codecap.questions.settings import of as settings_of

    with job.running():
        settings = configuration.load(*config)
        store.use(settings["store"])
        maker = settings_of(settings).maker
        if maker is None:
            raise UserError("questions.maker is not set: name the models that write and try questions; docs/questions.md says how")
        known = {one.clip_id: one for one in all_clips(settings)}
        chosen = list(dict.fromkeys(clip or known))
        for name in chosen:
            if name not in known:
                raise UserError(f"--clip {name}: not in {settings['clips']}; there are {', '.join(sorted(known)[:20]) or 'none'}")
        for name in (course.CANDIDATES, course.TRIALS, course.DRAFT, course.REVIEW):
            check_replaceable(out / name)
        with session(Path(settings["store"]["durable"]), settings["exchange"], stage="make_questions"):
            made = course.make_questions([known[name] for name in chosen], maker, out, typer.echo)
    for problem in made.problems:
        typer.echo(f"codecap: {problem}", err=True)
    typer.echo(
        f"{len(made.candidates)} questions were written; {len(made.solved)} can be answered without the clip; "
        f"{len(made.candidates) - len(made.solved) - len(made.draft)} ask what a harder one asks; {len(made.draft)} are left"
    )
    typer.echo(f"{out / course.REVIEW}  for at least {maker.reviewers} reviewers, each a copy of their own; then:")
    typer.echo(f"  codecap questions approve {out / course.DRAFT} REVIEWS... --out questions.jsonl")


@app.command()
def approve(
    draft: Annotated[Path, typer.Argument(help="The draft that `make` wrote.")],
    reviews: Annotated[list[Path], typer.Argument(help="Copies of its review.csv, filled in.")],
    out: Annotated[Path, typer.Option("--out", help="The set, a file of JSON Lines.")],
    least: Annotated[int, typer.Option("--least", min=1, help="Reviewers that each question must have.")] = 3,
) -> None:
    """Keep the questions that people approved, and say how far they agree."""
    from codecap.questions.making.reviewing import decide, read_reviews
    from codecap.questions.sets import Question, QuestionError, read_set
    from codecap.records import write_rows

    with job.running():
        check_replaceable(out)
        questions = read_set(draft)
        decided = decide(questions, read_reviews(reviews, questions), least)
        if not decided.kept:
            raise QuestionError(f"{draft}: no question is approved, so that {out} is not written")
        write_rows(out, Question, decided.kept)
    for name, unmet in decided.dropped.items():
        typer.echo(f"dropped: {name}: not {', not '.join(unmet)}")
    for name, agreed in decided.agreement.items():
        typer.echo(f"agreement on {name}: " + ("one reviewer only" if agreed is None else f"Gwet's AC1 {agreed:.2f}"))
    typer.echo(f"{out}  {len(decided.kept)} of {len(questions)} questions")


@app.command()
def check(
    sets: Annotated[list[Path], typer.Argument(help="Sets of questions.")],
    config: Config = DEMO,
) -> None:
    """Look at sets of questions: what is in them, and what is odd. Exit status 1 when something is."""
    from codecap.plan import all_clips
    from codecap.questions.sets import doubts, many, read_set

    odd = 0
    with job.running():
        clips = {clip.clip_id for clip in all_clips(configuration.load(*config))}
        for path in sets:
            questions = read_set(path)
            types = Counter(question.type for question in questions)
            about = {question.clip_id for question in questions}
            typer.echo(f"{path}: {many(len(questions), 'question')} about {many(len(about), 'clip')}")
            for name, count in sorted(types.items()):
                typer.echo(f"  {count:6} {name}")
            for doubt in doubts(questions, clips):
                odd += 1
                typer.echo(f"  {doubt}")
    raise typer.Exit(1 if odd else 0)
