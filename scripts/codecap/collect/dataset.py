"""The data set as a table: the clips that were kept, and why the others were not."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from codecap import store
from codecap.clips_table import write_clips
from codecap.filtering.decisions import Decision, decided
from codecap.records import Annotation, Clip, Ingested, Verdict, write_record, write_whole


def tabulate(
    *,
    ingested: Sequence[Ingested],
    verdicts: Sequence[Verdict],
    drafts: Sequence[Annotation],
    clips_table: Path,
    verdicts_table: Path,
    annotations: Path,
    clips_folder: Path,
    decisions: Mapping[str, Decision] | None = None,
) -> None:
    """Write what a person reviews and commits.

    Args:
        decisions: of people, by clip id; they go before the verdicts.
        clips_table: gets the kept clips; their `mp4` paths are relative to `clips_folder`.
        verdicts_table: gets one line an original: decision, reasons, source; and one a decision about a clip that is not there.
        annotations: folder that gets one `<clip_id>.json` a kept clip.
        clips_folder: where the kept clips' videos are put, under their ids (as links where the filesystem allows it).
    """
    found = {verdict.clip_id: verdict for verdict in verdicts}
    kept: list[Clip] = []
    lines = ["source\tclip_id\tdecision\treasons\n"]
    for row in ingested:
        if row.clip is None:
            lines.append(_line(row.source, "", "failed", row.reason))
            continue
        verdict = found.get(row.clip.clip_id)
        if verdict is not None:
            verdict = decided(verdict, row.clip, decisions or {})
        decision = "failed" if verdict is None else verdict.decision
        lines.append(_line(row.source, row.clip.clip_id, decision, "; ".join(verdict.reasons) if verdict else "no verdict"))
        if decision == "keep":
            kept.append(row.clip.model_copy(update={"mp4": _placed(row.clip, clips_folder)}))
    lines += _lapsed(decisions or {}, {row.clip.clip_id for row in ingested if row.clip is not None})
    write_clips(clips_table, kept, folder=clips_folder)
    write_whole(verdicts_table, lines)
    annotations.mkdir(parents=True, exist_ok=True)
    for draft in drafts:
        write_record(annotations / f"{draft.clip_id}.json", draft)


def _lapsed(decisions: Mapping[str, Decision], known: Collection[str]) -> Iterator[str]:
    """Decisions about clips that this run has not: of another data set, or of a stretch that is cut otherwise now."""
    for clip_id, told in sorted(decisions.items()):
        if clip_id not in known:
            said = f"{told.who} said {told.decision} on {told.decided_at[:10]}, of a clip that this run has not"
            yield _line("", clip_id, "none", said)


def _line(*cells: str) -> str:
    return "\t".join(" ".join(cell.split()) for cell in cells) + "\n"


def _placed(clip: Clip, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"{clip.clip_id}.mp4"
    draft = folder / f".{clip.clip_id}.draft.mp4"
    draft.unlink(missing_ok=True)
    try:
        os.link(clip.mp4, draft)
    except OSError:  # another filesystem, one without links, or a packed clip
        store.open_at(clip.mp4, lambda place: shutil.copyfile(place, draft))
    draft.replace(place)
    return place
