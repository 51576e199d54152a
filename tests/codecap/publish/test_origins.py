"""Where a clip came from, though the ledger has gone on since it was cut."""

from __future__ import annotations

from pathlib import Path

from codecap.publish.origins import Origin, origins_of, why_not_to_be_had
from codecap.records import Candidate, Clip, LedgerEntry

OLD, NEW = "a" * 64, "b" * 64
SOURCES = {"site": {"plugin": "http"}}


def clip(source: str = f"one.mp4 sha256:{OLD}") -> Clip:
    return Clip(
        clip_id="A_one_f000048", category="A", mp4=Path("a.mp4"), sha256="c" * 64, frames=48, width_px=2, height_px=2,
        source=source, source_start_s=2.0, source_end_s=4.0,
    )  # fmt: skip


def entry(status: str = "fetched", candidate_id: str = "A_one", **told) -> LedgerEntry:
    candidate = Candidate(candidate_id=candidate_id, source="site", locator=f"https://example.org/{candidate_id}.mp4")
    return LedgerEntry(**{"candidate": candidate, "status": status, "sha256": OLD, "size_bytes": 7} | told)


def origin(*entries: LedgerEntry, of: Clip | None = None, sources: dict = SOURCES) -> Origin | None:
    return next(origins_of([of or clip()], entries, sources))[1]


def test_the_clips_own_row_says_of_which_bytes_it_was_cut() -> None:
    """Its site gives out other bytes by now: a clip of these would be another one."""
    found = origin(entry(sha256=NEW, size_bytes=9, clips=["A_one_f000048"]))
    assert (found.sha256, found.size_bytes, found.candidate.locator) == (OLD, 0, "https://example.org/A_one.mp4")
    assert (found.start, found.stop) == (48, 96)


def test_a_video_that_is_gone_keeps_its_address() -> None:
    """The ledger counts no clips of it any more; the digest is still there."""
    found = origin(entry("gone"))
    assert (found.candidate.candidate_id, found.plugin, found.size_bytes) == ("A_one", "http", 7)
    assert why_not_to_be_had(found) == ""


def test_of_two_with_the_same_bytes_the_one_that_was_kept() -> None:
    assert origin(entry("duplicate", "A_twin", twin="A_one"), entry()).candidate.candidate_id == "A_one"


def test_a_clip_that_nobody_knows_anything_of() -> None:
    assert origin(entry(), of=clip("drawn by hand")) is None
    assert why_not_to_be_had(None) == "nobody knows from which file it was cut"
    assert origin(entry(clips=["A_one_f000048"]), of=clip("drawn by hand")).sha256 == OLD


def test_a_source_that_has_left_the_configuration() -> None:
    found = origin(entry(), sources={})
    assert found.plugin == "" and "no source 'site' is in the configuration" in why_not_to_be_had(found)


def test_an_address_that_holds_a_key_is_of_no_use_to_others() -> None:
    signed = Candidate(candidate_id="A_one", source="site", locator="https://example.org/a.mp4?v=1&X-Amz-Signature=5ec2e7")
    found = origin(entry(candidate=signed))
    assert found.candidate.locator == "https://example.org/a.mp4?v=1&X-Amz-Signature="
    assert "held a secret" in why_not_to_be_had(found)
