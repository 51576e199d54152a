"""The fonts that pages are drawn with. They are part of the protocol: another font is another picture.

Nothing is installed from here: `codecap doctor` tells what is missing, and `protocol` says what is drawn with instead.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from codecap.errors import UserError

LIMIT_S = 60.0  # of one call; the first one on a machine may build fontconfig's cache
INSTALL = "sudo apt-get install"
FONTCONFIG = "fontconfig"


@dataclass(frozen=True)
class Family:
    """A family that the protocol wants.

    Attributes:
        package: of Debian and Ubuntu.
        draws: what is drawn with it.
    """

    name: str
    package: str
    draws: str


WANTED = (
    Family("Liberation Sans", "fonts-liberation", "sans-serif, Arial and Helvetica"),
    Family("Liberation Serif", "fonts-liberation", "serif, Times New Roman and families that are not installed"),
    Family("Liberation Mono", "fonts-liberation", "Courier New"),
    Family("DejaVu Sans", "fonts-dejavu-core", "system-ui, Arabic and Hebrew"),
    Family("DejaVu Sans Mono", "fonts-dejavu-core", "monospace"),
    Family("Noto Sans CJK JP", "fonts-noto-cjk", "Chinese, Japanese and Korean"),
    Family("Noto Color Emoji", "fonts-noto-color-emoji", "emoji"),
)
GENERIC = {  # what a page asks for, and which family Chromium asks fontconfig for then
    "sans-serif": "Arial",
    "serif": "Times New Roman",
    "monospace": "Monospace",
    "system-ui": "sans",
}
NAMED = ("Times New Roman", "Arial", "Helvetica", "Courier New")  # the first one stands for all that are not installed
STAND_INS = ("Liberation", "Arimo", "Tinos", "Cousine", "Nimbus")  # of the same widths: those Chromium takes for a named family
SCRIPTS = {  # characters that those families lack, and what the search for another family prefers
    "Chinese": ("中", ""),
    "Japanese": ("あ", ""),
    "Korean": ("한", ""),
    "Arabic": ("ع", ""),
    "Hebrew": ("א", ""),
    "emoji": ("😀", "emoji"),
}


class FontconfigMissing(UserError):
    """There is no fontconfig to ask which fonts there are; the message says how to get it."""


def missing() -> list[Family]:
    """Families of `WANTED` that are not installed.

    Raises:
        FontconfigMissing: nobody can tell.
    """
    installed = {name for line in _ask("fc-list", ":", "family").splitlines() for name in line.split(",")}
    return [family for family in WANTED if family.name not in {name.strip() for name in installed}]


def install_command(families: list[Family] | tuple[Family, ...] = WANTED) -> str:
    """The one command that gets families.

    >>> install_command([WANTED[0], WANTED[1]])
    'sudo apt-get install fonts-liberation'
    """
    return " ".join([INSTALL, *dict.fromkeys(family.package for family in families)])


def drawn_with() -> dict[str, str]:
    """Families that are really used, by what a page asks for: generic and usual names, and scripts; "none" where a script has none.

    Raises:
        FontconfigMissing: nobody can tell.
    """
    return {asked: name for asked, (name, _, _) in _matches().items()}


def protocol() -> str:
    """The fonts in one line: the most telling families, and a digest over all that `drawn_with` names, with the files' contents.

    Without fontconfig it says so; such renders are not comparable with others by their protocol.
    """
    try:
        matches = _matches()
    except FontconfigMissing:
        return "fonts unknown"
    digest = hashlib.sha256()
    for asked, (name, file, index) in matches.items():
        digest.update(f"{asked}\t{name}\t{_sha256(file) if file else ''}\t{index}\n".encode())
    told = dict.fromkeys(matches[asked][0] for asked in ("sans-serif", "serif", "monospace", "Arabic", "Chinese", "emoji"))
    return f"fonts {', '.join(told)} {digest.hexdigest()[:12]}"


@cache
def _matches() -> dict[str, tuple[str, str, str]]:
    """By what is asked for: family, file, and index of the face in the file."""
    found = {}
    for asked, family in GENERIC.items():
        found[asked] = _match(family)
    standard = found["system-ui"]  # what Chromium draws with where not even its standard family has a stand-in
    for asked in NAMED:
        face = _match(asked)
        found[asked] = face if face[0] == asked or face[0].startswith(STAND_INS) else standard
        standard = found[NAMED[0]]
    for script, (character, preferred) in SCRIPTS.items():
        having = set(_ask("fc-list", "-f", "%{file}\n", f":charset={ord(character):x}").splitlines())
        ranked = _ask("fc-match", "-s", "-f", "%{family[0]}\t%{file}\t%{index}\n", f"{preferred}:charset={ord(character):x}")
        faces = (line.split("\t") for line in ranked.splitlines())
        found[script] = next(((name, file, index) for name, file, index in faces if file in having), ("none", "", ""))
    return found


def _match(family: str) -> tuple[str, str, str]:
    name, file, index = _ask("fc-match", "-f", "%{family[0]}\t%{file}\t%{index}", family).split("\t")
    return name, file, index


@cache
def _sha256(file: str) -> str:
    with Path(file).open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _ask(program: str, *arguments: str) -> str:
    executable = shutil.which(program)
    if executable is None:
        raise FontconfigMissing(f"{program} is not installed, so nobody can tell the fonts; {INSTALL} {FONTCONFIG}")
    try:
        environment = os.environ | {"LC_ALL": "C.UTF-8"}  # names in English
        done = subprocess.run(
            [executable, *arguments], capture_output=True, text=True, timeout=LIMIT_S, check=True, env=environment
        )
    except (subprocess.SubprocessError, OSError) as error:
        raise FontconfigMissing(f"{program} fails: {error}") from error
    return done.stdout
