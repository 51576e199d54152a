"""fontconfig, asked in this process: which fonts are installed, and which of them stands for a name or has a character.

The library (libfontconfig.so.1) is there wherever Chromium runs, for Chromium asks it too. Version 2.13 (2018) or newer is needed:
it is thread safe since 2.11, and loads a configuration from memory since 2.12.5. Each `Fontconfig` loads one of its own: the
library's current one, which others in this process may share, is neither used nor changed.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import POINTER, byref, c_char_p, c_int, c_uint32, c_void_p
from dataclasses import dataclass
from functools import cache
from typing import Any

from codecap.errors import UserError

LIBRARY = "libfontconfig.so.1"
OLDEST = 21300  # 2.13.0, as FcGetVersion counts
CURE = "sudo apt-get install libfontconfig1 fontconfig-config"

# Read before the user's configuration, whose rules may depend on the language: the answers must not depend on the locale of this
# process, since the browser is started in English whatever that is.
ENGLISH = b"""<fontconfig><match target="pattern">
<edit name="lang" mode="assign_replace"><string>en</string></edit></match></fontconfig>"""
# Read after it, as the library does for a configuration that names no cache: without one every font is read anew.
CACHE = b"""<fontconfig><cachedir prefix="xdg">fontconfig</cachedir></fontconfig>"""

MATCH = 0  # FcResultMatch
PATTERN = 0  # FcMatchPattern
SYSTEM = 0  # FcSetSystem


class FontconfigMissing(UserError):
    """There is no fontconfig to ask which fonts there are; the message says how to get it."""


@dataclass(frozen=True)
class Face:
    """A face of a font file.

    Attributes:
        family: its English name.
        file: absolute path.
        index: of the face in the file; the upper 16 bits count the named instance of a variable font.
        version: the font's own revision, a 16.16 fixed point number; 0 where the file has none.
    """

    family: str
    file: str
    index: int
    version: int


class Fontconfig:
    """What fontconfig knows at this moment, by the configuration that the machine or the environment names (`FONTCONFIG_FILE`).

    Use it in a `with` statement, which frees what the library holds, and in one thread; several threads may each have their own.

    Raises:
        FontconfigMissing: no library, one that is too old, or no configuration.
    """

    def __init__(self) -> None:
        self._library = _library(LIBRARY)
        self._config: int | None = None

    def __enter__(self) -> Fontconfig:
        self._config = self._library.FcConfigCreate()
        if self._config is None:
            raise MemoryError("fontconfig cannot make a configuration")
        try:
            loaded = (
                self._library.FcConfigParseAndLoadFromMemory(self._config, ENGLISH, True)
                and self._library.FcConfigParseAndLoad(self._config, None, True)
                and self._library.FcConfigParseAndLoadFromMemory(self._config, CACHE, True)
                and self._library.FcConfigBuildFonts(self._config)
            )
            if not loaded:
                named = [f"{name}={os.environ[name]}" for name in ("FONTCONFIG_FILE", "FONTCONFIG_PATH") if name in os.environ]
                where = ", ".join(named) or "/etc/fonts/fonts.conf"
                raise FontconfigMissing(f"fontconfig cannot read its configuration ({where}); mend it, or {CURE}")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._config is not None:
            self._library.FcConfigDestroy(self._config)
            self._config = None

    def families(self) -> set[str]:
        """All names of all families that are installed."""
        installed = self._library.FcConfigGetFonts(self._config, SYSTEM)  # the configuration's own, not ours to free
        return {name for font in _fonts(installed) for name in self._strings(font, b"family")}

    def match(self, name: str) -> Face | None:
        """The face that stands for a name; None where no font is installed.

        Args:
            name: in fontconfig's notation (`Arial`, `Arial:bold`).
        """
        result = c_int()
        with self._asked(name) as pattern:
            found = self._library.FcFontMatch(self._config, pattern, byref(result))
            if not found:
                return None
            with _owned(found, self._library.FcPatternDestroy):
                return self._face(found)

    def having(self, character: str, preferred: str = "") -> Face | None:
        """The first face that has a character, in the order in which fontconfig ranks faces for it; None where there is none.

        Args:
            preferred: family to rank for, in fontconfig's notation.
        """
        result = c_int()
        with self._asked(f"{preferred}:charset={ord(character):x}") as pattern:
            ranked = self._library.FcFontSort(self._config, pattern, False, None, byref(result))
            if not ranked:
                return None
            with _owned(ranked, self._library.FcFontSetDestroy):
                for font in _fonts(ranked):
                    if self._has(font, character):
                        prepared = self._library.FcFontRenderPrepare(self._config, pattern, font)
                        with _owned(prepared, self._library.FcPatternDestroy):
                            return self._face(prepared)
        return None

    @contextmanager
    def _asked(self, name: str) -> Iterator[int]:
        """The pattern of a name with all that the configuration and the library's defaults add to it."""
        parsed = self._library.FcNameParse(f"{name}:namelang=en".encode())
        if not parsed:
            raise ValueError(f"not in fontconfig's notation: {name!r}")
        with _owned(parsed, self._library.FcPatternDestroy) as pattern:
            if not self._library.FcConfigSubstitute(self._config, pattern, PATTERN):
                raise MemoryError(f"fontconfig cannot prepare {name!r}")
            self._add_defaults(pattern)
            yield pattern

    def _add_defaults(self, pattern: int) -> None:
        if hasattr(self._library, "FcConfigSetDefaultSubstitute"):
            # Where there is this one, the other loads the library's current configuration too.
            self._library.FcConfigSetDefaultSubstitute(self._config, pattern)
        else:
            self._library.FcDefaultSubstitute(pattern)

    def _face(self, font: int) -> Face:
        family = next(self._strings(font, b"family"), "")
        file = c_char_p()
        self._library.FcPatternGetString(font, b"file", 0, byref(file))
        return Face(family, os.fsdecode(file.value or b""), self._integer(font, b"index"), self._integer(font, b"fontversion"))

    def _strings(self, font: int, what: bytes) -> Iterator[str]:
        value, place = c_char_p(), 0
        while self._library.FcPatternGetString(font, what, place, byref(value)) == MATCH:
            yield (value.value or b"").decode(errors="replace")
            place += 1

    def _integer(self, font: int, what: bytes) -> int:
        value = c_int()
        return value.value if self._library.FcPatternGetInteger(font, what, 0, byref(value)) == MATCH else 0

    def _has(self, font: int, character: str) -> bool:
        characters = c_void_p()
        told = self._library.FcPatternGetCharSet(font, b"charset", 0, byref(characters))
        return told == MATCH and bool(self._library.FcCharSetHasChar(characters, ord(character)))


