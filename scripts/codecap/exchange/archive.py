"""Looking into what was asked and answered: one exchange with its pictures, and whether all of it is still whole."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from codecap.errors import UserError
from codecap.exchange.packs import Packs
from codecap.exchange.session import FOLDER

SHORTEST = 6  # digits of a digest that name it
_MEDIUM = re.compile(rb"sha256:([0-9a-f]{64})")
_SUFFIXES = {b"\x89PNG": ".png", b"\xff\xd8\xff": ".jpg", b"RIFF": ".webp"}


class Archive:
    """The exchanges recorded in a store.

    Args:
        durable: the config's `store.durable`.
    """

    def __init__(self, durable: Path) -> None:
        self.folder = Path(durable) / FOLDER
        self.records, self.media = Packs(self.folder / "packs"), Packs(self.folder / "media")
        self.records.refresh()
        self.media.refresh()

    def show(self, digest: str) -> list[dict[str, Any]]:
        """The records of a request, failed tries first.

        Args:
            digest: its first digits, six at least.

        Raises:
            UserError: there is none, or there are several.
        """
        names = [name for name in self.records.places if name.startswith(digest)]
        found = sorted({name.partition(".")[0] for name in names})
        if len(digest) < SHORTEST or len(found) != 1:
            raise UserError(
                f"{digest}: names {len(found)} exchanges in {self.folder}; give more of its digits, {SHORTEST} at least"
            )
        return [json.loads(payload) for name in sorted(names, reverse=True) for payload in self.records.read(name)]

    def unpack_media(self, record: dict[str, Any], folder: Path) -> list[Path]:
        """Write the pictures and videos of a request, and its long texts, to a folder, in the order in which they were shown."""
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        for number, digest in enumerate(dict.fromkeys(_MEDIUM.findall(json.dumps(record.get("request")).encode())), start=1):
            for payload in self.media.read(digest.decode()):
                suffix = next((ending for start, ending in _SUFFIXES.items() if payload.startswith(start)), _other_suffix(payload))
                written.append(folder / f"{number:03d}_{digest.decode()[:12]}{suffix}")
                written[-1].write_bytes(payload)
                break
        return written

    def problems(self) -> Iterator[str]:
        """What is damaged or missing; a torn record at the end of a pack is none, it was never answered for."""
        for packs in (self.records, self.media):
            whole: dict[str, int] = {}
            for digest, payload in packs.every():
                whole[digest] = whole.get(digest, 0) + 1
                if packs is self.records:
                    yield from self._missing_media(digest, payload)
            for digest, places in packs.places.items():
                if len(places) > whole.get(digest, 0):
                    told = ", ".join(sorted({str(place.pack) for place in places}))
                    yield f"{told}: the record {digest[:12]} is damaged; it is asked for again when it is needed"

    def _missing_media(self, digest: str, payload: bytes) -> Iterator[str]:
        for medium in dict.fromkeys(_MEDIUM.findall(payload)):
            if medium.decode() not in self.media.places:
                yield f"{self.folder / 'media'}: {medium.decode()[:12]} is missing, which the exchange {digest[:12]} showed"


def _other_suffix(payload: bytes) -> str:
    """Of what has no telling start: long texts of requests that were passed through, and videos."""
    try:
        payload.decode()
    except UnicodeDecodeError:
        return ".mp4"
    return ".txt" if payload[4:8] != b"ftyp" else ".mp4"
