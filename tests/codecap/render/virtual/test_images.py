"""Animated pictures follow the clock, and the page does not see how."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from PIL import Image

from codecap.render import virtual_clock

SIDE_PX = 16  # of the pictures that `address_of` gives
STILL = "<script>window.seek = () => {}</script>"


def page_of(address: str, more: str = STILL) -> str:
    return f"<!doctype html><style>* {{ margin: 0 }} img {{ display: block }}</style><img id=picture src='{address}'>{more}"


def shown_by(page, time_ms: float) -> int | None:
    """The frame of the picture that is drawn in the page's `#picture` at a time; None if none is."""
    page.seek(time_ms / 1000)
    drawn = np.asarray(Image.open(io.BytesIO(page.page.screenshot())).convert("RGB"))[4, 4]
    return None if drawn[0] == 255 else (int(drawn[0]) - 10) // 20


@pytest.mark.parametrize(("kind", "loop", "plays"), [("GIF", None, 1), ("GIF", 1, 2), ("PNG", 1, 1), ("WEBP", 2, 2)])
def test_one_that_ends_stays_at_its_last_frame(driven, address_of, kind, loop, plays):
    """A GIF tells how often it is repeated, the others how often it is shown."""
    how = {} if loop is None else {"loop": loop}
    page = driven(page_of(address_of(kind, 3, 100, **how)))
    times_ms = [0, 150, 250, 350, 450, 550, 650, 5000, 100]
    shown = [shown_by(page, time_ms) for time_ms in times_ms]
    assert shown == [2 if time_ms >= 300 * plays else time_ms // 100 % 3 for time_ms in times_ms]


def test_one_that_appears_later_begins_then_and_a_new_source_begins_anew(driven, address_of):
    first, second = (address_of("GIF", count, 100, loop=0) for count in (4, 5))
    page = driven(page_of("", f"<script>window.seek = t => {{ if (t) picture.src = t < 1 ? '{first}' : '{second}' }}</script>"))
    assert [shown_by(page, time_ms) for time_ms in (500, 650, 850, 1000, 1450, 650)] == [0, 1, 3, 0, 4, 1]


def test_a_blob_whose_address_is_taken_back_follows(driven, address_of):
    address = address_of("GIF", 4, 100, loop=0)
    page = driven(
        page_of(
            "",
            f"""<script>
            picture.onload = () => URL.revokeObjectURL(picture.src);
            fetch('{address}').then(got => got.blob()).then(blob => {{ picture.src = URL.createObjectURL(blob) }});
            window.seek = () => {{}};
            </script>""",
        )
    )
    assert [shown_by(page, time_ms) for time_ms in (0, 250, 150)] == [0, 2, 1]


def test_the_page_sees_nothing_of_it(driven, address_of):
    address = address_of("GIF", 4, 100, loop=0)
    page = driven(
        page_of(
            address,
            """<script>
            const before = picture.outerHTML, changes = [];
            const all = { subtree: true, attributes: true, childList: true };
            new MutationObserver(list => changes.push(...list)).observe(document, all);
            window.seek = () => {};
            </script>""",
        )
    )
    assert shown_by(page, 250) == 2
    told = "[before === picture.outerHTML, changes.length, document.getAnimations().length, picture.getAnimations().length]"
    assert page.value(told) == [True, 0, 0, 0]
    assert page.value("[picture.naturalWidth, picture.currentSrc === picture.src, picture.style.length]") == [SIDE_PX, True, 0]


def test_the_size_of_one_with_several_pixels_for_each_is_kept(driven, address_of):
    address = address_of("GIF", 4, 100, loop=0)
    page = driven(f"<!doctype html><body style=margin:0><img id=picture style=display:block srcset='{address} 2x'>{STILL}")
    size = "[picture.naturalWidth, picture.width, picture.height]"
    assert page.at(0.25, size) == [SIDE_PX // 2] * 3
    assert shown_by(page, 250) == 2


def test_frames_that_are_given_up_are_made_again(driven, address_of, monkeypatch):
    script = virtual_clock.init_script()
    scarce = script.replace("MOST_HELD_BYTES = 64 << 20", "MOST_HELD_BYTES = 200")
    assert scarce != script
    monkeypatch.setattr(virtual_clock, "init_script", lambda seed: scarce)
    page = driven(page_of(address_of("GIF", 6, 100, loop=0)))
    assert [shown_by(page, 100 * number) for number in (0, 1, 2, 3, 4, 5, 6, 3, 5, 1)] == [0, 1, 2, 3, 4, 5, 0, 3, 5, 1]


def test_elements_made_anew_for_each_frame_go_on_with_the_same_picture(driven, address_of):
    image = f"<img src={address_of('GIF', 6, 100, loop=0)}>"
    page = driven(
        f"<style>* {{ margin: 0 }} img {{ display: block }}</style><div id=place></div>"
        f"<script>(window.seek = () => {{ place.innerHTML = '{image}' }})()</script>"
    )
    assert [shown_by(page, 100 * number) for number in (0, 1, 2, 5, 6, 3)] == [0, 1, 2, 5, 0, 3]


def test_of_a_file_that_is_cut_short_the_whole_frames_are_shown(driven, address_of):
    head, data = address_of("GIF", 4, 100, loop=0).split(",")
    whole = base64.b64decode(data)
    page = driven(page_of(f"{head},{base64.b64encode(whole[: whole.rindex(b'!') + 4]).decode()}"))
    assert [shown_by(page, time_ms) for time_ms in (50, 150, 250, 350, 450, 50)] == [0, 1, 2, 0, 1, 0]


def test_a_damaged_one_is_left_to_the_browser(driven, address_of):
    head, data = address_of("GIF", 4, 100, loop=0).split(",")
    page = driven(page_of(f"{head},{base64.b64encode(base64.b64decode(data)[:40]).decode()}"))
    assert page.seek(0.25)["state"] == "done"
    assert not page.errors
