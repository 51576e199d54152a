"""What people gave, read strictly: one message with all that is wrong, and nothing written then."""

from __future__ import annotations

from pathlib import Path

import pytest

from codecap.errors import UserError
from codecap.humans.importing import import_plain, import_sheets
from codecap.humans.sheet import KeyItem, SheetKey
from codecap.humans.shown import shown_digest
from codecap.records import HumanScore, read_rows, write_record

HEADER = "sheet,item,score,rater,scored_at\n"
AT = "2026-11-30T10:00:00.000Z"


@pytest.fixture
def key(tmp_path: Path) -> Path:
    items = [
        KeyItem(item=f"i{number}", system="nightjar", clip_id="A_one", focal_id=f"f{number}", shown=f"digest {number}")
        for number in range(4)
    ]
    write_record(tmp_path / "key.json", SheetKey(sheet="s1", seed=0, criteria=["w"] * 6, items=items))
    return tmp_path / "key.json"


def csv_file(path: Path, *lines: str, header: str = HEADER) -> Path:
    path.write_text(header + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def rows_of(folder: Path) -> list[HumanScore]:
    return [row for path in sorted(folder.glob("*.jsonl")) for row in read_rows(path, HumanScore)]


def test_scores_come_back_under_their_system_clip_and_point(key, tmp_path):
    ada = csv_file(tmp_path / "a.csv", f"s1,i2,5,Ada,{AT}", f"s1,i0,0,Ada,{AT}")
    bea = csv_file(tmp_path / "b.csv", f's1,i0,3,"Bea, ""B"" Ö",{AT}')
    written = import_sheets([ada, bea], key, tmp_path / "humans")
    assert sorted(written.values()) == [1, 2]
    rows = {(row.rater, row.focal_id): row for row in rows_of(tmp_path / "humans")}
    assert {place: row.score for place, row in rows.items()} == {("Ada", "f0"): 0, ("Ada", "f2"): 5, ('Bea, "B" Ö', "f0"): 3}
    one = rows["Ada", "f2"]
    assert (one.system, one.clip_id, one.sheet, one.shown) == ("nightjar", "A_one", "s1", "digest 2")
    assert one.scored_at == "2026-11-30T10:00:00+00:00"


def test_a_file_that_a_spreadsheet_saved_again_is_read(key, tmp_path):
    told = csv_file(tmp_path / "a.csv", f"s1,i2,5,Ada,{AT}\r", ",,,,\r", header="\ufeff" + HEADER.replace("\n", "\r\n"))
    import_sheets([told], key, tmp_path / "humans")
    assert [row.score for row in rows_of(tmp_path / "humans")] == [5]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (f"s1,i9,3,Ada,{AT}", "item 'i9' is not on the sheet"),
        (f"s2,i1,3,Ada,{AT}", "of sheet 's2', but key.json is the key of sheet 's1'"),
        (f"s1,i1,6,Ada,{AT}", "score '6' is not one of 0, 1, 2, 3, 4, 5"),
        (f"s1,i1,-1,Ada,{AT}", "score '-1' is not"),
        (f"s1,i1,3.5,Ada,{AT}", "score '3.5' is not"),
        (f"s1,i1,٣,Ada,{AT}", "score '٣' is not"),
        (f"s1,i1,,Ada,{AT}", "score '' is not"),
        (f"s1,i1,3, ,{AT}", "a rater's name has 1 to 80 characters"),
        (f"s1,i1,3,{'A' * 81},{AT}", "this one has 81"),
        ("s1,i1,3,Ada,yesterday", "scored_at 'yesterday' is no time"),
        ("s1,i1,3,Ada", "4 cells, not 5"),
        (f"s1,i0,3,Ada,{AT}", r"Ada has scored this already, in .*a\.csv:2"),
    ],
)
def test_each_wrong_line_is_named_and_nothing_is_written(key, tmp_path, line, words):
    told = csv_file(tmp_path / "a.csv", f"s1,i0,4,Ada,{AT}", line)
    with pytest.raises(UserError, match=rf"a\.csv:3: .*{words}"):
        import_sheets([told], key, tmp_path / "humans")
    assert not (tmp_path / "humans").exists()


def test_all_wrong_lines_are_in_one_message_up_to_ten(key, tmp_path):
    told = csv_file(tmp_path / "a.csv", *(f"s1,i0,{score},Ada,{AT}" for score in range(6, 20)))
    with pytest.raises(UserError) as error:
        import_sheets([told], key, tmp_path / "humans")
    assert str(error.value).count("a.csv:") == 10 and str(error.value).endswith("and 4 more")


