"""The made-up benchmark through `tabulate`."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codecap.compare.comparison import Comparison
from codecap.compare.tables import tabulate
from sixteen import rows

RESAMPLES = 2000
CONFIG = {
    "metrics": {
        "visual_similarity": {"lane": "gpu", "encoder": "vjepa2_1"},
        "object_iou": {
            "lane": "cpu",
            "prompter": "mllm",
            "prompters": {"mllm": {"endpoint": {"model": "gpt-6-sol"}}},
            "segmenter": "sam2",
        },
        "retention": {"lane": "judge", "judge": "mllm", "judges": {"mllm": {"endpoint": {"model": "gpt-6-sol"}, "repeats": 3}}},
        "appearance": {"lane": "gpu", "encoder": "dreamsim"},
        "mps": {"lane": "gpu", "tracker": "cotracker3"},
        "kss": {"lane": "cpu"},
    },
    "render": {"limit_s": 900},
    "agents": {"deadline_s": 3600},
}


@dataclass(frozen=True)
class Compared:
    made: Comparison
    folder: Path

    def table(self, name: str) -> list[dict[str, str]]:
        with (self.folder / "tables" / f"{name}.csv").open(encoding="utf-8") as file:
            return list(csv.DictReader(file))


def compare(folder: Path, mixed: bool = False, backwards: bool = False, **more: Any) -> Compared:
    """
    Args:
        mixed: see `rows.scores`.
        backwards: the rows of all stages come in another order.
    """
    step = -1 if backwards else 1
    told: dict[str, Any] = {"resamples": RESAMPLES, "config": CONFIG, "metrics": rows.METRICS}
    told |= {"annotations": rows.annotations()[::step], "scores": list(rows.scores(mixed))[::step]}
    made = tabulate(
        title="Sixteen", models=rows.MODELS, texts=rows.TEXTS, clips=rows.clips()[::step],
        captions=list(rows.captions())[::step], renders=list(rows.renders())[::step], out_dir=folder,
        **told | more,
    )  # fmt: skip
    return Compared(made, folder)
