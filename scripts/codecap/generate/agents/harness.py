"""An agent as a harness: what it is known by, its runs, and how rows are read from them."""

from __future__ import annotations

import functools
import threading
from collections.abc import Mapping
from typing import Any, Literal

from codecap import store
from codecap.generate import sandbox as sandboxes
from codecap.generate.agents import logs, runner, salvage
from codecap.generate.agents.agent import Agent
from codecap.generate.agents.settings import AgentSettings
from codecap.generate.agents.trace import Trace
from codecap.generate.agents.workspace import TOOLS
from codecap.generate.gateway import Tally
from codecap.generate.harnesses import Made
from codecap.records import Clip, Outcome
from codecap.showing import prompts

PROMPT = "agent_task.md"
LONGEST_QUOTE = 160
REFUSALS = ("refusal", "content_filter", "sensitive")  # why an answer ended, in agents' words; the gateway hears it too
LIMITS = ("deadline_s", "memory_mb", "processes", "disk_mb", "most_usd", "most_rounds", "most_calls")


class AgentHarness:
    """One agent with one model.

    Args:
        more: what else makes its runs what they are, as JSON values.

    Raises:
        ValueError: the agent cannot speak the endpoint's API, or no version of it is named.
    """

    kind: Literal["code"] = "code"

    def __init__(self, agent: Agent, settings: AgentSettings, more: Mapping[str, Any] | None = None) -> None:
        endpoint = settings.endpoint
        if endpoint.api not in agent.apis:
            raise ValueError(f"harness {agent.name}: endpoint.api is {endpoint.api!r}; it speaks {', '.join(agent.apis)}")
        self.agent, self.settings = agent, settings
        self.at_once = settings.at_once
        self._prompt = prompts.load(PROMPT)
        self._runs = runner.Runs()
        self._lock = threading.Lock()
        self.identity: dict[str, Any] = {
            "harness": agent.name,
            "version": settings.version_of(agent.name),
            "api": endpoint.api,
            "model": endpoint.model,
            "effort": endpoint.thinking,
            "extra": endpoint.extra,
            **({} if endpoint.served is None else {"served": endpoint.served}),
            "prompt": self._prompt.sections,
            "tools": TOOLS,
            "limits": settings.model_dump(mode="json", include=set(LIMITS)),
            **(more or {}),
        }

    @property
    def protocol(self) -> str:
        told, endpoint = self.settings, self.settings.endpoint
        effort = f"effort {endpoint.thinking}" if endpoint.thinking else "effort left to the agent"
        limits = f"{told.deadline_s:g} s, {told.memory_mb} MB"
        words = f"prompt {self._prompt.digest}, tools {TOOLS}"
        return f"{self.agent.name} with {endpoint.model} by {endpoint.api}, {effort}, {limits}, {words}, {self._sandbox.protocol}"

    @functools.cached_property
    def _sandbox(self) -> sandboxes.Sandbox:
        return sandboxes.load(self.settings.sandbox)

    @property
    def dialect(self) -> str | None:
        return self.agent.dialect

    def version(self) -> str:
        return self.agent.version()

    def run(self, clip: Clip, draft: store.Draft) -> dict[str, Any]:
        return self.run_with(self.settings, clip, draft)

    def run_with(self, settings: AgentSettings, clip: Clip, draft: store.Draft) -> dict[str, Any]:
        """`run` with settings that only say where the model is."""
        with self._lock:
            self._sandbox.check()
        return runner.run(self.agent, settings, self._sandbox, self._prompt, clip, draft, self._runs)

    def end(self) -> None:
        self._runs.end()

    def read(self, item: store.Item) -> Made:
        value, tally = item.value, Tally.model_validate(item.value["tally"])
        pages = {suffix: path for suffix, path in item.files.items() if suffix in (runner.LEFT, runner.OTHER)}
        held = {suffix: store.open_at(path, lambda place: place.read_bytes()) for suffix, path in pages.items()}
        trace = self.agent.parse(store.open_at(item.files[runner.LOGS], logs.read))
        outcome, detail, page, salvaged = _became(value, held, trace, tally, self.settings.salvage_counts)
        notes = [detail]
        if not tally.effort_is_right:
            seen = ", ".join(sorted(tally.efforts_seen))
            notes.append(f"effort in its requests: {seen}; its entry says {tally.effort_told}")
        return Made(
            outcome=outcome,
            detail="; ".join(note for note in notes if note),
            kind="code",
            salvaged=salvaged,
            usage=tally.usage,
            cost_usd=tally.cost_usd,
            rounds=tally.rounds,
            tool_calls=trace.by_class,
            content=page,
            wall_s=value["wall_s"],
        )


def _became(
    value: Mapping[str, Any], held: Mapping[str, bytes], trace: Trace, tally: Tally, salvage_counts: bool
) -> tuple[Outcome, str, bytes | None, bool]:
    """Outcome, detail, the page that is the caption (None for none), and whether it was salvaged."""
    page = held.get(runner.LEFT)
    whole = page is not None and salvage.is_complete(page)
    if value["ended_by"] in ("deadline", "limit"):
        saved = page if whole else held.get(runner.OTHER)
        outcome = Outcome.OK if saved is not None and salvage_counts else Outcome.GENERATION_TIMEOUT
        return outcome, _late(value, whole, saved is not None), saved, saved is not None
    ended = value["outgrown"] or ("" if value["exit_status"] == 0 else f"exit status {value['exit_status']}")
    if whole:
        return Outcome.OK, ended, page, False
    said = " ".join(trace.said.split())
    quote = f"; it said: {said if len(said) <= LONGEST_QUOTE else said[: LONGEST_QUOTE - 1] + '…'}" if said else ""
    filtered = tally.filtered > 0
    if page is None and (filtered or tally.ended_by_refusal or trace.stop in REFUSALS):
        return Outcome.REFUSED, f"{'kept back by a filter of the provider' if filtered else 'refused'}{quote}", None, False
    why = value["why_no_page"] or f"{salvage.PAGE} is {'empty' if page is None else 'no complete document'}"
    told = "; ".join(filter(None, (why, ended, *trace.errors[-1:])))
    return Outcome.NO_COMPLETE_HTML, told + quote, None, False


def _late(value: Mapping[str, Any], whole: bool, saved: bool) -> str:
    what = "ended at the deadline" if value["ended_by"] == "deadline" else value["tally"]["stopped_told"]
    if whole:
        return f"{what}; index.html was complete"
    if saved:
        which = "the one rendered last" if value["other_page"] == "rendered" else value["other_page"]
        return f"{what}; the last complete page is {which}"
    return f"{what}; there is no complete page"