def test_the_same_person_in_two_files_of_one_sheet_is_a_duplicate(key, tmp_path):
    one, other = csv_file(tmp_path / "a.csv", f"s1,i0,4,Ada,{AT}"), csv_file(tmp_path / "b.csv", f"s1,i0,4,Ada,{AT}")
    with pytest.raises(UserError, match=r"b\.csv:2: Ada has scored this already, in .*a\.csv:2"):
        import_sheets([one, other], key, tmp_path / "humans")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", r"a\.csv:1: the columns must be .*; there are: none"),
        (b"sheet;item;score;rater;scored_at\n", r"a\.csv:1: the columns must be .*separated by commas"),
        (b"sheet,item,score,rater,rater\n", r"a\.csv:1: the columns"),
        (HEADER.encode() + b'"s1,i0', r"a\.csv:2: not CSV"),
        (HEADER.encode(), "there is no score in the files"),
        (HEADER.encode("utf-16"), r"a\.csv: not a text file in UTF-8"),
    ],
)
def test_what_is_no_table_of_scores_is_refused(key, tmp_path, content, words):
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(UserError, match=words):
        import_sheets([tmp_path / "a.csv"], key, tmp_path / "humans")


def test_a_later_export_replaces_an_earlier_one_but_loses_nothing(key, tmp_path):
    folder = tmp_path / "humans"
    import_sheets([csv_file(tmp_path / "a.csv", f"s1,i0,4,Ada,{AT}")], key, folder)
    import_sheets([csv_file(tmp_path / "a.csv", f"s1,i0,3,Ada,{AT}", f"s1,i1,2,Ada,{AT}")], key, folder)
    assert [(row.focal_id, row.score) for row in rows_of(folder)] == [("f0", 3), ("f1", 2)]
    with pytest.raises(UserError, match=r"holds 1 scores that are not in what is imported \(the first: Ada, .*focal point f1\)"):
        import_sheets([csv_file(tmp_path / "a.csv", f"s1,i0,4,Ada,{AT}")], key, folder)
    assert len(rows_of(folder)) == 2


def test_a_table_of_another_origin_is_checked_against_the_run(material, tmp_path):
    header = "system,clip_id,focal_id,score,rater\n"
    told = csv_file(tmp_path / "others.csv", "nightjar,A_one,still_band,4,Cyd", "zebrafinch,A_one,still_band,1,Cyd", header=header)
    import_plain([told], material, tmp_path / "humans")
    rows = rows_of(tmp_path / "humans")
    assert [(row.system, row.score, row.rater, row.sheet) for row in rows] == [
        ("nightjar", 4, "Cyd", ""),
        ("zebrafinch", 1, "Cyd", ""),
    ]
    point = material.points["A_one"]["still_band"]
    assert rows[0].shown == shown_digest(material.clips["A_one"], material.renders["nightjar", "A_one"], point)
    wrong = csv_file(
        tmp_path / "wrong.csv",
        "nightingale,A_one,still_band,4,Cyd",
        "nightjar,A_nine,still_band,4,Cyd",
        "nightjar,A_one,nothing,4,Cyd",
        "nightjar,B_one,still_band,4,Cyd",
        header=header,
    )
    with pytest.raises(UserError) as error:
        import_plain([wrong], material, tmp_path / "other")
    for line, words in enumerate(
        ("no system 'nightingale'", "no clip 'A_nine'", "no focal point 'nothing'", "there is no video"), 2
    ):
        assert f"wrong.csv:{line}: " in str(error.value) and words in str(error.value)


def test_a_sheets_file_without_its_key_says_what_is_missing(material, tmp_path):
    with pytest.raises(UserError, match=r"a\.csv: is of a scoring sheet; name the sheet's key with --key"):
        import_plain([csv_file(tmp_path / "a.csv", f"s1,i0,4,Ada,{AT}")], material, tmp_path / "humans")


def test_without_a_rater_the_files_name_is_the_raters(material, tmp_path):
    told = csv_file(tmp_path / "panel.csv", "A_one,nightjar,4,still_band", header="clip_id,system,score,focal_id\n")
    import_plain([told], material, tmp_path / "humans")
    assert [row.rater for row in rows_of(tmp_path / "humans")] == ["panel"]


def test_a_point_that_a_person_scored_on_a_sheet_is_not_taken_from_a_table_too(material, tmp_path):
    items = [KeyItem(item="i", system="nightjar", clip_id="A_one", focal_id="still_band", shown="")]
    write_record(tmp_path / "key.json", SheetKey(sheet="s1", seed=0, criteria=["w"] * 6, items=items))
    import_sheets([csv_file(tmp_path / "a.csv", f"s1,i,4,Ada,{AT}")], tmp_path / "key.json", tmp_path / "humans")
    told = csv_file(tmp_path / "Ada.csv", "nightjar,A_one,still_band,4", header="system,clip_id,focal_id,score\n")
    with pytest.raises(UserError, match="s1-Ada.jsonl holds 1 of these scores already"):
        import_plain([told], material, tmp_path / "humans")
