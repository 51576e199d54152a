"""The store log: one line for each item that was ever made; one file a day, machine and user, so that they stay few.

Lines are appended by single writes, which processes of one machine do not mix up; no two machines share a file.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from codecap.store import holders, putting

FOLDER = "log"


def note(root: Path, entry: dict[str, Any]) -> None:
    """Add an entry, with the time."""
    line = json.dumps(entry | {"time": round(time.time(), 3)}) + "\n"
    machine = hashlib.sha256(holders.machine().encode()).hexdigest()[:6]
    path = root / FOLDER / f"{time.strftime('%Y%m%d')}-{socket.gethostname()}-{machine}-{os.getuid()}.jsonl"
    putting.make_folder(path.parent)
    descriptor = putting.open_shared(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)


def made(root: Path) -> Iterator[dict[str, Any]]:
    """The store log: one entry for each item ever made under `root`, hits leave none."""
    for log in sorted((Path(root) / FOLDER).glob("*.jsonl")):
        with log.open(encoding="utf-8") as lines:
            for line in lines:
                try:
                    entry = json.loads(line)
                except ValueError:
                    continue  # a killed writer may leave half a line
                yield entry
