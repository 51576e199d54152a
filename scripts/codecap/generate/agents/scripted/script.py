"""What a scripted model says, turn by turn.

model: scripted-1                     # the name it answers to
turns:
  - run: frames --at 0 1 -o shots     # has the agent run a command
  - view: shots/0001.000.png          # has the agent look at a picture
  - run: cp page.html index.html
    waits_s: 2                        # thinks so long first
  - say: Done.                        # says something without a tool, which ends an agent's run
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, ValidationError, model_validator

from codecap.errors import UserError
from codecap.records import Row, Usage, in_words


class Turn(Row):
    """One response: exactly one of `run`, `view`, `use` and `say`.

    Attributes:
        usage: the tokens it says it took; by default numbers that differ from turn to turn.
        waits_s: seconds before it begins to answer.
        status: an HTTP error in place of an answer, this often: [503, 2].
    """

    run: str | None = None
    view: str | None = None
    use: tuple[str, dict[str, Any]] | None = None
    say: str | None = None
    usage: Usage | None = None
    waits_s: float = Field(default=0.0, ge=0)
    status: tuple[int, int] | None = None

    @model_validator(mode="after")
    def _does_one_thing(self) -> Turn:
        if sum(told is not None for told in (self.run, self.view, self.use, self.say)) != 1:
            raise ValueError("a turn has one of run, view, use and say")
        return self


class Script(Row):
    """Turns in order. After the last, or where no tool is offered, it says that it has nothing to add."""

    model: str = "scripted-1"
    turns: list[Turn] = Field(min_length=1)

    @classmethod
    def read(cls, path: Path) -> Script:
        """
        Raises:
            UserError: the file is not there, or is no script.
        """
        try:
            return cls.model_validate(yaml.safe_load(Path(path).read_text(encoding="utf-8")))
        except OSError as error:
            raise UserError(f"{path}: the script cannot be read: {error.strerror}") from error
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise UserError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
        except ValidationError as error:
            raise UserError(f"{path}: not a script: {in_words(error)}") from error

    def turn(self, number: int) -> Turn:
        return self.turns[number] if number < len(self.turns) else Turn(say="Nothing to add.")

    def usage(self, number: int) -> Usage:
        """Tokens of a turn: each kind another number, so that none is mistaken for another."""
        told = self.turn(number).usage
        return told or Usage(
            input_uncached=1000 + 10 * number, input_cache_read=200 * number, output=50 + number, reasoning=20 + number
        )
