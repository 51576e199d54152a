"""The cage with real processes that try to get out of it, with all layers of this machine and with fewer."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from codecap.render import cage as cage_module
from codecap.render.cage import FILES_MB, MARK_VARIABLE, Cage, Layers, end_all_cages, layers
from codecap.render.failures import InfraError
from codecap.render.memory_group import MemoryGroup
from codecap.render.process_tree import ProcessTree, marked
from codecap.render.scratch import YOUNG_S, files_mb

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the layers are Linux's")

NONE = Layers(network_namespace=False, pid_namespace=False, memory_cgroup=False, browser_sandbox=False)
ESCAPES = """
trap '' TERM HUP
setsid sleep 301 &
(setsid sh -c 'trap "" TERM; sleep 302 & wait' &)
sh -c '(sh -c "(sleep 303 &) &" &) &'
sleep 304
"""
FILLS = ["tail", "/dev/zero"]  # looks for the end of a line that never comes, and keeps all of it


def variants() -> dict[str, Layers]:
    """All layers of this machine, each kind alone, and none; those that are the same here only once."""
    here = layers()
    kinds = {
        "all": here,
        "namespaces": replace(here, memory_cgroup=False),
        "cgroup": replace(NONE, memory_cgroup=here.memory_cgroup),
        "none": NONE,
    }
    first = {kind: name for name, kind in reversed(kinds.items())}
    return {name: kind for kind, name in first.items()}


@pytest.fixture(params=["all", "namespaces", "cgroup", "none"])
def allowed(request) -> Layers:
    if request.param not in variants():
        pytest.skip(f"this machine has no layer that makes {request.param!r} different")
    return variants()[request.param]


def wait_until(true: Callable[[], object], limit_s: float = 10.0) -> None:
    ends_at = time.monotonic() + limit_s
    while not true():
        assert time.monotonic() < ends_at, "waited in vain"
        time.sleep(0.02)


def sleepers(mark: str) -> set[str]:
    """The numbers of seconds of the processes `sleep` in a cage."""
    found = set()
    for process in marked(mark):
        with contextlib.suppress(psutil.Error):
            found |= {process.cmdline()[1]} if process.name() == "sleep" else set()
    return found


def sees_all_escapes_die(allowed: Layers) -> None:
    with Cage(500, allowed=allowed) as cage:
        cage.start(["sh", "-c", ESCAPES])
        wait_until(lambda: sleepers(cage.mark) == {"301", "302", "303", "304"})
        assert cage.kill()
        assert marked(cage.mark) == []
        assert cage.kill()
    assert not cage.folder.exists()
    assert cage.outgrown is None


def sees_memory_limited(allowed: Layers, limit_mb: int = 200) -> None:
    with Cage(limit_mb, allowed=allowed) as cage:
        cage.start(["sh", "-c", "tail /dev/zero & setsid tail /dev/zero & wait; sleep 300"])
        wait_until(lambda: cage.outgrown)
        assert cage.outgrown == f"the browser needed more than {limit_mb} MB of memory"
        wait_until(lambda: not marked(cage.mark))  # all, also those that the kernel has spared
    assert cage.starved is None
    assert cage.outgrown  # also afterwards
    if allowed.memory_cgroup:
        assert cage.peak_mb <= limit_mb


def hears(allowed: Layers) -> tuple[bool, bool]:
    """Whether a listener on the loopback of this machine hears TCP and UDP from the cage."""
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(type=socket.SOCK_DGRAM) as udp,
        Cage(500, allowed=allowed) as cage,
    ):
        udp.bind(("127.0.0.1", 0))
        for listener in (tcp, udp):
            listener.settimeout(1)
        speak = f"(echo x > /dev/tcp/127.0.0.1/{tcp.getsockname()[1]}); echo x > /dev/udp/127.0.0.1/{udp.getsockname()[1]}"
        cage.start(["bash", "-c", speak])
        heard = []
        for take in (tcp.accept, lambda: udp.recvfrom(10)):
            try:
                heard.append(bool(take()))
            except TimeoutError:
                heard.append(False)
    return tuple(heard)


def in_a_fork(work: Callable[[], object], limit_s: float = 60.0) -> None:
    """Run something in a copy of this process, so that it can change what cannot be changed back."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            os.write(write_end, traceback.format_exc().encode()[-4000:])
        finally:
            os._exit(status)
    os.close(write_end)
    ends_at = time.monotonic() + limit_s
    while (ended := os.waitpid(pid, os.WNOHANG)) == (0, 0):
        if time.monotonic() > ends_at:
            os.kill(pid, 9)
        time.sleep(0.02)
    with os.fdopen(read_end, "rb") as complaint:
        assert ended[1] == 0, complaint.read().decode()


