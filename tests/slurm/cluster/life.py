"""The cluster's life: brought up, its daemons restarted, brought down with nothing left behind."""

import contextlib
import json
import os
import pwd
import shutil
import socket
import stat
import subprocess
import time
from pathlib import Path

import psutil

from . import cgroups, etc, packages, processes, services
from .configuration import ACCOUNT, NODES, PORTS, Layout

FOLDERS = ("munge", "db", "spool", "state", "log")
LONGEST = 60  # letters of the folder's path: sockets lie beneath it, whose paths may have 108
NOBODY = 65534  # a plain user, who may submit jobs too
SLURM_DAEMONS = ("slurmctld", "slurmdbd", *(f"slurmd.{node}" for node in NODES))


class ClusterError(RuntimeError):
    """The cluster cannot be brought up or down; the message says why and what to do."""


class Cluster:
    """A cluster that is up."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.folder, self.cgroups = layout.folder, layout.cgroups

    def tell(self, *command: str) -> str:
        """What a SLURM command says.

        Raises:
            ClusterError: it failed.
        """
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PATH": packages.PATH})
        if done.returncode:
            raise ClusterError(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def start(self, name: str) -> None:
        """Start a SLURM daemon and wait until it answers."""
        node = name.partition(".")[2]
        processes.start(self.folder, name, name.partition(".")[0], "-D", *(("-N", node) if node else ()))
        if name == "slurmdbd":
            processes.wait_until(lambda: processes.succeeds("sacctmgr", "--noheader", "show", "cluster"), "slurmdbd answers")
        elif name == "slurmctld":
            processes.wait_until(lambda: processes.succeeds("scontrol", "ping"), "slurmctld answers")

    def stop(self, name: str, at_once: bool = False) -> None:
        """End a daemon: with SIGTERM, or with SIGKILL at once."""
        processes.end([processes.daemons(self.folder)[name]], at_once=at_once)

    def wait_for_nodes(self) -> None:
        """Until all nodes can take jobs."""

        def ready() -> bool:
            told = subprocess.run(["sinfo", "--noheader", "--Node", "--states=idle,mix,alloc", "--format=%N"], capture_output=True)
            return len(set(told.stdout.split())) == len(NODES)

        processes.wait_until(ready, "both nodes are ready")

    def mend(self) -> None:
        """All daemons alive and all nodes ready, whatever a test did to them."""
        living = processes.daemons(self.folder)
        for name in SLURM_DAEMONS:
            if name not in living:
                self.start(name)
        for node in NODES:
            if "DOWN" in self.tell("scontrol", "show", "node", node).upper() or "DRAIN" in self.tell(
                "scontrol", "show", "node", node
            ):
                self.tell("scontrol", "update", f"nodename={node}", "state=resume")
        self.wait_for_nodes()


def bring_up(folder: Path, owner: int | None = None) -> Cluster:
    """Install what is missing and start all daemons.

    Args:
        folder: where everything is kept; made, or used again.
        owner: process that will bring it down; once it is dead, the next cluster may end this one.

    Raises:
        ClusterError: it cannot be; nothing is left running.
    """
    _check(folder)
    try:
        packages.install()
    except packages.Missing as error:
        raise ClusterError(str(error)) from error
    _make_way(folder)
    layout = Layout(folder, dict(zip(PORTS, _free_ports(len(PORTS)), strict=True)), cgroups=cgroups.limit_memory())
    _write(layout, owner)
    try:
        return _started(layout)
    except (TimeoutError, ClusterError, subprocess.CalledProcessError) as error:
        told = _last_words(folder)
        bring_down(folder)
        raise ClusterError(f"{error}; the daemons said:\n{told}") from error


def in_use(folder: Path) -> Cluster:
    """The cluster that is up in a folder.

    Raises:
        ClusterError: there is none.
    """
    layout = _read(folder)
    if layout is None or etc.taken_by() != folder or not processes.daemons(folder):
        raise ClusterError(f"{folder}: no cluster is up there")
    return Cluster(layout)


def bring_down(folder: Path) -> None:
    """End all processes of the cluster, those of its jobs too, and give /etc/slurm back.

    Raises:
        ClusterError: there never was a cluster in this folder, or something of it still lives.
    """
    layout = _read(folder)
    if layout is None:
        raise ClusterError(f"{folder}: no cluster was brought up there")
    living = processes.daemons(folder)
    controllers = [process for name, process in living.items() if name == "slurmctld"]
    nodes = [process for name, process in living.items() if name.startswith("slurmd.")]
    processes.end(controllers)  # first: nobody starts jobs any more
    processes.end(nodes)
    for _ in range(3):  # a step that was just starting
        processes.end(processes.of_jobs(folder, layout.name), at_once=True, limit_s=5)
    for name in ("slurmdbd", "mariadbd", "munged"):
        processes.end(process for other, process in living.items() if other == name)
    etc.give_back(folder, layout.files())
    cgroups.remove()
    left = [*processes.daemons(folder).values(), *processes.of_jobs(folder, layout.name)]
    if left:
        raise ClusterError("still alive: " + ", ".join(f"{process.pid} {process.name()}" for process in left))


def _check(folder: Path) -> None:
    if os.geteuid() != 0:
        raise ClusterError("needs root: it installs packages, makes device nodes and takes the place of /etc/slurm")
    if len(str(folder)) > LONGEST:
        raise ClusterError(f"{folder}: too long a path for the sockets in it; choose one of at most {LONGEST} letters")


def _make_way(folder: Path) -> None:
    """End what an earlier, killed run left here and elsewhere; leave alone a cluster that somebody uses."""
    other = etc.taken_by()
    if other is not None and other != folder and processes.daemons(other):
        if not _orphaned(other):
            raise ClusterError(f"another test cluster is up in {other}; end it first: python -m tests.slurm.cluster down {other}")
        bring_down(other)
    if _read(folder) is not None:
        bring_down(folder)
        for name in FOLDERS:
            shutil.rmtree(folder / name, ignore_errors=True)
        (folder / "daemons.jsonl").unlink(missing_ok=True)
    running = [f"{process.name()} (process {process.pid})" for process in processes.called("slurmctld", "slurmd")]
    if running:
        told = ", ".join(running)
        raise ClusterError(f"a SLURM runs on this machine: {told}; use a machine without one, or end it")


def _orphaned(folder: Path) -> bool:
    owner = json.loads((folder / "cluster.json").read_text())["owner"]
    if owner is None:
        return False
    try:
        return abs(psutil.Process(owner["pid"]).create_time() - owner["created"]) > 0.1
    except psutil.NoSuchProcess:
        return True


def _write(layout: Layout, owner: int | None) -> None:
    folder = layout.folder
    for name in FOLDERS:
        (folder / name).mkdir(parents=True, exist_ok=True)
    for node in NODES:
        (folder / "spool" / node).mkdir(exist_ok=True)
    for path in (folder, folder / "munge"):
        path.chmod(0o755)
    for name, text in layout.files().items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o600 if name == "slurmdbd.conf" else 0o644)
    for gpu in layout.gpus:
        if not gpu.is_char_device():
            os.mknod(gpu, stat.S_IFCHR | 0o666, os.makedev(1, 3))  # the null device
    owned = None if owner is None else {"pid": owner, "created": psutil.Process(owner).create_time()}
    told = {"ports": layout.ports, "cgroups": layout.cgroups, "owner": owned}
    (folder / "cluster.json").write_text(json.dumps(told))
    etc.take(folder, layout.files())


def _read(folder: Path) -> Layout | None:
    written = folder / "cluster.json"
    if not written.exists():
        return None
    told = json.loads(written.read_text())
    return Layout(folder, told["ports"], told["cgroups"])


def _started(layout: Layout) -> Cluster:
    folder, cluster = layout.folder, Cluster(layout)
    services.start_munge(layout)
    services.start_mariadb(layout)
    cluster.start("slurmdbd")
    users = ",".join(pwd.getpwuid(uid).pw_name for uid in (0, NOBODY))
    for told in (("cluster", layout.name), ("account", ACCOUNT), ("user", users, f"account={ACCOUNT}")):
        cluster.tell("sacctmgr", "--immediate", "add", *told)
    cluster.start("slurmctld")
    for node in NODES:
        cluster.start(f"slurmd.{node}")
    cluster.wait_for_nodes()
    dead = {"munged", "mariadbd", *SLURM_DAEMONS} - set(processes.daemons(folder))
    if dead:
        raise ClusterError(f"ended by themselves: {', '.join(sorted(dead))}")
    return cluster


def _free_ports(count: int) -> list[int]:
    """Ports of the loopback interface that nobody listens on now."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _last_words(folder: Path) -> str:
    """The last lines of each daemon's log."""
    time.sleep(0.2)
    told = []
    for log in sorted((folder / "log").glob("*")):
        lines = log.read_text(errors="replace").splitlines()[-4:]
        told += [f"{log.name}: {line}" for line in lines]
    return "\n".join(told)
