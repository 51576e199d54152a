"""Whether a file of a format that is mostly for single pictures holds a film, by its first bytes."""

from __future__ import annotations

from pathlib import Path

HEAD_BYTES = 32
MAY_BE_ANIMATED = frozenset([".avif", ".webp"])
_WEBP_ANIMATION = 0x02  # in the flags of a VP8X chunk (RFC 9649, 2.7)


def is_animated_webp(head: bytes) -> bool:
    """`head`: the first `HEAD_BYTES` of a file, or what there is of them."""
    return head[:4] == b"RIFF" and head[8:16] == b"WEBPVP8X" and len(head) > 20 and bool(head[20] & _WEBP_ANIMATION)


def is_animated_avif(head: bytes) -> bool:
    """Whether the brand is that of an AVIF image sequence."""
    return head[4:12] == b"ftypavis"


def is_animated(path: Path) -> bool:
    """Whether a file is an animated WebP or AVIF; one that cannot be read is none."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        return False
    return is_animated_webp(head) or is_animated_avif(head)
