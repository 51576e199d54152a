"""How the store behaves here, as the configuration says: known to a whole process. None of it changes an item or a key."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codecap.store.failures import StoreError


@dataclass(frozen=True)
class StoreSettings:
    """The part of the configuration's section `store` that says no place.

    Attributes:
        pack: whether a job packs what it has finished.
        group_writable: whether files and folders of the store can be written by the group, whatever the umask.
        scratch: node-local folder, "$VARIABLES" in it are those of the node; None for the system's temporary folder.
        scratch_gb: what files taken out of packs may occupy there, in GB (1e9 bytes).
    """

    pack: bool = False
    group_writable: bool = False
    scratch: str | None = None
    scratch_gb: float = 20.0


_current = StoreSettings()


def use(section: Mapping[str, Any]) -> None:
    """Go by the section `store` of a checked configuration."""
    global _current
    _current = StoreSettings(**{name: section[name] for name in StoreSettings.__dataclass_fields__ if name in section})


def scratch_folder() -> Path:
    """The node-local folder.

    Raises:
        StoreError: it is named by a variable that is not set here.
    """
    told = _current.scratch
    if told is None:
        return Path(tempfile.gettempdir())
    folder = os.path.expandvars(told)
    if "$" in folder:
        raise StoreError(None, f"store.scratch: {told} names a variable that is not set on {socket.gethostname()}; name a folder")
    return Path(folder).expanduser()


def current() -> StoreSettings:
    """What was given last to `use`; else the defaults."""
    return _current