def as_plain_user(work: Callable[[], object]) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user; as this user the other tests ran")
    nobody = pwd.getpwnam("nobody")

    def changed() -> None:
        os.setgroups([])
        os.setgid(nobody.pw_gid)
        os.setuid(nobody.pw_uid)
        layers.cache_clear()
        work()

    in_a_fork(changed)


def test_nothing_outlives_it(allowed):
    sees_all_escapes_die(allowed)


def test_it_cannot_outgrow_its_memory(allowed):
    sees_memory_limited(allowed)


def test_what_stays_below_the_limit_is_left_alone_and_measured(allowed):
    holds_50_mb = "(head -c 50000000 /dev/zero; sleep 1) | tail -c 60000000 > /dev/null"
    with Cage(200, allowed=allowed) as cage:
        cage.start(["sh", "-c", holds_50_mb])
        wait_until(lambda: cage.peak_mb > 49)
        wait_until(lambda: not marked(cage.mark))
    assert cage.outgrown is None
    assert cage.peak_mb < 100


def test_it_cannot_fill_the_disk(allowed):
    with Cage(500, allowed=allowed) as cage:
        cage.start(
            [
                "sh",
                "-c",
                "mkdir -p profile/deep; while :; do head -c 20000000 /dev/zero > profile/deep/$((k += 1)); sleep 0.02; done",
            ]
        )
        wait_until(lambda: cage.outgrown)
        assert cage.outgrown == f"the browser wrote more than {FILES_MB} MB of files"
        wait_until(lambda: not marked(cage.mark))
        assert files_mb(cage.folder, 1e9) < 2 * FILES_MB
    assert not cage.folder.exists()


def test_nothing_is_heard_of_it_outside(allowed):
    assert hears(allowed) == ((False, False) if allowed.network_namespace else (True, True))


def test_a_plain_user_gets_what_the_machine_allows():
    def work() -> None:
        assert os.geteuid() != 0
        for allowed in variants().values():
            sees_all_escapes_die(allowed)
        sees_memory_limited(layers())
        if layers().network_namespace:
            assert hears(layers()) == (False, False)

    as_plain_user(work)


