"""Errors that a user can cure."""

import os
from pathlib import Path


class UserError(Exception):
    """Something the user can cure; the message says what is wrong, where, and what to do.

    Commands and jobs print it as one line and end with status 1. Any other exception is a programming error, with its traceback.

    Attributes:
        may_pass: it may be gone at another time or on another node, so that a job may be tried again.
    """

    may_pass = False


def check_replaceable(path: Path) -> None:
    """Whether a file may be put there under this name: nothing is there, or a file. A device or a pipe must never be replaced.

    Raises:
        UserError: something else is there.
    """
    if os.path.lexists(path) and not Path(path).is_file():
        what = "a folder" if Path(path).is_dir() else "no ordinary file"
        raise UserError(f"{path}: is {what}; choose another name for what is to be written")
