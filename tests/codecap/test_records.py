"""Rows: what they refuse, and messages that name the place."""

import pytest
from pydantic import ValidationError

from codecap.clips_table import read_clips, write_clips
from codecap.records import (
    AnnotatedObject,
    Annotation,
    Caption,
    Clip,
    FocalPoint,
    Outcome,
    RecordError,
    Score,
    read_rows,
    write_rows,
)


def clip(clip_id="A_001", **told):
    return Clip(clip_id=clip_id, category="A", mp4=f"{clip_id}.mp4", sha256="0" * 64, frames=24, width_px=64, height_px=48, **told)


def test_which_outcomes_score_zero():
    assert [outcome for outcome in Outcome if not outcome.scores_zero] == [Outcome.OK, Outcome.INFRA_ERROR]


def test_rows_come_back_as_written(tmp_path):
    path = tmp_path / "rows" / "clips.jsonl"
    write_rows(path, Clip, [clip(), clip("B_002", source="a\tb")])
    assert [row.clip_id for row in read_rows(path, Clip)] == ["A_001", "B_002"]
    assert [child.name for child in path.parent.iterdir()] == ["clips.jsonl"]


def test_a_bad_line_is_named(tmp_path):
    path = tmp_path / "clips.jsonl"
    path.write_text(clip().model_dump_json() + '\n{"clip_id": "A_002"}\n')
    rows = read_rows(path, Clip)
    assert next(rows).clip_id == "A_001"
    with pytest.raises(RecordError, match=rf"{path}:2: not a valid Clip: .*category"):
        next(rows)


def test_a_failing_writer_leaves_the_old_file(tmp_path):
    path = tmp_path / "clips.jsonl"
    write_rows(path, Clip, [clip()])

    def rows():
        yield clip("A_002")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_rows(path, Clip, rows())
    assert [row.clip_id for row in read_rows(path, Clip)] == ["A_001"]
    assert len(list(tmp_path.iterdir())) == 1


def test_unknown_fields_are_refused():
    with pytest.raises(ValidationError, match="colour"):
        clip(colour="red")


@pytest.mark.parametrize("clip_id", ["", "../x", "a b", "x/y", ".hidden", "a" * 81])
def test_a_clip_id_is_a_plain_name(clip_id):
    with pytest.raises(ValidationError):
        clip(clip_id)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_score_is_finite_or_absent(value):
    with pytest.raises(ValidationError, match="finite"):
        Score(metric="kss", system="s", clip_id="A_001", value=value, status="ok")


def test_annotations_refuse_what_cannot_be():
    with pytest.raises(ValidationError, match="not after"):
        FocalPoint(focal_id="f", kind="static", description="d", start_s=2, end_s=2)
    twice = AnnotatedObject(name="ball", boxes_xyxy=[None])
    with pytest.raises(ValidationError, match="ball occurs more than once"):
        Annotation(clip_id="A_001", objects=[twice, twice])


def test_a_clips_table_comes_back_with_paths_beside_it(tmp_path):
    table = tmp_path / "clips.tsv"
    write_clips(table, [clip("B_001", source="tab\there").model_copy(update={"mp4": tmp_path / "b.mp4"}), clip()])
    clips = read_clips(table)
    assert [row.clip_id for row in clips] == ["A_001", "B_001"]
    assert clips[1].mp4 == tmp_path / "b.mp4"
    assert clips[1].source == "tab here"
    assert read_clips(table, folder=tmp_path / "elsewhere")[1].mp4 == tmp_path / "elsewhere" / "b.mp4"


def test_a_clip_id_used_twice_is_named_with_its_line_and_the_others_are_read(tmp_path):
    table = tmp_path / "clips.tsv"
    write_clips(table, [clip("A_001"), clip("A_002")])
    with table.open("a") as file:
        file.write(table.read_text().splitlines()[1] + "\n")
    with pytest.raises(RecordError, match=r"clips.tsv:4: clip id 'A_001' is used twice"):
        read_clips(table)
    problems = []
    assert [row.clip_id for row in read_clips(table, problems=problems)] == ["A_002"]
    assert len(problems) == 1


def test_a_bad_value_and_an_unknown_column_are_named(tmp_path):
    table = tmp_path / "clips.tsv"
    write_clips(table, [clip("A_001"), clip("A_002")])
    table.write_text(table.read_text().replace("\t24\t", "\tmany\t", 1))
    problems = []
    assert [row.clip_id for row in read_clips(table, problems=problems)] == ["A_002"]
    assert "clips.tsv:2: not a valid clip: frames" in problems[0]
    table.write_text(table.read_text().replace("clip_id", "clipid", 1))
    with pytest.raises(RecordError, match="unknown column clipid"):
        read_clips(table)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.encode("utf-16"), "not a text file in UTF-8"),
        (lambda text: text.replace("sha256", "", 1).encode(), "unknown column|no column sha256"),
        (lambda text: "\n".join(line.split("\t")[0] for line in text.splitlines()).encode(), "no column category, mp4"),
    ],
)
def test_a_table_that_is_none_is_told_once(tmp_path, change, words):
    table = tmp_path / "clips.tsv"
    write_clips(table, [clip("A_001"), clip("A_002")])
    table.write_bytes(change(table.read_text()))
    with pytest.raises(RecordError, match=words):
        read_clips(table)


def test_a_table_from_a_spreadsheet_is_read(tmp_path):
    """A byte-order mark, CRLF, and a stray quotation mark, which is a character like any other."""
    table = tmp_path / "clips.tsv"
    write_clips(table, [clip("A_001", source='a "clip'), clip("A_002"), clip("A_003")])
    table.write_bytes(b"\xef\xbb\xbf" + table.read_text().replace("\n", "\r\n").encode())
    clips = read_clips(table)
    assert [row.clip_id for row in clips] == ["A_001", "A_002", "A_003"]
    assert clips[0].source == 'a "clip'


def test_a_row_with_too_many_cells_is_left_out_and_named(tmp_path):
    table = tmp_path / "clips.tsv"
    write_clips(table, [clip("A_001"), clip("A_002")])
    lines = table.read_text().splitlines()
    table.write_text("\n".join([lines[0], lines[1] + "\tmore", lines[2]]) + "\n")
    problems = []
    assert [row.clip_id for row in read_clips(table, problems=problems)] == ["A_002"]
    assert "clips.tsv:2: has more cells" in problems[0]


def test_what_no_file_can_hold_is_replaced_in_what_others_say(tmp_path):
    told = Caption(system="s", clip_id="A_001", key="k", outcome=Outcome.NO_COMPLETE_HTML, detail="half \ud83d, \udcff.html, é")
    write_rows(tmp_path / "rows.jsonl", Caption, [told])
    assert [row.detail for row in read_rows(tmp_path / "rows.jsonl", Caption)] == ["half ?, ?.html, é"]
