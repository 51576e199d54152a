"""Claude Code, Anthropic's agent: the model looks at the clip with tools, writes a page, renders and mends it, until it is done.

Settings of an entry: those of `codecap.generate.agents.settings.AgentSettings`. It speaks Anthropic's messages API, so its
`endpoint` has api `anthropic`; `thinking` is its effort: low, medium, high, xhigh, max. It is proprietary: its licence is between
Anthropic and whoever installs it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from codecap.generate.agents import npm
from codecap.generate.agents.agent import STDOUT, Command, Task
from codecap.generate.agents.harness import AgentHarness
from codecap.generate.agents.json_lines import items, records_in, text
from codecap.generate.agents.settings import AgentSettings
from codecap.generate.agents.trace import ToolCall, Trace

PAID = True
SHARES = "agents"
RENDERS = True
BROWSER = True
EFFORTS = ("low", "medium", "high", "xhigh", "max")  # no other way of saying it reaches the model
TOOLS = "Bash,Read,Write,Edit"
LONGEST_COMMAND_S = 600  # a render of a long clip on a busy machine takes more than the two minutes that it allows by itself


def load(settings: Mapping[str, Any]) -> AgentHarness:
    told = AgentSettings.of("claude_code", settings)
    told.must_think_in("claude_code", EFFORTS)
    return AgentHarness(ClaudeCode(told), told)


@dataclass(frozen=True)
class ClaudeCode:
    settings: AgentSettings
    name: ClassVar[str] = "claude_code"
    apis: ClassVar[tuple[str, ...]] = ("anthropic",)
    dialect: ClassVar[str | None] = None
    logs: ClassVar[tuple[str, ...]] = ()
    noise: ClassVar[tuple[bytes, ...]] = ()

    @property
    def _installed(self) -> npm.Installed:
        return npm.find(self.name, self.settings.version_of(self.name), self.settings.folder)

    def version(self) -> str:
        return f"claude-code {self._installed.version}"

    def prepare(self, task: Task, home: Path) -> None:
        """Nothing: all is said by arguments and variables."""

    def command(self, task: Task) -> Command:
        found = self._installed
        argv = [*found.argv, "-p", "--output-format", "stream-json", "--verbose", "--model", task.model]
        argv += ["--dangerously-skip-permissions", "--setting-sources", "", "--strict-mcp-config", "--no-session-persistence"]
        argv += [f"--tools={TOOLS}"]
        env = {
            "ANTHROPIC_BASE_URL": task.url,
            "ANTHROPIC_API_KEY": "the-gateway-has-it",
            "ANTHROPIC_DEFAULT_HAIKU_MODEL": task.model,  # what it asks beside goes to the one model that there is
            "ANTHROPIC_SMALL_FAST_MODEL": task.model,
            "CLAUDE_CODE_SUBAGENT_MODEL": task.model,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",  # else it refuses root
            "BASH_DEFAULT_TIMEOUT_MS": str(LONGEST_COMMAND_S * 1000),
            "BASH_MAX_TIMEOUT_MS": str(LONGEST_COMMAND_S * 1000),
        }
        if task.effort is not None:
            argv += ["--effort", task.effort]
        return Command((*argv, task.prompt), env, found.programs)

    def parse(self, logs: Mapping[str, str]) -> Trace:
        """From the standard output: one event of each part of an answer, the end of which comes with the last event alone."""
        calls, seen, said, stop = [], set(), "", ""
        errors: list[str] = []
        for told in records_in(logs.get(STDOUT, "")):
            if told.get("type") == "assistant":
                if told.get("isApiErrorMessage") or text(told, "error"):
                    errors.append(_words(told))
                    continue
                seen.add(text(told, "message", "id"))
                calls += [_call(block) for block in items(told, "message", "content") if block.get("type") == "tool_use"]
                said = _words(told) or said
            elif told.get("type") == "result":
                stop = text(told, "stop_reason") or text(told, "subtype")
                if told.get("is_error"):
                    stop = "error"
                    errors.append(text(told, "result") or text(told, "subtype"))
        return Trace(tuple(calls), len(seen), said, stop, tuple(errors[-3:]))


def _words(told: Mapping[str, Any]) -> str:
    return "".join(text(block, "text") for block in items(told, "message", "content") if block.get("type") == "text")


def _call(block: Mapping[str, Any]) -> ToolCall:
    tool = text(block, "name")
    if tool == "Bash":
        return ToolCall("shell", text(block, "input", "command"), tool)
    if tool == "Read":
        return ToolCall("look", text(block, "input", "file_path"), tool)
    if tool in ("Write", "Edit", "MultiEdit"):
        return ToolCall("write", text(block, "input", "file_path"), tool)
    return ToolCall("other", json.dumps(block.get("input"))[:1000], tool)
