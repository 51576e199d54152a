"""A folder that a command makes for a person: it appears whole or not at all, and is never written over."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from codecap.errors import UserError
from codecap.store.leases import lease


@contextmanager
def new_folder(out: Path, because: str) -> Iterator[Path]:
    """Give a draft to fill, which becomes the folder when it is full. Of two that make the same folder the second is refused.

    Args:
        out: what is there must be an empty folder.
        because: why nothing is written over, for the error's end.

    Raises:
        UserError: something is there already.
        OSError: the folder cannot be written.
    """
    out = Path(out).resolve()  # `.` and `..` have no name to put a draft beside
    _must_be_free(out, because)
    out.parent.mkdir(parents=True, exist_ok=True)
    with lease(out):
        _must_be_free(out, because)
        draft = out.with_name(f".{out.name}.draft")
        shutil.rmtree(draft, ignore_errors=True)  # of a process that was killed
        draft.mkdir()
        try:
            yield draft
            if out.exists():
                out.rmdir()
            draft.rename(out)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise


def _must_be_free(out: Path, because: str) -> None:
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise UserError(f"{out}: is there already; choose another name, {because}")
