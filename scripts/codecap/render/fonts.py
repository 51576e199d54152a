"""The fonts that pages are drawn with. They are part of the protocol: another font is another picture.

Nothing is installed from here: `codecap doctor` tells what is missing, and `protocol` says what is drawn with instead.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from codecap.render.fontconfig import Face, Fontconfig, FontconfigMissing

__all__ = ["WANTED", "Family", "FontconfigMissing", "drawn_with", "install_command", "missing", "protocol"]

INSTALL = "sudo apt-get install"
HEAD_BYTES = 65536  # of a font file that its digest reads


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
ASKED_BY_ENGINES = {  # the same for every engine and kind of browser, as DevTools' Page.setFontFamilies takes it
    "standard": GENERIC["serif"],
    "serif": GENERIC["serif"],
    "sansSerif": GENERIC["sans-serif"],
    "fixed": GENERIC["monospace"],
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


def missing() -> list[Family]:
    """Families of `WANTED` that are not installed.

    Raises:
        FontconfigMissing: nobody can tell.
    """
    with Fontconfig() as fontconfig:
        installed = fontconfig.families()
    return [family for family in WANTED if family.name not in installed]


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
    return {asked: face.family if face else "none" for asked, face in _faces().items()}


def protocol() -> str:
    """The fonts in one line: the most telling families, and a digest over all that `drawn_with` names.

    Of each face the digest takes its family, its index in its file, the font's own version, and of the file the size and the first
    64 KiB. A font file begins with the directory of its tables and their checksums, so other glyphs show there without the whole
    file (tens of MB for Chinese) being read.

    Without fontconfig, or where a font file cannot be read, it says so; such renders are not comparable with others by their
    protocol.
    """
    try:
        faces = _faces()
        digest = hashlib.sha256()
        for asked, face in faces.items():
            digest.update(f"{asked}\t{_fingerprint(face) if face else 'none'}\n".encode())
    except (FontconfigMissing, OSError):
        return "fonts unknown"
    shown = [faces[asked] for asked in ("sans-serif", "serif", "monospace", "Arabic", "Chinese", "emoji")]
    told = dict.fromkeys(face.family if face else "none" for face in shown)
    return f"fonts {', '.join(told)} {digest.hexdigest()[:12]}"


@cache
def _faces() -> dict[str, Face | None]:
    """The face by what is asked for; None for scripts that no font has."""
    found: dict[str, Face | None] = {}
    with Fontconfig() as fontconfig:
        for asked, family in GENERIC.items():
            found[asked] = _match(fontconfig, family)
        standard = found["system-ui"]  # what Chromium draws with where not even its standard family has a stand-in
        for asked in NAMED:
            face = _match(fontconfig, asked)
            found[asked] = face if face.family == asked or face.family.startswith(STAND_INS) else standard
            standard = found[NAMED[0]]
        for script, (character, preferred) in SCRIPTS.items():
            found[script] = fontconfig.having(character, preferred)
    return found


def _match(fontconfig: Fontconfig, family: str) -> Face:
    face = fontconfig.match(family)
    if face is None:
        raise FontconfigMissing(f"no font is installed; {install_command()}")
    return face


@cache
def _fingerprint(face: Face) -> str:
    with Path(face.file).open("rb") as opened:
        head = hashlib.sha256(opened.read(HEAD_BYTES)).hexdigest()
        size_bytes = os.fstat(opened.fileno()).st_size
    return f"{face.family}\t{face.index}\t{face.version}\t{size_bytes}\t{head}"
