"""The words of a question, from one file a prompt; a changed word is another protocol."""

from __future__ import annotations

import functools
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from codecap.config import PROJECT
from codecap.errors import UserError

FOLDER = PROJECT / "resources" / "prompts"


@dataclass(frozen=True)
class Prompt:
    """A prompt's sections, by their headings (`## name`), and the digest of the whole file."""

    name: str
    sections: dict[str, str]
    digest: str

    def say(self, section: str, **told: Any) -> str:
        """A section's text with its `$names` filled in; what is filled in is not looked at again."""
        return Template(self.sections[section]).substitute(told)


@functools.cache
def load(file_name: str, folder: Path = FOLDER) -> Prompt:
    """Read a prompt, "retention_judge.md".

    Raises:
        UserError: the file is not there.
    """
    path = folder / file_name
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: the prompt cannot be read: {error.strerror}; it is part of the project, put it back") from error
    _, *parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)
    sections = {name.strip(): body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}
    return Prompt(path.stem, sections, hashlib.sha256(text.encode()).hexdigest()[:8])
