"""How many tokens a request will be billed for, before it is made: by the providers' published rules, and so an estimate.

Sources (read November 2026):
    OpenAI      developers.openai.com/api/docs/guides/images-vision: patches of 32 px up to a limit, times a factor; for older
                models a base and so much for each tile of 512 px
    Anthropic   platform.claude.com/docs/en/build-with-claude/vision: patches of 28 px after scaling to the model's longest side
    Google      ai.google.dev/gemini-api/docs/media-resolution: a fixed number for a picture and for a frame of a video
Other servers are counted as OpenAI's newer models: open models merge patches of 28 or 32 px.
"""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Callable

from codecap.exchange.question import Endpoint, Picture, Question, Text, Video

CHARACTERS_A_TOKEN = 3.5  # English prose has more, JSON fewer
VIDEO_RATE_HZ = 1.0  # what providers look at when they are told nothing
UNKNOWN_SECONDS = 60.0  # of a video whose length was not told
OTHER_FRAME = 300  # tokens of a frame of 640x360 in patches of 28 px

TILES = {  # OpenAI's models -> (base, each tile of 512 px)
    "gpt-4o-mini*": (2833, 5667),
    "gpt-4o*": (85, 170),
    "gpt-4.1": (85, 170),
    "gpt-4.1-20*": (85, 170),
    "gpt-5": (70, 140),
    "gpt-5-20*": (70, 140),
    "gpt-5.1*": (70, 140),
    "o1*": (75, 150),
    "o3*": (75, 150),
}
PATCHES = {  # OpenAI's models -> (most patches of 32 px, factor)
    "gpt-4.1-mini*": (1536, 1.62),
    "gpt-4.1-nano*": (1536, 2.46),
    "gpt-5-mini*": (1536, 1.62),
    "gpt-5-nano*": (1536, 2.46),
    "o4-mini*": (1536, 1.72),
    "*": (2500, 1.2),
}
STANDARD = ("claude-3*", "claude-sonnet-4*", "claude-haiku-4*", "claude-opus-4-[0-6]*", "claude-opus-4-20*")
ANTHROPIC_PATCH_PX = 28
GEMINI_3_PICTURE, GEMINI_3_FRAME, GEMINI_2 = 1120, 70, 258
FRAME_TIME = 8  # tokens of the time that Google writes before each frame


def of_request(endpoint: Endpoint, question: Question) -> int:
    """Input tokens of a question."""
    words = len(question.system) + sum(len(part.text) for part in question.parts if isinstance(part, Text))
    if question.schema is not None:
        words += len(str(question.schema))
    media = sum(
        of_picture(endpoint, *part.size_px) if isinstance(part, Picture) else of_video(endpoint, part.seconds, part.rate_hz)
        for part in question.parts
        if isinstance(part, Picture | Video)
    )
    return of_text(words) + media


def of_text(characters: int) -> int:
    return math.ceil(characters / CHARACTERS_A_TOKEN)


def of_picture(endpoint: Endpoint, width_px: int, height_px: int) -> int:
    """Tokens of one picture at full detail."""
    by_rule: dict[str, Callable[[str, int, int], int]] = {"openai": _openai, "anthropic": _anthropic, "google": _google}
    return by_rule[endpoint.api](endpoint.model, width_px, height_px)


def of_video(endpoint: Endpoint, seconds: float | None, rate_hz: float | None) -> int:
    """Tokens of a whole video: those of the frames that the model looks at."""
    frames = math.ceil((UNKNOWN_SECONDS if seconds is None else seconds) * (rate_hz or VIDEO_RATE_HZ))
    if endpoint.api == "google":
        return frames * (FRAME_TIME + (GEMINI_2 if _before_gemini_3(endpoint.model) else GEMINI_3_FRAME))
    return frames * OTHER_FRAME


def _openai(model: str, width_px: int, height_px: int) -> int:
    tile = _named(TILES, model)
    if tile is not None:
        shrunk = min(1.0, 2048 / max(width_px, height_px))
        shrunk *= min(1.0, 768 / (shrunk * min(width_px, height_px)))
        tiles = math.ceil(width_px * shrunk / 512) * math.ceil(height_px * shrunk / 512)
        return tile[0] + tile[1] * tiles
    most, factor = _named(PATCHES, model)
    patches = math.ceil(width_px / 32) * math.ceil(height_px / 32)
    return math.ceil(min(patches, most) * factor)


def _anthropic(model: str, width_px: int, height_px: int) -> int:
    longest_px, most = (1568, 1568) if _is_one_of(STANDARD, model) else (2576, 4784)
    shrunk = min(1.0, longest_px / max(width_px, height_px))
    across, down = (math.ceil(side_px * shrunk / ANTHROPIC_PATCH_PX) for side_px in (width_px, height_px))
    return min(across * down, most)


def _google(model: str, width_px: int, height_px: int) -> int:
    if not _before_gemini_3(model):
        return GEMINI_3_PICTURE
    if max(width_px, height_px) <= 384:
        return GEMINI_2
    return GEMINI_2 * math.ceil(width_px / 768) * math.ceil(height_px / 768)


def _before_gemini_3(model: str) -> bool:
    return _is_one_of(("gemini-1*", "gemini-2*"), model)


def _is_one_of(names: tuple[str, ...], model: str) -> bool:
    return any(fnmatch.fnmatchcase(model, name) for name in names)


def _named(table: dict, model: str):
    return next((value for name, value in table.items() if fnmatch.fnmatchcase(model, name)), None)
