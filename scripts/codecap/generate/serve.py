"""What a system's entry says of the server of its model (section `serve`), where that is a model of one's own.

vLLM's is built from a model and options; any other that speaks the API is a command line. What is asked of the model is recorded
under the endpoint's name of it and the digest of how it is served: never under an address, which is another one in each run.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from pydantic import Field, ValidationError, field_validator, model_validator

from codecap import weights
from codecap.records import Row, in_words
from codecap.store import digest_of

HOST = "127.0.0.1"
SAME_ANSWERS = {  # options of `vllm serve` that say where and how fast it runs
    "data_parallel_size",
    "gpu_memory_utilization",
    "max_num_batched_tokens",
    "max_num_seqs",
    "pipeline_parallel_size",
    "swap_space",
    "tensor_parallel_size",
}

Settings = Mapping[str, Any]


class Serve(Row):
    """Section `serve` of a system's entry.

    Attributes:
        command: the server's command line, as one text or a list; `{host}`, `{port}` and `{model}` (the endpoint's) stand for what
            they name. Without it, `vllm serve` is built from the next three.
        model: what vLLM loads, a folder or a name of the Hugging Face hub; by default the endpoint's model. In both cases the
            server is asked for it by the endpoint's name.
        weights: an entry of the table of weights, instead of `model`.
        options: of `vllm serve`, by name: a number, a text, true for an option without a value, a list for several values, a
            mapping for one in JSON.
        environment: variables that the server gets beside ours. Of ours, it gets none that holds a key.
        gpus: how many it computes on; on a cluster, the job asks for as many. 0: none, the job runs on a CPU node.
        memory_mb: what it holds of the node's memory, where that is not as `cluster.costs.SERVER_MB` guesses.
        health: path that answers with status 200 as soon as the server is ready.
        start_limit_s: longest time until then.
    """

    command: tuple[str, ...] = ()
    model: str = ""
    weights: str = ""
    options: dict[str, Any] = {}
    environment: dict[str, str] = {}
    gpus: int = Field(default=1, ge=0, le=64)
    memory_mb: int | None = Field(default=None, ge=100)
    health: str = Field(default="/health", pattern="^/")
    start_limit_s: float = Field(default=1800, gt=0, allow_inf_nan=False)

    @field_validator("command", mode="before")
    @classmethod
    def _words(cls, told: Any) -> Any:
        return tuple(shlex.split(told)) if isinstance(told, str) else told

    @model_validator(mode="after")
    def _one_way(self) -> Serve:
        if self.command and (self.model or self.weights or self.options):
            raise ValueError("command is the whole command line: model, weights and options belong to `vllm serve`")
        if self.model and self.weights:
            raise ValueError("model and weights name the same: give one of them")
        if self.command and not any("{port}" in word for word in self.command):
            raise ValueError("command must say {port}, where the server is to listen")
        return self

    def argv(self, model: str, port: int) -> list[str]:
        """The command line for a model of this name."""
        if self.command:
            stand_for = {"{host}": HOST, "{port}": str(port), "{model}": model}
            return [_replaced(word, stand_for) for word in self.command]
        loaded = str(weights.place(self.weights)) if self.weights else self.model or model
        options = {"tensor_parallel_size": self.gpus} if self.gpus > 1 else {}
        options |= {name.replace("-", "_"): value for name, value in self.options.items()}
        options |= {"served_model_name": model, "host": HOST, "port": port}
        return ["vllm", "serve", loaded, *(word for name, value in options.items() for word in _option(name, value))]

    @property
    def digest(self) -> str:
        """Of what may change the answers."""
        options = {name.replace("-", "_"): value for name, value in self.options.items()}
        kept = {name: value for name, value in options.items() if name not in SAME_ANSWERS}
        revision = [part.revision or part.sha256 for part in weights.entry(self.weights).parts] if self.weights else []
        return digest_of([list(self.command), self.model, self.weights, revision, kept, self.environment])


def _replaced(word: str, stand_for: Mapping[str, str]) -> str:
    for name, value in stand_for.items():
        word = word.replace(name, value)
    return word


def _option(name: str, value: Any) -> list[str]:
    flag = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return [flag] if value else [f"--no-{flag[2:]}"]
    if isinstance(value, Mapping):
        return [flag, json.dumps(value)]
    return [flag, *(str(item) for item in (value if isinstance(value, list | tuple) else [value]))]


def section(settings: Settings) -> Serve | None:
    """What an entry says of its server; None where it has none.

    Raises:
        ValueError: a key is unknown, a value is wrong, or the entry's endpoint does not fit.
    """
    if settings.get("serve") is None:
        return None
    try:
        serve = Serve.model_validate(dict(settings["serve"]))
    except ValidationError as error:
        raise ValueError(f"serve: {in_words(error)}") from error
    endpoint = settings.get("endpoint") or {}
    if endpoint.get("api") not in ("openai", "anthropic"):
        raise ValueError("serve: the endpoint's api must be openai, or anthropic where the server speaks it")
    if told := [key for key in ("base_url", "key_env") if endpoint.get(key) is not None]:
        raise ValueError(
            f"serve: the endpoint's {' and '.join(told)} must be left out: the server is at a free port of this machine"
        )
    return serve


def described(settings: Settings) -> dict[str, Any]:
    """Settings of a harness without the section `serve`: how the model is served is told in the endpoint, its address is not."""
    serve, told = section(settings), {name: value for name, value in settings.items() if name != "serve"}
    if serve is not None:
        told["endpoint"] = dict(told["endpoint"]) | {"served": serve.digest}
    return told
