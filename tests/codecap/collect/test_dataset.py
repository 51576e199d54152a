"""The data set's table: what the filter keeps, unless a person decided otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from codecap.clips_table import read_clips
from codecap.collect.dataset import tabulate
from codecap.filtering.decisions import Decision, cut_of
from codecap.records import Clip, Ingested, Verdict


@pytest.fixture
def clips(tmp_path: Path) -> list[Clip]:
    made = []
    for clip_id in ("A_kept", "B_dropped", "C_other"):
        mp4 = tmp_path / "store" / f"{clip_id}.mp4"
        mp4.parent.mkdir(exist_ok=True)
        mp4.write_bytes(clip_id.encode())
        made.append(Clip(clip_id=clip_id, category=clip_id[0], mp4=mp4, sha256="ab" * 32, frames=48, width_px=2, height_px=2))
    return made


def decision(clip: Clip, what: str, cut: str = "") -> Decision:
    return Decision(clip_id=clip.clip_id, cut=cut or cut_of(clip), decision=what, who="Ada", decided_at="2026-11-30T10:00:00+00:00")


def test_people_go_before_the_filter(clips: list[Clip], tmp_path: Path) -> None:
    verdicts = [
        Verdict(clip_id=clip.clip_id, decision=said, features={}, reasons=["so it looks"])
        for clip, said in zip(clips, ("keep", "drop", "drop"), strict=True)
    ]
    gone = clips[0].model_copy(update={"clip_id": "A_kept_f000048"})
    told = [
        decision(gone, "keep"),
        decision(clips[0], "drop"),
        decision(clips[1], "keep"),
        decision(clips[2], "keep", cut="of another original:0.000-"),
    ]
    tabulate(
        ingested=[*(Ingested(source=f"of {clip.clip_id}", status="ok", clip=clip) for clip in clips)],
        verdicts=verdicts,
        drafts=[],
        clips_table=tmp_path / "clips.tsv",
        verdicts_table=tmp_path / "verdicts.tsv",
        annotations=tmp_path / "annotations",
        clips_folder=tmp_path / "clips",
        decisions={row.clip_id: row for row in told},
    )
    assert [clip.clip_id for clip in read_clips(tmp_path / "clips.tsv", folder=tmp_path / "clips")] == ["B_dropped"]
    lines = [line.split("\t") for line in (tmp_path / "verdicts.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    assert [line[2] for line in lines] == ["drop", "keep", "drop", "none"]
    assert lines[3][1:] == ["A_kept_f000048", "none", "Ada said keep on 2026-11-30, of a clip that this run has not"]
    assert lines[1][3] == "Ada said keep on 2026-11-30; the filter said drop; so it looks"
    assert "of another cut of it: review it again" in lines[2][3]
