"""A request's body without its weight: pictures, and texts that are sent again with every round, each once by its digest."""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import re
from dataclasses import dataclass, field
from typing import Any

from codecap.exchange import tokens
from codecap.exchange.question import Endpoint

LONG_TEXT = 2000  # characters from which a text is kept apart
SHORTEST_MEDIUM = 64  # base64 digits; a shorter text in a field of data is a text
DEEPEST = 100  # levels of a body
UNKNOWN_PICTURE = (1024, 1024)  # px, where a picture's size cannot be read

_DATA_ADDRESS = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,", re.ASCII)
_DATA_FIELDS = ("data", "file_data")


class TooDeep(ValueError):
    """A body that is nested deeper than any request needs to be."""


@dataclass
class Light:
    """A body as it is recorded.

    Attributes:
        body: with `sha256:<digest>` in place of what is kept apart.
        apart: digest -> bytes.
        characters: of all texts.
        pictures: (width, height) in px of each, as often as it is shown.
        videos: how many.
    """

    body: Any = None
    apart: dict[str, bytes] = field(default_factory=dict)
    characters: int = 0
    pictures: list[tuple[int, int]] = field(default_factory=list)
    videos: int = 0

    def tokens(self, endpoint: Endpoint) -> int:
        """Input tokens that it will be billed for, about."""
        pictures = sum(tokens.of_picture(endpoint, *size_px) for size_px in self.pictures)
        return tokens.of_text(self.characters) + pictures + self.videos * tokens.of_video(endpoint, None, None)


def lighten(body: Any) -> Light:
    """A body's light form.

    Args:
        body: JSON values.

    Raises:
        TooDeep: it is nested too deep.
    """
    light = Light()
    light.body = _value(light, body, "", 0)
    return light


def _value(light: Light, value: Any, name: str, depth: int) -> Any:
    if depth > DEEPEST:
        raise TooDeep(f"the request is nested deeper than {DEEPEST} levels")
    if isinstance(value, str):
        return _text(light, value, name)
    if isinstance(value, list):
        return [_value(light, item, name, depth + 1) for item in value]
    if isinstance(value, dict):
        light.characters += sum(map(len, value))
        return {key: _value(light, item, key, depth + 1) for key, item in value.items()}
    light.characters += 4
    return value


def _text(light: Light, text: str, name: str) -> str:
    address = _DATA_ADDRESS.match(text)
    start = address.end() if address else 0
    if address or (name in _DATA_FIELDS and len(text) >= SHORTEST_MEDIUM):
        data = _decoded(text[start:])
        if data is not None and _weigh(light, data):
            return text[:start] + _apart(light, data)
    light.characters += len(text)
    return _apart(light, text.encode("utf-8", "surrogatepass")) if len(text) >= LONG_TEXT else text


def _apart(light: Light, data: bytes) -> str:
    digest = hashlib.sha256(data).hexdigest()
    light.apart[digest] = data
    return f"sha256:{digest}"


def _decoded(text: str) -> bytes | None:
    """What a base64 text holds; None where the text could not be had back from it."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if base64.b64encode(data).decode("ascii") == text else None


def _weigh(light: Light, data: bytes) -> bool:
    """Count a picture or a video; false where it is neither, so that it is billed as text."""
    if data[4:8] == b"ftyp" or data.startswith(b"\x1aE\xdf\xa3"):  # MP4 and its kin, Matroska and WebM
        light.videos += 1
        return True
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "WEBP", "GIF")) as opened:
            light.pictures.append(opened.size)
        return True
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        if data.startswith((b"\x89PNG", b"\xff\xd8\xff", b"RIFF", b"GIF8")):
            light.pictures.append(UNKNOWN_PICTURE)
            return True
        return False
