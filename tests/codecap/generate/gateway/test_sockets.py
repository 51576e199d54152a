"""Private folders of sockets."""

import os
import stat
import tempfile
import time
from pathlib import Path

from codecap.generate.gateway import sockets
from codecap.generate.gateway.sockets import private_path


def test_a_folder_is_private_and_gone_at_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    with private_path() as path:
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert not path.parent.exists()


def test_what_a_killed_process_has_left_is_removed_and_what_is_held_is_not(monkeypatch):
    with tempfile.TemporaryDirectory(prefix="t-", dir="/tmp") as place:  # short: a socket's path has 107 bytes
        monkeypatch.setattr(tempfile, "gettempdir", lambda: place)
        left = Path(place) / f"{sockets.PREFIX}left"
        (left / "model").mkdir(parents=True)
        with private_path() as held:
            for folder in (left, held.parent):
                os.utime(folder, (time.time() - 1000,) * 2)
            with private_path() as path:
                assert not left.exists() and held.parent.exists() and path.parent.exists()
