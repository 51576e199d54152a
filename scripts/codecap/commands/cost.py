"""`codecap cost`: what hosted models have cost, and what a run will cost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codecap import config as configuration
from codecap import job
from codecap.errors import UserError

if TYPE_CHECKING:
    from codecap.estimate import Planned
    from codecap.exchange.spending import Spending


def cost(
    plan: Annotated[bool, typer.Option("--plan", help="Estimate a run instead, before it is paid for.")] = False,
    by: Annotated[str, typer.Option(help="What to sum by: some of endpoint,stage,system,day.")] = "endpoint,stage,system",
    config: Annotated[
        list[Path] | None,
        typer.Option("--config", help="Configuration files laid over config/config.yaml, in order; by default none: the paper's."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Say what hosted models have cost, from the records in store.durable; replays are free.

    With --plan, estimate what a run of the configuration will cost: questions, pictures, tokens, US dollars.

        codecap cost --by system,day
        codecap cost --plan --config config/demo.yaml --config mine.yaml
    """
    with job.running():
        settings = configuration.load(*config or [])
        told = _plan(settings, as_json) if plan else _spent(settings, _groups(by), as_json)
    typer.echo(told)


def _groups(by: str) -> list[str]:
    from codecap.exchange.spending import GROUPS

    groups = [name.strip() for name in by.split(",")]
    unknown = [name for name in groups if name not in GROUPS]
    if unknown or len(set(groups)) < len(groups):
        raise UserError(f"--by {by}: must be some of {','.join(GROUPS)}, each once")
    return groups


def _spent(config: dict[str, Any], by: Sequence[str], as_json: bool) -> str:
    from codecap.exchange import settings
    from codecap.exchange.prices import PriceTable
    from codecap.exchange.spending import as_rows, summed

    prices = PriceTable.read(configuration.find(settings.of(config["exchange"]).prices))
    spending = summed(Path(config["store"]["durable"]), prices, by)
    if as_json:
        rest = {"failed": spending.failed, "unread": spending.unread, "open_calls": spending.open_calls}
        total = {"usd": str(spending.total.usd), "calls": spending.total.calls, "unpriced": spending.total.unpriced}
        told = {"sums": as_rows(spending, by), "total": total, **rest, "open_usd": str(spending.open_usd)}
        return json.dumps(told, indent=1)
    return _spent_in_words(spending, by, prices.path)


def _spent_in_words(spending: Spending, by: Sequence[str], prices: Path) -> str:
    from codecap.exchange.prices import cents

    heads = [*by, "calls", "input", "from cache", "to cache", "output", "USD"]
    rows = [
        [
            *held.group,
            f"{held.calls}",
            *(f"{held.tokens[name]}" for name in ("input_uncached", "input_cache_read", "input_cache_write", "output")),
            "unknown" if held.unpriced == held.calls else cents(held.usd) + (" and more" if held.unpriced else ""),
        ]
        for held in spending.sums
    ]
    lines = table(heads, rows, words=len(by)) if rows else ["nothing was asked yet"]
    lines.append(f"total: {spending.total.calls} calls, {cents(spending.total.usd)} USD")
    if spending.total.unpriced:
        lines.append(f"{spending.total.unpriced} calls have no price: add their models to {prices}")
    if spending.open_calls:
        may = cents(spending.open_usd)
        lines.append(f"{spending.open_calls} calls are under way or have no known end: they may have been billed, up to {may} USD")
    if spending.unread:
        lines.append(f"{spending.unread} responses could not be read as answers")
    if spending.failed:
        lines.append(f"{spending.failed} failed tries, which cost nothing")
    return "\n".join([*lines, *(f"{pack}: ends with a torn record; passed over" for pack in spending.torn)])


def _plan(config: dict[str, Any], as_json: bool) -> str:
    from codecap.estimate import planned

    entries, problems = planned(config)
    if as_json:
        rows = [{**vars(entry), "endpoint": entry.endpoint.name, "left": entry.left} for entry in entries]
        return json.dumps({"planned": rows, "problems": problems}, indent=1, default=str)
    return "\n".join([*_plan_in_words(entries), *(f"codecap: {problem}" for problem in problems)])


def _plan_in_words(entries: Sequence[Planned]) -> list[str]:
    from codecap.exchange.prices import TABLE, cents

    if not entries:
        return ["no hosted model is asked by this configuration"]
    heads = [
        "asker",
        "model",
        "systems",
        "clips",
        "questions",
        "recorded",
        "no video",
        "pictures",
        "tokens in",
        "USD low",
        "USD high",
    ]
    rows = []
    for entry in entries:
        numbers = [entry.systems, entry.clips, entry.questions, entry.recorded, entry.dropped, entry.pictures, entry.input_tokens]
        usd = ["unknown" if told is None else cents(told) for told in (entry.low_usd, entry.high_usd)]
        rows.append([entry.asker, entry.endpoint.name, *map(str, numbers), *usd])
    lines = table(heads, rows, words=2)
    if all(entry.low_usd is not None for entry in entries):
        low, high = (sum(getattr(entry, name) for entry in entries) for name in ("low_usd", "high_usd"))
        lines.append(
            f"together {cents(low)} to {cents(high)} USD, for {sum(entry.left for entry in entries)} questions that are left"
        )
    else:
        unknown = sorted({entry.endpoint.model for entry in entries if entry.low_usd is None})
        lines.append(f"no price for {', '.join(unknown)}: add an entry to {TABLE} (0 for a server of your own)")
    return [
        *lines,
        "An estimate, by the providers' rules for tokens of pictures; low: short answers, high: answers up to their limit.",
    ]


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], words: int) -> list[str]:
    """Lines of a table: the first `words` columns to the left, the numbers to the right.

    >>> table(["model", "calls"], [["m", "3"], ["longer", "12"]], words=1)
    ['model   calls', 'm           3', 'longer     12']
    """
    widths = [max(len(row[column]) for row in (heads, *rows)) for column in range(len(heads))]

    def line(row: Sequence[str]) -> str:
        padded = [cell.ljust(width) for cell, width in zip(row[:words], widths[:words], strict=True)]
        return "  ".join([*padded, *(cell.rjust(width) for cell, width in zip(row[words:], widths[words:], strict=True))]).rstrip()

    return [line(heads), *(line(row) for row in rows)]
