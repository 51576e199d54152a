"""What each backend asks of the machine, and what it says where it does not get it. Apptainer itself is not run."""

import subprocess
import sys
from pathlib import Path

import pytest

from codecap import registry
from codecap.generate import sandbox as sandboxes
from codecap.generate.sandbox import HOME, PORT, SandboxUnavailable, interior, refusals
from codecap.generate.sandbox.backends import apptainer, bwrap

OLD = frozenset({"--unshare-all"})  # as in version 0.4
NEW = OLD | {"--disable-userns", "--size"}


def pairs(words, option):
    return [(words[at + 1], words[at + 2]) for at, word in enumerate(words) if word == option]


@pytest.fixture
def there(tmp_path):
    """A folder of programs, an input and a socket, as keys of a box."""
    (tmp_path / "node" / "bin").mkdir(parents=True)
    (tmp_path / "clip.mp4").touch()
    (tmp_path / "socket").touch()
    return {
        "programs": (tmp_path / "node",),
        "inputs": {"/input/video.mp4": tmp_path / "clip.mp4"},
        "socket": tmp_path / "socket",
        "env": {"SECRET": "x"},
    }


def test_bwrap_shows_what_the_box_says_and_no_more(box, there, tmp_path):
    words = bwrap.command("/usr/bin/env", NEW, box(**there), [], {"/etc/passwd": 7}, 9)
    assert pairs(words, "--bind") == [(str(tmp_path / "box" / "work"), "/work")]
    shown = dict(reversed(pair) for pair in pairs(words, "--ro-bind"))
    assert shown.pop("/input/video.mp4") == str(tmp_path / "clip.mp4")
    assert shown.pop(str(tmp_path / "node")) == str(tmp_path / "node")
    assert shown.pop(interior.SOCKET) == str(tmp_path / "socket")
    assert shown.pop(interior.RELAY).endswith("relay.py")
    assert set(shown) <= {*interior.SYSTEM, *interior.SYSTEM_LINKS, *map(str, interior.python_folders())}
    assert words[words.index("--seccomp") + 1] == "9"
    assert {"--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--disable-userns"} <= set(words)
    assert words[-5:-1] == ["--", str(Path(sys.executable).resolve()), "-I", "-S"]
    assert "SECRET" not in " ".join(words)


def test_an_old_bwrap_is_asked_only_what_it_knows(box):
    words = bwrap.command("/usr/bin/env", OLD, box(), [], {}, None)
    assert not {"--size", "--disable-userns", "--seccomp"} & set(words)
    assert words.count("--tmpfs") == 3


def test_folders_of_a_system_that_is_not_merged_are_shown(box, tmp_path, monkeypatch):
    (tmp_path / "lib").mkdir()
    (tmp_path / "bin").symlink_to("usr/bin")
    monkeypatch.setattr(interior, "SYSTEM_LINKS", (str(tmp_path / "lib"), str(tmp_path / "bin"), str(tmp_path / "lib32")))
    words = bwrap.command("/usr/bin/env", NEW, box(), [], {}, None)
    assert (str(tmp_path / "lib"), str(tmp_path / "lib")) in pairs(words, "--ro-bind")
    assert pairs(words, "--symlink") == [("usr/bin", str(tmp_path / "bin"))]


def test_the_work_folder_is_made_private(box):
    made = box()
    made.work.chmod(0o777)
    bwrap.command("/usr/bin/env", NEW, made, [], {}, None)
    assert made.work.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "place", ["input/video.mp4", "/", "/input/../etc", "/work/video.mp4", "/proc", "/etc/passwd", "/run/codecap/x"]
)
def test_places_that_no_input_can_have(box, tmp_path, place):
    with pytest.raises(ValueError, match="place"):
        interior.read_only(box(inputs={place: tmp_path}))


