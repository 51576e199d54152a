"""From the parts of originals to rows of clips."""

import pytest
from drawn import figures, pictures, write

from codecap.collect.clips import ingest_shard
from codecap.records import Candidate, Original, Part, PassedOver
from codecap.video import file_sha256, read_frames


@pytest.fixture
def film(tmp_path):
    return write(tmp_path / "film.mp4", pictures(figures(0), 4))


def original(name, path=None, whole=False, **told):
    candidate = Candidate(
        candidate_id=name, source="site", locator=f"https://example.org/{name}", category="B", licence="CC0-1.0", whole=whole
    )
    return Original(
        candidate=candidate, status="ok" if path else "failed", path=path, sha256=file_sha256(path) if path else "", **told
    )


def part(name, start, stop):
    return Part(candidate_id=name, clip_id=f"{name}_f{start:06d}", start=start, stop=stop)


def test_each_part_is_a_clip_of_its_own_frames(film, tmp_path):
    rows = list(ingest_shard([original("x", film)], [part("x", 0, 30), part("x", 48, 96)], [], {}, "code", tmp_path / "bulk"))
    clips = [row.clip for row in rows]
    assert [(clip.clip_id, clip.frames, clip.source_start_s, clip.source_end_s) for clip in clips] == [
        ("x_f000000", 30, 0.0, 1.25),
        ("x_f000048", 48, 2.0, 4.0),
    ]
    assert {(clip.category, clip.licence, clip.source) for clip in clips} == {
        ("B", "CC0-1.0", f"film.mp4 sha256:{file_sha256(film)}")
    }
    assert {row.source for row in rows} == {"https://example.org/x"}
    assert [len(list(read_frames(clip.mp4))) for clip in clips] == [30, 48]


def test_a_whole_one_has_the_candidates_name_and_no_end(film, tmp_path):
    whole = Part(candidate_id="x", clip_id="x", start=0, stop=96)
    (row,) = ingest_shard([original("x", film, whole=True)], [whole], [], {}, "code", tmp_path / "bulk")
    assert (row.clip.clip_id, row.clip.frames, row.clip.source_start_s, row.clip.source_end_s) == ("x", 96, 0.0, None)


def test_what_has_no_clip_has_a_row_that_says_why(film, tmp_path):
    originals = [original("gone", reason="404"), original("twin", film), original("new", film), original("short", film)]
    passed_over = [PassedOver(candidate_id="twin", reason="shows what x shows")]
    rows = list(ingest_shard(originals, [part("short", 60, 200)], passed_over, {}, "code", tmp_path / "bulk"))
    assert [row.status for row in rows] == ["failed"] * 4
    reasons = [row.reason for row in rows]
    assert reasons[:3] == ["404", "shows what x shows", "has no part; choose the parts anew"]
    assert "frames 60 to 200 are asked for" in reasons[3]


def test_nothing_is_ingested_twice_and_another_cut_is_another_item(film, tmp_path):
    def made(*parts):
        return [row.clip for row in ingest_shard([original("x", film)], parts, [], {}, "code", tmp_path / "bulk")]

    first = made(part("x", 0, 30))
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "bulk").rglob("*.mp4")}
    assert made(part("x", 0, 30), part("x", 40, 60))[0] == first[0]
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert made(part("x", 0, 40))[0].mp4 != first[0].mp4
