"""Each frame is exactly the one that was asked for."""

import cv2
import numpy as np
import pytest
from under_review import FRAMES, number_in

from codecap import video
from codecap.review.frames import Film, Films, FrameError


@pytest.fixture
def opened(clip):
    film = Film(clip)
    yield film
    film.close()


def shown(jpeg: bytes) -> np.ndarray:
    return cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR_RGB)


def test_frames_in_any_order(opened):
    order = [0, 1, 2, 119, 118, 47, 48, 49, 46, 45, 7, 100, 99, 98, 97, 50, 51, 0]
    assert [number_in(shown(opened.jpeg(frame))) for frame in order] == order


def test_steps_onward_and_back_through_all_of_a_clip(opened):
    order = [*range(FRAMES), *reversed(range(FRAMES))]
    assert [number_in(shown(opened.jpeg(frame))) for frame in order] == order


def test_a_picture_is_the_decoded_frame(opened, clip):
    ((_, rgb),) = video.read_frames(clip.mp4, 77, 78)
    assert np.abs(shown(opened.jpeg(77)).astype(int) - rgb).mean() < 3


def test_neighbours_are_made_ready_and_then_it_rests(opened):
    opened.jpeg(60)
    with opened._changed:
        assert opened._changed.wait_for(lambda: opened._to_do() is None, 30)
        assert {frame for frame in range(FRAMES) if frame in opened._pictures} == set(range(44, 77))


def test_old_pictures_make_room(opened, monkeypatch):
    monkeypatch.setattr("codecap.review.frames.KEPT_BYTES", 20_000)
    for frame in range(0, FRAMES, 4):
        opened.jpeg(frame)
    with opened._changed:
        assert opened._changed.wait_for(lambda: opened._to_do() is None, 30) or opened._bytes <= 20_000
        assert opened._bytes == sum(map(len, opened._pictures.values())) <= 20_000


@pytest.mark.parametrize("frame", [-1, FRAMES])
def test_there_is_no_frame_beyond_the_clip(opened, frame):
    with pytest.raises(FrameError, match=f"no frame {frame}; its frames are 0 to 119"):
        opened.jpeg(frame)


def test_a_clip_that_is_cut_short_shows_what_it_has(clip, tmp_path):
    cut = tmp_path / "cut.mp4"
    with video.CanonicalWriter(cut, 96, 64) as writer:
        for _, rgb in video.read_frames(clip.mp4, 0, 20):
            writer.add(rgb)
    film = Film(clip.model_copy(update={"mp4": cut}))
    assert number_in(shown(film.jpeg(19))) == 19
    with pytest.raises(FrameError, match="ends before frame 30"):
        film.jpeg(30)
    assert number_in(shown(film.jpeg(3))) == 3
    film.close()


def test_another_file_is_not_taken_for_the_clip(clip, tmp_path):
    films = Films()
    with pytest.raises(video.VideoError):
        films.jpeg(clip.model_copy(update={"sha256": "1" * 64}), 0)
    with pytest.raises(video.VideoError):
        films.jpeg(clip.model_copy(update={"mp4": tmp_path / "none.mp4"}), 0)
    films.close()


def test_few_films_are_open_at_once(clip):
    films = Films()
    for number in range(4):
        films.jpeg(clip.model_copy(update={"clip_id": f"A_{number}"}), number)
    assert len(films._open) == 2
    films.close()
