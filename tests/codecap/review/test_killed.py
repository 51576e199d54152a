"""`codecap review` as a process: it is killed, started anew, and ended."""

import re
import signal
import socket
import subprocess
import sys

import httpx2
import pytest
import yaml

from codecap.config import PROJECT


@pytest.fixture
def start(run, tmp_path):
    """Starts the command on the run; gives the process and a client that is let in."""
    config = tmp_path / "run.yaml"
    config.write_text(yaml.safe_dump({key: run[key] for key in ("clips", "clips_folder", "annotations_folder", "store", "review")}))
    begun: list[subprocess.Popen] = []

    def starts(port: int = 0):
        command = [sys.executable, "-m", "codecap", "review", "--who", "ann", "--port", str(port)]
        options = ["--drafts", tmp_path / "drafts", "--config", PROJECT / "config" / "demo.yaml", "--config", config]
        process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        begun.append(process)
        told = ""
        while "token=" not in told and (line := process.stdout.readline()):
            told += line
        address = re.search(r"http://(\S+)/\?token=\S+", told)
        if address is None:
            return process, told
        client = httpx2.Client(base_url=f"http://{address[1]}", headers={"Origin": f"http://{address[1]}"}, timeout=60)
        client.get(address[0])
        return process, client

    yield starts
    for process in begun:
        process.kill()
        process.wait()


def post(client, revision: int, description: str) -> int:
    edits = [{"path": "objects/square", "value": {"description": description}}]
    return client.post("/api/clips/A_001/edits", json={"tab": "one", "revision": revision, "edits": edits}).status_code


@pytest.mark.slow
def test_what_was_answered_survives_a_kill(start, tmp_path):
    process, client = start()
    for revision in range(5):
        assert post(client, revision, f"edit {revision}") == 200
    process.send_signal(signal.SIGKILL)
    process.wait()
    process, client = start()
    told = client.get("/api/clips/A_001").json()
    assert told["revision"] == 5 and told["annotation"]["objects"][0]["description"] == "edit 4"
    assert told["hold"]["by"] == "ann"  # of the tab that was open then, and for 30 s at most
    assert post(client, 5, "after") == 200
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=30)
    assert process.returncode == 0 and said.endswith("ended; everything is saved\n")
    assert not list((tmp_path / "approved").glob("*"))


def test_a_port_that_is_taken_is_told(start):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        process, told = start(other.getsockname()[1])
    assert process.wait(30) == 1 and "cannot be used (Address already in use); choose another one" in told
