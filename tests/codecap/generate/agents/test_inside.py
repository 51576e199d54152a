"""The commands inside, run as they are there: by a Python that has no packages of ours but those that agents get."""

import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import cv2
import numpy as np
import pytest

from codecap.generate.agents import workspace
from codecap.video import read_frames


@pytest.fixture
def inside(clip, tmp_path):
    """Run a command; without a gateway unless its address is given."""

    def run(program: str, *arguments: str, gateway: str = "") -> subprocess.CompletedProcess[str]:
        packages = tmp_path / "python"
        packages.mkdir(exist_ok=True)
        for place, folder in workspace.python_packages().items():
            if not (packages / place.rpartition("/")[2]).exists():
                (packages / place.rpartition("/")[2]).symlink_to(folder)
        env = {"PATH": "/usr/bin:/bin", "CODECAP_VIDEO": str(clip.mp4), "PYTHONPATH": str(packages), "CODECAP_GATEWAY": gateway}
        command = [workspace.interpreter(), "-S", workspace.INSIDE / f"{program}.py", *arguments]
        return subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60)

    return run


@pytest.fixture
def host():
    """Answers every request with a status and a body, and keeps what it was asked."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            server.asked.append((self.path, self.rfile.read(int(self.headers["Content-Length"])).decode()))
            status, body = server.answer
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked, server.answer = [], (200, "{}")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def address(host) -> str:
    return f"http://127.0.0.1:{host.server_address[1]}"


def test_frames_are_what_is_on_screen_at_that_time(inside, clip, tmp_path):
    ran = inside("frames", "--at", "0", "1.02", "99", "-o", "shots")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["shots/0.000.png", "shots/1.000.png", "shots/1.958.png"]
    for place, index in (("0.000", 0), ("1.000", 24), ("1.958", 47)):
        seen = cv2.cvtColor(cv2.imread(str(tmp_path / "shots" / f"{place}.png")), cv2.COLOR_BGR2RGB)
        _, told = next(iter(read_frames(clip.mp4, index, index + 1)))
        assert np.array_equal(seen, told)


def test_frames_come_at_a_rate_within_bounds(inside):
    assert len(inside("frames", "--every", "0.5").stdout.split()) == 4
    assert inside("frames", "--every", "0.5", "--from", "0.5", "--to", "1").stdout.split() == [
        "frames/0.500.png",
        "frames/1.000.png",
    ]
    assert "at least 1/24 s" in inside("frames", "--every", "0.001").stderr
    assert "no frames lie there" in inside("frames", "--every", "1", "--from", "5").stderr
    assert inside("frames").returncode == 2
    for odd in (["--at", "1e308"], ["--at", "nan"], ["--every", "inf"], ["--every", "1", "--from", "nan"]):
        assert "invalid seconds value" in inside("frames", *odd).stderr


def test_render_writes_what_comes_and_fails_with_the_page(inside, host, tmp_path):
    (tmp_path / "index.html").write_text("<html>é</html>")
    ok = '{"outcome": "ok", "detail": "", "console_errors": ["c"], "requests_blocked": [], "pictures": {"1.000": "aGk="}}'
    host.answer = (200, ok)
    ran = inside("render", "index.html", "--at", "1", "--at", "2", "-o", "out", gateway=address(host))
    assert (ran.returncode, ran.stdout.splitlines()) == (0, ["out/1.000.png", "console: c", "outcome: ok"])
    assert (tmp_path / "out" / "1.000.png").read_bytes() == b"hi"
    assert host.asked == [("/codecap/render", '{"page": "<html>\\u00e9</html>", "at_s": [1.0, 2.0]}')]
    host.answer = (200, ok.replace('"ok"', '"missing_seek"').replace('"detail": ""', '"detail": "no seek"'))
    ran = inside("render", "index.html", gateway=address(host))
    assert ran.returncode == 1 and "outcome: missing_seek: no seek" in ran.stdout


def test_compare_prints_and_writes(inside, host, tmp_path):
    (tmp_path / "index.html").write_text("<html></html>")
    rows = '[{"time_s": 0, "ssim": 0.5}, {"time_s": 1, "ssim": 1.0}]'
    host.answer = (
        200,
        f'{{"outcome": "ok", "detail": "", "console_errors": [], "requests_blocked": [], "ssim": {rows}, "sheet": "aGk="}}',
    )
    ran = inside("compare", "index.html", gateway=address(host))
    assert ran.returncode == 0 and "mean    SSIM 0.7500" in ran.stdout
    assert (tmp_path / "compare.png").read_bytes() == b"hi"


def test_time_left_is_seconds(inside, host):
    host.answer = (200, '{"seconds": 12.4}')
    assert inside("time_left", gateway=address(host)).stdout == "12\n"


def test_what_cannot_be_done_is_one_line(inside, host, tmp_path):
    (tmp_path / "index.html").write_text("x")
    host.answer = (400, '{"error": "there is no time left"}')
    told = [
        inside("render", "index.html", gateway=address(host)),
        inside("render", "nowhere.html", gateway=address(host)),
        inside("render", "index.html"),
        inside("compare", "index.html", gateway="http://127.0.0.1:1"),
    ]
    assert [ran.stderr.strip().partition(" (")[0] for ran in told] == [
        "not done: there is no time left",
        "nowhere.html: No such file or directory",
        "CODECAP_GATEWAY is not set: this command works inside a run only",
        "not done: the host does not answer",
    ]
    assert {ran.returncode for ran in told} == {1}


@pytest.mark.parametrize("program", ["render", "compare", "frames", "agent"])
def test_each_command_explains_itself(inside, program):
    ran = inside(program, "--help")
    assert ran.returncode == 0 and "usage" in ran.stdout


def test_folders_of_runs_that_were_killed_are_removed_and_those_in_use_are_not(tmp_path, monkeypatch):
    monkeypatch.setattr(workspace.store, "scratch_folder", lambda: tmp_path)
    left = tmp_path / "codecap-agent-left"
    (left / "work").mkdir(parents=True)
    with workspace.workspace() as used:
        for folder in (left, used.folder):
            os.utime(folder, (1, 1))
        with workspace.workspace():
            assert used.home.is_dir() and not left.exists()
    assert list(tmp_path.iterdir()) == []


def test_the_commands_are_on_the_path_as_shells(tmp_path):
    with workspace.workspace() as place:
        assert place.home.is_dir() and place.work in place.home.parents
        shells = {shell.name for shell in (place.folder / "bin").iterdir() if os.access(shell, os.X_OK)}
        inputs = place.inputs(tmp_path / "video.mp4")
        assert {"render", "compare", "frames", "time-left", "python3", "ffmpeg"} <= shells
        assert not [place for place in inputs if "resources" in str(inputs[place]) or place.startswith("/work")]
    assert not place.folder.exists()
