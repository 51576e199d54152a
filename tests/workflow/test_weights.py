"""`snakemake weights`: what the configuration needs is fetched and prepared, once; then a run finds it without a network."""

import functools
import shutil
import threading
import zipfile
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
import torch
import yaml

HUBCONF = """
dependencies = ["torch"]
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch_embed = nn.Conv3d(3, 8, kernel_size=(2, 64, 64), stride=(2, 64, 64))
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
        return self.norm(self.patch_embed(x).flatten(2).transpose(1, 2))


def vjepa2_1_vit_gigantic_384(*, pretrained=True):
    return Encoder(), nn.Identity()
"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def served(tmp_path):
    """A folder on the loopback, and its address."""
    folder = tmp_path / "served"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join(5)


@pytest.mark.slow
def test_weights_are_fetched_and_prepared_once(workflow, tmp_path, served, monkeypatch):
    folder, url = served
    space: dict = {}
    exec(compile(HUBCONF, "hubconf.py", "exec"), space)
    encoder, _ = space["vjepa2_1_vit_gigantic_384"](pretrained=False)
    torch.save(
        {"target_encoder": {f"module.backbone.{name}": value for name, value in encoder.state_dict().items()}}, folder / "g.pt"
    )
    with zipfile.ZipFile(folder / "code.zip", "w") as archive:
        archive.writestr("hubconf.py", HUBCONF)
    monkeypatch.setenv("CODECAP_WEIGHTS", str(tmp_path / "weights"))

    workflow = workflow.with_a_project_of_its_own(tmp_path / "project")
    table = workflow.project / "resources" / "weights.yaml"
    entries = yaml.safe_load(table.read_text())
    entries["vjepa2_1_vitG_384"]["parts"] = [{"kind": "file", "source": f"{url}/g.pt", "into": "vjepa2_1_vitG_384.pt"}]
    entries["vjepa2_1_code"]["parts"] = [{"kind": "archive", "source": f"{url}/code.zip"}]
    table.write_text(yaml.safe_dump(entries))
    workflow.configure(metrics={"visual_similarity": {"lane": "cpu", "encoder": "vjepa2_1"}})

    told = workflow.finish("weights")
    assert "4 of 4 steps" in told  # two fetched, one prepared, the target
    assert (tmp_path / "weights" / "vjepa2_1_vitG_384.prepared" / "encoder.safetensors").is_file()
    assert "Nothing to be done" in workflow.finish("weights")

    shutil.rmtree(tmp_path / "weights")
    assert "4 of 4 steps" in workflow.finish("weights")
    assert "Nothing to be done" in workflow.finish("weights")
    shutil.rmtree(tmp_path / "weights" / "vjepa2_1_vitG_384.prepared")
    assert "2 of 2 steps" in workflow.finish("weights")
    assert (tmp_path / "weights" / "vjepa2_1_vitG_384.prepared" / "encoder.safetensors").is_file()
    assert "Nothing to be done" in workflow.finish("weights")
    monkeypatch.setenv("CODECAP_WEIGHTS", str(tmp_path / "elsewhere"))
    (folder / "g.pt").rename(folder / "away.pt")
    assert workflow.run("weights")[0] == 1
    (folder / "away.pt").rename(folder / "g.pt")
    assert "steps (100%) done" in workflow.finish("weights")  # what failed is tried again
    assert (tmp_path / "elsewhere" / "vjepa2_1_vitG_384.prepared" / "encoder.safetensors").is_file()
    assert "Nothing to be done" in workflow.finish("weights")
