"""`codecap humans`: a scoring page for people, and the import of what they gave."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated

import typer

from codecap import config as configuration
from codecap import job, store

app = typer.Typer(no_args_is_help=True, help="Have people score what judges score.")
Config = Annotated[
    list[Path],
    typer.Option("--config", help="Configuration files of the run, laid over config/config.yaml; by default config/demo.yaml."),
]
DEMO = [configuration.PROJECT / "config" / "demo.yaml"]


@app.command()
def sheet(
    out: Annotated[Path, typer.Option("--out", help="Folder to hand out; made anew.")],
    systems: Annotated[str | None, typer.Option(help="Whose renders, as a,b; by default all but floors and ceilings.")] = None,
    per_category: Annotated[int, typer.Option(min=1, help="Clips of each category.")] = 10,
    seed: Annotated[int | None, typer.Option(help="Of the draw, the order and the names; a secret one by default.")] = None,
    key: Annotated[Path | None, typer.Option(help="The key that maps items back; by default beside the folder.")] = None,
    together: Annotated[bool, typer.Option("--together", help="Keep the focal points of one render together.")] = False,
    config: Config = DEMO,
) -> None:
    """Make a blinded, shuffled scoring page of a finished run: focal points of renders, 0 to 5 each.

    Run it where the benchmark ran. The folder works from disk in any browser and names no system; the key stays with you.

        codecap humans sheet --out sheet --systems vtrace,still --config config/demo.yaml
        codecap humans import scores-*.csv --key sheet.key.json
    """
    from codecap.humans.material import read_material
    from codecap.humans.sampling import choose_systems
    from codecap.humans.sheet import make_sheet

    with job.running():
        settings = configuration.load(*config)
        store.use(settings["store"])
        material = read_material(settings)
        key = out.with_name(f"{out.name}.key.json") if key is None else key
        chosen = choose_systems(material, systems.split(",") if systems else None)
        seed = secrets.randbits(63) if seed is None else seed
        drawn = make_sheet(material, chosen, out, key, per_category=per_category, seed=seed, together=together)
    counts = ", ".join(f"{category} {len(clips)}" for category, clips in drawn.clips.items())
    typer.echo(f"{out / 'index.html'}  {len(drawn.items)} items of {len(chosen)} systems; clips by category: {counts}")
    for system, clip_id in drawn.without_video:
        typer.echo(f"left out: {system} has no video of {clip_id}")
    typer.echo(f"{key}  maps the items back: do not hand it out, and do not lose it")


@app.command("import")
def import_(
    files: Annotated[list[Path], typer.Argument(help="CSV files that the page exported, or with system,clip_id,focal_id,score.")],
    key: Annotated[Path | None, typer.Option(help="The sheet's key; none where the files name the systems.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the scores; by default humans/ in store.durable.")] = None,
    config: Config = DEMO,
) -> None:
    """Check the scores that people gave, and keep them where the comparison finds them (config key `humans`).

    Nothing is imported when anything is wrong; each wrong line is named.
    """
    from codecap.humans.importing import import_plain, import_sheets
    from codecap.humans.material import read_material

    with job.running():
        settings = configuration.load(*config)
        folder = Path(settings["store"]["durable"]) / "humans" if out is None else out
        written = import_sheets(files, key, folder) if key else import_plain(files, read_material(settings), folder)
    for path, count in written.items():
        typer.echo(f"{path}  {count} scores")
    typer.echo(f"to compare them with the judges: set `humans: {folder}` in the configuration, and run again")
