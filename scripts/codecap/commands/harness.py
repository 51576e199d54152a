"""`codecap harness`: which agents there are, which are installed, and how they come here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from codecap import config as configuration
from codecap import job

app = typer.Typer(no_args_is_help=True, help="The agents that write pages: installed from npm, at the configuration's versions.")

Config = Annotated[
    list[Path] | None,
    typer.Option("--config", help="Configuration files laid over config/config.yaml, in order; by default none: the paper's."),
]
Folder = Annotated[
    Path | None,
    typer.Option("--folder", help="Where; by default what agents.folder says, else codecap/agents in your cache folder."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


@app.command("list")
def list_(config: Config = None, folder: Folder = None, as_json: AsJson = False) -> None:
    """List the agents: version, whether it is here, and what it is."""
    from codecap.generate.agents import npm

    with job.running():
        versions, place = _told(config, folder)
        rows = []
        for name, package in npm.PACKAGES.items():
            problem = ""
            try:
                npm.find(name, versions.get(name, ""), place, versions.get("node", ""))
            except npm.NotInstalled as error:
                problem = str(error)
            rows.append({"name": name, "version": versions.get(name, ""), "about": package.about, "problem": problem})
    if as_json:
        typer.echo(json.dumps(rows, indent=1))
        return
    for row in rows:
        typer.echo(f"{row['name']:12} {row['version']:10} {'not here' if row['problem'] else 'here':8}  {row['about']}")
    typer.echo(f"folder: {npm.folder_of(place)}")


@app.command()
def install(
    names: Annotated[list[str], typer.Argument(help="codex, claude_code, pi, or node.")],
    config: Config = None,
    folder: Folder = None,
    version: Annotated[str | None, typer.Option(help="Another version than the configuration's, of the one that is named.")] = None,
) -> None:
    """Install agents with npm; what is there is left. Pi gets a Node.js of its own where the machine's is too old.

    Nothing that a package would run at its installation is run. Claude Code is proprietary: it comes under Anthropic's own terms.
    """
    from codecap.errors import UserError
    from codecap.generate.agents import npm

    if version is not None and len(names) != 1:
        raise typer.BadParameter("--version needs the one name that it is a version of")
    with job.running(network=True):
        versions, place = _told(config, folder)
        for name in names:
            wanted = version or versions.get(name)
            if wanted is None and name in npm.PACKAGES:
                raise UserError(f"agents.versions names no version of {name}; add one, or give --version")
            npm.install(name, wanted or "", place, versions.get("node", ""), lambda line: typer.echo(line, err=True))


def _told(config: list[Path] | None, folder: Path | None) -> tuple[dict[str, str], Path | None]:
    """Versions by name, and the folder."""
    section = configuration.load(*config or [])["agents"]
    told = section.get("folder")
    return dict(section.get("versions") or {}), folder or (None if told is None else Path(told))
