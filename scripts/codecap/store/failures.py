"""What goes wrong with the store, in words that say what to do."""

from __future__ import annotations

import errno
from pathlib import Path

from codecap.errors import UserError


class StoreError(UserError, OSError):
    """The store cannot be written; the message names the place and the way out."""


def explained(error: OSError, place: Path) -> OSError:
    """The same error with a message that says what to do, for those a user can cure; any other as it is."""
    cures = {
        errno.ENOSPC: "no space left on the device; free some or move it",
        errno.EDQUOT: "the disk quota is used up; free some space or move it",
        errno.EROFS: "the filesystem is read-only; mount it for writing or move it",
        errno.EACCES: "no permission to write; change the permissions or move it",
        errno.EPERM: "writing is not permitted; change the permissions or move it",
    }
    if isinstance(error, StoreError) or error.errno not in cures:
        return error
    return StoreError(
        error.errno,
        f"{place}: {cures[error.errno]} (config keys store.durable, store.bulk, store.scratch; "
        "results lie in the working folder). Nothing finished is lost: run again",
    )