class _FontSet(ctypes.Structure):
    """FcFontSet."""

    _fields_ = (("nfont", c_int), ("sfont", c_int), ("fonts", POINTER(c_void_p)))


SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {  # what comes back, and what is given
    "FcConfigCreate": (c_void_p, ()),
    "FcConfigParseAndLoadFromMemory": (c_int, (c_void_p, c_char_p, c_int)),
    "FcConfigParseAndLoad": (c_int, (c_void_p, c_char_p, c_int)),
    "FcConfigBuildFonts": (c_int, (c_void_p,)),
    "FcConfigDestroy": (None, (c_void_p,)),
    "FcConfigGetFonts": (POINTER(_FontSet), (c_void_p, c_int)),
    "FcConfigSubstitute": (c_int, (c_void_p, c_void_p, c_int)),
    "FcDefaultSubstitute": (None, (c_void_p,)),
    "FcConfigSetDefaultSubstitute": (None, (c_void_p, c_void_p)),
    "FcNameParse": (c_void_p, (c_char_p,)),
    "FcFontMatch": (c_void_p, (c_void_p, c_void_p, POINTER(c_int))),
    "FcFontSort": (POINTER(_FontSet), (c_void_p, c_void_p, c_int, c_void_p, POINTER(c_int))),
    "FcFontSetDestroy": (None, (POINTER(_FontSet),)),
    "FcFontRenderPrepare": (c_void_p, (c_void_p, c_void_p, c_void_p)),
    "FcPatternGetString": (c_int, (c_void_p, c_char_p, c_int, POINTER(c_char_p))),
    "FcPatternGetInteger": (c_int, (c_void_p, c_char_p, c_int, POINTER(c_int))),
    "FcPatternGetCharSet": (c_int, (c_void_p, c_char_p, c_int, POINTER(c_void_p))),
    "FcPatternDestroy": (None, (c_void_p,)),
    "FcCharSetHasChar": (c_int, (c_void_p, c_uint32)),
}
NEWER = {"FcConfigSetDefaultSubstitute"}  # since 2.17


@cache
def _library(name: str) -> ctypes.CDLL:
    """The library, its functions declared."""
    try:
        opened = ctypes.CDLL(name)
    except OSError as error:
        raise FontconfigMissing(f"{name} cannot be loaded ({error}), so nobody can tell the fonts; {CURE}") from error
    opened.FcGetVersion.restype, opened.FcGetVersion.argtypes = c_int, ()
    version = opened.FcGetVersion()
    if version < OLDEST:
        told, least = (f"{number // 10000}.{number // 100 % 100}" for number in (version, OLDEST))
        raise FontconfigMissing(f"{name} is version {told}, which is too old; fontconfig {least} or newer is needed")
    for called, (gives, takes) in SIGNATURES.items():
        if called not in NEWER or hasattr(opened, called):
            function = getattr(opened, called)
            function.restype, function.argtypes = gives, takes
    return opened


@contextmanager
def _owned(pointer: Any, free: Callable[[Any], None]) -> Iterator[Any]:
    try:
        yield pointer
    finally:
        free(pointer)


def _fonts(font_set: Any) -> Iterator[int]:
    """The patterns in a set, which keeps them."""
    if font_set:
        held = font_set.contents
        for place in range(held.nfont):
            yield held.fonts[place]
