"""What people decide: read, merged, and put before the filter's verdict."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from codecap.filtering.decisions import Decision, cut_of, decided, digest_of, kept, of_config, read_decisions, take_over
from codecap.records import Clip, RecordError, Verdict

HEADER = "clip_id\tcut\tdecision\twho\tdecided_at\tnote\n"


def clip(clip_id: str = "A_1", source: str = f"a.webm sha256:{'0123456789abcdef' * 4}", start_s: float = 1.5) -> Clip:
    return Clip(
        clip_id=clip_id, category="A", mp4=Path("a.mp4"), sha256="f" * 64, frames=48, width_px=2, height_px=2,
        source=source, source_start_s=start_s, source_end_s=start_s + 2,
    )  # fmt: skip


def line(decision: str = "keep", who: str = "Ada", at: str = "2026-11-30T10:00:00Z", of: Clip | None = None, note: str = "") -> str:
    of = of or clip()
    return "\t".join([of.clip_id, cut_of(of), decision, who, at, note]) + "\n"


def write(path: Path, *lines: str) -> Path:
    path.write_text(HEADER + "".join(lines), encoding="utf-8")
    return path


def verdict(decision: str = "drop") -> Verdict:
    return Verdict(clip_id="A_1", decision=decision, features={"keep_chance": 0.4}, reasons=["textured all over"])


def test_a_cut_is_known_by_its_original_and_its_seconds_not_by_how_it_is_encoded() -> None:
    again = clip().model_copy(update={"sha256": "0" * 64})
    assert cut_of(again) == cut_of(clip()) == "0123456789abcdef:1.500-3.500"
    assert cut_of(clip(start_s=2.0)) != cut_of(clip())
    assert cut_of(clip(source="drawn by hand")) == "ffffffffffffffff:1.500-3.500"


def test_a_person_goes_before_the_filter_and_both_stay_told(tmp_path: Path) -> None:
    found = read_decisions(write(tmp_path / "d.tsv", line(note="a chart, in spite of its ground")))
    judged = decided(verdict(), clip(), found)
    assert judged.decision == "keep"
    assert judged.reasons == [
        "Ada said keep on 2026-11-30: a chart, in spite of its ground", "the filter said drop", "textured all over",
    ]  # fmt: skip
    assert decided(verdict("keep"), clip(), found).reasons[1:] == ["textured all over"]
    assert [one.clip_id for one in kept([clip(), clip("A_2")], {"A_1": verdict(), "A_2": verdict()}, found)] == ["A_1"]


def test_a_decision_about_another_cut_does_not_hold(tmp_path: Path) -> None:
    found = read_decisions(write(tmp_path / "d.tsv", line()))
    judged = decided(verdict(), clip(start_s=9), found)
    assert judged.decision == "drop" and "review it again" in judged.reasons[-1]


def test_the_later_decision_holds_and_a_dispute_is_told(tmp_path: Path) -> None:
    table = tmp_path / "decisions.tsv"
    first = write(tmp_path / "ada.tsv", line())
    second = write(tmp_path / "ben.tsv", line("drop", "Ben", "2026-11-30T12:30:00+01:00"))  # an hour and a half later in UTC
    known = {"A_1": clip()}
    assert take_over([first], table, known) == (1, [])
    assert take_over([first], table, known) == (0, [])
    changed, disputes = take_over([second], table, known)
    assert changed == 1 and disputes == ["A_1: Ada says keep, Ben says drop; the later one holds"]
    assert read_decisions(table)["A_1"].who == "Ben"
    assert take_over([first], table, known)[0] == 0 and read_decisions(table)["A_1"].who == "Ben"


@pytest.mark.parametrize(("first", "last"), [("2026-11-30T10:30:00+02:00", "2026-11-30"), ("0001-01-01", "2026-11-30T10:00:00Z")])
def test_a_time_without_a_zone_is_utc(tmp_path: Path, first: str, last: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half past ten at +02:00 is half past eight in UTC: after midnight in UTC, whatever zone this machine is in."""
    monkeypatch.setenv("TZ", "Pacific/Honolulu")  # its midnight is ten in the morning in UTC
    time.tzset()
    try:
        files = [write(tmp_path / "a.tsv", line(at=first)), write(tmp_path / "b.tsv", line("drop", "Ben", last))]
        take_over(files, tmp_path / "table.tsv", {"A_1": clip()})
    finally:
        monkeypatch.undo()
        time.tzset()
    later = "keep" if first.startswith("2026") else "drop"
    assert read_decisions(tmp_path / "table.tsv")["A_1"].decision == later


def add(number: int, folder: str, clips: dict[str, Clip]) -> None:
    path = write(Path(folder) / f"{number}.tsv", line(of=clips[f"A_{number}"]))
    take_over([path], Path(folder) / "table.tsv", clips)


def test_of_those_who_decide_at_the_same_time_nobody_is_lost(tmp_path: Path) -> None:
    clips = {f"A_{number}": clip(f"A_{number}") for number in range(12)}
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda number: add(number, str(tmp_path), clips), range(12)))
    assert len(read_decisions(tmp_path / "table.tsv")) == 12


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (HEADER + line("maybe"), "d.tsv:2: decision"),
        (HEADER + line(at="yesterday"), "is no time"),
        (HEADER + line(who=""), "d.tsv:2: who"),
        (HEADER + "A_1\tx\n", "d.tsv:2: 2 cells, not 6"),
        (HEADER + line(of=clip("A_9")), "no clip 'A_9' in this run; take the line out"),
        (HEADER + line(note="x" * 200_000), "d.tsv:2: field larger than field limit"),
        (HEADER + line(of=clip(start_s=3)), "another cut by now"),
        ("clip_id,cut\n", "d.tsv:1: the columns must be"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_taken_over(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "d.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RecordError, match=told):
        take_over([path, write(tmp_path / "good.tsv", line())], tmp_path / "table.tsv", {"A_1": clip()})
    assert not (tmp_path / "table.tsv").exists()


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "d.tsv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RecordError, match="UTF-8"):
        read_decisions(tmp_path / "d.tsv")


def test_a_clip_that_is_decided_twice(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="decided twice"):
        read_decisions(write(tmp_path / "d.tsv", line(), line("drop")))


def test_the_configuration_names_the_table(tmp_path: Path) -> None:
    table = write(tmp_path / "d.tsv", line())
    assert of_config({"decisions": str(table)})["A_1"].decision == "keep"
    assert of_config({"decisions": None}) == of_config({"decisions": str(tmp_path / "none.tsv")}) == {}
    before = digest_of({"decisions": str(table)})
    write(table, line("drop"))
    assert digest_of({"decisions": str(table)}) != before and digest_of({"decisions": None}) == "none"


def test_notes_keep_to_one_cell() -> None:
    told = Decision(clip_id="A_1", cut="x", decision="keep", who="Ada", decided_at="2026-11-30", note="half \ud83d")
    assert told.note == "half ?"
