"""Which shards hold failures of ours (a node lost, a quota used up) and so must be tried again at the next run.

Snakemake sees a shard with such rows as finished. Each shard that ends with one leaves a mark; the number of its tries goes into
the rule's params, so that the next plan differs from what was recorded and runs it again, and stays the same once it came through.
"""

from __future__ import annotations

import json
from pathlib import Path

from codecap.records import write_whole


class Retries:
    """Marks of unfinished shards: one small file each, and none for a shard that never failed.

    Args:
        folder: where the marks lie.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        self._tries: dict[str, dict] | None = None

    def next_try(self, shard: str) -> int:
        """Number of the try that the next plan makes: 0 for a shard that never failed, or the last one when it came through."""
        if self._tries is None:
            self._tries = {path.stem: json.loads(path.read_text()) for path in self.folder.glob("*.json")}
        mark = self._tries.get(_name(shard))
        return 0 if mark is None else mark["try"] + (1 if mark["unfinished"] else 0)

    def settle(self, shard: str, this_try: int, unfinished: bool) -> None:
        """Say how a shard's try ended."""
        if unfinished or this_try:
            write_whole(self.folder / f"{_name(shard)}.json", [json.dumps({"try": this_try, "unfinished": unfinished})])


def _name(shard: str) -> str:
    return shard.replace("/", ".")
