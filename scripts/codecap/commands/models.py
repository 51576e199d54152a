"""`codecap models`: are the systems of a configuration ready to be asked?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codecap import config as configuration
from codecap import job
from codecap.errors import UserError

if TYPE_CHECKING:
    from codecap.generate.checking import Checked

app = typer.Typer(no_args_is_help=True, help="The systems that make captions.")


@app.callback()
def main() -> None:
    """The systems that make captions, entries of `models`."""


@app.command()
def check(
    names: Annotated[list[str] | None, typer.Argument(help="Systems; by default all that take part.")] = None,
    config: Annotated[
        list[Path] | None,
        typer.Option("--config", help="Configuration files laid over config/config.yaml, in order; config/paper.yaml for Table 1."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Try each system with one cheap call: is its key there, does its model answer, does it take the pictures and the effort?

    Prints what was sent, without keys. The calls are recorded and counted in store.durable like any others. The exit status is 1
    when something is wrong.

        codecap models check gpt-6-sol qwen3-8-max
        codecap models check --config config/paper.yaml
    """
    from codecap.exchange import session
    from codecap.generate import checking

    with job.running():
        told = configuration.load(*config or [])
        chosen = names or list(configuration.systems(told))
        if unknown := [name for name in chosen if name not in told["models"]]:
            raise UserError(f"models: no entry called {', '.join(unknown)}; there are {', '.join(told['models'])}")
        settings = checking.of_one_try(told["exchange"])
        checked = []
        for name in chosen:  # a session each: an endpoint that refuses one is asked all the same for the next
            with session(Path(told["store"]["durable"]), settings, stage="check_models") as exchange:
                checked.append(checking.check(name, told["models"][name], told, exchange))
    typer.echo(json.dumps(checking.as_json(checked), indent=1) if as_json else "\n".join(_in_words(checked)))
    raise typer.Exit(1 if any(one.problems for one in checked) else 0)


def _in_words(checked: list[Checked]) -> Iterator[str]:
    from codecap.generate.checking import summed_usd

    for one in checked:
        yield f"{one.system}: {'FAILED' if one.problems else 'ok'}"
        if one.sent:
            yield f"  sent    POST {one.sent['POST']}, headers {', '.join(one.sent['headers']) or 'without a key'}"
            yield from (f"          {line}" for line in json.dumps(one.sent["body"], indent=1, ensure_ascii=False).splitlines())
        if one.answer:
            yield f"  answer  {one.answer}"
        yield from (f"  note    {note}" for note in one.notes)
        yield from (f"  WRONG   {problem}" for problem in one.problems)
    failed = sum(bool(one.problems) for one in checked)
    yield f"{len(checked) - failed} of {len(checked)} ready, for {summed_usd(checked):.4f} USD"
