"""The folder: what is in it, what is text in it, and what is refused."""

from __future__ import annotations

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from codecap import video
from codecap.clock import FPS
from codecap.compare.comparison import ComparisonError
from codecap.compare.tables import tabulate
from codecap.records import Clip, ObjectTrack, ObjectTracks, RecordError, write_rows
from codecap.report.clip_page import runs_of
from codecap.report.media import file_stem, place, still
from codecap.report.pages import data_block, environment
from codecap.report.site import build_report
from codecap.report.track_files import TrackFiles
from codecap.validity import placing


@pytest.fixture(scope="module")
def report(run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_into(run, tmp_path_factory.mktemp("report") / "8_report")


def build_into(run, folder: Path) -> Path:
    build_report(run.comparison, annotations=run.annotations, tracks=run.tracks, out_dir=folder, tables=run.tables)
    return folder


class Elements(HTMLParser):
    """All start tags of a page with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def pages(report: Path) -> list[Path]:
    return [
        report / "index.html",
        report / "compare.html",
        *sorted(report.glob("clips/*.html")),
        *sorted(report.glob("systems/*.html")),
    ]


def test_there_is_a_page_a_clip_and_all_that_pages_point_to(run, report: Path) -> None:
    assert sorted(page.stem for page in report.glob("clips/*.html")) == sorted(clip.clip_id for clip in run.comparison.clips)
    assert {page.stem for page in report.glob("systems/*.html")} == {file_stem(system.name) for system in run.comparison.systems}
    for page in pages(report):
        for tag, attributes in Elements(page.read_text(encoding="utf-8")).tags:
            for name in ("src", "href", "data-src"):
                target = attributes.get(name, "")
                if not target or target.startswith(("#", "data:")):
                    continue
                assert not re.match(r"[a-z]+:|//", target), (page, tag, target)  # nothing from elsewhere
                assert (page.parent / target.split("#")[0]).is_file(), (page, tag, target)


def test_text_of_models_and_judges_is_text(report: Path) -> None:
    for page in pages(report):
        found = Elements(page.read_text(encoding="utf-8"))
        assert not [attributes for tag, attributes in found.tags if tag == "img" and "onerror" in attributes]
        assert not [attributes for _, attributes in found.tags if any(name.startswith("on") for name in attributes)]
        scripts = [attributes for tag, attributes in found.tags if tag == "script"]
        assert all("src" in attributes or attributes["type"] == "application/json" for attributes in scripts)
        named = {attributes["src"].rpartition("/")[2] for attributes in scripts if "src" in attributes}
        assert named <= {path.name for path in (report / "assets").glob("*.js")} | {"clips.js"}
        assert len(scripts) == len(named) + any("src" not in attributes for attributes in scripts)  # each once, and data
    clip = Elements((report / "clips" / "A_000.html").read_text(encoding="utf-8"))
    assert '<img src=x onerror="document.title=1">' in clip.text  # shown as it is
    assert "made by the test <b>itself</b>" in clip.text


def test_a_models_page_is_there_as_text_only(run, report: Path) -> None:
    task = next(task for task in run.comparison.tasks if task.system == "hostile" and task.clip_id == "B_001")
    copied = report / "media" / "B_001" / "system-hostile.html.txt"
    assert copied.read_bytes() == task.html.read_bytes()
    assert not list((report / "media").rglob("*.html"))


def test_videos_are_linked_not_copied(run, report: Path) -> None:
    clip = run.comparison.clips[0]
    assert (report / "media" / clip.clip_id / "reference.mp4").samefile(clip.mp4)


def test_data_block_cannot_be_left() -> None:
    hostile = {"a": "</script><script>x</script>", "b": "<!-- &amp; \u2028"}
    text = str(data_block(hostile))
    assert not set("<>&\u2028") & set(text)
    assert text == r'{"a":"\u003c/script\u003e\u003cscript\u003ex\u003c/script\u003e","b":"\u003c!-- \u0026amp; \u2028"}'


def test_player_data_gives_the_boxes_back(run, report: Path, page_data) -> None:
    data = page_data((report / "clips" / "A_000.html").read_text(encoding="utf-8"), "player-data")
    annotation = next(annotation for annotation in run.annotations if annotation.clip_id == "A_000")
    assert (data["fps"], data["frames"], data["objects"]) == (FPS, 60, [item.name for item in annotation.objects])
    for runs, item in zip(data["reference"], annotation.objects, strict=True):
        boxes = [box for count, box in runs for _ in range(count)]
        assert len(boxes) == 60
        for told, box in zip(boxes, item.boxes_xyxy, strict=True):
            assert (told is None) == (box is None)
            assert told is None or np.allclose(told, box, atol=0.05)
    assert "hostile" not in data["candidates"]  # it failed on this clip: there is no video to draw on


def test_runs_join_equal_boxes_only() -> None:
    box, other = (0.0, 0.0, 1.0, 1.0), (0.0, 0.0, 1.0, 1.2)
    assert runs_of([box, box, None, box, other]) == [[2, list(box)], [1, None], [1, list(box)], [1, list(other)]]


def test_same_comparison_same_bytes_and_a_report_is_replaced(run, report: Path, tmp_path: Path) -> None:
    again = build_into(run, tmp_path / "8_report")
    (again / "left_over.txt").write_text("of an earlier run")
    build_into(run, again)
    files = sorted(path.relative_to(report) for path in report.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(again) for path in again.rglob("*") if path.is_file())
    assert all((report / name).read_bytes() == (again / name).read_bytes() for name in files)


def test_a_build_that_is_killed_while_it_removes_the_old_report_stops_no_later_one(run, tmp_path: Path, monkeypatch) -> None:
    bare = run.comparison.model_copy(update={"clips": [], "tasks": []})
    build = lambda: build_report(bare, annotations=[], tracks=[], out_dir=tmp_path / "8_report")  # noqa: E731
    build()
    remove = shutil.rmtree

    def killed(folder: Path, **_: object) -> None:
        if (folder / "index.html").exists():
            remove(folder / "assets")
            raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(shutil, "rmtree", killed)
        build()
    assert (tmp_path / "8_report" / "assets" / "report.css").is_file()
    assert build().is_file() and [path.name for path in tmp_path.iterdir()] == ["8_report"]


def test_a_study_of_other_backends_is_taken_in_and_told(run, tmp_path: Path) -> None:
    bare = run.comparison.model_copy(update={"clips": [], "tasks": []})

    def first_page(columns: list) -> str:
        study = tmp_path / "9_validity"
        (study / placing.ASSETS).mkdir(parents=True, exist_ok=True)
        for name in placing.FILES:
            (study / name).write_text(name)
        placing.write_protocols(columns, study)
        index = build_report(bare, annotations=[], tracks=[], validity=study, out_dir=tmp_path / "report")
        assert (index.parent / "validity" / "index.html").read_text() == "index.html"
        return index.read_text(encoding="utf-8")

    assert "snakemake validity" not in first_page(bare.columns)
    others = [row.model_copy(update={"protocol": "another"}) if row.name == "kss" else row for row in bare.columns]
    assert "than these numbers of KSS; <code>snakemake validity</code>" in first_page(others)


def test_a_folder_of_something_else_is_left_alone(run, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ComparisonError, match="no report made"):
        build_into(run, tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_a_render_that_is_gone_is_named(run, tmp_path: Path) -> None:
    made = next(number for number, task in enumerate(run.comparison.tasks) if task.mp4 is not None)
    tasks = list(run.comparison.tasks)
    tasks[made] = tasks[made].model_copy(update={"mp4": tmp_path / "gone.mp4"})
    with pytest.raises(ComparisonError, match=r"gone\.mp4.*run the stage"):
        build_report(run.comparison.model_copy(update={"tasks": tasks}), annotations=[], tracks=[], out_dir=tmp_path / "report")
    assert not (tmp_path / "report").exists()


def test_a_clip_that_is_gone_costs_only_its_own_picture(run, tmp_path: Path) -> None:
    clips = [run.comparison.clips[0].model_copy(update={"mp4": tmp_path / "gone.mp4"}), *run.comparison.clips[1:]]
    index = build_report(run.comparison.model_copy(update={"clips": clips}), annotations=[], tracks=[], out_dir=tmp_path / "report")
    assert (index.parent / "clips" / f"{clips[0].clip_id}.html").is_file()
    assert not (index.parent / "media" / clips[0].clip_id / "reference.mp4").exists()
    assert "/reference.mp4" not in (index.parent / "clips" / f"{clips[0].clip_id}.html").read_text(encoding="utf-8")
    assert (index.parent / "media" / clips[1].clip_id / "reference.mp4").is_file()


def test_stand_ins_and_the_papers_metrics_have_a_table_each(run, tmp_path: Path) -> None:
    columns = [column.model_copy(update={"proxy": False}) if column.name == "kss" else column for column in run.comparison.columns]
    mixed = run.comparison.model_copy(update={"columns": columns, "clips": [], "tasks": []})
    html = build_report(mixed, annotations=[], tracks=[], out_dir=tmp_path / "report").read_text(encoding="utf-8")
    stand_ins, exact = re.findall(r"<table class=\"board\">.*?</table>", html, flags=re.DOTALL)
    assert (">KSS<" in exact, ">MPS<" in exact, ">Code size<" in exact) == (True, False, True)
    assert (">KSS<" in stand_ins, ">MPS<" in stand_ins, ">Code size<" in stand_ins) == (False, True, False)
    assert exact.count("stand-in") == 0 and "Stand-in numbers" in html


def test_a_run_with_next_to_nothing_has_a_report(run, tmp_path: Path) -> None:
    clip = run.comparison.clips[0]
    bare = tabulate(
        title="t",
        models={"a": {}},
        metrics=[],
        clips=[Clip.model_validate(clip.model_dump(exclude={"annotated"}) | {"sha256": "0"})],
        annotations=[],
        captions=[],
        renders=[],
        scores=[],
        problems=["clips: <b>x</b> is missing"],
        out_dir=tmp_path / "compare",
    )
    html = build_report(bare, annotations=[], tracks=[], out_dir=tmp_path / "report").read_text(encoding="utf-8")
    assert "clips: &lt;b&gt;x&lt;/b&gt; is missing" in html
    assert "1 infra error" in html
    assert "not run" in (tmp_path / "report" / "clips" / f"{clip.clip_id}.html").read_text(encoding="utf-8")


def test_a_broken_clip_stops_no_report(run, tmp_path: Path) -> None:
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(run.comparison.clips[0].mp4.read_bytes()[:2000])
    clips = [run.comparison.clips[0].model_copy(update={"mp4": broken}), *run.comparison.clips[1:]]
    changed = run.comparison.model_copy(update={"clips": clips})
    index = build_report(changed, annotations=run.annotations, tracks=run.tracks, out_dir=tmp_path / "report")
    stills = {path.stem for path in (tmp_path / "report" / "assets" / "stills").iterdir()}
    assert stills == {clip.clip_id for clip in clips[1:]}
    assert "broken.mp4: cannot be" in index.read_text(encoding="utf-8")


def test_tracks_are_found_in_their_shards(tmp_path: Path) -> None:
    def row(system: str, clip_id: str, x: float) -> ObjectTracks:
        track = ObjectTrack(name="ä", status="found", boxes_xyxy=[(x, 0, x + 1, 1), None])
        return ObjectTracks(system=system, clip_id=clip_id, key="k", status="ok", tracks=[track])

    write_rows(tmp_path / "0.jsonl", ObjectTracks, [row("a", "A_1", 1), row("a", "A_2", 2)])
    write_rows(tmp_path / "1.jsonl", ObjectTracks, [row("b", "A_2", 3)])
    found = TrackFiles([tmp_path / "1.jsonl", tmp_path / "0.jsonl"])
    assert found.of_clip("A_2") == {"a": row("a", "A_2", 2), "b": row("b", "A_2", 3)}
    assert found.of_clip("B_1") == {}
    with (tmp_path / "1.jsonl").open("a") as file:
        file.write('{"system": "c"}\n')
    with pytest.raises(RecordError, match=r"1\.jsonl:2: not ObjectTracks: clip_id"):
        TrackFiles([tmp_path / "1.jsonl"])


def test_still_shows_the_middle_frame(run, tmp_path: Path) -> None:
    from PIL import Image

    clip = run.comparison.clips[0]
    still(clip.mp4, clip.frames, tmp_path / "still.jpg")
    picture = np.asarray(Image.open(tmp_path / "still.jpg"), np.float64)
    ((_, frame),) = video.read_frames(clip.mp4, 30, 31)
    expected = np.asarray(Image.fromarray(frame).resize((400, 225)), np.float64)
    assert picture.shape == expected.shape
    assert np.abs(picture - expected).mean() < 3


def test_placing_twice_or_from_nowhere_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    place(tmp_path / "a", tmp_path / "b")
    with pytest.raises(FileExistsError):
        place(tmp_path / "a", tmp_path / "b")
    with pytest.raises(ComparisonError, match="not there"):
        place(tmp_path / "none", tmp_path / "c")


def test_file_stems_stay_apart_and_in_their_folder() -> None:
    names = ["a/b", "a_b", "../a", ".hidden", "a b", "vtrace-2.1"]
    stems = [file_stem(name) for name in names]
    assert len(set(stems)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*", stem) for stem in stems)


def test_templates_escape_and_know_no_unknown_names() -> None:
    made = environment()
    assert made.from_string("{{ x }}").render(x="<&'\">") == "&lt;&amp;&#39;&#34;&gt;"
    from jinja2 import UndefinedError

    with pytest.raises(UndefinedError):
        made.from_string("{{ misspelt }}").render()
