"""What there is to publish: the benchmark's clips table with its annotations, and the ledger of their collection."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codecap import config as configuration
from codecap import plan
from codecap.annotate.approved import gather
from codecap.clips_table import read_clips
from codecap.collect.ledger import KEPT
from codecap.errors import UserError
from codecap.filtering.decisions import of_config
from codecap.publish.export import Material
from codecap.records import Annotation, LedgerEntry, read_rows

LEDGER = plan.RESULTS / "1_collect" / "ledger.jsonl"
MOST_TOLD = 5


def read_material(config: Mapping[str, Any], ledger: Path | None = None) -> Material:
    """The committed data set that a configuration names.

    Args:
        ledger: of the collection; by default the one of the run in the working folder, else, of the durable store's, if there is
            one, what concerns the configuration's sources.

    Raises:
        UserError: the clips table, an annotation or the ledger cannot be read.
    """
    if ledger is not None and not ledger.is_file():
        raise UserError(f"{ledger}: no such file; name the collection's ledger.jsonl, or leave --ledger out")
    kept = Path(config["store"]["durable"]) / KEPT
    found = next((path for path in (ledger, LEDGER, kept) if path is not None and path.is_file()), None)
    table = configuration.find(config["clips"])
    if not table.is_file():
        raise UserError(f"{table}: no such clips table; name a configuration whose `clips` is there with --config")
    clips = read_clips(table, plan.clips_folder(config, table))
    approved = configuration.find(config["annotations_folder"])
    annotations, _ = gather([clip for clip in clips if (approved / f"{clip.clip_id}.json").exists()], approved)
    wrong = [told for told in annotations.values() if isinstance(told, str)]
    if wrong:
        more = f"\n  and {len(wrong) - MOST_TOLD} more" if len(wrong) > MOST_TOLD else ""
        raise UserError("annotations cannot be published:\n  " + "\n  ".join(wrong[:MOST_TOLD]) + more)
    rows = read_rows(found, LedgerEntry) if found else []
    return Material(
        clips=clips,
        annotations={clip_id: told for clip_id, told in annotations.items() if isinstance(told, Annotation)},
        ledger=[entry for entry in rows if found != kept or entry.candidate.source in config["sources"]],
        decisions=of_config(config),
        config=config,
    )
