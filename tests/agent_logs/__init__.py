"""Logs of real agents, recorded in the sandbox with a scripted model behind the gateway, and shortened."""

import json
from pathlib import Path

LOGS = Path(__file__).parent


def recorded(agent: str, kind: str) -> dict[str, str]:
    """`kind`: "done", "late" (killed at its deadline) or "failed" (its model's server refused)."""
    return json.loads((LOGS / f"{agent}_{kind}.json").read_text(encoding="utf-8"))


def cut_anywhere(logs: dict[str, str], steps: int = 40):
    """The same logs, as a kill at other moments would have left them."""
    longest = max(map(len, logs.values()))
    for step in range(steps):
        yield {name: text[: longest * step // steps] for name, text in logs.items()}


def spoilt(logs: dict[str, str]):
    """Logs that hold what no agent writes."""
    for wrong in ("null", "[]", '"x"', "0", "{}"):
        for key in ("message", "payload", "content", "input", "arguments", "item"):
            yield {name: text.replace(f'"{key}":', f'"{key}":{wrong},"was":') for name, text in logs.items()}
    yield {name: "\x00\n{\n{]\n" + "[" * 5000 + text for name, text in logs.items()}
