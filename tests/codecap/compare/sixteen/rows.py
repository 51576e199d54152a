"""The rows of the made-up benchmark.

Each number is a system's base plus a swing that is added on the first, third, ... clip and taken away on the others. So the mean
over any even run of clips is the base; of 40 clips drawn anew, the share of the even ones is binomial, and the ends of an interval
are base -+ 0.3 swings (14 and 26 of 40 are the 2.5th and 97.5th percentile). What is not plain:

    a03  has the numbers of a02
    a04  failed on 4 clips (A_01, A_02, B_01, B_02), n11 on 8, n12 on 2
    a05  we failed at 2 clips
    a06  2 videos have no visual similarity
    a07  one object of its first video has no number
    a08  swings against the others, so that its difference to a09 varies; a08, a09, a10 are one model at three efforts
    a01  its judge was asked three times
    n13  is filmed from captions of n11's model
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codecap.compare.columns import MetricInfo
from codecap.records import (
    AnnotatedObject,
    Annotation,
    Caption,
    Clip,
    FocalPoint,
    Outcome,
    Render,
    Score,
    Usage,
)

METRICS = [
    MetricInfo("visual_similarity", "Visual similarity", "", -1, 1, True),
    MetricInfo("object_iou", "Object IoU", "%", 0, 100, True, "objects"),
    MetricInfo("retention", "Retention", "", 0, 100, True, "focal_points"),
    MetricInfo("appearance", "AS", "", -1, 1, True),
    MetricInfo("mps", "MPS", "", 0, 1, True),
    MetricInfo("kss", "KSS", "", -1, 1, True),
    MetricInfo("code_size", "Code size", "bytes", 0, None, False),
]
CLIPS = [f"{letter}_{number:02d}" for letter in "ABCEF" for number in range(1, 9)]
POINTS = {"s1": "static", "s2": "static", "d1": "dynamic", "d2": "dynamic"}
SWING = {"object_iou": 5.0, "static": 4.0, "dynamic": 6.0}
SMALL_SWING = 0.01  # of cosines

T, H, R = Outcome.GENERATION_TIMEOUT, Outcome.NO_COMPLETE_HTML, Outcome.REFUSED
E, S, L, B = Outcome.RUNTIME_ERROR, Outcome.MISSING_SEEK, Outcome.RENDER_TIMEOUT, Outcome.RENDER_CRASH
COSTS = {"a02": 0.2, "a03": 0.2, "a08": 0.1, "a09": 0.3, "a10": 1.4}  # US dollars a caption; of the other agents 0.5
FAILED = {
    "a04": dict(zip(("A_01", "A_02", "B_01", "B_02"), (T, T, T, H), strict=True)),
    "a05": dict.fromkeys(("C_01", "C_02"), Outcome.INFRA_ERROR),
    "n11": dict(zip(CLIPS[:8], (E, E, E, S, S, L, L, B), strict=True)),
    "n12": dict.fromkeys(("F_07", "F_08"), R),
}


@dataclass(frozen=True)
class Base:
    similarity: float
    iou: float
    static: float
    dynamic: float
    reconstruction: tuple[float, float, float]  # AS, MPS, KSS
    swing: int = 1


BASES = {
    "a01": Base(0.96, 80, 90, 70, (0.90, 0.60, 0.80)),
    "a02": Base(0.94, 70, 80, 60, (0.88, 0.58, 0.78)),
    "a03": Base(0.94, 70, 80, 60, (0.88, 0.58, 0.78)),
    "a04": Base(0.90, 60, 70, 50, (0.80, 0.50, 0.70)),
    "a05": Base(0.88, 50, 66, 44, (0.78, 0.48, 0.68)),
    "a06": Base(0.86, 45, 60, 40, (0.76, 0.46, 0.66)),
    "a07": Base(0.84, 40, 56, 36, (0.74, 0.44, 0.64)),
    "a08": Base(0.76, 20, 40, 20, (0.60, 0.40, 0.50), swing=-1),
    "a09": Base(0.80, 30, 50, 30, (0.64, 0.42, 0.54)),
    "a10": Base(0.82, 35, 54, 34, (0.66, 0.43, 0.56)),
    "n11": Base(0.92, 65, 75, 55, (0.90, 0.55, 0.80)),
    "n12": Base(0.85, 55, 68, 48, (0.80, 0.50, 0.70)),
    "n13": Base(0.70, 15, 30, 10, (0.65, 0.50, 0.60)),
    "blank": Base(0.10, 0, 0, 0, (0.10, 0.00, 0.20), swing=0),
    "still": Base(0.60, 25, 80, 10, (0.70, 0.00, 0.60)),
    "reference": Base(1.00, 100, 100, 100, (1.00, 1.00, 1.00), swing=0),
}


def endpoint(model: str, thinking: str = "medium") -> dict[str, str]:
    return {"api": "openai", "model": model, "thinking": thinking}


MODELS: dict[str, dict[str, Any]] = {
    "a01": {"label": "Astra", "harness": "codex", "agentic": True, "endpoint": endpoint("gpt-6-astra")},
    "a02": {"label": "Twin one", "harness": "pi", "agentic": True, "endpoint": endpoint("twin")},
    "a03": {"label": "Twin two", "harness": "pi", "agentic": True, "endpoint": endpoint("twin")},
    "a04": {"label": "R&D_v2 50% {$x}", "harness": "pi", "agentic": True, "endpoint": endpoint("odd name")},
    "a05": {"label": "Lost two", "harness": "pi", "agentic": True, "endpoint": endpoint("five")},
    "a06": {"label": "Unmeasured", "harness": "pi", "agentic": True, "endpoint": endpoint("six")},
    "a07": {"label": "One object less", "harness": "pi", "agentic": True, "endpoint": endpoint("seven")},
    "a08": {"label": "Sol, low", "harness": "pi", "agentic": True, "series": "Sol", "endpoint": endpoint("sol", "low")},
    "a09": {"label": "Sol, medium", "harness": "pi", "agentic": True, "series": "Sol", "endpoint": endpoint("sol")},
    "a10": {"label": "Sol, xhigh", "harness": "pi", "agentic": True, "series": "Sol", "endpoint": endpoint("sol", "xhigh")},
    "n11": {"label": "Direct", "harness": "direct", "endpoint": endpoint("gpt-5.6-sol")},
    "n12": {"label": "Refusing", "harness": "direct", "endpoint": endpoint("twelve")},
    "n13": {"label": "Filmed", "harness": "caption_to_video", "captions_of": "words"},
    "blank": {"label": "Empty page", "harness": "vtrace", "role": "floor"},
    "still": {"label": "First frame", "harness": "vtrace", "role": "floor"},
    "reference": {"label": "Reference itself", "harness": "reference", "role": "ceiling"},
}
TEXTS = {"words": {"label": "In words", "harness": "describe", "endpoint": endpoint("gpt-5.6-sol")}}


def clips() -> list[Clip]:
    """Of 10 s, the last of each category 20 s."""
    return [
        Clip(
            clip_id=name, category=name[0], mp4=Path(f"{name}.mp4"), sha256="0", frames=480 if name.endswith("8") else 240,
            width_px=64, height_px=48,
        )
        for name in CLIPS
    ]  # fmt: skip


def annotations() -> list[Annotation]:
    return [
        Annotation(
            clip_id=name,
            objects=[AnnotatedObject(name=of, boxes_xyxy=[(0, 0, 1, 1)]) for of in ("o1", "o2")],
            focal_points=[
                FocalPoint(focal_id=focal_id, kind=kind, description="it is there", start_s=0, end_s=1 if kind == "static" else 3)
                for focal_id, kind in POINTS.items()
            ],
        )
        for name in CLIPS
    ]


def outcome_of(system: str, clip_id: str) -> Outcome:
    return FAILED.get(system, {}).get(clip_id, Outcome.OK)


def captions() -> Iterator[Caption]:
    """What they took swings too: a mean of 10 rounds, 10 minutes, 1,100 tokens and 10 tool calls of an agent."""
    for system, entry in MODELS.items():
        for place, name in enumerate(CLIPS):
            sign, outcome, agent = (-1) ** place, outcome_of(system, name), bool(entry.get("agentic"))
            calls = {"view_reference": 4 + sign, "analyse_frames": 2 - sign, "write_code": 3, "render_compare": 1}
            yield Caption(
                system=system, clip_id=name, key="k",
                outcome=outcome if outcome in (T, H, R, Outcome.INFRA_ERROR) else Outcome.OK,
                cost_usd=COSTS.get(system, 0.5) * (1 + 0.2 * sign) if agent else None, rounds=10 + 2 * sign if agent else None,
                wall_s=600.0 + 60 * sign if agent else None,
                usage=Usage(input_uncached=1000 + 100 * sign, output=100) if agent else Usage(),
                tool_calls=calls if agent else {}, harness_version=f"{entry['harness']} 1.0",
            )  # fmt: skip


def renders() -> Iterator[Render]:
    for system in MODELS:
        for name in CLIPS:
            if outcome_of(system, name) not in (T, H, R, Outcome.INFRA_ERROR):
                yield Render(system=system, clip_id=name, key="k", outcome=outcome_of(system, name), protocol="chromium")


def scores(mixed: bool = False) -> Iterator[Score]:
    """
    Args:
        mixed: one number of KSS was made in another way.
    """
    for system, base in BASES.items():
        for place, name in enumerate(CLIPS):
            if outcome_of(system, name) is Outcome.OK:
                for score in _of_video(system, name, base, base.swing * (-1) ** place):
                    odd = mixed and (score.metric, system, name) == ("kss", "a02", "E_03")
                    yield score.model_copy(update={"protocol": "kss by another library"}) if odd else score


def _of_video(system: str, name: str, base: Base, sign: int) -> Iterator[Score]:
    def row(metric: str, value: float | None, **more: Any) -> Score:
        status = "unscored" if value is None else "ok"
        return Score(metric=metric, system=system, clip_id=name, value=value, status=status, protocol=f"{metric} as ever", **more)

    lost = system == "a06" and name in ("A_03", "A_04")
    yield row("visual_similarity", None if lost else base.similarity + SMALL_SWING * sign)
    for metric, value in zip(("appearance", "mps", "kss"), base.reconstruction, strict=True):
        yield row(metric, value)
    yield row("code_size", 1000.0 + 10 * sign)
    for item, beside in (("o1", 10.0), ("o2", -10.0)):
        gone = system == "a07" and name == "A_01" and item == "o2"
        beside = 0.0 if system in ("blank", "reference") else beside
        yield row("object_iou", None if gone else base.iou + beside + SWING["object_iou"] * sign, item=item)
    for item, kind in POINTS.items():
        given = [4.0, 4.0, 5.0] if kind == "static" else [3.0, 3.0, 3.0]
        value = (base.static if kind == "static" else base.dynamic) + SWING[kind] * sign
        yield row("retention", value, item=item, kind=kind, given=given if system == "a01" else [])
