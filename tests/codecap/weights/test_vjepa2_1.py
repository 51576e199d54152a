"""From a training checkpoint to the encoder's file: strict to the last tensor, bfloat16, mapped; and only that file is loaded."""

import json
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from typer.testing import CliRunner

from codecap import weights
from codecap.cli import app
from codecap.score.encoders import vjepa2_1 as encoder
from codecap.weights import WeightsMissing, manifest, needs, vjepa2_1
from codecap.weights.fetching import fetch

NAME, LARGE = "vjepa2_1_vitG_384", "vjepa2_1_vitl_384"
ENTRY = vjepa2_1.RELEASES[LARGE].entry


def test_the_file_holds_the_encoder_in_bf16_and_says_what_it_was_made_from(vjepa):
    checkout, network, checkpoint = vjepa
    path = vjepa2_1.prepare(NAME, checkpoint, checkout)
    size = int.from_bytes(path.read_bytes()[:8], "little")
    assert size % 8 == 0
    numbers = sum(parameter.numel() for parameter in network.state_dict().values())
    assert path.stat().st_size == 8 + size + 2 * numbers
    header = vjepa2_1.read_header(path)
    assert header["made_from"] == weights.digest(checkpoint) and header["entry"] == "vjepa2_1_vit_gigantic_384"
    from safetensors.torch import load_file

    held = load_file(path)
    assert all(tensor.dtype is torch.bfloat16 for tensor in held.values())
    assert held.keys() == network.state_dict().keys()
    assert all(torch.equal(held[name].float(), tensor) for name, tensor in network.state_dict().items())


def test_it_is_made_once_and_again_for_another_checkpoint(vjepa, by_hub, released):
    checkout, _, checkpoint = vjepa
    path = vjepa2_1.prepare(NAME, checkpoint, checkout)
    before = path.stat()
    assert vjepa2_1.prepare(NAME, checkpoint, checkout).stat().st_ino == before.st_ino
    released(by_hub(checkout, seed=1), checkpoint)
    assert vjepa2_1.prepare(NAME, checkpoint, checkout).stat().st_ino != before.st_ino
    assert vjepa2_1.read_header(path)["made_from"] == weights.digest(checkpoint)


def test_the_encoder_finds_it_under_its_name_and_notices_a_change(vjepa, table):
    checkout, _, checkpoint = vjepa
    part = {"kind": "file", "source": "https://example.org/g.pt", "into": "g.pt"}
    table(**{NAME: {"parts": [part]}, "vjepa2_1_code": {"parts": [part]}})
    with pytest.raises(WeightsMissing, match=f"run `codecap weights prepare {NAME}`"):
        encoder.load({"code": str(checkout), "device": "cpu"})
    path = vjepa2_1.prepare(NAME, checkpoint, checkout)
    found = encoder.load({"code": str(checkout), "device": "cpu"})
    assert f"{NAME}@{weights.digest(checkpoint)[:12]}" in found.protocol
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(WeightsMissing, match=r"contents have changed .*codecap weights prepare"):
        manifest.check_prepared(NAME)
    assert vjepa2_1.prepare(NAME, checkpoint, checkout).read_bytes() != data  # made anew
    table(**{NAME: {"parts": [{**part, "sha256": "1" * 64}]}})
    with pytest.raises(WeightsMissing, match=r"was made from .* names 1111.*fetch .*then run `codecap weights prepare"):
        manifest.check_prepared(NAME)


@pytest.fixture
def fetched(vjepa, table, place, server):
    """Fetches a checkpoint of the large network, whose digest no table has; gives the checkout too."""
    checkout, _, _ = vjepa
    part = {"kind": "file", "source": server.url("l.pt"), "into": "l.pt"}
    table(**{LARGE: {"prepare": "vjepa2_1", "parts": [part]}, "vjepa2_1_code": {"instead": ["code"], "parts": [part]}})

    def fetched(checkpoint) -> str:
        server.files["l.pt"] = checkpoint.read_bytes()
        fetch(LARGE)
        return weights.digest(checkpoint)

    return checkout, fetched


