"""A scripted server in the place of vLLM's: it is there when it is asked, and gone afterwards, whatever happens."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from codecap import stopping
from codecap.exchange import Endpoint, Question, Text, session
from codecap.generate import local_server
from codecap.generate.local_server import LocalServer, ServerFailed, beside
from codecap.generate.serve import Serve, described

SCRIPT = Path(__file__).with_name("scripted_server.py")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "")  # restored afterwards
    monkeypatch.setattr(local_server, "POLL_S", 0.05)
    monkeypatch.setattr(local_server, "GRACE_S", 1.0)
    monkeypatch.setattr(local_server, "ASKED_WITHIN_S", 0.5)
    stopping.forget()
    yield
    stopping.forget()


def command(way: str = "well", *more: str) -> list[str]:
    told = ["--host", "{host}", "--port", "{port}", "--served-model-name", "{model}"]
    return [sys.executable, str(SCRIPT), way, *told, *more]


def settings(way: str = "well", **serve) -> dict:
    return {
        "endpoint": {"api": "openai", "model": "my-model", "output_limit": "max_tokens"},
        "serve": {"command": command(way)} | serve,
        "prompt": "direct",
    }


def get(address: str, path: str) -> dict:
    with urllib.request.urlopen(f"{address.removesuffix('/v1')}{path}", timeout=5) as response:
        return json.loads(response.read())


def servers() -> set[int]:
    """What runs below this process."""
    return {process.pid for process in psutil.Process().children(recursive=True)}


def asked(told: dict, durable: Path, words: str = "Hello"):
    with session(durable, {"prices": Path(durable).parent / "none.yaml"}) as exchange:
        return exchange.ask(Endpoint.model_validate(told["endpoint"]), Question((Text(words),)))


@pytest.fixture
def durable(tmp_path):
    (tmp_path / "none.yaml").write_text("models: []")
    return tmp_path / "durable"


def test_it_starts_when_it_is_first_needed_answers_and_is_gone_afterwards(durable):
    before = servers()
    with beside(settings("slow")) as addressed:
        assert servers() == before
        with ThreadPoolExecutor(4) as pool:
            told = list(pool.map(lambda _: addressed(), range(4)))
        assert all(each == told[0] for each in told)
        assert len(servers() - before) == 2  # the server, and the keeper whose arguments name it
        assert told[0]["prompt"] == "direct" and "serve" not in told[0]
        assert asked(told[0], durable).text.startswith("my-model heard")
    assert servers() == before


def test_a_shard_without_work_starts_none():
    before = servers()
    with beside(settings("crash")):
        assert servers() == before


def test_shards_on_one_node_have_servers_of_their_own():
    with beside(settings()) as first, beside(settings()) as second:
        addresses = {told()["endpoint"]["base_url"] for told in (first, second)}
        assert len(addresses) == 2
        for address in addresses:
            assert get(address, "/v1/models")["data"][0]["id"] == "my-model"


def test_a_port_that_a_stranger_takes_meanwhile_is_left_to_him(monkeypatch):
    ports = []

    def taken(self):
        port = reserve(self)
        ports.append(port)
        if len(ports) == 1:
            self._reserved.listen()  # now nobody else can listen there
        return port

    reserve = LocalServer._reserve_port
    monkeypatch.setattr(LocalServer, "_reserve_port", taken)
    with beside(settings()) as addressed:
        assert addressed()["endpoint"]["base_url"] == f"http://127.0.0.1:{ports[1]}/v1"


def test_answers_are_remembered_whatever_the_port(durable):
    replies, addresses = [], set()
    for _ in range(2):
        with beside(settings()) as addressed:
            addresses.add(addressed()["endpoint"]["base_url"])
            replies.append(asked(addressed(), durable))
    assert len(addresses) == 2
    assert [reply.replayed for reply in replies] == [False, True]
    assert replies[0].digest == replies[1].digest


def test_a_proxy_of_the_site_is_not_asked_for_it(durable, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "example.org")
    with beside(settings()) as addressed:
        assert asked(addressed(), durable).text.startswith("my-model heard")
    assert os.environ["NO_PROXY"] == "example.org,127.0.0.1"


def test_what_may_change_the_answers_is_another_model():
    def digest(**serve) -> str:
        told = {"endpoint": {"api": "openai", "model": "my-model"}, "serve": {"model": "some/model"} | serve}
        return described(told)["endpoint"]["served"]

    same = [digest(), digest(gpus=4), digest(options={"gpu-memory-utilization": 0.8}), digest(start_limit_s=5)]
    assert len(set(same)) == 1
    others = [digest(options={"quantization": "fp8"}), digest(model="some/other"), digest(environment={"VLLM_USE_V1": "0"})]
    assert len({*others, same[0]}) == 4


def test_words_of_a_server_that_does_not_start_are_in_the_error_and_it_is_not_tried_again():
    with beside(settings("crash")) as addressed, pytest.raises(ServerFailed, match=r"(?s)status 1.*No available memory") as first:
        addressed()
    assert first.value.may_pass
    before = time.monotonic()
    with beside(settings("crash")) as addressed:
        for _ in range(3):
            with pytest.raises(ServerFailed):
                addressed()
    assert time.monotonic() - before < 3


def test_a_server_that_is_never_ready_is_given_up_and_ended():
    before = servers()
    with beside(settings("never ready", start_limit_s=0.7)) as addressed, pytest.raises(ServerFailed, match=r"0\.7 s.*\npid"):
        addressed()
    assert servers() == before


def test_a_server_of_another_model_is_told():
    told = settings()
    told["serve"]["command"][-1] = "other"
    with beside(told) as addressed, pytest.raises(ServerFailed, match="serves other, not 'my-model'"):
        addressed()


def test_a_program_that_is_not_there_is_told():
    told = settings(command=["no-such-server", "--port", "{port}"])
    with (
        beside(told) as addressed,
        pytest.raises(local_server.UserError, match="no program 'no-such-server'; correct serve"),
    ):
        addressed()


def test_a_shard_that_is_to_end_waits_for_no_server():
    with beside(settings("never ready")) as addressed:
        stopping.ask("time limit near")
        with pytest.raises(stopping.Stopped):
            addressed()


def test_a_server_that_dies_stops_its_shard(durable, caplog):
    with beside(settings("mortal")) as addressed:
        asked(addressed(), durable)
        ends = time.monotonic() + 5
        while stopping.reason() is None and time.monotonic() < ends:
            time.sleep(0.02)
        assert stopping.reason() == "the server of my-model has ended (status 3)"
    assert "illegal memory access" in caplog.text


def test_it_gets_no_keys_and_what_the_entry_says(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("HF_TOKEN", "hf-secret")
    with beside(settings(environment={"VLLM_LOGGING_LEVEL": "WARNING"})) as addressed:
        got = get(addressed()["endpoint"]["base_url"], "/environment")
    assert "secret" not in " ".join(got.values())
    assert got["VLLM_LOGGING_LEVEL"] == "WARNING" and got["PATH"] == os.environ["PATH"]


def test_a_stubborn_server_and_what_has_left_its_group_are_killed():
    before = servers()
    with beside(settings("stubborn")) as addressed:
        addressed()
        family = [psutil.Process(pid) for pid in servers() - before]
        assert len(family) == 3
    assert not [process for process in family if process.is_running()]


OWNER = """
import sys, time
from codecap.generate import local_server
from codecap.generate.local_server import beside
local_server.GRACE_S = 1.0
import json
with beside(json.loads(sys.argv[1])) as addressed:
    print(addressed()["endpoint"]["base_url"], flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("killed", ["owner", "owner's group", "keeper"])
def test_it_ends_with_its_shard_also_when_that_is_killed(killed):
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, json.dumps(settings("stubborn" if killed != "keeper" else "well"))],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert owner.stdout.readline().startswith("http://127.0.0.1:")
    keeper = psutil.Process(owner.pid).children()[0]
    family = [keeper, *keeper.children(recursive=True)]
    if killed == "keeper":
        keeper.kill()
    elif killed == "owner":
        owner.kill()
    else:
        os.killpg(owner.pid, signal.SIGKILL)
    gone, alive = psutil.wait_procs(family, timeout=8)
    owner.kill()
    owner.wait(5)
    owner.stdout.close()
    assert not alive and len(gone) == len(family)


