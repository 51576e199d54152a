"""The largest jobs of the configured benchmark on each kind of node, without the limits of the site."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from codecap import plan
from codecap.clock import FPS
from codecap.cluster import nodes, settings
from codecap.cluster.findings import Asked
from codecap.cluster.requests import Requests
from codecap.cluster.settings import Kind
from codecap.plan import Plan
from codecap.records import Clip
from codecap.score.engine.choice import OBJECTS_METRIC
from codecap.shards import Journals

WILDCARDS = {  # of the rules that a run on a committed clips table has
    "generate_captions": ("system", "bucket"),
    "render_captions": ("system", "bucket"),
    "describe_references": ("lane", "bucket"),
    "prompt_objects": ("system", "bucket"),
    "segment_objects": ("system", "bucket"),
    "score_renders": ("lane", "system", "bucket"),
    "answer_questions": ("answered", "bucket"),
    "compare_systems": (),
    "build_report": (),
}
OF_OBJECTS = ("prompt_objects", "segment_objects")
THREADS = {"render_captions": 4}

NOTIONAL = Clip(
    clip_id="U_notional",
    category="U",
    mp4="none",
    sha256="0" * 64,
    frames=40 * FPS,
    width_px=1920,
    height_px=1080,
    source="",
    licence="",
)
NOTIONAL_BUCKET = 32


def of(config: Mapping[str, Any]) -> tuple[dict[Kind, Asked], str]:
    """Most memory, minutes and threads of a job, for each kind of node that the run needs, as if nothing were done yet.

    Returns:
        them, and in words the clips that they are of: notional ones, where the clips table is still empty.

    Raises:
        PlanError: the configuration is wrong, or there is no clips table.
    """
    limits = {"largest_mb": None, "longest_min": None, "gpu_longest_min": None, "network_longest_min": None}
    unlimited = dataclasses.replace(settings.of(config), **limits)
    planned = plan.make(config)
    buckets = planned.buckets or {"00": [NOTIONAL] * NOTIONAL_BUCKET}
    asking = {**config, "cluster": dataclasses.asdict(unlimited)}
    requests = Requests(asking, buckets, planned.captioners, Journals(Path("no-journals")))
    found: dict[Kind, Asked] = {}
    for rule, named in _jobs(config, planned, list(buckets)):
        entry = planned.captioners[named["system"]] if rule == "generate_captions" else {}
        kind = nodes.kind_of(config, rule, named.get("lane", ""), entry)
        asks, threads = requests.of(rule), THREADS.get(rule, 1)
        job = Asked(asks["mem_mb"](named, [], threads, 1), asks["runtime"](named, [], threads, 1), threads, rule)
        found[kind] = _larger(found[kind], job) if kind in found else job
    count = sum(len(clips) for clips in planned.buckets.values())
    notional = f"{NOTIONAL_BUCKET} notional clips of 40 s at 1920x1080 ({config['clips']} is empty)"
    return found, f"{count} clips ({config['clips']})" if count else notional


def _jobs(config: Mapping[str, Any], planned: Plan, buckets: list[str]) -> Iterator[tuple[str, dict[str, str]]]:
    values = {"system": list(planned.systems), "bucket": buckets, "lane": list(planned.lanes)}
    values["answered"] = list(planned.questions.subjects)
    left_out = () if OBJECTS_METRIC in config["metrics"] else OF_OBJECTS
    for rule, keys in WILDCARDS.items():
        if rule in left_out:
            continue
        for combination in itertools.product(*(values[key] for key in keys)):
            yield rule, dict(zip(keys, combination, strict=True))


def _larger(one: Asked, other: Asked) -> Asked:
    """The most of both; named after the one that asks for more memory."""
    rule = one.rule if one.memory_mb >= other.memory_mb else other.rule
    return Asked(max(one.memory_mb, other.memory_mb), max(one.minutes, other.minutes), max(one.threads, other.threads), rule)