def test_what_was_made_from_another_checkpoint_than_the_fetched_is_refused(fetched, by_hub, released, tmp_path):
    checkout, fetch = fetched
    first, second = (released(by_hub(checkout, ENTRY, seed), tmp_path / f"{seed}.pt", "ema_encoder") for seed in (0, 1))
    told = fetch(first)
    vjepa2_1.prepare(LARGE, code=checkout)
    assert weights.find_prepared(LARGE).revision == f"{LARGE}@{told[:12]}"
    manifest.path_of(LARGE).unlink()  # to accept another one
    other = fetch(second)
    assert needs.revisions("score.encoders.vjepa2_1", {"weights": LARGE, "code": str(checkout)})[-1].endswith(other)
    stale = rf"was made from {told}, but {other} is what was fetched; run `codecap weights prepare {LARGE}`"
    with pytest.raises(WeightsMissing, match=stale):
        encoder.load({"weights": LARGE, "code": str(checkout), "device": "cpu"})
    (problem,) = manifest.verify(LARGE, weights.entry(LARGE))
    assert re.search(stale, problem)
    vjepa2_1.prepare(LARGE, code=checkout)
    assert weights.find_prepared(LARGE).revision == f"{LARGE}@{other[:12]}"
    assert manifest.verify(LARGE, weights.entry(LARGE)) == []


def test_keys_know_a_checkpoint_of_ones_own_that_was_prepared(fetched, by_hub, released, tmp_path):
    checkout, _ = fetched
    settings = {"weights": LARGE, "code": str(checkout)}
    assert needs.revisions("score.encoders.vjepa2_1", settings)[-1].endswith("unknown")
    mine = released(by_hub(checkout, ENTRY), tmp_path / "mine.pt", "ema_encoder")
    vjepa2_1.prepare(LARGE, mine, checkout)
    assert needs.revisions("score.encoders.vjepa2_1", settings)[-1].endswith(weights.digest(mine))


def test_a_damaged_manifest_of_the_prepared_is_cured_by_preparing(fetched, by_hub, released, tmp_path):
    checkout, fetch = fetched
    fetch(released(by_hub(checkout, ENTRY), tmp_path / "l.pt", "ema_encoder"))
    vjepa2_1.prepare(LARGE, code=checkout)
    manifest.path_of(LARGE + weights.PREPARED).write_text("{")
    cure = rf"{LARGE}.prepared.json: damaged; run `codecap weights prepare {LARGE}`$"
    with pytest.raises(WeightsMissing, match=cure):
        weights.find_prepared(LARGE)
    (problem,) = manifest.verify(LARGE, weights.entry(LARGE))
    assert re.search(cure, problem)
    vjepa2_1.prepare(LARGE, code=checkout)
    assert weights.find_prepared(LARGE).path.is_file()


def test_two_that_prepare_at_once_make_it_once(vjepa, monkeypatch):
    checkout, _, checkpoint = vjepa
    written = []
    write, meet = vjepa2_1.write, threading.Barrier(2)

    def counted(*arguments):
        written.append(arguments)
        time.sleep(0.2)  # the other one comes meanwhile
        write(*arguments)

    def prepare(_):
        meet.wait(10)
        return vjepa2_1.prepare(NAME, checkpoint, checkout)

    monkeypatch.setattr(vjepa2_1, "write", counted)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(prepare, range(2))
    assert first == second and first.is_file() and len(written) == 1


def test_a_checkpoint_of_ones_own_is_prepared_by_the_command(fetched, by_hub, released, tmp_path):
    checkout, _ = fetched
    mine = released(by_hub(checkout, ENTRY), tmp_path / "mine.pt", "ema_encoder")
    arguments = ["weights", "prepare", LARGE, "--checkpoint", str(mine), "--code", str(checkout)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    path = weights.find_prepared(LARGE).path
    assert done.stdout == f"{LARGE}: {path}\n" and vjepa2_1.read_header(path)["made_from"] == weights.digest(mine)
    refused = CliRunner().invoke(app, [*arguments[:2], *arguments[3:]])
    assert refused.exit_code == 2


@pytest.mark.parametrize(
    ("inner", "cure"),
    [
        (f"weights/{LARGE}.prepared/encoder.safetensors", f"make it with `codecap weights prepare {LARGE}`$"),
        ("l.pt", f"run `codecap weights prepare {LARGE} --checkpoint .*l.pt`"),
        ("mine.pt", f"run `codecap weights prepare NAME --checkpoint .*mine.pt`, NAME one of {NAME}, {LARGE}, "),
    ],
)
def test_what_is_not_prepared_is_told_with_the_command_for_it(fetched, tmp_path, inner, cure):
    (tmp_path / inner).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / inner).write_bytes(b"nothing")
    with pytest.raises(WeightsMissing, match=cure):
        vjepa2_1.read_header(tmp_path / inner)


