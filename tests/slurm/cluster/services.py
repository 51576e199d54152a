"""What SLURM needs beside itself: munge and MariaDB, with keys, sockets and data in the cluster's folder."""

import os
import subprocess

from . import processes
from .configuration import Layout

MUNGE_FILES = {"key-file": "key", "socket": "socket", "pid-file": "pid", "seed-file": "seed", "log-file": "log"}


def start_munge(layout: Layout) -> None:
    home = layout.folder / "munge"
    key = home / "key"
    key.unlink(missing_ok=True)
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(128))
    places = [f"--{option}={home / name}" for option, name in MUNGE_FILES.items()]
    processes.start(layout.folder, "munged", "munged", "--foreground", *places)
    processes.wait_until(layout.munge_socket.is_socket, "munged answers")


def start_mariadb(layout: Layout) -> None:
    folder, data, sock = layout.folder, layout.folder / "db", layout.folder / "db.sock"
    made = ["mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={data}", "--skip-test-db"]
    subprocess.run([*made, "--auth-root-authentication-method=normal"], check=True, capture_output=True)
    listening = ["--bind-address=127.0.0.1", f"--port={layout.ports['mariadb']}", f"--socket={sock}"]
    quick = ["--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=0"]
    places = [f"--datadir={data}", f"--pid-file={folder / 'db.pid'}"]
    processes.start(folder, "mariadbd", "mariadbd", "--no-defaults", "--user=root", *places, *listening, *quick)
    asked = ["mariadb", "--no-defaults", "--user=root", f"--socket={sock}", "--execute"]
    processes.wait_until(lambda: processes.succeeds(*asked, "select 1"), "MariaDB answers")
    grants = [f"grant all on slurm_acct.* to slurm@'{host}' identified by 'slurm'" for host in ("127.0.0.1", "localhost")]
    subprocess.run([*asked, "; ".join(["create database slurm_acct", *grants])], check=True, capture_output=True)
