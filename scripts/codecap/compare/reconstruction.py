"""Which systems are one model by code and by caption-to-video: the pairs of the paper's Table 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codecap.compare.effort import level_of
from codecap.compare.paper import Reconstruction

SOURCE = "captions_of"  # key of an entry that films captions: the system that wrote them


def reconstruction_of(models: Mapping[str, Mapping[str, Any]], texts: Mapping[str, Mapping[str, Any]]) -> list[Reconstruction]:
    """Pairs of a code system and one that films captions, where one model wrote page and captions, with the same effort.

    Args:
        models: entries that make pages and videos.
        texts: entries that make captions in words, which videos are filmed from.

    Returns:
        In the order of the filmed systems; several code systems of a model (harnesses) are as many pairs.
    """
    every = {**models, **texts}
    filmed = {name: asked_of(name, every) for name, entry in models.items() if entry.get(SOURCE)}
    return [
        Reconstruction(model=asked[0], code=name, filmed=video)
        for video, asked in filmed.items()
        if asked[0]
        for name in models
        if name not in filmed and asked_of(name, every) == asked
    ]


def asked_of(name: str, entries: Mapping[str, Mapping[str, Any]]) -> tuple[str, str]:
    """Model and effort of an entry, or of the one that wrote the captions which it starts from; "" where no model is asked.

    >>> words = {"harness": "describe", "endpoint": {"model": "m", "thinking": "low"}}
    >>> asked_of("film", {"film": {"harness": "caption_to_video", "captions_of": "words"}, "words": words})
    ('m', 'low')
    """
    seen: set[str] = set()
    while name in entries and name not in seen:
        seen.add(name)
        if not entries[name].get(SOURCE):
            endpoint = entries[name].get("endpoint")
            return (str(endpoint.get("model") or "") if isinstance(endpoint, Mapping) else ""), level_of(entries[name])
        name = entries[name][SOURCE]
    return "", ""