def edited(checkpoint, edit):
    held = torch.load(checkpoint, weights_only=True)
    edit(held)
    torch.save(held, checkpoint)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda held: held["target_encoder"].pop("module.backbone.norm.weight"), r"lacks norm.weight"),
        (lambda held: held["target_encoder"].update({"module.backbone.more": torch.zeros(1)}), r"has no place for more"),
        (
            lambda held: held["target_encoder"].update({"module.backbone.norm.weight": torch.zeros(7)}),
            r"norm.weight \(7,\) for \(32,\)",
        ),
        (lambda held: held.pop("target_encoder"), r"holds no 'target_encoder', but encoder, predictor"),
        (lambda held: held["target_encoder"].update({"norm.weight": torch.zeros(32)}), "same tensor under two prefixes"),
    ],
)
def test_another_checkpoint_is_refused_with_its_name(vjepa, edit, message):
    checkout, _, checkpoint = vjepa
    edited(checkpoint, edit)
    with pytest.raises(WeightsMissing, match=message) as told:
        vjepa2_1.prepare(NAME, checkpoint, checkout)
    assert str(checkpoint) in str(told.value)


@pytest.mark.parametrize("keep", [0, 100, 5000])
def test_a_truncated_checkpoint_is_refused(vjepa, keep):
    checkout, _, checkpoint = vjepa
    checkpoint.write_bytes(checkpoint.read_bytes()[:keep])
    with pytest.raises(WeightsMissing, match=r"vjepa2_1_vitG_384.pt: cannot be read as a checkpoint"):
        vjepa2_1.prepare(NAME, checkpoint, checkout)


def test_nothing_but_tensors_is_unpickled(vjepa):
    class Evil:
        def __reduce__(self):
            return (print, ("unpickled",))

    checkout, _, checkpoint = vjepa
    edited(checkpoint, lambda held: held.update(evil=1))
    torch.save({"target_encoder": Evil()}, checkpoint)
    with pytest.raises(WeightsMissing, match="cannot be read as a checkpoint"):
        vjepa2_1.prepare(NAME, checkpoint, checkout)


def test_the_encoder_of_another_network_is_refused(vjepa, released, by_hub, tmp_path):
    """The prepared file of the large network, its header edited to name the gigantic one."""
    checkout, _, _ = vjepa
    large = released(by_hub(checkout, "vjepa2_1_vit_large_384"), tmp_path / "l.pt", "ema_encoder")
    path = vjepa2_1.prepare("vjepa2_1_vitl_384", large, checkout)
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    head = json.loads(data[8 : 8 + size])
    head["__metadata__"]["entry"] = "vjepa2_1_vit_gigantic_384"
    new = json.dumps(head).encode()
    path.write_bytes(len(new).to_bytes(8, "little") + new + data[8 + size :])
    with pytest.raises(WeightsMissing, match=r"encoder.safetensors: is not of this network: lacks"):
        encoder.load({"checkpoint": str(path), "code": str(checkout), "device": "cpu"})


def test_a_checkout_without_the_entry_is_told(vjepa, tmp_path):
    checkout, _, checkpoint = vjepa
    (checkout / "hubconf.py").write_text("dependencies = ['torch']\n")
    with pytest.raises(WeightsMissing, match=r"cannot build vjepa2_1_vit_gigantic_384 .*codecap weights fetch vjepa2_1_code"):
        vjepa2_1.prepare(NAME, checkpoint, checkout)
    (checkout / "hubconf.py").write_text("dependencies = ['no_such_package']\n")
    with pytest.raises(WeightsMissing, match="no_such_package"):
        vjepa2_1.prepare(NAME, checkpoint, checkout)


def test_parameters_take_no_memory_until_they_are_loaded(checkout):
    built = vjepa2_1.build(checkout, "vjepa2_1_vit_gigantic_384")
    assert all(parameter.is_meta for parameter in built.parameters() if parameter.numel() > 32)
