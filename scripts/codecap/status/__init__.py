"""How far a run is, while it goes on and afterwards: from its shards' journals, its results and SLURM's queue.

Nothing is written and nothing is planned, so that a look costs a second at full scale: what is to be done follows from the clips,
the systems and the lanes, what is done from a small file a shard.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codecap.config import ConfigError
from codecap.records import write_whole
from codecap.shards import RESULTS
from codecap.store import explained

CONFIG = RESULTS / ".config.json"  # of the run that works here, or was the last to do so


def record(config: Mapping[str, Any], path: Path = CONFIG) -> None:
    """Keep a run's configuration, for those who look how far it is.

    Raises:
        StoreError: it cannot be written; the message says why and what to do.
    """
    try:
        write_whole(path, [json.dumps(config, indent=1, default=str) + "\n"])
    except OSError as error:
        raise explained(error, path) from error


def recorded(path: Path = CONFIG) -> dict[str, Any]:
    """The configuration of the run in this folder.

    Raises:
        ConfigError: none was begun here.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        here = path.parent.parent.absolute()
        raise ConfigError(
            f"{here}: no run was begun in this folder; go to the one that it works in (--directory of snakemake), "
            "or name its configuration with --config"
        ) from None
    except ValueError as error:
        raise ConfigError(f"{path}: damaged ({error}); name the run's configuration with --config") from error
