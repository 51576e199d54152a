"""The command line: `codecap COMMAND --help`. Each command is a thin shell around one function of the package."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from codecap import config as configuration
from codecap import job
from codecap.commands import annotations as annotation_commands
from codecap.commands import bench_filter as filter_bench
from codecap.commands import bench_report as report_bench
from codecap.commands import bench_review as review_bench
from codecap.commands import bench_scale as scale_commands
from codecap.commands import bench_score as bench_commands
from codecap.commands import dataset as dataset_commands
from codecap.commands import exchange as exchange_commands
from codecap.commands import filter as filter_commands
from codecap.commands import harness as harness_commands
from codecap.commands import humans as humans_commands
from codecap.commands import models as models_commands
from codecap.commands import questions as questions_commands
from codecap.commands import slurm as slurm_commands
from codecap.commands import store as store_commands
from codecap.commands import weights as weights_commands
from codecap.commands.annotation_review import review
from codecap.commands.cost import cost
from codecap.commands.reproduce import reproduce
from codecap.commands.status import status
from codecap.errors import UserError, check_replaceable

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
bench = typer.Typer(no_args_is_help=True, help="Measure what this project costs.")
demo = typer.Typer(no_args_is_help=True, help="The demo's own clips.")
app.add_typer(bench, name="bench")
app.add_typer(store_commands.app, name="store")
app.add_typer(demo, name="demo")
app.add_typer(humans_commands.app, name="humans")
app.add_typer(weights_commands.app, name="weights")
app.command()(cost)
app.command()(reproduce)
app.command()(review)
app.command()(status)
app.add_typer(annotation_commands.app, name="annotations")
app.add_typer(dataset_commands.app, name="dataset")
app.add_typer(exchange_commands.app, name="exchange")
app.add_typer(filter_commands.app, name="filter")
app.add_typer(harness_commands.app, name="harness")
app.add_typer(models_commands.app, name="models")
app.add_typer(questions_commands.app, name="questions")
app.add_typer(slurm_commands.app, name="slurm")

EMBEDDED = [configuration.PROJECT / "config" / "demo.yaml"]  # the embedded backends
LARGEST_PX = 8192
Config = Annotated[
    list[Path],
    typer.Option("--config", help="Configuration files laid over config/config.yaml, in order; by default config/demo.yaml."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


@app.callback()
def main() -> None:
    """CodeCap: can code be a good video caption?

    The benchmark itself is a Snakemake workflow (see README.md). These commands are its parts, for one file at a time.
    """


@app.command()
def ingest(
    files: Annotated[list[Path], typer.Argument(help="Videos, GIFs, or folders of them.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the canonical clips and their table clips.tsv.")],
    config: Config = EMBEDDED,
    category: Annotated[str | None, typer.Option(help="A, B, C, E or F; by default a name's letter before its first _.")] = None,
    as_json: AsJson = False,
) -> None:
    """Bring videos to the canonical clock: 24 fps, even size, H.264, no audio.

    Each file keeps its stem in the clip's name. What cannot be read is named with the reason, the others go on; the exit status
    is 1 when nothing could be read at all.

        codecap ingest videos/*.mp4 --out clips
        snakemake --profile profiles/demo --cores 2 --config clips=clips/clips.tsv annotations=proposed
    """
    from codecap.collect.ingest import IngestSettings, ingest_files
    from codecap.collect.naming import find_videos

    with job.running():
        settings = IngestSettings(**configuration.load(*config)["ingest"])
        videos, others = find_videos(files)
        _tell([f"{path}: does not end like a video; passed over" for path in others])
        if not videos:
            raise UserError(f"no videos in {', '.join(map(str, files))}")
        rows = ingest_files(files, out, category=category, settings=settings)
    if as_json:
        typer.echo(json.dumps([row.model_dump(mode="json") for row in rows], indent=1))
    else:
        for row in rows:
            made = row.clip
            typer.echo(
                f"{made.clip_id}  {made.frames} frames  {made.width_px}x{made.height_px}" if made else f"FAILED  {row.reason}",
                err=made is None,
            )
    raise typer.Exit(0 if any(row.status == "ok" for row in rows) else 1)


@app.command()
def render(
    page: Annotated[Path, typer.Argument(help="HTML page with window.seek(seconds).")],
    seconds: Annotated[float, typer.Option("--seconds", min=1 / 24, max=3600, help="Length of the video.")],
    size: Annotated[str, typer.Option("--size", help="Width x height in pixels, as 640x360.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The video, an mp4.")],
    certificate: Annotated[Path | None, typer.Option(help="Where the render's certificate goes, as JSON.")] = None,
    config: Config = EMBEDDED,
) -> None:
    """Render a page at 24 fps. The exit status is 0 only for outcome ok."""
    from codecap.clock import FPS
    from codecap.records import Outcome, write_record
    from codecap.render import render_page

    with job.running():
        width_px, height_px = _size(size)
        if not page.is_file():
            raise UserError(f"{page}: no such page")
        settings = configuration.load(*config)["render"]
        written = [path for path in (out, certificate) if path is not None]
        for path in written:
            check_replaceable(path)
        if len({path.resolve() for path in (page, *written)}) <= len(written):
            raise UserError(f"{out}: the page, the video and the certificate need three names")
        made = render_page(page, max(round(seconds * FPS), 1), width_px, height_px, out, settings)
        if made.outcome is not Outcome.OK:
            out.unlink(missing_ok=True)  # an older video must not stand beside a failure
        if certificate is not None:
            write_record(certificate, made)
    typer.echo(f"{made.outcome}  {made.frames} frames  {made.detail}".rstrip())
    raise typer.Exit(0 if made.outcome is Outcome.OK else 1)


@app.command()
def score(
    reference: Annotated[Path, typer.Argument(help="Canonical clip (codecap ingest makes one).")],
    candidate: Annotated[Path, typer.Argument(help="Canonical video to be scored.")],
    annotation: Annotated[Path | None, typer.Option(help="The reference's annotation, for object IoU and retention.")] = None,
    config: Config = EMBEDDED,
    as_json: AsJson = False,
) -> None:
    """Score one video against its reference with all configured metrics."""
    from codecap.records import Annotation, read_record
    from codecap.score.engine.single import Scorer, clip_of

    with job.running(), tempfile.TemporaryDirectory(prefix="codecap-") as scratch:
        settings = configuration.load(*config)
        told = None if annotation is None else read_record(annotation, Annotation)
        clip = clip_of(reference, "reference" if told is None else told.clip_id)
        if told is not None:
            _must_fit(annotation, told, clip)
        shown = clip_of(candidate)
        if shown.frames != clip.frames:
            _tell([f"{candidate}: {shown.frames} frames, the reference has {clip.frames}: it is black after its end, or cut there"])
        rows = Scorer(settings, Path(scratch)).score(clip, candidate, told)
    if as_json:
        typer.echo(json.dumps([row.model_dump(mode="json", exclude={"system", "clip_id"}) for row in rows], indent=1))
    else:
        for row in rows:
            value = "unscored" if row.value is None else f"{row.value:.4f}"
            place = " ".join(part for part in (row.kind, row.item) if part)
            typer.echo(f"{row.metric:20} {value:>10}  {place}  {row.detail}".rstrip())
        if any(row.proxy for row in rows):
            typer.echo("\nStand-ins (proxy) by the embedded backends, not the paper's metrics.")
    raise typer.Exit(0 if any(row.value is not None for row in rows) else 1)


@app.command()
def selftest(
    config: Config = EMBEDDED,
    only: Annotated[list[str] | None, typer.Option(help="Rows to run, by name; all by default.")] = None,
    as_json: AsJson = False,
) -> None:
    """Prove on the demo clips that every score can be wrong: identity, black, frozen, reversed, shifted, late, another clip.

    Fails when a row does not hold, and prints its value.
    """
    from codecap.selftest import report, run_on_demo

    with job.running(), tempfile.TemporaryDirectory(prefix="codecap-") as scratch:
        checks = run_on_demo(configuration.load(*config), Path(scratch), only=only)
    if as_json:
        typer.echo(json.dumps([check.model_dump(mode="json") for check in checks], indent=1))
    else:
        typer.echo(report(checks))
    raise typer.Exit(0 if all(check.held for check in checks) else 1)


@app.command()
def doctor(
    config: Config = EMBEDDED,
    partition: Annotated[
        str | None, typer.Option("--partition", help="Examine a node of this SLURM partition, by a job there.")
    ] = None,
    gres: Annotated[str | None, typer.Option("--gres", help="What that job asks for, as gpu:1.")] = None,
    wait_min: Annotated[float, typer.Option("--wait-min", min=0.1, help="Longest time for that job to begin, in minutes.")] = 30,
    as_json: AsJson = False,
) -> None:
    """Say what is there and what is missing, and how to get it: browser, GPU, backends, keys, limits.

    codecap doctor --config my.yaml --partition gpu --gres gpu:1
    """
    from codecap.doctor import examine

    if partition is not None or gres is not None:
        from codecap.commands.slurm import doctor_there

        raise typer.Exit(doctor_there(config, partition, gres, wait_min, as_json))
    with job.running():
        findings = examine(configuration.load(*config))
    if as_json:
        typer.echo(json.dumps([vars(finding) for finding in findings], indent=1))
    else:
        for finding in findings:
            typer.echo(f"{'ok' if finding.there else 'MISSING':8} {finding.what:22} {finding.told}")
    raise typer.Exit(0 if all(finding.there or not finding.needed for finding in findings) else 1)


@app.command()
def show(
    clip: Annotated[str, typer.Argument(help="Clip id.")],
    config: store_commands.Config = None,
) -> None:
    """Say where everything about a clip lies: video, annotation, captions, renders, scores."""
    from codecap.show import places

    with job.running():
        for what, place in places(store_commands.settings_of(config), clip):
            typer.echo(f"{what:28} {place}")


@app.command("install-browser")
def install_browser() -> None:
    """Find a headless Chromium, or get one: Playwright's installer, then the system's packages."""
    from codecap.render import install_browser

    with job.running():
        typer.echo(f"browser: {install_browser()}")


@bench.command("plan")
def bench_plan(
    systems: Annotated[int, typer.Option(min=1)] = 16,
    clips: Annotated[int, typer.Option(min=1)] = 323,
    as_json: AsJson = False,
) -> None:
    """Measure the planning of a full benchmark: jobs, CPU seconds and memory of a dry run, of nothing to do, of one more model."""
    from codecap.bench.plan import measure

    with job.running():
        found = measure(systems, clips)
    typer.echo(json.dumps(found, indent=1) if as_json else "\n".join(f"{name:24} {value}" for name, value in found.items()))


@bench.command("memory")
def bench_memory(
    seconds: Annotated[int, typer.Option(min=1)] = 40,
    size: Annotated[str, typer.Option()] = "1920x1080",
    as_json: AsJson = False,
) -> None:
    """Measure the peak memory of every stage on one long, large clip."""
    from codecap.bench.memory import measure

    with job.running():
        found = measure(seconds, *_size(size))
    typer.echo(json.dumps(found, indent=1) if as_json else "\n".join(f"{name:24} {value:8.0f} MB" for name, value in found.items()))


@bench.command("render")
def bench_render(
    page: Annotated[list[str] | None, typer.Option("--page", help="sparse_svg, dense_canvas, static_ui; all by default.")] = None,
    frames: Annotated[int, typer.Option(min=2, help="Frames of each page, at 24 a second.")] = 120,
    size: Annotated[str, typer.Option("--size", help="Width x height in pixels.")] = "1280x720",
    repeats: Annotated[int, typer.Option(min=1, help="Timed runs of each command; medians are told.")] = 3,
    rivals: Annotated[bool, typer.Option("--rivals", help="hyperframes, puppeteer-capture, timecut too (npm).")] = False,
    config: Config = EMBEDDED,
    as_json: AsJson = False,
) -> None:
    """Measure rendering, whole commands in turns: `codecap render`, and a plain Playwright screenshot loop into ffmpeg.

    Frames and CPU seconds, peak memory, likeness of the video, and frames captured exactly as the screenshot shows them.
    """
    from codecap.bench.render import PAGES, as_table, measure

    with job.running():
        width_px, height_px = _size(size)
        rows = measure(
            page or PAGES,
            frames=frames,
            width_px=width_px,
            height_px=height_px,
            repeats=repeats,
            with_rivals=rivals,
            config_files=config,
            settings=configuration.load(*config)["render"],
        )
    typer.echo(json.dumps([vars(row) for row in rows], indent=1) if as_json else as_table(rows))


bench.command("score")(bench_commands.score)
bench.command("filter")(filter_bench.filter_)
bench.command("report")(report_bench.report)
bench.command("review")(review_bench.review)
bench.command("scale")(scale_commands.scale)


@demo.command("build")
def demo_build(
    names: Annotated[list[str] | None, typer.Argument(help="Clip ids; all by default.")] = None,
    out: Annotated[Path, typer.Option(help="Where to.")] = configuration.PROJECT / "resources" / "demo",
) -> None:
    """Render the demo's pages again: clips, true boxes and annotations."""
    from codecap.demo import build

    with job.running():
        build(out, names or None)


def _size(text: str) -> tuple[int, int]:
    try:
        width_px, height_px = (int(part) for part in text.lower().split("x"))
    except ValueError:
        raise UserError(f"--size {text}: must be WIDTHxHEIGHT in pixels, as 640x360") from None
    if not (1 <= width_px <= LARGEST_PX and 1 <= height_px <= LARGEST_PX):
        raise UserError(f"--size {text}: must be between 1x1 and {LARGEST_PX}x{LARGEST_PX}")
    return width_px, height_px


def _tell(problems: list[str]) -> None:
    for problem in problems:
        typer.echo(f"codecap: {problem}", err=True)


def _must_fit(path: Path | None, annotation, clip) -> None:
    """The annotation is of this clip: as many boxes as the clip has frames."""
    for item in annotation.objects:
        if len(item.boxes_xyxy) != clip.frames:
            raise UserError(
                f"{path}: object {item.name!r} has {len(item.boxes_xyxy)} boxes, {clip.mp4} has {clip.frames} frames; "
                "it is the annotation of another clip"
            )
