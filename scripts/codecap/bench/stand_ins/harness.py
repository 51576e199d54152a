"""Harness `stand_in`: a page that names its system and its clip. Settings: `name`, the system's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from codecap.bench.stand_ins.requests import Unreachable, item
from codecap.generate.harnesses import Made
from codecap.records import Clip, Outcome, Usage

PAGE = "<!doctype html>\n<title>{system} {clip_id}</title>\n<script>window.seek = seconds => {{}}</script>\n"


def load(settings: Mapping[str, Any]) -> StandIn:
    return StandIn(**settings)


@dataclass(frozen=True)
class StandIn:
    name: str
    kind: Literal["code", "text", "video"] = "code"
    protocol: str = "stand-in"

    def version(self) -> str:
        return "1"

    def caption(self, clip: Clip, out: Path) -> Made:
        try:
            with item("generate", self.name, clip.clip_id):
                out.write_text(PAGE.format(system=self.name, clip_id=clip.clip_id), encoding="utf-8")
        except Unreachable as why:
            return Made(outcome=Outcome.INFRA_ERROR, detail=str(why))
        usage = Usage(input_uncached=20_000, input_cache_read=180_000, output=12_000, reasoning=4_000)
        return Made(outcome=Outcome.OK, usage=usage, cost_usd=0.25, rounds=24, tool_calls={"read": 12, "write": 6})
