"""Refused jobs, in the words that the executor (2.8) reported of them on SLURM 22.05, and in the journals."""

import pytest

from codecap.cluster import refusals
from codecap.shards import Journals, Mark

SHARD = "render_captions/still/00"
PARTITION = """SLURM sbatch failed. The error message was 'sbatch: error: invalid partition specified: nope
sbatch: error: Batch job submission failed: Invalid partition name specified'.
    sbatch call:
        sbatch --parsable --comment rule_a -p nope --wrap="x"
"""
ACCOUNT = """Job submission failed with exception: The given account rich appears to be invalid. Available accounts:
root, benchmark"""


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (PARTITION, "invalid partition specified: nope; Batch job submission failed: Invalid partition name specified"),
        (ACCOUNT, "The given account rich appears to be invalid. Available accounts: root, benchmark"),
        ("something else.", "something else"),
    ],
)
def test_words(message, words):
    assert refusals.in_words(message) == words


@pytest.fixture
def journals(tmp_path) -> Journals:
    return Journals(tmp_path / "shards")


def test_the_last_refusal_of_a_run_is_kept(journals):
    for words in ("one", "other"):
        refusals.keep(journals, "run", SHARD, words)
    mark = journals.read(SHARD)
    assert mark.state == "failed" and mark.detail == f"SLURM took no job: other; {refusals.CURE}" and refusals.is_kept(mark)


@pytest.mark.parametrize("state", ["running", "stopped", "failed"])
def test_what_another_try_of_the_run_has_said_stays(journals, state):
    journals.write(SHARD, before := Mark(SHARD, run="run", state=state, detail="said"))
    refusals.keep(journals, "run", SHARD, "no")
    assert journals.read(SHARD) == before
    refusals.keep(journals, "next run", SHARD, "no")
    assert refusals.is_kept(journals.read(SHARD))
