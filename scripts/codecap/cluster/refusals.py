"""Jobs that SLURM did not take: why, in its own words, and in the journals of their shards, for those who look how far a run is."""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace

from codecap.shards import Journals, Mark

SAID = "SLURM took no job: "
CURE = "`codecap slurm check` says which settings do not fit"
BEGINS = r"(?:SLURM sbatch failed\. The error message was '|Job submission failed with exception: )"  # of the executor's message
_WORDS = re.compile(rf"{BEGINS}(.*?)(?:'\.\s+sbatch call:.*)?$", re.DOTALL)


def in_words(message: str) -> str:
    """What the executor reports of a submission, without the call.

    >>> in_words("SLURM sbatch failed. The error message was 'sbatch: error: invalid\\nsbatch: error: failed'.\\n  sbatch call: x")
    'invalid; failed'
    """
    found = _WORDS.search(message)
    return plain(found[1] if found else message)


def plain(said: str) -> str:
    """sbatch's lines as one, without its name."""
    parts = [" ".join(part.split()) for part in said.split("sbatch: error:") if part.strip()]
    return "; ".join(parts).rstrip(".")


def is_kept(mark: Mark | None) -> bool:
    """Whether a journal says that its shard's job was refused, and nothing else of this run's."""
    return mark is not None and mark.state == "failed" and mark.detail.startswith(SAID)


def keep(journals: Journals, run: str, shard: str, words: str) -> None:
    """Have a shard's journal say that its job was refused, where no other try of this run has said anything.

    Args:
        run: which run this is, see `codecap.shards.this_run`.
    """
    before = journals.read(shard)
    if before is not None and before.run == run and not is_kept(before):
        return
    if before is not None and before.state == "finished":
        return  # a try of rows that failed: the files that the others name are still needed
    before = before or Mark(shard, this_try=journals.next_try(shard))
    detail = f"{SAID}{words}; {CURE}"
    with contextlib.suppress(OSError):  # a full disk: the terminal says it too
        journals.write(shard, replace(before, state="failed", run=run, detail=detail, cause="", trace="", log="", for_good=False))