def test_vllm_is_built_of_a_model_and_options():
    serve = Serve(
        model="/models/q",
        gpus=2,
        options={"max-model-len": 65536, "enable_prefix_caching": True, "limit_mm_per_prompt": {"image": 50}, "lora": ["a", "b"]},
    )
    assert serve.argv("Qwen/Q", 8123) == [
        *("vllm", "serve", "/models/q", "--tensor-parallel-size", "2", "--max-model-len", "65536", "--enable-prefix-caching"),
        *("--limit-mm-per-prompt", '{"image": 50}', "--lora", "a", "b"),
        *("--served-model-name", "Qwen/Q", "--host", "127.0.0.1", "--port", "8123"),
    ]
    assert Serve().argv("Qwen/Q", 1)[:3] == ["vllm", "serve", "Qwen/Q"]
    assert Serve(command="sglang --port {port} 'a b'").argv("m", 5) == ["sglang", "--port", "5", "a b"]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"serve": {"comand": "x"}}, "comand"),
        ({"serve": {"command": "server --port 8000"}}, "must say {port}"),
        ({"serve": {"command": "s {port}", "options": {"a": 1}}}, "whole command line"),
        ({"serve": {"model": "a", "weights": "b"}}, "give one of them"),
        ({"endpoint": {"api": "google", "model": "m"}}, "openai"),
        ({"endpoint": {"api": "openai", "model": "m", "base_url": "http://x/v1"}}, "base_url"),
    ],
)
def test_wrong_settings_are_told(wrong, words):
    with pytest.raises(ValueError, match=words):
        described(settings() | wrong)
