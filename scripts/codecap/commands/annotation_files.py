"""`codecap annotations export` and `import`: annotations for other tools, and back from them."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from codecap import config as configuration
from codecap import job
from codecap.errors import UserError

LOG = logging.getLogger("codecap")
DEMO = [configuration.PROJECT / "config" / "demo.yaml"]
Config = Annotated[
    list[Path],
    typer.Option("--config", help="Configuration files of the run, laid over config/config.yaml; by default config/demo.yaml."),
]
Format = Annotated[str, typer.Argument(metavar="FORMAT", help="cvat, label_studio, mot or coco.")]
Table = Annotated[Path | None, typer.Option("--table", help="Clips table; by default the configuration's `clips`.")]


def export(
    form: Format,
    out: Annotated[Path, typer.Option("--out", help="Folder for the files, one a clip (mot: a folder a clip).")],
    source: Annotated[
        Path | None, typer.Option("--from", help="Folder of <clip_id>.json; by default the configuration's `annotations_folder`.")
    ] = None,
    table: Table = None,
    clip: Annotated[list[str] | None, typer.Option("--clip", help="Clip id; by default all that are annotated.")] = None,
    config: Config = DEMO,
) -> None:
    """Write annotations for CVAT, Label Studio, MOTChallenge or COCO (YouTube-VIS).

    What a format does not hold is put back by `import --onto` the folder that was exported.

        codecap annotations export cvat --out cvat
        codecap annotations export label_studio --from results/3_annotate/annotations --table results/3_annotate/clips.tsv --out to
    """
    from codecap.formats.conversion.transfer import export as write

    with job.running():
        settings = configuration.load(*config)
        folder = configuration.find(settings["annotations_folder"]) if source is None else source
        clips = _clips(settings, table)
        chosen = [_known(clips, clip_id) for clip_id in clip] if clip else clips.values()
        count = 0
        for one, path in write(form, chosen, folder, out):
            typer.echo(f"{path}  {one.frames} frames of {one.width_px}x{one.height_px} px at 24 a second")
            count += 1
        if not count:
            raise UserError(
                f"{folder}: holds no annotation of {'these clips' if clip else 'a clip of the table'}; name another with --from"
            )


def import_(
    form: Format,
    files: Annotated[list[Path], typer.Argument(help="What the tool exported; of mot, the folders of the sequences.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for <clip_id>.json.")],
    onto: Annotated[
        Path | None, typer.Option("--onto", help="Folder of the annotations that were exported, for what the format does not hold.")
    ] = None,
    who: Annotated[
        str | None,
        typer.Option("--who", help="Who has seen the annotations as they are now; without it they are yet to be approved."),
    ] = None,
    clip: Annotated[str | None, typer.Option("--clip", help="The clip that the file is about, whatever the file calls it.")] = None,
    fps: Annotated[
        float | None, typer.Option("--fps", help="Frames a second that the file counts, where it does not say so, or wrongly.")
    ] = None,
    first_pixel: Annotated[
        int | None, typer.Option("--first-pixel", min=0, max=1, help="mot: 0 where the picture's corner is (0, 0), as CVAT has it.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite other annotations that are in OUT.")] = False,
    table: Table = None,
    config: Config = DEMO,
) -> None:
    """Read annotations that CVAT, Label Studio or another tool exported, check them, and write them as <clip_id>.json.

    An annotation with errors is not written, and the exit status is 1. What nobody touched keeps its exact values.

        codecap annotations import cvat annotations.xml --clip A_001 --onto resources/demo/annotations --out mine --who Kim
        codecap annotations import mot cvat-export/A_001 --first-pixel 0 --fps 24 --out mine
    """
    from codecap.formats import Told
    from codecap.formats.conversion import transfer

    with job.running():
        settings = configuration.load(*config)
        clips = _clips(settings, table)
        if clip is not None:
            _known(clips, clip)
        who = _name(who)
        when = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        found = transfer.read(form, files, clips, only=clip, told=Told(fps=fps, first_pixel=first_pixel))
        rows = transfer.merge(form, found, onto, who, when)
        if out.resolve() == configuration.find(settings["annotations_folder"]).resolve():
            _check_not_reviewed([row.clip.clip_id for row in rows if row.usable], settings, replace)
        transfer.keep(rows, out, replace)
    for row in rows:
        for problem in row.problems:
            typer.echo(str(problem), err=True)
        place = out / f"{row.clip.clip_id}.json" if row.usable else "not written: it has errors"
        typer.echo(f"{row.clip.clip_id}  {row.changed}  {place}")
    raise typer.Exit(0 if all(row.usable for row in rows) else 1)


def _clips(settings: dict, table: Path | None) -> dict:
    from codecap.clips_table import read_clips
    from codecap.plan import clips_folder

    table = configuration.find(settings["clips"]) if table is None else table
    if not table.is_file():
        raise UserError(f"{table}: no such clips table; name one with --table, or a configuration with --config")
    return {clip.clip_id: clip for clip in read_clips(table, clips_folder(settings, table))}


def _known(clips: dict, clip_id: str):
    if clip_id not in clips:
        raise UserError(f"--clip {clip_id}: is not in the clips table; name one that is, or another table with --table")
    return clips[clip_id]


def _check_not_reviewed(clip_ids: list[str], settings: dict, replace: bool) -> None:
    """
    Raises:
        UserError: a clip is under review, where nothing of the import would be seen, and whose approval would overwrite it.
    """
    from codecap.review.beginning import read_begun

    for clip_id in clip_ids:
        folder = configuration.find(settings["review"]["folder"]) / clip_id
        if read_begun(folder) is None:
            continue
        told = f"{folder}: a review of {clip_id} has begun; it does not see what is imported, and an approval there overwrites it"
        if not replace:
            raise UserError(
                f"{told}. Choose another --out, or move that folder away so that the import is reviewed, or add --replace"
            )
        LOG.warning(told)


def _name(who: str | None) -> str | None:
    if who is None:
        return None
    name = " ".join(who.split())
    if not 1 <= len(name) <= 80:
        raise UserError("--who: a name has 1 to 80 characters")
    return name
