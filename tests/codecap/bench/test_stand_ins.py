"""Stand-ins: what they are asked to do, and the copy of the project that they are laid into."""

import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codecap import store
from codecap.annotate.approved import gather
from codecap.bench.stand_in_project import add_clip, add_system, environment, lay
from codecap.bench.stand_ins import labels, requests
from codecap.bench.stand_ins.requests import Request, Unreachable, ask, calls, item
from codecap.clips import check_file
from codecap.clips_table import read_clips
from codecap.video import probe

ITEM = "from codecap.bench.stand_ins.requests import item\nwith item('render', 'system_00', 'A_0000'): print('done')"


def of_process(project: Path, code: str) -> str:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment(project), capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return lay(tmp_path_factory.mktemp("laid"), systems=2, clips=5, buckets=2, frames=48)


@pytest.fixture
def asked(tmp_path, monkeypatch):
    monkeypatch.setattr(requests, "PROJECT", tmp_path)
    return tmp_path


def test_without_a_request_the_work_is_done_and_noted(asked):
    with item("generate", "system_00", "A_0000"):
        pass
    (call,) = calls(asked)
    assert (call["stage"], call["system"], call["clip_id"]) == ("generate", "system_00", "A_0000")
    assert 0 <= call["cpu_s"] < 1


def test_a_request_is_about_some_items_and_is_served_so_many_times(asked):
    ask(asked, Request("unreached", stage="score", clip="A_*", times=1), Request("sleep", stage="render", seconds=0.2))
    with item("score", "system_00", "B_0001"), item("generate", "system_00", "A_0000"):
        pass
    with pytest.raises(Unreachable, match="score of A_0000 by system_00"), item("score", "system_00", "A_0000"):
        pytest.fail("it did its work")
    with item("score", "system_00", "A_0000"):
        pass
    began_s = time.monotonic()
    with item("render", "system_00", "B_0001"):
        assert time.monotonic() - began_s >= 0.2
    assert len(list(calls(asked))) == 4


@pytest.mark.parametrize(
    ("do", "status", "told"), [("kill", -signal.SIGKILL, ""), ("exit", 1, ""), ("raise", 1, "programming error"), ("hold", 0, "")]
)
def test_a_process_dies_at_an_item_once_and_then_does_it(project, do, status, told):
    ask(project, Request(do, stage="render", clip="A_*", mb=50, times=1))
    ways = [
        subprocess.run([sys.executable, "-c", ITEM], env=environment(project), capture_output=True, text=True) for _ in range(2)
    ]
    ask(project)
    assert ways[0].returncode == status and told in ways[0].stderr
    assert ways[1].returncode == 0 and ways[1].stdout == "done\n"


def test_memory_that_is_held_is_resident(project):
    ask(project, Request("hold", mb=200))
    peak = f"{ITEM}\nimport resource\nprint(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    told = of_process(project, peak)
    ask(project)
    assert int(told.split()[1]) > 200 * 1024


def test_a_label_makes_another_file_with_the_same_frames(project, tmp_path):
    mp4 = tmp_path / "labelled.mp4"
    clip = next(iter(project.glob("clips/*.mp4")))
    mp4.write_bytes(labels.labelled(clip.read_bytes(), "system_00 A_0000"))
    assert labels.label_of(mp4) == "system_00 A_0000" and labels.label_of(clip) == clip.stem
    assert probe(mp4) == probe(clip)
    (tmp_path / "other.mp4").write_bytes(b"x" * 1000)
    with pytest.raises(ValueError, match="no video of a stand-in"):
        labels.label_of(tmp_path / "other.mp4")


def test_the_clips_are_canonical_and_their_annotations_are_those_of_the_benchmark(project):
    clips = read_clips(project / "config" / "clips.tsv", project / "clips")
    assert [clip.clip_id for clip in clips] == ["A_0000", "B_0001", "C_0002", "E_0003", "F_0004"]
    for clip in clips:
        check_file(clip)
    assert len({clip.sha256 for clip in clips}) == 5
    gathered, found = gather(clips, project / "config" / "annotations", [clip.clip_id for clip in clips])
    assert found == []
    assert statistics.mean(len(row.objects) for row in gathered.values()) == 16.8
    assert statistics.mean(len(row.focal_points) for row in gathered.values()) == 8.6


def test_a_system_and_a_clip_are_added(tmp_path):
    project = lay(tmp_path, systems=1, clips=1, buckets=1, frames=24)
    before = (project / "clips" / "A_0000.mp4").read_bytes()
    assert add_system(project) == "system_01"
    assert add_clip(project) == "B_0001"
    assert [clip.clip_id for clip in read_clips(project / "config" / "clips.tsv", project / "clips")] == ["A_0000", "B_0001"]
    assert (project / "clips" / "A_0000.mp4").read_bytes() == before


def test_the_project_uses_its_own_library_and_nothing_of_ours_is_left_there(project):
    where = "import codecap, codecap.render.rendering as r; print(codecap.__file__, r.__doc__.split()[0])"
    told = subprocess.run(
        [sys.executable, "-c", where], env=environment(project), capture_output=True, text=True, check=True
    ).stdout
    assert told.startswith(str(project / "scripts" / "codecap"))
    assert not any((project / name).exists() for name in ("results", "store", ".git", "tests"))
    assert (project / "slurm").readlink() == Path("profiles/slurm")
    assert list(store.made(project / "store" / "durable")) == []