def test_programs_must_not_show_the_home_folder(box, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "users" / "me"))
    (tmp_path / "users" / "me" / ".local" / "share").mkdir(parents=True)
    for folder in (tmp_path / "users", tmp_path / "users" / "me", tmp_path / "users" / "me" / ".local"):
        with pytest.raises(SandboxUnavailable, match="as a folder of programs"):
            interior.read_only(box(programs=(folder,)))
    node = tmp_path / "users" / "me" / "node"
    node.mkdir()
    assert interior.read_only(box(programs=(node,))) == {str(node): node}


def test_what_is_not_there_is_named(box, tmp_path):
    for keys in ({"inputs": {"/input/a": tmp_path / "gone"}}, {"programs": (tmp_path / "gone",)}, {"socket": tmp_path / "gone"}):
        with pytest.raises(SandboxUnavailable, match=r"gone: .*no such file"):
            bwrap.command("/usr/bin/env", NEW, box(**keys), [], {}, None)


def test_bwrap_that_is_not_installed_is_told_with_the_way_to_get_it():
    with pytest.raises(SandboxUnavailable, match=r"no-such-bwrap: not found; .*apt-get install bubblewrap.*conda-forge.*apptainer"):
        sandboxes.load({"program": "no-such-bwrap"}).check()


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (
            "bwrap: No permissions to create new namespace, likely because the kernel does not allow",
            "plain users may not make user",
        ),
        ("bwrap: setting up uid map: Permission denied", "plain users may not make user namespaces here"),
        ("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "plain users may not make user namespaces here"),
        ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "systempaths=unconfined"),
        ("bwrap: prctl(PR_SET_SECCOMP): Invalid argument, seccomp", "system_call_filter: false"),
        (
            "bwrap: Can't find source path /x: No such file or directory",
            "^bwrap: Can't find source path /x: No such file or directory$",
        ),
        ("not found in the sandbox: agent", "^not found in the sandbox: agent$"),
    ],
)
def test_what_a_refusal_means(said, words):
    import re

    assert re.search(words, refusals.explained(said))


@pytest.mark.parametrize(
    ("name", "value", "cure"),
    [
        ("user/max_user_namespaces", "0", "sysctl user.max_user_namespaces"),
        ("kernel/apparmor_restrict_unprivileged_userns", "1", "AppArmor profile"),
    ],
)
def test_the_setting_of_the_kernel_that_refuses_is_named(tmp_path, monkeypatch, name, value, cure):
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text(f"{value}\n")
    monkeypatch.setattr(refusals, "KERNEL", tmp_path)
    assert cure in refusals.explained("bwrap: setting up uid map: Permission denied")


def test_a_bwrap_that_refuses_is_explained(box, tmp_path):
    """A stand-in that says what bubblewrap says in a container."""
    refusing = tmp_path / "bwrap"
    refusing.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    refusing.chmod(0o755)
    with pytest.raises(SandboxUnavailable, match="plain users may not make user namespaces here"):
        sandboxes.load({"backend": "bwrap", "program": str(refusing)}).check()


def test_apptainer_command_line(box, there, tmp_path):
    settings = apptainer.Settings(image=tmp_path / "codecap.sif")
    words = apptainer.command("/usr/bin/apptainer", settings, box(**there))
    assert words[:8] == ["/usr/bin/apptainer", "exec", "--containall", "--cleanenv", "--no-privs", "--net", "--network", "none"]
    assert words[-5:] == [str(tmp_path / "codecap.sif"), "/usr/bin/python3", "-I", "-S", interior.RELAY]
    binds = [words[at + 1] for at, word in enumerate(words) if word == "--bind"]
    assert binds == [
        f"{tmp_path}/box/work:/work:rw",
        f"{tmp_path}/node:{tmp_path}/node:ro",
        f"{tmp_path}/clip.mp4:/input/video.mp4:ro",
        f"{interior.RELAY_ON_HOST}:{interior.RELAY}:ro",
        f"{tmp_path}/socket:{interior.SOCKET}:ro",
    ]
    assert "SECRET" not in " ".join(words)


