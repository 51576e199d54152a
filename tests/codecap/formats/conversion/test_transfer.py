import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from codecap.formats import FormatError, Told
from codecap.formats.conversion import transfer
from codecap.records import write_record


@pytest.fixture
def two(make_clip):
    return {clip_id: make_clip(clip_id=clip_id) for clip_id in ("A_001", "B_002")}


@pytest.fixture
def source(two, annotation, tmp_path):
    for clip_id in two:
        write_record(tmp_path / "source" / f"{clip_id}.json", annotation.model_copy(update={"clip_id": clip_id}))
    return tmp_path / "source"


@pytest.mark.parametrize("form", ["label_studio", "coco"])
def test_a_file_about_several_clips_is_read_for_each_of_the_table(form, two, source, tmp_path, caplog):
    files = [path for _, path in transfer.export(form, two.values(), source, tmp_path)]
    told = [json.loads(path.read_text(encoding="utf-8")) for path in files]
    if form == "label_studio":
        together = [task for tasks in told for task in tasks]
    else:
        together = told[0]
        told[1]["videos"][0]["id"] = 2
        for row in told[1]["annotations"]:
            row["video_id"] = 2
        for name in ("videos", "annotations"):
            together[name] += told[1][name]
    files[0].write_text(json.dumps(together), encoding="utf-8")

    found = transfer.read(form, files[:1], two)
    assert [row.clip.clip_id for row in found] == ["A_001", "B_002"]
    assert [row.annotation.clip_id for row in found] == ["A_001", "B_002"]
    assert [len(row.annotation.objects) for row in found] == [3, 3]

    alone = transfer.read(form, files[:1], {"B_002": two["B_002"]})
    assert [row.clip.clip_id for row in alone] == ["B_002"]
    assert "'A_001' is no clip of the table; passed over" in caplog.text


def test_a_clip_in_two_files_is_refused(two, source, tmp_path):
    (path,) = [path for clip, path in transfer.export("cvat", two.values(), source, tmp_path) if clip.clip_id == "A_001"]
    other = tmp_path / "again.xml"
    other.write_bytes(path.read_bytes())
    with pytest.raises(FormatError, match=r"again.xml: clip A_001 is in .*A_001.xml too"):
        transfer.read("cvat", [path, other], two)


def test_an_annotation_of_another_clip_is_not_exported(two, source, tmp_path, make_clip):
    with pytest.raises(FormatError, match=r"A_001.json: object .*48 boxes_xyxy for 40 frames"):
        list(transfer.export("coco", [make_clip(frames=40)], source, tmp_path))
    (source / "B_002.json").write_bytes((source / "A_001.json").read_bytes())
    with pytest.raises(FormatError, match=r"B_002.json: clip_id: is 'A_001'"):
        list(transfer.export("coco", [two["B_002"]], source, tmp_path))


@pytest.mark.parametrize("form", ["coco", "label_studio"])
def test_an_annotation_is_never_written_over_by_an_export(form, two, source, tmp_path):
    before = (source / "A_001.json").read_bytes()
    with pytest.raises(FormatError, match=r"A_001.json: is an annotation, which would be lost; choose another --out"):
        list(transfer.export(form, two.values(), source, source))
    assert (source / "A_001.json").read_bytes() == before
    for _ in range(2):  # but what was exported before is
        assert len(list(transfer.export(form, two.values(), source, tmp_path / "out"))) == 2


def test_what_no_format_can_say_is_not_exported(two, source, tmp_path):
    told = (source / "A_001.json").read_text()
    for wrong, says in (
        (told.replace("20.123456", "NaN", 1), "is empty"),
        (told.replace('"end_s": 2.0', '"end_s": 1e308'), "is not within"),
    ):
        assert wrong != told
        (source / "A_001.json").write_text(wrong)
        with pytest.raises(FormatError, match=f"A_001.json: .* {says}"):
            list(transfer.export("label_studio", two.values(), source, tmp_path / "out"))


@pytest.fixture
def imported(two, source, tmp_path):
    """One call is one import of both clips."""
    paths = [path for _, path in transfer.export("mot", two.values(), source, tmp_path / "mot")]

    def call(folder, who=None, when="", replace=False, onto=source):
        rows = transfer.merge("mot", transfer.read("mot", paths, two), onto, who, when)
        return transfer.keep(rows, folder, replace)

    return call


def test_an_import_that_was_ended_in_the_middle_is_done_again(imported, source, tmp_path):
    first, second = imported(tmp_path / "mine", who="Kim", when="2026-01-01T00:00:00Z")
    done, left = first.read_bytes(), second.read_bytes()
    second.unlink()
    assert imported(tmp_path / "mine", who="Kim", when="2026-01-02T00:00:00Z") == [first, second]
    assert first.read_bytes() == done and second.read_bytes() == left.replace(b"2026-01-01", b"2026-01-02")
    with pytest.raises(FormatError, match="A_001.json: is there already and says something else"):
        imported(tmp_path / "mine", who="Ann", when="2026-01-02T00:00:00Z")
    assert [path.name for path in sorted((tmp_path / "mine").iterdir())] == ["A_001.json", "B_002.json"]


def test_of_two_imports_at_once_one_is_told(imported, tmp_path):
    def one(who):
        try:
            return imported(tmp_path / "mine", who=who)
        except FormatError as error:
            return str(error)

    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(one, ["Ann", "Ben", "Cid", "Dee"]))
    assert sum(isinstance(each, list) for each in told) == 1
    assert all("says something else" in each for each in told if isinstance(each, str))


def test_a_damaged_file_is_replaced_when_that_is_wanted(imported, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "A_001.json").write_text("{")
    with pytest.raises(FormatError, match="A_001.json: is there already"):
        imported(tmp_path / "mine")
    assert not (tmp_path / "mine" / "B_002.json").exists()
    assert len(imported(tmp_path / "mine", replace=True)) == 2


def test_what_was_exported_must_be_there(imported, source, tmp_path, caplog):
    with pytest.raises(FormatError, match="nowhere: no such folder; --onto"):
        imported(tmp_path / "mine", onto=tmp_path / "nowhere")
    (source / "B_002.json").unlink()
    assert len(imported(tmp_path / "mine")) == 2
    assert "what the format does not hold of clip B_002 is missing" in caplog.text


def test_pixels_from_0_are_said_by_a_person(two, source, tmp_path):
    files = [path for _, path in transfer.export("mot", [two["A_001"]], source, tmp_path)]
    from_1, from_0 = (
        transfer.read("mot", files, two, told=Told(first_pixel=first))[0].annotation.objects[2].boxes_xyxy[47] for first in (1, 0)
    )
    assert from_1 == pytest.approx((600.25, 470.0, 640.0, 480.0))
    assert from_0 == pytest.approx((601.25, 471.0, 640.0, 480.0))  # one pixel on, and cut off at the picture's edge
