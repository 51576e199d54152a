"""A data set that is frozen, changed, and frozen again."""

import doctest
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from codecap import config as configuration
from codecap import plan
from codecap.annotate.approved import content_digest, gather
from codecap.clips_table import read_clips, write_clips
from codecap.errors import UserError
from codecap.publish import freezing
from codecap.publish.freezing import COLLECTED, Version, freeze, versions_of
from codecap.records import AnnotatedObject, Annotation, Clip, FocalPoint, Review, read_record, read_rows, write_record
from codecap.video import CanonicalWriter, file_sha256

FRAMES = 12
ANN = Review(who="Ann", when="2026-11-30", changed="approved")


@pytest.fixture(scope="module")
def videos(tmp_path_factory) -> list[Clip]:
    folder = tmp_path_factory.mktemp("clips")
    clips = []
    for number in range(3):
        mp4 = folder / f"A_{number}.mp4"
        with CanonicalWriter(mp4, 32, 32) as writer:
            for frame in range(FRAMES):
                writer.add(np.full((32, 32, 3), 60 * number + frame, np.uint8))
        size = {"frames": FRAMES, "width_px": 32, "height_px": 32}
        clips.append(Clip(clip_id=mp4.stem, category="A", mp4=mp4, sha256=file_sha256(mp4), **size))
    return clips


def annotation(clip_id, description="A ball", reviews=(ANN,)):
    ball = AnnotatedObject(name="ball", description=description, boxes_xyxy=[(1.0, 1.0, 9.0, 9.0)] * FRAMES)
    kinds = [FocalPoint(focal_id=kind, kind=kind, description=kind, start_s=0, end_s=0.5) for kind in ("static", "dynamic")]
    return Annotation(clip_id=clip_id, objects=[ball], focal_points=kinds, reviews=list(reviews))


def approve(told: Annotation) -> None:
    write_record(Path("annotations") / f"{told.clip_id}.json", told)


@pytest.fixture
def config(videos, tmp_path, monkeypatch) -> dict:
    """A folder with three clips, of which two are approved."""
    monkeypatch.chdir(tmp_path)
    write_clips(Path("all.tsv"), videos)
    approve(annotation("A_0"))
    approve(annotation("A_1"))
    approve(annotation("A_2", reviews=()))
    told = {"clips": "clips.tsv", "clips_folder": None, "annotations_folder": "annotations"}
    return configuration.load(overrides=told)


def frozen(table="clips.tsv") -> dict[str, Clip]:
    return {clip.clip_id: clip for clip in read_clips(Path(table))}


def test_only_approved_annotations_enter_with_version_and_digest(config, videos):
    found = freeze(config, Path("all.tsv"))
    assert found.version.changed == ["A_0", "A_1"] and found.is_new and list(found.left_out) == ["A_2"]
    assert "nobody has approved it" in found.left_out["A_2"]
    for clip_id, clip in frozen().items():
        assert (clip.dataset_version, clip.annotation_sha256) == ("1.0.0", content_digest(annotation(clip_id)))
        assert clip.mp4.resolve() == videos[int(clip_id[-1])].mp4.resolve()
    assert list(read_rows(versions_of(Path("clips.tsv")), Version)) == [found.version]


def test_once_more_changes_nothing(config):
    freeze(config, Path("all.tsv"))
    before = Path("clips.tsv").read_bytes()
    again = freeze(config, Path("all.tsv"))
    assert not again.is_new and again.version.version == "1.0.0" and Path("clips.tsv").read_bytes() == before


def test_another_review_that_changes_nothing_needs_no_new_version(config):
    freeze(config, Path("all.tsv"))
    approve(annotation("A_0", reviews=(ANN, Review(who="Ben", when="2026-12-01", changed="looked at it"))))
    assert not freeze(config, Path("all.tsv")).is_new


def test_a_change_needs_a_later_version_and_touches_its_own_row_alone(config):
    first = freeze(config, Path("all.tsv"))
    approve(annotation("A_1", "A red ball"))
    with pytest.raises(UserError, match=r"version 1\.0\.0 is frozen already(.|\n)*A_1"):
        freeze(config)
    second = freeze(config, version="1.0.1")
    assert second.version.changed == ["A_1"] and second.version.sha256 != first.version.sha256
    assert {clip_id: clip.dataset_version for clip_id, clip in frozen().items()} == {"A_0": "1.0.0", "A_1": "1.0.1"}
    with pytest.raises(UserError, match=r"--version 1\.0"):
        freeze(config, version="1.0")