def test_it_says_which_layers_a_machine_without_namespaces_misses():
    """As on a cluster's node where user namespaces are off: in a namespace of its own, in which no further one may be made."""
    unshare = shutil.which("unshare")
    allowed = (
        unshare and subprocess.run([unshare, "--user", "--map-root-user", "true"], capture_output=True, check=False).returncode == 0
    )
    if not allowed:
        pytest.skip("this machine has no user namespaces to begin with: the other tests ran without them")
    forbid = 'for kind in user net pid mnt; do echo 0 > /proc/sys/user/max_${kind}_namespaces; done; exec "$@"'
    script = (
        "import codecap.render.cage as c, codecap.render.process_tree as p, time\n"
        "print(*c.layers().missing)\n"
        "with c.Cage(200) as cage:\n"
        "    cage.start(['sh', '-c', 'setsid sleep 300 & sleep 300'])\n"
        "    time.sleep(0.3)\n"
        "    before = len(p.marked(cage.mark))\n"
        "print(before, len(p.marked(cage.mark)), cage.folder.exists())\n"
    )
    command = [unshare, "--user", "--map-root-user", "sh", "-c", forbid, "sh", sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    missing, ended = done.stdout.splitlines()
    assert {"no_network_namespace", "no_pid_namespace", "sandbox_off"} <= set(missing.split())
    assert ended == "3 0 False"


def test_missing_layers_are_named():
    assert NONE.missing == ["no_network_namespace", "no_pid_namespace", "no_memory_cgroup", "sandbox_off"]
    assert Layers(True, True, True, True).missing == []


def test_the_layers_that_are_said_to_work_are_found_as_root_on_this_kind_of_machine():
    if os.geteuid() != 0 or subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode:
        pytest.skip("neither root nor one that may make namespaces")
    assert layers().network_namespace
    assert not layers().browser_sandbox  # the browser refuses it to root


@pytest.mark.parametrize("numbers", [(3, 4), (4, 3), (0, 1), (3, 12), (11, 10)])
def test_its_pipe_is_3_and_4_whatever_the_numbers_are_here(numbers):
    def work() -> None:
        (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
        high = [os.dup(fd) for fd in (theirs_in, theirs_out, ours_out, ours_in)]
        high = [os.dup2(fd, 50 + at) for at, fd in enumerate(high)]
        os.dup2(high[0], numbers[0])
        os.dup2(high[1], numbers[1])
        with Cage(200) as cage:
            cage.start(["sh", "-c", "read line <&3; echo got $line >&4"], pipe_fds=numbers)
            os.write(high[2], b"this\n")
            assert os.read(high[3], 100) == b"got this\n"

    in_a_fork(work)


def test_no_secret_is_in_its_environment(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "secret")
    monkeypatch.setenv("FONTCONFIG_FILE", "/etc/fonts/fonts.conf")
    read_end, write_end = os.pipe()
    with Cage(200) as cage, os.fdopen(read_end) as told, Path(os.devnull).open() as nothing:
        cage.start(["sh", "-c", "env >&4; pwd >&4"], pipe_fds=(nothing.fileno(), write_end), env={"MORE": "1"})
        os.close(write_end)
        *lines, folder = told.read().splitlines()
        got = dict(line.split("=", 1) for line in lines)
        assert got["HOME"] == got["TMPDIR"] == folder == str(cage.folder)
        assert (got["TZ"], got["FONTCONFIG_FILE"], got["MORE"]) == ("UTC", "/etc/fonts/fonts.conf", "1")
        assert got[MARK_VARIABLE] == cage.mark
        assert set(got) <= {*cage.environment, "MORE", "PWD", "OLDPWD", "SHLVL", "_"}
        assert "secret" not in " ".join(lines)
        assert cage.folder.stat().st_mode & 0o777 == 0o700


def test_everything_is_gone_after_an_exception_too():
    with pytest.raises(ZeroDivisionError), Cage(200) as cage:
        (cage.folder / "profile").mkdir()
        (cage.folder / "profile" / "file").write_text("x")
        cage.start(["sleep", "300"])
        1 / 0  # noqa: B018
    assert marked(cage.mark) == []
    assert not cage.folder.exists()
    assert not any(cage.mark in folder for folder, _, _ in os.walk("/sys/fs/cgroup"))


def test_a_cage_that_cannot_be_made_says_what_to_do(tmp_path):
    with pytest.raises(InfraError, match="TMPDIR"):
        Cage(200, scratch=tmp_path / "missing")


def test_it_may_be_ended_from_several_threads_at_once_and_starts_nothing_afterwards():
    with Cage(200) as cage:
        cage.start(["sh", "-c", "sleep 300 & setsid sleep 300 & wait"])
        threads = [threading.Thread(target=cage.kill) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
        assert marked(cage.mark) == []
        with pytest.raises(InfraError, match="closed"):
            cage.start(["sleep", "300"])


def test_work_that_is_broken_off_ends_all_cages():
    with Cage(200) as one, Cage(200) as other:
        for cage in (one, other):
            cage.start(["sh", "-c", "setsid sleep 300 & sleep 300"])
        end_all_cages()
        assert marked(one.mark) == marked(other.mark) == []
        assert one.broken_off and other.broken_off
        assert one.outgrown is None


def test_the_end_of_its_standard_error_is_kept_and_a_flood_does_no_harm():
    before_mb = psutil.Process().memory_info().rss / 1e6
    with Cage(200) as cage:
        cage.start(["sh", "-c", "head -c 300000000 /dev/zero | tr '\\0' x >&2; echo no display >&2"])
        wait_until(lambda: cage.said.endswith("no display\n"), limit_s=30)
    assert len(cage.said) <= 4000
    assert psutil.Process().memory_info().rss / 1e6 < before_mb + 20


def test_a_program_that_is_not_there_is_told():
    with Cage(200) as cage:
        cage.start(["/nowhere/browser"])
        wait_until(lambda: "/nowhere/browser" in cage.said)
        assert cage.outgrown is None and cage.kill()


@pytest.mark.parametrize("adopted", [True, False])
def test_a_driver_starts_it_by_a_wrapper(allowed, adopted):
    with Cage(200, allowed=allowed) as cage:
        script = cage.wrapper(Path("/bin/sh"))
        driver = subprocess.Popen(
            [script, "-c", 'echo "$1"; setsid sleep 301 & sleep 302', "sh", "a 'b"], env=cage.environment, stdout=subprocess.PIPE
        )
        assert driver.stdout.readline() == b"a 'b\n"
        if adopted:
            cage.adopt()
        wait_until(lambda: sleepers(cage.mark) == {"301", "302"})
        assert cage.kill()
        assert driver.wait(5) != 0
        driver.stdout.close()
        assert marked(cage.mark) == []


def test_a_driver_that_outgrows_its_memory_is_ended_too(allowed):
    with Cage(150, allowed=allowed) as cage:
        driver = subprocess.Popen([cage.wrapper(Path("/usr/bin/env")), *FILLS], env=cage.environment)
        wait_until(cage._pid_file.exists)
        cage.adopt()
        assert driver.wait(10) != 0
        wait_until(lambda: cage.outgrown)
    assert "150 MB" in cage.outgrown


def test_what_has_ended_cannot_be_adopted():
    with Cage(200) as cage, pytest.raises(InfraError, match="ended"):
        cage.adopt()


def test_memory_that_ran_out_elsewhere_is_not_its_own_fault():
    """A job of 300 MB, in which a cage of 2,000 MB cannot be filled. The job is a small process of its own."""
    if not layers().memory_cgroup:
        pytest.skip("this machine lets us make no memory cgroup")
    script = (
        "import sys, time; from pathlib import Path; Path(sys.argv[1]).write_text('0')\n"
        "from codecap.render.cage import Cage, layers\n"
        "assert layers().memory_cgroup\n"
        "with Cage(2000) as cage:\n"
        "    cage.start(sys.argv[2:])\n"
        "    ends_at = time.monotonic() + 30\n"
        "    while not cage.starved and time.monotonic() < ends_at: time.sleep(0.02)\n"
        "print(cage.starved, cage.outgrown)\n"
    )
    job = MemoryGroup(f"codecap-test-{os.getpid()}", 300)
    try:
        command = [sys.executable, "-c", script, job.joining_file, *FILLS]
        told = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    finally:
        job.remove()
    assert told == "the machine, or the job, ran out of memory and the kernel ended the browser None\n"


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path):
    script = (
        "import sys, time; from pathlib import Path; from codecap.render.cage import Cage\n"
        "cage = Cage(200, Path(sys.argv[1]))\n"
        "cage.start(['sh', '-c', 'trap \"\" HUP TERM; setsid sleep 300 & sleep 300'])\n"
        "print(cage.mark, flush=True); time.sleep(300)\n"
    )
    killed = subprocess.Popen([sys.executable, "-c", script, tmp_path], stdout=subprocess.PIPE, text=True)
    mark = killed.stdout.readline().strip()
    killed.stdout.close()
    killed.kill()
    killed.wait(10)
    try:
        assert (tmp_path / mark).is_dir()
        with Cage(200, tmp_path) as living:
            long_ago = time.time() - 2 * YOUNG_S
            for folder in (tmp_path / mark, living.folder):
                os.utime(folder, (long_ago, long_ago))
            cage_module._clear_up_after_the_killed.cache_clear()
            with Cage(200, tmp_path):
                wait_until(lambda: not marked(mark))
                assert not (tmp_path / mark).exists()
                assert not any(mark in folder for folder, _, _ in os.walk("/sys/fs/cgroup"))
                assert living.folder.exists()
    finally:
        for process in marked(mark):
            process.kill()
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def family() -> Iterator[int]:
    """A process with a child, which has a child in a session of its own."""
    with Cage(200, allowed=NONE) as cage:
        cage.start(["sh", "-c", "sh -c 'setsid sleep 301 & sleep 302' & sleep 303; sleep 304"])
        wait_until(lambda: len(sleepers(cage.mark)) == 3)
        yield cage._child


def test_a_tree_knows_whose_parents_have_ended(family):
    tree = ProcessTree(family)
    assert len(tree.alive()) == 5
    middle = next(process for process in tree.alive() if process.ppid() == family and process.name() == "sh")
    middle.kill()
    wait_until(lambda: len(tree.alive()) == 4)
    assert {process.cmdline()[1] for process in tree.alive() if process.name() == "sleep"} == {"301", "302", "303"}
