"""V-JEPA 2.1: from the released checkpoint to a file of the encoder alone, and from that file to the network.

Meta releases training checkpoints: two copies of the encoder, the predictor and the optimizer's state, in float32 (28 GB for the
gigantic one). `prepare` keeps the encoder that the release's own loader would take, in bfloat16, as safetensors: 3.7 GB that are
mapped into memory. The network comes from a checkout of facebookresearch/vjepa2 by its hubconf.py, with `pretrained=False`,
because that loader would download.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from codecap import weights
from codecap.records import UMASK
from codecap.weights import PREPARED, Found, WeightsMissing, folder, manifest
from codecap.weights.manifest import Manifest

CODE = "vjepa2_1_code"
FORMAT = "codecap vjepa2_1 encoder 1"
FILE = "encoder.safetensors"
PACKAGES = ("app", "evals", "src")  # of the checkout
PREFIXES = ("module.", "backbone.")  # of data-parallel training, and of the wrapper that holds the encoder


@dataclass(frozen=True)
class Release:
    """One released network.

    Attributes:
        entry: of hubconf.py.
        key: under which the checkpoint holds the encoder that is meant for use.
    """

    entry: str
    key: str


RELEASES = {  # by the name of the weights
    "vjepa2_1_vitG_384": Release("vjepa2_1_vit_gigantic_384", "target_encoder"),
    "vjepa2_1_vitl_384": Release("vjepa2_1_vit_large_384", "ema_encoder"),
    "vjepa2_1_vitb_384": Release("vjepa2_1_vit_base_384", "ema_encoder"),
}


def prepare(name: str, checkpoint: Path | None = None, code: Path | None = None) -> Path:
    """Make the encoder file of a release, unless it is there, made of this very checkpoint.

    Args:
        checkpoint: the released file; by default the one that was fetched under this name.
        code: the checkout; by default the one that was fetched.

    Raises:
        WeightsMissing: the checkpoint or the checkout is missing, damaged, or not of this network, to the last tensor.
    """
    if name not in RELEASES:
        raise WeightsMissing(f"{name}: there is nothing to prepare; prepared are {', '.join(RELEASES)}")
    source = weights.find(name, checkpoint)
    made_from = weights.digest(source.path) if checkpoint else manifest.read(name).files[weights.entry(name).file].sha256
    checkout = weights.find(CODE, code)
    with manifest.alone(name + PREPARED):
        if not _is_made(name, made_from):
            _make(name, source, made_from, checkout)
    return folder() / f"{name}{PREPARED}" / FILE


def _make(name: str, source: Found, made_from: str, checkout: Found) -> None:
    release = RELEASES[name]
    there = folder() / f"{name}{PREPARED}"
    wanted = {key: tensor.shape for key, tensor in build(checkout.path, release.entry).state_dict().items()}
    tensors = read_release(source.path, release.key, wanted)
    there.mkdir(parents=True, exist_ok=True)
    header = {"format": FORMAT, "entry": release.entry, "made_from": made_from, "code": checkout.revision, "name": name}
    write(there / FILE, tensors, header)
    manifest.write(name + PREPARED, Manifest(files=manifest.take(there), made_from=made_from))


def _is_made(name: str, made_from: str) -> bool:
    """The file is there, whole, by this version, and of this checkpoint."""
    file = folder() / f"{name}{PREPARED}" / FILE
    try:
        kept = manifest.read(name + PREPARED)
        if kept is None or kept.made_from != made_from or weights.digest(file) != kept.files[FILE].sha256:
            return False
        read_header(file)
    except WeightsMissing:
        return False
    return True


def read_release(path: Path, key: str, wanted: Mapping[str, torch.Size]) -> dict[str, torch.Tensor]:
    """The encoder's tensors of a released checkpoint, mapped into memory, under the network's names.

    Args:
        key: of the encoder in the checkpoint.
        wanted: names and shapes that the network has.

    Raises:
        WeightsMissing: the file cannot be read, or holds another encoder, or more or less than one.
    """
    try:
        held = torch.load(path, map_location="cpu", mmap=True, weights_only=True)
    except Exception as error:  # torch raises what its reader meets: zip, pickle, OS and runtime errors
        why = " ".join(str(error).split())[:200]
        raise WeightsMissing(f"{path}: cannot be read as a checkpoint ({type(error).__name__}: {why}); fetch it again") from error
    if not isinstance(held, Mapping) or not isinstance(held.get(key), Mapping):
        there = ", ".join(map(str, held)) if isinstance(held, Mapping) else type(held).__name__
        raise WeightsMissing(f"{path}: holds no {key!r}, but {there}; it is not the released checkpoint of this network")
    tensors = {_bare(name): tensor for name, tensor in held[key].items()}
    if len(tensors) != len(held[key]):
        raise WeightsMissing(f"{path}: {key} has the same tensor under two prefixes")
    check_tensors(path, {name: tensor.shape for name, tensor in tensors.items()}, wanted)
    return tensors


def _bare(name: str) -> str:
    for prefix in PREFIXES:
        name = name.removeprefix(prefix)
    return name


def check_tensors(path: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Names and shapes are those of the network.

    Raises:
        WeightsMissing: the message names the file, and tensors that are missing, too many, or of another shape.
    """
    missing, surplus = sorted(wanted.keys() - found.keys()), sorted(found.keys() - wanted.keys())
    other = sorted(name for name in wanted.keys() & found.keys() if tuple(found[name]) != tuple(wanted[name]))
    shapes = [f"{name} {tuple(found[name])} for {tuple(wanted[name])}" for name in other]
    for what, names in (("lacks", missing), ("has no place for", surplus), ("has another shape:", shapes)):
        if names:
            told = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
            raise WeightsMissing(
                f"{path}: is not of this network: {what} {told}; use the checkpoint and the checkout of one release"
            )