@pytest.mark.parametrize("writing", ["write_rows", "write_clips"])
def test_a_freeze_that_was_killed_is_done_again_by_the_same_call(config, monkeypatch, writing):
    """Before either of its files is written: the versions still say what changed and what left."""
    freeze(config, Path("all.tsv"))
    for version, told in (("1.1.0", annotation("A_1", "A red ball")), ("1.2.0", annotation("A_1", reviews=()))):
        approve(told)
        with monkeypatch.context() as killed:
            killed.setattr(freezing, writing, Mock(side_effect=KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                freeze(config, version=version, drop=True)
        found = freeze(config, version=version, drop=True)
        assert found.is_new and (found.version.changed, found.version.left) in [(["A_1"], []), ([], ["A_1"])]
        assert list(read_rows(versions_of(Path("clips.tsv")), Version))[-1] == found.version
        assert not freeze(config, version=version).is_new
    assert [row.version for row in read_rows(versions_of(Path("clips.tsv")), Version)] == ["1.0.0", "1.1.0", "1.2.0"]
    assert set(frozen()) == {"A_0"}


def test_other_facts_of_a_clip_need_a_later_version_too(config, videos):
    freeze(config, Path("all.tsv"))
    write_clips(Path("all.tsv"), [videos[0].model_copy(update={"licence": "MIT"}), *videos[1:]])
    with pytest.raises(UserError, match=r"version 1\.0\.0 is frozen already(.|\n)*A_0"):
        freeze(config, Path("all.tsv"))
    assert freeze(config, Path("all.tsv"), version="1.0.1").version.changed == ["A_0"]


def test_a_clip_that_was_frozen_leaves_only_when_told_to(config):
    freeze(config, Path("all.tsv"))
    approve(annotation("A_1", reviews=()))
    with pytest.raises(UserError, match=r"1 clips would leave(.|\n)*A_1: .*nobody has approved"):
        freeze(config, version="2.0.0")
    assert set(frozen()) == {"A_0", "A_1"}
    assert freeze(config, version="2.0.0", drop=True).version.left == ["A_1"] and set(frozen()) == {"A_0"}


def test_the_runs_own_table_is_taken_first(config, videos):
    folder = Path(config["store"]["bulk"]) / "clips"
    folder.mkdir(parents=True)
    for clip in videos[:1]:
        (folder / clip.mp4.name).write_bytes(clip.mp4.read_bytes())
    write_clips(COLLECTED, [videos[0].model_copy(update={"mp4": folder / "A_0.mp4"})], folder)
    assert freeze(config).version.changed == ["A_0"]
    assert frozen()["A_0"].mp4.is_file()
    for source in (COLLECTED, COLLECTED.absolute()):  # whatever `clips_folder` says of the frozen table
        freeze({**config, "clips_folder": "elsewhere"}, source, out=Path(f"of_{source.is_absolute()}.tsv"))


def test_a_table_of_elsewhere_has_its_videos_beside_it(config, videos):
    """As `codecap ingest` writes it; `clips_folder` is about the configuration's own table."""
    Path("ingested").mkdir()
    (mp4 := Path("ingested") / "A_0.mp4").write_bytes(videos[0].mp4.read_bytes())
    write_clips(Path("ingested/clips.tsv"), [videos[0].model_copy(update={"mp4": mp4})])
    kept = {**config, "clips_folder": str(mp4.parent.absolute())}
    freeze(kept, Path("ingested/clips.tsv"))
    assert [clip.mp4.resolve() for clip in plan.all_clips(kept)] == [mp4.resolve()]
    freeze({**config, "clips_folder": "store/bulk/clips"}, Path("ingested/clips.tsv"), out=Path("more.tsv"))


def test_what_cannot_be_frozen(config, videos):
    with pytest.raises(UserError, match="no such clips table"):
        freeze(config, Path("none.tsv"))
    with pytest.raises(UserError, match=r"A_0\.mp4: is not the file of the clips table"):
        write_clips(Path("other.tsv"), [videos[0].model_copy(update={"sha256": "0" * 64})])
        freeze(config, Path("other.tsv"))
    for clip_id in ("A_0", "A_1"):
        approve(annotation(clip_id, reviews=()))
    with pytest.raises(UserError, match="none of its clips has an approved annotation"):
        freeze(config, Path("all.tsv"))
    assert not Path("clips.tsv").exists()


def test_an_annotation_that_is_not_as_frozen_is_not_used(config):
    freeze(config, Path("all.tsv"))
    before = plan.make(config).annotation_digests(plan.bucket_of("A_0", config["buckets"]))
    approve(annotation("A_0", "A red ball"))
    gathered, problems = gather(frozen().values(), Path("annotations"))
    assert "freeze a new version" in gathered["A_0"] and isinstance(gathered["A_1"], Annotation)
    assert [problem.rule for problem in problems] == ["not_as_frozen"]
    changed = plan.make(config).annotation_digests(plan.bucket_of("A_0", config["buckets"]))
    freeze(config, version="1.1.0")
    gathered, problems = gather(frozen().values(), Path("annotations"))
    assert isinstance(gathered["A_0"], Annotation) and problems == []
    after = plan.make(config).annotation_digests(plan.bucket_of("A_0", config["buckets"]))
    assert len({str(told) for told in (before, changed, after)}) == 3  # each time its shard is gathered anew


def test_the_digest_is_of_what_is_said_and_not_of_how_a_file_is_laid_out(tmp_path):
    told = annotation("A_0")
    compact = tmp_path / "compact.json"
    compact.write_text(told.model_dump_json())
    assert content_digest(read_record(compact, Annotation)) == content_digest(told)
    assert content_digest(annotation("A_0", "a ball")) != content_digest(told)


def test_examples_in_docstrings():
    assert doctest.testmod(freezing).failed == 0
