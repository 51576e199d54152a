"""The smallest agent, in the sandbox and behind the gateway like the others, with a model that plays a script, or with a real one.

For tests of what is around agents, and for whoever writes a harness: what another agent does, this one does in 150 lines of Python.
Settings of an entry: those of `codecap.generate.agents.settings.AgentSettings`, and
    script      a file of what the model says (`codecap.generate.agents.scripted.Script`), in place of `endpoint`
It speaks chat completions, so its `endpoint`, where it has one, has api `openai`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from codecap import config as configuration
from codecap import store
from codecap.generate.agents.agent import STDOUT, Command, Task
from codecap.generate.agents.harness import AgentHarness
from codecap.generate.agents.json_lines import part, records_in, text
from codecap.generate.agents.scripted import Script, ScriptedModel
from codecap.generate.agents.settings import AgentSettings
from codecap.generate.agents.trace import ToolCall, Trace
from codecap.generate.agents.workspace import TOOLS
from codecap.records import Clip

PAID = True
SHARES = "agents"
RENDERS = True
BROWSER = True


def load(settings: Mapping[str, Any]) -> AgentHarness:
    told = dict(settings)
    path = told.pop("script", None)
    if (path is None) == (told.get("endpoint") is None):
        raise ValueError("harness scripted: needs one of script and endpoint")
    if path is None:
        return AgentHarness(Scripted(), _settings(told))
    script = Script.read(configuration.find(path))
    told["endpoint"] = {"api": "openai", "model": script.model, "thinking": "medium"}
    return ScriptedHarness(script, _settings(told))


def _settings(told: Mapping[str, Any]) -> AgentSettings:
    return AgentSettings.of(Scripted.name, {**told, "versions": {Scripted.name: str(TOOLS)}})


class ScriptedHarness(AgentHarness):
    """With a script: each run has a server of its own that plays it."""

    def __init__(self, script: Script, settings: AgentSettings) -> None:
        super().__init__(Scripted(), settings, more={"script": script.model_dump(mode="json")})
        self._script = script

    def run(self, clip: Clip, draft: store.Draft) -> dict[str, Any]:
        with ScriptedModel(self._script, for_s=self.settings.deadline_s + 600) as model:
            endpoint = self.settings.endpoint.model_copy(update={"base_url": model.base_url})
            return self.run_with(self.settings.model_copy(update={"endpoint": endpoint}), clip, draft)


@dataclass(frozen=True)
class Scripted:
    name: ClassVar[str] = "scripted"
    apis: ClassVar[tuple[str, ...]] = ("openai",)
    dialect: ClassVar[str | None] = None
    logs: ClassVar[tuple[str, ...]] = ()
    noise: ClassVar[tuple[bytes, ...]] = ()

    def version(self) -> str:
        return f"scripted {TOOLS}"

    def prepare(self, task: Task, home: Path) -> None:
        """Nothing: all is said by arguments."""

    def command(self, task: Task) -> Command:
        argv = [task.env["CODECAP_PYTHON"], f"{task.env['CODECAP_PROGRAMS']}/agent.py", "--model", task.model, "--url", task.url]
        argv += ["--effort", task.effort] if task.effort is not None else []
        return Command((*argv, task.prompt))

    def parse(self, logs: Mapping[str, str]) -> Trace:
        calls, rounds, said, stop = [], 0, "", ""
        errors: list[str] = []
        for told in records_in(logs.get(STDOUT, "")):
            if told.get("type") == "answer":
                rounds, said, stop = rounds + 1, text(told, "said") or said, text(told, "stop")
            elif told.get("type") == "error":
                errors.append(text(told, "told"))
            elif told.get("type") == "call":
                calls.append(_call(told))
        return Trace(tuple(calls), rounds, said, stop, tuple(errors[-3:]))


def _call(told: Mapping[str, Any]) -> ToolCall:
    if part(told, "tool") == "bash":
        return ToolCall("shell", text(told, "arguments", "command"), "bash")
    if part(told, "tool") == "view_image":
        return ToolCall("look", text(told, "arguments", "path"), "view_image")
    return ToolCall("other", "", text(told, "tool"))
