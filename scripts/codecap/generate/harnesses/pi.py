"""Pi, an agent for any model, which looks at the clip with tools, writes a page, renders and mends it, until it says it is done.

Settings of an entry: those of `codecap.generate.agents.settings.AgentSettings`, and
    wire            for an `endpoint` of api `openai`: "completions" (by default) or "responses"
    compat          how the server differs from what its API promises, as Pi's models.json has it: {thinkingFormat: qwen}
    context_tokens  how long the model's context is
    answer_tokens   most that one answer may have, thinking included
`thinking` of the endpoint is its thinking level: off, minimal, low, medium, high, xhigh, max.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from codecap.generate.agents import npm
from codecap.generate.agents.agent import STDOUT, Command, Task
from codecap.generate.agents.harness import REFUSALS, AgentHarness
from codecap.generate.agents.json_lines import items, part, records_in, text
from codecap.generate.agents.settings import AgentSettings
from codecap.generate.agents.trace import ToolCall, Trace

PAID = True
SHARES = "agents"
RENDERS = True
BROWSER = True
PROVIDER = "codecap"
SETTINGS = "agent"  # folder in the home folder
LEVELS = ("off", "minimal", "low", "medium", "high", "xhigh", "max")
APIS = {"anthropic": "anthropic-messages", "google": "google-generative-ai"}
NOISE = tuple(
    b'{"type":"%s"' % name
    for name in (b"message_update", b"message_start", b"turn_end", b"agent_end", b"tool_execution_update", b"tool_execution_end")
)
VERSIONS = {"openai": "/v1", "anthropic": "", "google": "/v1beta"}  # what its clients want at the end of an address


class Settings(AgentSettings):
    wire: Literal["completions", "responses"] = "completions"
    compat: dict[str, Any] = {}
    context_tokens: int = Field(default=200_000, ge=8000)
    answer_tokens: int = Field(default=32_000, ge=1000)


def load(settings: Mapping[str, Any]) -> AgentHarness:
    told = Settings.of("pi", settings)
    told.must_think_in("pi", LEVELS)
    more = told.model_dump(include={"wire", "compat", "context_tokens", "answer_tokens"})
    return AgentHarness(Pi(told), told, more=more)


@dataclass(frozen=True)
class Pi:
    settings: Settings
    name: ClassVar[str] = "pi"
    apis: ClassVar[tuple[str, ...]] = ("openai", "anthropic", "google")
    logs: ClassVar[tuple[str, ...]] = ()
    noise: ClassVar[tuple[bytes, ...]] = NOISE

    @property
    def dialect(self) -> str | None:
        return "responses" if self.settings.endpoint.api == "openai" and self.settings.wire == "responses" else None

    @property
    def _installed(self) -> npm.Installed:
        told = self.settings
        return npm.find(self.name, told.version_of(self.name), told.folder, told.version_of("node"))

    def version(self) -> str:
        found = self._installed
        return f"pi {found.version}, node {found.node}"

    def prepare(self, task: Task, home: Path) -> None:
        """models.json: one provider, the gateway. The key is a word: the gateway puts the right one in."""
        told, api = self.settings, self.settings.endpoint.api
        model = {
            "id": task.model,
            "reasoning": True,
            "thinkingLevelMap": {level: level for level in LEVELS if level != "off"},
            "input": ["text", "image"],
            "contextWindow": told.context_tokens,
            "maxTokens": told.answer_tokens,
        }
        provider = {
            "baseUrl": task.url + VERSIONS[api],
            "api": APIS.get(api, f"openai-{told.wire}"),
            "apiKey": "the-gateway-has-it",
            "models": [model],
        }
        compat = self._compat() | told.compat
        if compat:
            provider["compat"] = compat
        folder = home / SETTINGS
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "models.json").write_text(json.dumps({"providers": {PROVIDER: provider}}, indent=1), encoding="utf-8")

    def _compat(self) -> dict[str, Any]:
        """What it would find out from the provider's address, which it does not see."""
        endpoint = self.settings.endpoint
        if endpoint.api == "anthropic":
            return {"forceAdaptiveThinking": True}  # effort by its name; else a number of tokens
        if endpoint.api == "google":
            return {}
        own = f".{endpoint.host}".endswith(".openai.com")
        if self.settings.wire == "responses":
            return {} if own else {"supportsDeveloperRole": False}
        told = {"supportsReasoningEffort": True, "maxTokensField": endpoint.output_limit}
        return told | ({"supportsDeveloperRole": True, "promptCacheKeyMode": "enabled"} if own else {})

    def command(self, task: Task) -> Command:
        found = self._installed
        argv = [*found.argv, "--mode", "json", "--offline", "--no-session", "--no-extensions", "--no-skills", "--no-context-files"]
        argv += ["--no-approve", "--no-mcp", "--provider", PROVIDER, "--model", task.model]
        if task.effort is not None:
            argv += ["--thinking", task.effort]
        env = {"PI_CODING_AGENT_DIR": f"{task.home}/{SETTINGS}", "PI_OFFLINE": "1", "PI_TELEMETRY": "0"}
        return Command((*argv, task.prompt), env, found.programs)

    def parse(self, logs: Mapping[str, str]) -> Trace:
        """From the standard output; what its end says is in the last answer, not in the exit status."""
        calls, rounds, said, stop = [], 0, "", ""
        errors: list[str] = []
        for told in records_in(logs.get(STDOUT, "")):
            if told.get("type") != "message_end" or part(told, "message", "role") != "assistant":
                continue
            stop = text(told, "message", "stopReason")
            if stop == "error":
                errors.append(text(told, "message", "errorMessage"))
                raw = text(told, "message", "rawStopReason").rpartition(".")[2]  # what it was before Pi called it an error
                stop = raw if raw in REFUSALS else stop
                continue
            rounds += 1
            blocks = items(told, "message", "content")
            calls += [_call(block) for block in blocks if block.get("type") == "toolCall"]
            said = "".join(text(block, "text") for block in blocks if block.get("type") == "text") or said
        return Trace(tuple(calls), rounds, said, stop, tuple(errors[-3:]))


def _call(block: Mapping[str, Any]) -> ToolCall:
    tool = text(block, "name")
    if tool == "bash":
        return ToolCall("shell", text(block, "arguments", "command"), tool)
    if tool == "read":
        return ToolCall("look", text(block, "arguments", "path"), tool)
    if tool in ("write", "edit"):
        return ToolCall("write", text(block, "arguments", "path"), tool)
    return ToolCall("other", json.dumps(block.get("arguments"))[:1000], tool)