def write(path: Path, tensors: Mapping[str, torch.Tensor], header: Mapping[str, str]) -> None:
    """A safetensors file in bfloat16, written tensor by tensor, so that none but one is in memory; there whole or not at all."""
    places: dict[str, Any] = {"__metadata__": dict(header)}
    end = 0
    for name, tensor in tensors.items():
        start, end = end, end + tensor.numel() * torch.bfloat16.itemsize
        places[name] = {"dtype": "BF16", "shape": list(tensor.shape), "data_offsets": [start, end]}
    head = json.dumps(places).encode()
    head += b" " * (-len(head) % 8)  # the data begin at a multiple of eight
    draft = path.with_name(f".{path.name}.draft")
    with draft.open("wb") as file:
        file.write(len(head).to_bytes(8, "little") + head)
        for tensor in tensors.values():
            file.write(tensor.detach().to(torch.bfloat16).contiguous().view(-1).view(torch.uint8).numpy().data)
        file.flush()
        os.fsync(file.fileno())
    draft.chmod(0o666 & ~UMASK)
    draft.replace(path)


def read_header(path: Path) -> dict[str, str]:
    """What an encoder file was made from.

    Raises:
        WeightsMissing: it is none that `prepare` has made.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
    except (OSError, SafetensorError) as error:
        raise WeightsMissing(f"{path}: cannot be read ({' '.join(str(error).split())}); {_how_to_make(path)}") from error
    if header.get("format") != FORMAT:
        raise WeightsMissing(f"{path}: is no prepared V-JEPA 2.1 encoder of this version; {_how_to_make(path)}")
    return header


def _how_to_make(path: Path) -> str:
    """The command for a file that should be a prepared encoder: damaged, or a checkpoint that was not prepared yet."""
    for name in RELEASES:
        if path.parent == folder() / f"{name}{PREPARED}":
            return f"make it with `codecap weights prepare {name}`"
        if path.name in (f"{name}.pt", weights.table()[name].file if name in weights.table() else ""):
            return f"if it is a released checkpoint, run `codecap weights prepare {name} --checkpoint {path}` and name its file"
    names = ", ".join(RELEASES)
    return f"if it is a released checkpoint, run `codecap weights prepare NAME --checkpoint {path}`, NAME one of {names}"


def load(prepared: Found, checkout: Found) -> torch.nn.Module:
    """The encoder with its weights, bfloat16, mapped from the prepared file: `(n, 3, frames, height, width)` to `(n, tokens, d)`.

    Raises:
        WeightsMissing: the file is not one of `prepare`, or not of this checkout's network.
    """
    from safetensors.torch import load_file

    header = read_header(prepared.path)
    encoder = build(checkout.path, header["entry"])
    tensors = load_file(prepared.path)
    wanted = {name: tensor.shape for name, tensor in encoder.state_dict().items()}
    check_tensors(prepared.path, {name: tensor.shape for name, tensor in tensors.items()}, wanted)
    encoder.load_state_dict(tensors, strict=True, assign=True)
    empty = [name for name, tensor in encoder.named_buffers() if tensor.is_meta]
    if empty:
        raise WeightsMissing(f"{checkout.path}: the network has buffers that no checkpoint holds ({', '.join(empty[:3])})")
    return encoder.eval().requires_grad_(False)


def build(checkout: Path, entry: str) -> torch.nn.Module:
    """The encoder that a hubconf.py's entry makes, its parameters without storage (the gigantic one would take 7 GB and a minute).

    Raises:
        WeightsMissing: the checkout has no such entry, or cannot be imported here.
    """
    _forget_others()
    with _Unstored():
        try:
            encoder, _ = torch.hub.load(str(checkout), entry, source="local", pretrained=False)
        except (OSError, ImportError, RuntimeError, AttributeError) as error:
            why = " ".join(str(error).split())[:300]
            cure = f"set it to a checkout of facebookresearch/vjepa2, or run `codecap weights fetch {CODE}`"
            raise WeightsMissing(f"{checkout}: cannot build {entry} ({type(error).__name__}: {why}); {cure}") from error
    return encoder


class _Unstored(TorchFunctionMode):
    """Parameters are allocated without storage. Small tensors that a constructor computes with (`linspace`) stay real."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if function is torch.empty:
            kwargs["device"] = "meta"
        return function(*args, **kwargs)


def _forget_others() -> None:
    """The checkout's packages have common names: those that were imported from elsewhere are set aside."""
    for name in [name for name in sys.modules if name.split(".")[0] in PACKAGES]:
        del sys.modules[name]
