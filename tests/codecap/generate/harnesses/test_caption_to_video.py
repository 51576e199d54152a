"""Texts of one system become videos of another: one job a text, on the clips' clock, and never bought again."""

import io
from fractions import Fraction

import av
import numpy as np
import pytest

from codecap import registry, store
from codecap.generate.captions import caption_shard
from codecap.generate.harnesses import caption_to_video
from codecap.records import Caption, Outcome
from codecap.video import probe

from ..jobs.service import KEY, REFUSAL, Service

TEXT = 'A "red" {square} moves from left to right, then stops. 红'


def encoded(frames: int = 20, rate: int = 16) -> bytes:
    """A video as services give it: odd in size, and not on our clock."""
    told = io.BytesIO()
    with av.open(told, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=rate)
        stream.width, stream.height, stream.pix_fmt = 65, 37, "yuv444p"
        stream.time_base = Fraction(1, rate)
        for number in range(frames):
            picture = np.full((37, 65, 3), 8 * number, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
    return told.getvalue()


@pytest.fixture(scope="module")
def video():
    return encoded()


@pytest.fixture
def service(video, monkeypatch):
    monkeypatch.setenv("ARK_KEY", KEY)
    with Service(video) as running:
        yield running


@pytest.fixture
def film(service, opened, durable):
    """Captions of a shard, as its job makes them."""

    def make(clips, sources, **told):
        jobs = {"base_url": service.base_url, "model": "video-1", "key_env": "ARK_KEY", "poll_s": 0.02, "usd_a_video": 0.4}
        settings = {"captions_of": "said", "video": "http_jobs", "videos": {"http_jobs": jobs | told.pop("jobs", {})}} | told
        with opened():
            return list(caption_shard(clips, "filmed", "caption_to_video", settings, "code", durable, sources))

    return make


@pytest.fixture
def said(tmp_path):
    """The other system's row of a clip."""

    def make(clip, text=TEXT, **told):
        place = tmp_path / f"{clip.clip_id}.txt"
        place.write_text(text, encoding="utf-8")
        fixed = {"outcome": Outcome.OK, "key": f"key of {text}", "kind": "text", "text": place}
        return {clip.clip_id: Caption(system="said", clip_id=clip.clip_id, **(fixed | told))}

    return make


def test_a_caption_becomes_a_video_on_the_clips_clock(film, said, clip_of, service, video):
    clip = clip_of(168)
    (row,) = film([clip], said(clip))
    assert (row.system, row.outcome, row.kind, row.cost_usd) == ("filmed", Outcome.OK, "video", 0.4)
    assert row.usage.output == 108_900 and row.wall_s >= 0 and row.html is None and row.text is None
    info = probe(row.mp4)
    assert (info.frames, info.width_px, info.height_px) == (30, 66, 38)  # 20 frames of 1/16 s are 30 of 1/24 s
    ordered = service.jobs["cgt-001"]
    assert ordered["content"] == [{"type": "text", "text": TEXT}] and (ordered["duration"], ordered["ratio"]) == (7, "4:3")
    original = next(path for path in row.mp4.parent.parent.rglob("*.original.mp4"))
    assert original.read_bytes() == video


def test_what_is_made_is_not_made_again_and_another_text_is(film, said, clip_of, service):
    clip = clip_of(48)
    (first,) = film([clip], said(clip))
    (again,) = film([clip], said(clip))
    assert again == first and len(service.jobs) == 1
    film([clip], said(clip, "Something else."))
    assert len(service.jobs) == 2
    film([clip], said(clip), prompt="A video that shows this: {caption}")
    assert service.jobs["cgt-003"]["content"][0]["text"] == f"A video that shows this: {TEXT}"
    film([clip], said(clip), jobs={"poll_s": 0.03, "limit_s": 7})  # how patiently it is asked is no part of it
    assert len(service.jobs) == 3


def test_clips_are_ordered_side_by_side(film, said, clip_of, service):
    clips = [clip_of(24, f"A_00{number}", shade=number) for number in range(1, 5)]
    sources = {name: row for clip in clips for name, row in said(clip, f"scene {clip.clip_id}").items()}
    rows = film(clips, sources)
    assert [row.outcome for row in rows] == [Outcome.OK] * 4 and service.most_at_once > 1


def test_where_the_other_system_has_no_caption_there_is_no_video_of_it(film, said, clip_of, service):
    clip = clip_of(24)
    (row,) = film([clip], said(clip, outcome=Outcome.REFUSED, detail="refused: no"))
    assert (row.outcome, row.kind, row.detail, row.mp4) == (Outcome.REFUSED, "video", "said: refused: no", None)
    assert not service.jobs


def test_a_refusal_is_the_systems_and_stays(film, said, clip_of, service):
    clip = clip_of(24)
    service.orders.append("refused")
    for _ in range(2):
        (row,) = film([clip], said(clip))
        assert row.outcome is Outcome.REFUSED and REFUSAL["error"]["code"] in row.detail and row.cost_usd == 0
    assert not service.jobs and not service.orders


def test_a_fault_of_the_service_is_ours_to_mend(film, said, clip_of, service):
    clip = clip_of(24)
    service.states, service.failure = ["failed"], {"code": "InternalServiceError", "message": "overloaded"}
    (row,) = film([clip], said(clip))
    assert row.outcome is Outcome.INFRA_ERROR and "InternalServiceError: overloaded" in row.detail
    service.states = ["succeeded"]
    (row,) = film([clip], said(clip))
    assert row.outcome is Outcome.OK


def test_what_comes_and_is_no_video_is_not_kept(film, said, clip_of, service, video):
    clip = clip_of(24)
    service.video = b"<html>sign in to download</html>"
    (row,) = film([clip], said(clip))
    assert row.outcome is Outcome.INFRA_ERROR and "the video that came" in row.detail
    service.video = video
    (row,) = film([clip], said(clip))
    assert row.outcome is Outcome.OK and store.there(row.mp4) and len(service.jobs) == 1


def test_what_stays_no_video_can_be_ordered_anew(film, said, clip_of, service, video):
    clip = clip_of(24)
    service.video = b"<html>sign in to download</html>"
    for _ in range(2):
        (row,) = film([clip], said(clip))
        assert "the next run tries again; set videos.http_jobs.submit_lost_again for one run" in row.detail
    assert len(service.jobs) == 1
    service.video = video
    (row,) = film([clip], said(clip), jobs={"submit_lost_again": True})
    assert row.outcome is Outcome.OK and list(service.jobs) == ["cgt-001", "cgt-002"]


def test_what_a_service_says_can_be_kept_and_missing_rights_are_not_the_models_refusal(film, said, clip_of, service):
    clip = clip_of(24)
    service.orders.append("no rights")
    (row,) = film([clip], said(clip))
    assert row.outcome is Outcome.INFRA_ERROR and "AccessDenied" in row.detail
    service.echo = ["caf\ud83d", float("nan")]
    (row,) = film([clip], said(clip))
    assert row.outcome is Outcome.OK


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"video": "nobody"}, r"no generate\.videos called 'nobody'; this version has: diffusers, http_jobs"),
        ({"prompt": "no place"}, "must say {caption} once"),
        ({"captions_from": "x"}, "captions_from"),
        ({"videos": {"http_jobs": {"model": "m"}}}, "base_url"),
        ({"videos": {"http_jobs": {"model": "m", "base_url": "https://a/v1", "polls": 1}}}, "polls"),
    ],
)
def test_wrong_settings_are_told(wrong, words):
    with pytest.raises(registry.Unavailable, match=words):
        registry.make("generate.harnesses", "caption_to_video", {"captions_of": "said", "video": "http_jobs"} | wrong)


def test_it_says_what_its_jobs_need():
    told = {
        name: registry.said("generate.harnesses", "caption_to_video", name, None) for name in ("PAID", "VIDEO", "OTHER_LENGTHS")
    }
    assert set(told.values()) == {True}
    assert caption_to_video.FROM == "captions_of"
    assert registry.said("generate.videos", "diffusers", "NETWORK", True) is False
    assert registry.said("generate.videos", "http_jobs", "NETWORK", True) is True