def test_apptainer_cannot_show_every_path(box, tmp_path):
    (tmp_path / "a:b").mkdir()
    with pytest.raises(SandboxUnavailable, match="colon or a comma"):
        apptainer.command("apptainer", apptainer.Settings(image="x.sif"), box(programs=(tmp_path / "a:b",)))


def test_apptainer_by_a_stand_in_runs_the_relay(box, run, tmp_path):
    """The handshake through a program that only does what `apptainer exec` does with its last words."""
    stand_in = tmp_path / "apptainer"
    script = f'''import os, sys
words = sys.argv[1:]
work = next(word.split(":")[0] for word in words if word.endswith(":/work:rw"))
relay = next(word.split(":")[0] for word in words if word.endswith("relay.py:ro"))
os.chdir(work)
os.execv({sys.executable!r}, [{sys.executable!r}, "-I", "-S", "-c", """
import os, sys
sys.argv[0] = sys.argv[1]
source = open(sys.argv[1]).read().replace('os.chdir(told["cwd"])', "")
exec(compile(source, "relay", "exec"))
""", relay])
'''
    stand_in.write_text(f"#!{sys.executable}\n{script}")
    stand_in.chmod(0o755)
    (tmp_path / "codecap.sif").touch()
    sandbox = sandboxes.load({"backend": "apptainer", "image": str(tmp_path / "codecap.sif"), "program": str(stand_in)})
    made = box()
    ran = run(sandbox, made, "sh", "-c", "echo $HOME; pwd")
    assert ran.said == f"/work/.home\n{made.work}\n"
    assert (made.work / ".home").is_dir()
    assert sandbox.port() == PORT
    assert sandbox.inside(made, f"{HOME}/.codex") == "/work/.home/.codex"


def test_apptainer_needs_an_image(box, tmp_path):
    with pytest.raises(registry.Unavailable, match="image"):
        sandboxes.load({"backend": "apptainer"})
    here = sandboxes.load({"backend": "apptainer", "image": "none.sif", "program": "sh"})
    with pytest.raises(SandboxUnavailable, match=r"none\.sif: no such image"):
        here.start(box(), ["true"], tmp_path / "out", tmp_path / "err")


@pytest.mark.parametrize("settings", [{}, {"i_trust_the_model": False}])
def test_no_walls_only_for_a_trusted_model(settings):
    with pytest.raises(SandboxUnavailable, match="i_trust_the_model: true"):
        sandboxes.load({"backend": "none"} | settings)


def test_without_walls_places_are_those_of_the_host(trusted, box, tmp_path):
    (tmp_path / "clip.mp4").touch()
    made = box(inputs={"/input/video.mp4": tmp_path / "clip.mp4"})
    assert trusted.inside(made, "/work/index.html") == f"{made.work}/index.html"
    assert trusted.inside(made, "/input/video.mp4") == f"{tmp_path}/clip.mp4"
    assert trusted.inside(made, f"{HOME}/.claude") == f"{made.work}/.home/.claude"
    assert trusted.inside(made, "/workshop") == "/workshop"
    assert trusted.port() != trusted.port() or trusted.port() > 1023


def test_unknown_backends_and_settings_are_refused():
    with pytest.raises(registry.Unavailable, match="apptainer, bwrap, none"):
        sandboxes.load({"backend": "docker"})
    for backend in ("bwrap", "none"):
        with pytest.raises(registry.Unavailable, match="no_such_setting"):
            sandboxes.load({"backend": backend, "no_such_setting": 1})


def test_the_relay_needs_nothing_but_the_standard_library():
    program = "import runpy, sys; runpy.run_path(sys.argv[1]); print('codecap' in sys.modules)"
    words = [sys.executable, "-I", "-S", "-c", program, str(interior.RELAY_ON_HOST)]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "False\n"
