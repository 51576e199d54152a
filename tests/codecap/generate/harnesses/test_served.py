"""A shard whose model is served beside it: one server for its clips, and none where all is in the store."""

import sys
from pathlib import Path

import psutil
import pytest

from codecap.generate import local_server
from codecap.generate.captions import caption_shard
from codecap.generate.local_server import ServerFailed
from codecap.records import Outcome

SCRIPT = Path(__file__).parents[1] / "scripted_server.py"


@pytest.fixture(autouse=True)
def quick_start(monkeypatch):
    monkeypatch.setattr(local_server, "POLL_S", 0.05)


@pytest.fixture
def captions(opened, durable, monkeypatch):
    """Rows of a shard, and how many servers were started for them."""
    started = []
    run = local_server.LocalServer._run
    monkeypatch.setattr(local_server.LocalServer, "_run", lambda self, argv: started.append(argv) or run(self, argv))

    def make(clips, way="well", harness="describe", **serve):
        where = ["--host", "{host}", "--port", "{port}", "--served-model-name", "{model}"]
        told = {"command": [sys.executable, str(SCRIPT), way, *where], "gpus": 0, **serve}
        settings = {"endpoint": {"api": "openai", "model": "m-own", "output_limit": "max_tokens"}, "serve": told}
        started.clear()
        with opened():
            rows = list(caption_shard(clips, "mine", harness, settings, "code", durable))
        return rows, len(started)

    return make


def test_one_server_a_shard_and_none_where_all_is_in_the_store(captions, clip_of):
    clips = [clip_of(24, f"A_00{number}", shade=number) for number in range(3)]
    rows, started = captions(clips)
    assert [row.outcome for row in rows] == [Outcome.OK] * 3 and started == 1
    assert all(row.text.read_text().startswith("m-own heard") for row in rows)
    assert not psutil.Process().children()
    assert captions(clips) == (rows, 0)  # on whatever port it would listen
    another = clip_of(24, "A_009", shade=9)
    assert captions([*clips, another])[1] == 1
    assert captions(clips, environment={"PRECISION": "low"})[1] == 1  # another way to serve it is another model


def test_where_the_server_does_not_start_the_shard_ends_with_its_words(captions, clip_of):
    clips = [clip_of(24, f"A_00{number}", shade=number) for number in range(3)]
    with pytest.raises(ServerFailed, match="No available memory"):
        captions(clips, way="crash")
    assert not psutil.Process().children()
    assert captions(clips)[0][0].outcome is Outcome.OK
