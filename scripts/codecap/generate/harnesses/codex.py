"""Codex, OpenAI's agent: the model looks at the clip with tools, writes a page, renders and mends it, until it says it is done.

Settings of an entry: those of `codecap.generate.agents.settings.AgentSettings`, and
    config      what is laid over its configuration file (config.toml), as nested keys: {model_context_window: 400000}
It speaks OpenAI's responses API, which an `endpoint` of api `openai` must offer; `thinking` is its `model_reasoning_effort`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from codecap.config import laid_over
from codecap.generate.agents import npm
from codecap.generate.agents.agent import STDERR, STDOUT, Command, Task
from codecap.generate.agents.harness import AgentHarness
from codecap.generate.agents.json_lines import items, part, records_in, text
from codecap.generate.agents.settings import AgentSettings
from codecap.generate.agents.trace import ToolCall, Trace

PAID = True
SHARES = "agents"
RENDERS = True
BROWSER = True
ROLLOUTS = "sessions/*/*/*/rollout-*.jsonl"
PROVIDER = "codecap"


class Settings(AgentSettings):
    config: dict[str, Any] = {}


def load(settings: Mapping[str, Any]) -> AgentHarness:
    told = Settings.of("codex", settings)
    return AgentHarness(Codex(told), told, more={"config": told.config})


@dataclass(frozen=True)
class Codex:
    settings: Settings
    name: ClassVar[str] = "codex"
    apis: ClassVar[tuple[str, ...]] = ("openai",)
    dialect: ClassVar[str | None] = "responses"
    logs: ClassVar[tuple[str, ...]] = (ROLLOUTS,)
    noise: ClassVar[tuple[bytes, ...]] = ()

    @property
    def _installed(self) -> npm.Installed:
        return npm.find(self.name, self.settings.version_of(self.name), self.settings.folder)

    def version(self) -> str:
        return f"codex {self._installed.version}"

    def prepare(self, task: Task, home: Path) -> None:
        """config.toml: one provider, the gateway. Without a key: the gateway puts it in."""
        told: dict[str, Any] = {
            "model": task.model,
            "model_provider": PROVIDER,
            "web_search": "disabled",
            "check_for_update_on_startup": False,
            "model_providers": {
                PROVIDER: {"name": PROVIDER, "base_url": f"{task.url}/v1", "wire_api": "responses", "supports_websockets": False}
            },
        }
        if task.effort is not None:
            told["model_reasoning_effort"] = "none" if task.effort == "off" else task.effort
        (home / "config.toml").write_text(as_toml(laid_over(told, self.settings.config)), encoding="utf-8")

    def command(self, task: Task) -> Command:
        found = self._installed
        argv = [
            *found.argv,
            "exec",
            "--json",
            "--skip-git-repo-check",
            "--ignore-rules",
            "--dangerously-bypass-approvals-and-sandbox",
            "-C",
            task.work,
            task.prompt,
        ]
        return Command(tuple(argv), {"CODEX_HOME": task.home}, found.programs)

    def parse(self, logs: Mapping[str, str]) -> Trace:
        """From the rollouts, one of each thread of the run; from the standard output where there is none."""
        rollouts = [logs[name] for name in sorted(logs) if name not in (STDOUT, STDERR)]
        calls, rounds, said = [], 0, ""
        for rollout in rollouts:
            for told in records_in(rollout):
                item = part(told, "payload")
                if told.get("type") == "token_usage_record":
                    rounds += 1
                elif told.get("type") == "response_item" and isinstance(item, dict):
                    calls += _call(item)
                    said = _said(item) or said
        errors, stop = [], ""
        for told in records_in(logs.get(STDOUT, "")):
            if told.get("type") in ("error", "turn.failed"):
                errors.append(text(told, "message") or text(told, "error", "message"))
                stop = "error"
            elif told.get("type") == "turn.completed":
                stop = "end"
        return Trace(tuple(calls), rounds, said, stop, tuple(errors[-3:]))


def _call(item: Mapping[str, Any]) -> list[ToolCall]:
    """The call of a tool that an item of the conversation is, if it is one."""
    kind, tool = item.get("type"), text(item, "name")
    if kind == "custom_tool_call":
        return [ToolCall("write" if tool == "apply_patch" else "other", text(item, "input"), tool)]
    if kind == "local_shell_call":
        return [ToolCall("shell", _words(part(item, "action", "command")), "local_shell")]
    if kind != "function_call":
        return []
    try:
        told = json.loads(text(item, "arguments"))
    except (ValueError, RecursionError):
        told = {}
    if tool == "view_image":
        return [ToolCall("look", text(told, "path"), tool)]
    if tool == "write_stdin":  # waits for a command that is counted already
        return []
    command = _words(part(told, "cmd") or part(told, "command"))
    return [ToolCall("shell", command, tool) if command else ToolCall("other", "", tool)]


def _words(told: Any) -> str:
    """A command as one text; of a list, `["bash", "-lc", "..."]`, the script."""
    if isinstance(told, list):
        words = [word for word in told if isinstance(word, str)]
        return words[-1] if len(words) == 3 and words[1] in ("-c", "-lc") else " ".join(words)
    return told if isinstance(told, str) else ""


def _said(item: Mapping[str, Any]) -> str:
    if item.get("type") != "message" or item.get("role") != "assistant":
        return ""
    return "".join(text(content, "text") or text(content, "refusal") for content in items(item, "content"))


def as_toml(told: Mapping[str, Any], under: tuple[str, ...] = ()) -> str:
    """Nested keys as TOML: texts, numbers, booleans, lists of them, and tables.

    >>> print(as_toml({"a": 1, "b": {"c": "x"}}), end="")
    a = 1
    [b]
    c = "x"
    """
    plain = {key: value for key, value in told.items() if not isinstance(value, Mapping)}
    lines = [f"{_key(key)} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in plain.items()]
    if under and (lines or not told):
        lines.insert(0, f"[{'.'.join(map(_key, under))}]\n")
    tables = {key: value for key, value in told.items() if isinstance(value, Mapping)}
    return "".join(lines) + "".join(as_toml(value, (*under, key)) for key, value in tables.items())


def _key(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else json.dumps(name)
