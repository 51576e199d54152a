"""What an agent's module must know: how it is told its task, started, and understood afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol

from codecap.generate.agents.trace import Trace

STDOUT, STDERR = "stdout", "stderr"  # names of the logs that every run has
LOGIN = (".bash_profile", ".profile")  # read by login shells, which begin with a PATH of the system's own


@dataclass(frozen=True)
class Task:
    """What an agent is asked, and how it reaches its model. All places are as they are seen inside.

    Attributes:
        prompt: the words.
        model: the provider's name of it.
        effort: how much it is to think, as the endpoint's `thinking` says; None leaves it to the agent.
        url: address of the model's API, without a version: `http://127.0.0.1:8123`.
        home: the agent's home folder.
        work: its work folder, where the page must be.
        env: what the environment holds beside the agent's own: PATH, HOME.
    """

    prompt: str
    model: str
    effort: str | None
    url: str
    home: str
    work: str
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Command:
    """How an agent is started.

    Attributes:
        argv: the program, by its absolute path, and its arguments.
        env: variables of its own.
        programs: folders of the host that it needs, read-only, at their own place.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    programs: tuple[Path, ...] = ()


class Agent(Protocol):
    """An adapter of one agent.

    Attributes:
        name: of its harness.
        apis: the APIs of `codecap.exchange.Endpoint` that it can speak.
        dialect: "responses" where it speaks these of OpenAI's two; None where there is one, or it speaks chat completions.
        logs: patterns of the files in its home folder that are kept beside its standard output and error.
        noise: beginnings of lines in its logs that say again what others say, and are not kept.
    """

    name: ClassVar[str]
    apis: ClassVar[tuple[str, ...]]

    @property
    def dialect(self) -> str | None: ...

    logs: ClassVar[tuple[str, ...]]
    noise: ClassVar[tuple[bytes, ...]]

    def version(self) -> str:
        """Its version, as recorded in every row.

        Raises:
            UserError: it is not installed; the message says how to.
        """
        ...

    def prepare(self, task: Task, home: Path) -> None:
        """Write its configuration into its home folder.

        Args:
            home: where that is on the host.
        """
        ...

    def command(self, task: Task) -> Command: ...

    def parse(self, logs: Mapping[str, str]) -> Trace:
        """What it did: a function of its logs alone, which may be cut off anywhere and hold anything.

        Args:
            logs: by name: STDOUT, STDERR, and paths in the home folder.
        """
        ...
