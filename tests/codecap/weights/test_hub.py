"""A repository of the hub, served on the loopback in the hub's own protocol: one commit, each file compared with its digest."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import yaml

COMMIT = "c" * 40
CONFIG, LARGE = b'{"model_type": "x"}', os.urandom(50_000)
CODE = """
import sys
from pathlib import Path
from codecap import weights
weights.TABLE = Path(sys.argv[1])
from codecap.errors import UserError
from codecap.weights.fetching import fetch
try:
    fetch("m")
    found = weights.find("m")
    print(found.revision, *sorted(path.name for path in weights.files_of(found.path)))
except UserError as error:
    print(error)
"""


def git_blob(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


class Hub(BaseHTTPRequestHandler):
    files = {"config.json": CONFIG, "model.safetensors": LARGE, "pytorch_model.bin": b"never wanted"}
    gate = ""
    served = LARGE
    timeout = 10

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        if self.gate and self.headers.get("Authorization") != f"Bearer {self.gate}":
            self.answer(403 if self.headers.get("Authorization") else 401, b"{}", {"X-Error-Code": "GatedRepo"})
        elif path.startswith("/api/models/owner/model/revision/") or path == "/api/models/owner/model":
            siblings = [{"rfilename": name, "size": len(data), "blobId": git_blob(data)} for name, data in self.files.items()]
            for file, data in zip(siblings, self.files.values(), strict=True):
                if len(data) > 1000:
                    file["lfs"] = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 1}
            told = {"_id": "1", "id": "owner/model", "sha": COMMIT, "siblings": siblings, "tags": [], "private": False}
            self.answer(200, json.dumps(told).encode(), {"Content-Type": "application/json"})
        elif path.startswith("/api/models/owner/model/tree/"):
            tree = [{"type": "file", "path": name, "size": len(data), "oid": git_blob(data)} for name, data in self.files.items()]
            self.answer(200, json.dumps(tree).encode(), {"Content-Type": "application/json"})
        elif path.startswith(f"/owner/model/resolve/{COMMIT}/"):
            name = path.rsplit("/", 1)[-1]
            data = self.served if name == "model.safetensors" else self.files[name]
            self.answer(200, data, {"ETag": f'"{git_blob(self.files[name])}"', "X-Repo-Commit": COMMIT})
        else:
            self.answer(404, b"{}", {"X-Error-Code": "RepoNotFound"})

    def answer(self, status: int, data: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for key, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def fetched(tmp_path):
    """Fetches from the hub in a process of its own, as the endpoint is read when the library is imported; gives what it prints."""

    def run(gate: str = "", served: bytes = LARGE, entry: dict | None = None, network: bool = True, **part) -> str:
        handler = type("Handler", (Hub,), {"gate": gate, "served": served})
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            server.daemon_threads = True
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
            thread.start()
            part = {"kind": "hub", "source": "owner/model", "only": ["*.json", "*.safetensors"], **part}
            (tmp_path / "table.yaml").write_text(yaml.safe_dump({"m": {"licence": "MIT", "parts": [part], **(entry or {})}}))
            env = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "TRANSFORMERS_", "HUGGING"))}
            env |= {
                "HF_ENDPOINT": f"http://127.0.0.1:{server.server_address[1] if network else 1}",
                "HF_HOME": str(tmp_path / "home"),
                "HF_HUB_DISABLE_XET": "1",
                "HF_HUB_DISABLE_PROGRESS_BARS": "1",
                "CODECAP_WEIGHTS": str(tmp_path / "weights"),
            }
            if entry and "token" in entry.get("about", ""):
                env["HF_TOKEN"] = entry["about"].split()[-1]
            command = [sys.executable, "-c", CODE, str(tmp_path / "table.yaml")]
            done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
            server.shutdown()
            thread.join(5)
        assert done.returncode == 0, done.stderr
        assert "secret" not in done.stderr
        return done.stdout.strip()

    return run


def test_the_files_that_are_wanted_of_the_commit(fetched):
    assert fetched(revision=COMMIT) == f"m@{COMMIT[:12]} config.json model.safetensors"


def test_an_unknown_commit_is_found_and_recorded(fetched, tmp_path):
    assert fetched() == f"m@{COMMIT[:12]} config.json model.safetensors"
    assert json.loads((tmp_path / "weights" / "m.json").read_text())["commits"] == {"": COMMIT}


def test_a_damaged_file_is_noticed(fetched, tmp_path):
    damaged = bytes([LARGE[0] ^ 1]) + LARGE[1:]
    assert "model.safetensors came damaged; run the command again" in fetched(revision=COMMIT, served=damaged)
    assert not (tmp_path / "weights" / "m").exists()


def test_another_commit_is_refused(fetched):
    assert f"the hub gives commit {COMMIT}, table.yaml names {'d' * 40}" in fetched(revision="d" * 40)


def test_without_a_network_it_is_told_and_what_was_fetched_stays(fetched):
    fetched(revision=COMMIT)
    assert "owner/model: the hub cannot be reached (ConnectError)" in fetched(revision="d" * 40, network=False)
    assert fetched(revision=COMMIT, network=False) == f"m@{COMMIT[:12]} config.json model.safetensors"


def test_a_gated_repository_wants_the_token(fetched):
    told = fetched(gate="hf_secret", entry={"gated": True})
    assert "is gated: agree to its terms at https://huggingface.co/owner/model, and set HF_TOKEN" in told
    told = fetched(gate="hf_secret", entry={"gated": True, "about": "token hf_other"})
    assert "the token in HF_TOKEN may not read it yet" in told
    told = fetched(gate="hf_secret", entry={"gated": True, "about": "token hf_secret"})
    assert told == f"m@{COMMIT[:12]} config.json model.safetensors"
