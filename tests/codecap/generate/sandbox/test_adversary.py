"""What a hostile command in the sandbox can see, reach, change and leave behind: nothing but what its box gives it."""

import json
import os
import socket
import subprocess
import time
import uuid
from pathlib import Path

import pytest

from codecap.generate.sandbox import HOME, Box, interior, left_behind

TOKEN = f"sk-secret-{uuid.uuid4().hex}"  # a key that the outside has
HOST_PATHS = (
    "~/.bashrc",
    "~/.profile",
    "/etc/shadow",
    "/etc/machine-id",
    "/sys/kernel",
    "/dev/sda",
    "/dev/mem",
    "/run/docker.sock",
)
REFUSED = {"ENOENT", "EACCES", "EPERM", "EROFS"}


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    """Other people's work on the host: files, a process that holds a key, servers of all kinds."""
    folder = tmp_path_factory.mktemp("host")
    private = [folder / place for place in ("annotations/A_002.json", "store/item.json", "clips/A_002.mp4", "home/.netrc")]
    for path in private:
        path.parent.mkdir(parents=True)
        path.write_text(TOKEN)
    holder = subprocess.Popen(["sleep", "300"], env=os.environ | {"OPENAI_API_KEY": TOKEN})
    abstract, by_path = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    with socket.create_server(("127.0.0.1", 0)) as tcp, abstract, by_path:
        abstract.bind(f"\0{TOKEN}")
        by_path.bind(str(folder / "s"))
        for server in (abstract, by_path):
            server.listen()
        yield {
            "paths": [*map(str, private), *map(os.path.expanduser, HOST_PATHS)],
            "programs": [str(folder) for folder in interior.python_folders()],
            "pid": holder.pid,
            "token": TOKEN,
            "port": tcp.getsockname()[1],
            "abstract": TOKEN,
            "unix": str(folder / "s"),
            "private": str(private[0]),
        }
    assert holder.poll() is None  # nobody has ended it
    holder.kill()
    holder.wait()


@pytest.fixture(scope="module")
def adversary(bwrap, outside, tmp_path_factory):
    """The work folder after the adversary's visit, and what it says it could do."""
    folder = tmp_path_factory.mktemp("visit")
    (folder / "work").mkdir()
    (folder / "secret.txt").write_text(TOKEN)
    (folder / "video.mp4").write_bytes(b"the clip")
    gateway = socket.socket(socket.AF_UNIX)
    with gateway, pytest.MonkeyPatch.context() as environment:
        environment.setenv("ANTHROPIC_API_KEY", TOKEN)
        gateway.bind(str(folder / "gateway"))
        gateway.listen()
        box = Box(
            folder / "work",
            inputs={"/input/video.mp4": folder / "video.mp4", "/input/adversary.py": Path(__file__).with_name("adversary.py")},
            socket=folder / "gateway",
            env={"TASK": "A_001"},
            memory_mb=500,
            processes=60,
            disk_mb=30,
        )
        argv = [
            str(interior.python()),
            "-I",
            "-S",
            "/input/adversary.py",
            json.dumps(outside | {"private": str(folder / "secret.txt")}),
        ]
        with bwrap.start(box, argv, folder / "stdout", folder / "stderr") as running:
            status = running.wait(time.monotonic() + 60)
    assert (status, (folder / "stderr").read_text(), running.outgrown) == (0, "", None)
    return folder, json.loads((folder / "stdout").read_text())


@pytest.fixture
def could(adversary):
    return adversary[1]


def test_it_reads_nothing_of_the_host(could):
    assert {path: told for path, told in could["read"].items() if told not in REFUSED} == {}
    assert set(could["listed"]["/"]) <= {
        *(
            "bin",
            "dev",
            "etc",
            "home",
            "input",
            "lib",
            "lib32",
            "lib64",
            "libx32",
            "nix",
            "gnu",
            "proc",
            "root",
            "run",
            "sbin",
            "tmp",
            "usr",
        ),
        *("work", "opt"),
    }
    assert could["listed"]["/work"] == []
    assert could["listed"]["/input"] == ["adversary.py", "video.mp4"]


def test_it_finds_no_key(could):
    assert [place for place in could["token"] if not place.endswith("cmdline")] == []  # it was told the word in its own arguments
    assert len(could["token"]) == 1
    assert could["environment"].pop("TASK") == "A_001"
    assert could["environment"].pop("HOME") == HOME
    assert set(could["environment"]) == {"PATH", "TMPDIR", "USER", "LANG", "TZ"}


def test_it_holds_no_descriptor_of_ours_and_reads_nothing_from_standard_input(could):
    assert could["descriptors"] == ["0", "1", "2"]
    assert could["stdin"] == ""


def test_it_reaches_no_network_and_one_socket(could):
    network = could["network"]
    assert network.pop("interfaces") == ["lo"]
    assert network == {
        "host": "ECONNREFUSED",
        "world": "ENETUNREACH",
        "world6": "ENETUNREACH",
        "abstract": "ECONNREFUSED",
        "unix": "ENOENT",
        "vsock": "EAFNOSUPPORT",
        "packet": "EAFNOSUPPORT",
        "alg": "EAFNOSUPPORT",
    }
    assert could["sockets"] == ["/run/codecap/gateway.sock"]


def test_it_writes_in_its_work_folder_and_in_small_memory_only(could):
    roots = ("/work", "/tmp", "/dev/shm", HOME)
    assert [place for place in could["writable"] if not place.startswith(roots)] == []
    assert set(roots) <= set(could["writable"])


def test_it_has_no_power(could):
    assert set(could["capabilities"].values()) == {0}
    assert could["walls"] == ["1", "2"]  # no new privileges; calls are filtered
    assert could["uid"] == 1000
    calls = could["calls"]
    assert calls.pop("clone3") == "ENOSYS"
    assert calls.pop("setuid") in ("EPERM", "EINVAL")  # there is no such user inside
    assert calls.pop("higher limit") in ("EPERM", "not allowed to raise maximum limit")
    assert {call: told for call, told in calls.items() if told not in REFUSED} == {}


def test_it_changes_no_setting_of_the_kernel(could):
    """Also when the user outside is root, whose files under /proc are."""
    assert could["kernel"] == []


def test_it_cannot_touch_other_processes(could):
    assert could["others"]["kill"] in ("ESRCH", "EPERM")
    assert could["others"]["ptrace"] == could["reaper"] == "EPERM"


def test_what_it_leaves_behind_leads_nowhere(adversary):
    folder, could = adversary
    assert could["traps"] == ["EXDEV", "EPERM"]
    work = folder / "work"
    assert (work / "index.html").is_symlink() and (work / "root").is_symlink()
    for place in (
        "index.html",
        "above.html",
        f"root{folder}/secret.txt",
        "../secret.txt",
        "pipe.html",
        "large.html",
        "missing.html",
    ):
        with pytest.raises(left_behind.NotReadable):
            left_behind.read(work, place, 1_000_000)
    assert left_behind.too_much(work, 30) is None
    left_behind.remove(work)
    assert (folder / "secret.txt").read_text() == TOKEN
