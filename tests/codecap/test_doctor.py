"""What the doctor finds of a configuration that cannot run here: files, packages and a GPU that its settings name."""

import socket

import pytest
import torch

from codecap import config, doctor
from codecap.config import PROJECT
from codecap.score.segmenters import sam3_1


@pytest.fixture
def demo():
    """The demo's configuration, which runs everywhere."""
    return config.load(PROJECT / "config" / "demo.yaml")


def missing(settings) -> dict[str, str]:
    return {finding.what: finding.told for finding in doctor._settings(settings) if finding.needed and not finding.there}


def with_encoder(demo, name, **settings):
    demo["metrics"] = {"visual_similarity": {"encoder": name, "encoders": {name: settings}}}
    return demo


def with_segmenter(demo, name, **settings):
    demo["metrics"] = {"object_iou": {"segmenter": name, "segmenters": {name: settings}}}
    return demo


def test_the_demo_lacks_nothing(demo):
    assert missing(demo) == {}


def test_what_settings_ask_for_is_among_all_findings(demo, tmp_path):
    findings = {finding.what: finding for finding in doctor.examine(with_encoder(demo, "siglip2", folder=str(tmp_path / "none")))}
    lacking = findings["score.encoders.siglip2 folder"]
    assert lacking.needed and not lacking.there
    assert findings["memory"].told.endswith("a job of the embedded backends takes up to 1.5 GB")


def test_files_and_folders_of_the_users_own_are_looked_for(demo, tmp_path):
    there = tmp_path / "encoder.safetensors"
    there.write_bytes(b"")
    configured = with_encoder(demo, "vjepa2_1", checkpoint=str(there), code=str(tmp_path / "none"), device="cpu")
    told = missing(configured)
    assert list(told) == ["score.encoders.vjepa2_1 code"]
    assert f"{tmp_path / 'none'}: nothing is there" in told["score.encoders.vjepa2_1 code"]
    with_encoder(demo, "siglip2", folder=str(tmp_path / "none"), device="cpu")
    assert list(missing(demo)) == ["score.encoders.siglip2 folder"]


@pytest.mark.parametrize(("device", "sees", "found"), [("cuda", False, True), ("cuda", True, False), ("auto", False, False)])
def test_cuda_needs_a_gpu(demo, monkeypatch, device, sees, found):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: sees)
    told = missing(with_encoder(demo, "siglip2", device=device))
    assert list(told) == (["score.encoders.siglip2 device"] if found else [])


def test_a_plugin_that_computes_on_cuda_only_needs_it_unasked(demo, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert "score.segmenters.sam3_1 device" in missing(with_segmenter(demo, "sam3_1"))


def test_a_package_that_a_plugin_imports_late_is_looked_for(demo, tmp_path, monkeypatch):
    monkeypatch.setattr(sam3_1, "PACKAGE", "no_such_package")
    told = missing(with_segmenter(demo, "sam3_1", device="cpu"))
    assert "pip install git+https://github.com/facebookresearch/sam3" in told["score.segmenters.sam3_1 package"]
    (tmp_path / "no_such_package").mkdir()
    assert missing(with_segmenter(demo, "sam3_1", device="cpu", code=str(tmp_path))) == {}


@pytest.mark.parametrize(("name", "package"), [("sam3_1", "sam3"), ("sam2_package", "sam2")])
def test_the_packages_of_the_segmenters(demo, monkeypatch, name, package):
    monkeypatch.setattr("codecap.doctor.importlib.util.find_spec", lambda wanted: None if wanted == package else object())
    assert missing(with_segmenter(demo, name, device="cpu"))[f"score.segmenters.{name} package"].startswith(package)


def test_a_second_entry_of_a_metric_is_known_by_its_module(demo):
    demo["metrics"] = {"second": {"module": "kss", "lane": "cpu"}}
    assert [finding.what for finding in doctor._backends(demo) if not finding.there] == []


def with_agent(demo, **sandbox):
    endpoint = {"api": "anthropic", "model": "some-model"}
    demo["models"] = {"agent": {"harness": "claude_code", "endpoint": endpoint, "sandbox": sandbox}}
    demo["systems"] = "all"
    return demo


def test_no_sandbox_is_looked_for_where_no_agent_takes_part(demo):
    assert list(doctor._sandboxes(demo)) == []
    configured = with_agent(demo, backend="none")
    configured["models"]["agent"]["enabled"] = False
    assert list(doctor._sandboxes(configured)) == []


def test_a_sandbox_that_cannot_be_had_is_told_once(demo):
    configured = with_agent(demo, backend="bwrap", program="no-such-bwrap")
    configured["models"]["second"] = configured["models"]["agent"]
    (found,) = doctor._sandboxes(configured)
    assert (found.what, found.there, found.needed) == ("sandbox bwrap", False, True)
    assert "apt-get install bubblewrap" in found.told


def test_a_sandbox_that_is_there_is_told(demo):
    (found,) = doctor._sandboxes(with_agent(demo, backend="none", i_trust_the_model=True))
    assert (found.what, found.there, found.told) == ("sandbox none", True, "no walls: the model is trusted")


@pytest.fixture
def listening():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def no_proxies(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.usefixtures("no_proxies")
def test_whether_a_server_is_reached_is_told_of_each(listening):
    found = doctor._reached(f"http://127.0.0.1:{listening}/v1")
    assert (found.what, found.there, found.told) == ("network to 127.0.0.1", True, "directly")
    lost = doctor._reached("http://127.0.0.1:1/v1")
    assert (
        not lost.there
        and not lost.needed
        and "not reached directly (Connection refused)" in lost.told
        and "HTTPS_PROXY" in lost.told
    )


@pytest.mark.usefixtures("no_proxies")
def test_a_proxy_is_looked_for_where_the_environment_names_one(listening, monkeypatch):
    monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{listening}")
    assert doctor._reached("https://api.example.org/v1").told == f"by the proxy 127.0.0.1:{listening}"
    monkeypatch.setenv("no_proxy", "api.example.org")
    assert not doctor._reached("https://api.example.org/v1").there
