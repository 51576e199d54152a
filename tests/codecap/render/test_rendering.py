"""A page becomes a video in which each frame shows its time, whatever the page draws with."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import av
import numpy as np
import pytest

from codecap.records import Caption, Clip, Outcome
from codecap.render import InfraError, partial_path, render_caption, render_page
from codecap.video import CanonicalWriter, file_sha256, probe

BITS, CELL_PX = 5, 32  # a frame's number as squares from left to right, lowest bit first: white 1, black 0
PAGE = "<!doctype html><body style='margin:0;background:#888'>"
PAINT = "const paint = n => { for (let b = 0; b < 5; b++) set(b, (n >> b) & 1 ? '#fff' : '#000') };"
DOM = PAGE + (
    "<div id=d style='display:flex'></div><script>for (let b = 0; b < 5; b++)"
    "d.innerHTML += '<i style=\"width:32px;height:96px\"></i>';"
    "const set = (b, c) => d.children[b].style.background = c;" + PAINT
)
SVG = PAGE + (
    "<svg id=s width=160 height=96 style='display:block'></svg><script>"
    "for (let b = 0; b < 5; b++) s.innerHTML += `<rect x=${32 * b} width=32 height=96 />`;"
    "const set = (b, c) => s.children[b].setAttribute('fill', c);" + PAINT
)
CANVAS = PAGE + (
    "<canvas id=c width=160 height=96 style='display:block'></canvas><script>const x = c.getContext('2d');"
    "const set = (b, c) => { x.fillStyle = c; x.fillRect(32 * b, 0, 32, 96) };" + PAINT
)
WEBGL = PAGE + (
    "<canvas id=c width=160 height=96 style='display:block'></canvas><script>"
    "const x = c.getContext('webgl', {preserveDrawingBuffer: true}); x.enable(x.SCISSOR_TEST);"
    "const set = (b, c) => { x.scissor(32 * b, 0, 32, 96); const v = c == '#fff' ? 1 : 0; x.clearColor(v, v, v, 1);"
    "x.clear(x.COLOR_BUFFER_BIT) };" + PAINT
)
NUMBER = "Math.round(t * 24)"
SEEKS = {
    "dom": (DOM, f"window.seek = t => paint({NUMBER})"),
    "svg": (SVG, f"window.seek = t => paint({NUMBER})"),
    "canvas": (CANVAS, f"window.seek = t => paint({NUMBER})"),
    "webgl": (WEBGL, f"window.seek = t => paint({NUMBER})"),
    "promise": (DOM, f"window.seek = t => new Promise(r => setTimeout(() => {{ paint({NUMBER}); r() }}, 15))"),
    "promise in an animation frame": (
        SVG,
        f"window.seek = t => new Promise(r => requestAnimationFrame(() => {{ paint({NUMBER}); r() }}))",
    ),
    "nested animation frames, not awaited": (
        CANVAS,
        f"window.seek = t => {{ requestAnimationFrame(() => requestAnimationFrame(() => paint({NUMBER}))) }}",
    ),
    "its own requestAnimationFrame": (
        DOM,
        f"window.requestAnimationFrame = () => 0; window.seek = t => paint({NUMBER})",
    ),
    "defined late": (DOM, f"setTimeout(() => {{ window.seek = t => paint({NUMBER}) }}, 200)"),
}


def sha256_of(frames: list[np.ndarray]) -> str:
    return hashlib.sha256(b"".join(hashlib.sha256(rgb.tobytes()).digest() for rgb in frames)).hexdigest()


def number_on(rgb: np.ndarray) -> int:
    middle = rgb[rgb.shape[0] // 2, CELL_PX // 2 :: CELL_PX].mean(axis=1)
    assert ((middle < 40) | (middle > 215)).all(), middle
    return sum(1 << bit for bit, level in enumerate(middle) if level > 128)


@pytest.mark.parametrize("how", SEEKS)
def test_each_frame_shows_its_time(render, how):
    page, seek = SEEKS[how]
    done = render(f"{page}{seek}</script>", frames=10, repeat_samples=3, seek_wait_s=5)
    assert done.certificate.outcome == Outcome.OK, done.certificate.detail
    assert [number_on(rgb) for rgb in done.frames()] == list(range(10))
    assert done.certificate.seek_repeatable is True
    assert done.certificate.unique_frame_ratio == 1.0
    assert done.certificate.frames == probe(done.mp4).frames == 10


def test_two_renders_are_the_same(render):
    page, seek = SEEKS["canvas"]
    text = f"{page}{seek}</script><p style='position:absolute;top:20px;font:20px serif'>Qué tal? 漢字</p>"
    one, two = (render(text, frames=5, name=name).certificate for name in ("one", "two"))
    assert one == two
    assert one.frames_sha256 and one.mp4_sha256 and one.frames_sha256 != one.mp4_sha256


def test_certificate_digests_are_of_the_file_that_was_written(render):
    page, seek = SEEKS["dom"]
    done = render(f"{page}{seek}</script>", frames=3)
    assert done.certificate.mp4_sha256 == file_sha256(done.mp4)
    exact = render(f"{page}{seek}</script>", frames=3, name="exact", codec="lossless")
    assert exact.certificate.frames_sha256 == done.certificate.frames_sha256 == sha256_of(exact.frames())
    assert not partial_path(done.mp4).exists()


def test_colours_come_back_within_two_levels(render):
    colours = ["#ff0000", "#00ff00", "#0000ff", "#ffffff", "#000000", "#808080", "#1e90ff", "#ffa500", "#2e8b57", "#102030"]
    cells = "".join(f"<i style='width:64px;height:64px;background:{colour}'></i>" for colour in colours)
    done = render(
        f"{PAGE}<div style='display:flex;flex-wrap:wrap'>{cells}</div><script>window.seek = () => {{}}</script>",
        frames=2,
        size=(320, 128),
    )
    for rgb in done.frames():
        for place, colour in enumerate(colours):
            row, column = divmod(place, 5)
            patch = rgb[row * 64 + 16 : row * 64 + 48, column * 64 + 16 : column * 64 + 48].astype(int)
            meant = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
            assert np.abs(patch - meant).max() <= 2, (colour, patch[0, 0])


def test_a_frozen_page_has_one_distinct_frame(render):
    certificate = render("<h1>Still</h1><script>window.seek = t => {}</script>", frames=8).certificate
    assert certificate.outcome == Outcome.OK
    assert certificate.unique_frame_ratio == 1 / 8
    assert certificate.flags.count("blank") == certificate.blank_frames == 0


def test_a_blank_video_is_ok_and_flagged(render):
    certificate = render("<body><script>window.seek = t => {}</script>", frames=3).certificate
    assert certificate.outcome == Outcome.OK
    assert certificate.blank_frames == 3
    assert "blank" in certificate.flags


def test_a_page_that_counts_its_seeks_is_not_repeatable(render):
    page, _ = SEEKS["dom"]
    done = render(f"{page}let n = 0; window.seek = () => paint(n++)</script>", frames=4, repeat_samples=2)
    assert done.certificate.outcome == Outcome.OK
    assert done.certificate.seek_repeatable is False
    assert [number_on(rgb) for rgb in done.frames()] == [0, 1, 2, 3]


def test_a_page_that_fails_only_when_asked_again_is_rendered(render):
    page, _ = SEEKS["dom"]
    seek = "let last = -1; window.seek = t => { if (t <= last) throw Error('no way back'); last = t; paint(1) }"
    certificate = render(f"{page}{seek}</script>", repeat_samples=2).certificate
    assert certificate.outcome == Outcome.OK
    assert certificate.seek_repeatable is False
    assert "repeated_seek_runtime_error" in certificate.flags


def test_odd_sizes_are_made_even_and_the_viewport_is_what_the_page_sees(render):
    report = "window.seek = () => { document.body.textContent = [innerWidth, innerHeight, devicePixelRatio, screen.width]; "
    check = "if (document.body.textContent !== '162,98,1,162') throw Error(document.body.textContent) }"
    done = render(f"<body><script>{report}{check}</script>", frames=1, size=(161, 97))
    assert done.certificate.outcome == Outcome.OK, done.certificate.detail
    info = probe(done.mp4)
    assert (info.width_px, info.height_px, info.frames) == (162, 98, 1)
    assert (done.certificate.width_px, done.certificate.height_px) == (162, 98)


def test_no_page_is_our_failure_and_named(tmp_path):
    with pytest.raises(InfraError, match=r"none\.html: cannot be read: No such file"):
        render_page(tmp_path / "none.html", 2, 64, 64, tmp_path / "out.mp4")


def test_settings_are_checked(tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<p>")
    with pytest.raises(ValueError, match="unknown setting speed"):
        render_page(page, 2, 64, 64, tmp_path / "out.mp4", {"speed": 2})
    for wrong in ({"seek_wait_s": float("inf")}, {"limit_s": float("nan")}, {"memory_mb": 60}, {"purity": "maybe"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            render_page(page, 2, 64, 64, tmp_path / "out.mp4", wrong)
    with pytest.raises(ValueError, match="0 frames"):
        render_page(page, 0, 64, 64, tmp_path / "out.mp4")


def test_a_full_disk_is_our_failure(browser, tmp_path):
    page, disk = tmp_path / "page.html", tmp_path / "disk"
    page.write_text("<canvas id=c></canvas><script>window.seek = t => { c.width = c.width }</script>")
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", disk], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("needs the right to mount a small disk")
    try:
        (disk / "filling").write_bytes(bytes(4096))
        with pytest.raises(InfraError, match=r"page\.partial\.mp4: cannot be written: No space left on device; free some space"):
            render_page(page, 2, 64, 64, disk / "page.mp4")
        assert [path.name for path in disk.iterdir()] == ["filling"]
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def clip_of(mp4: Path, levels: list[int]) -> Clip:
    with CanonicalWriter(mp4, 64, 48) as writer:
        for level in levels:
            writer.add(np.full((48, 64, 3), level, np.uint8))
    return Clip(clip_id="C_001", category="C", mp4=mp4, sha256="0", frames=len(levels), width_px=64, height_px=48)


def caption_of(**what) -> Caption:
    return Caption(system="s", clip_id="C_001", key="k", outcome=Outcome.OK, **what)


def test_a_video_caption_is_passed_through(tmp_path):
    clip = clip_of(tmp_path / "clip.mp4", [10, 10, 200, 200])
    certificate = render_caption(caption_of(kind="video", mp4=clip.mp4), clip, tmp_path / "deep" / "out.mp4")
    assert certificate.outcome == Outcome.OK
    assert (certificate.frames, certificate.unique_frame_ratio, certificate.blank_frames) == (4, 0.5, 4)
    assert certificate.mp4_sha256 == file_sha256(clip.mp4)
    assert (tmp_path / "deep" / "out.mp4").read_bytes() == clip.mp4.read_bytes()


@pytest.mark.parametrize("levels", [[10, 20], [10, 20, 30, 40, 50]])
def test_a_video_caption_of_another_length_is_passed_through_with_its_own_frames(tmp_path, levels):
    clip = clip_of(tmp_path / "clip.mp4", [10, 20, 30])
    other = clip_of(tmp_path / "other.mp4", levels)
    certificate = render_caption(caption_of(kind="video", mp4=other.mp4), clip, tmp_path / "out.mp4")
    assert (certificate.outcome, certificate.frames) == (Outcome.OK, len(levels))
    assert f"{len(levels)} frames, the reference has 3" in certificate.flags
    assert (tmp_path / "out.mp4").read_bytes() == other.mp4.read_bytes()


def test_a_video_caption_that_is_no_canonical_clip_fails_with_the_reason(tmp_path):
    clip = clip_of(tmp_path / "clip.mp4", [10, 20, 30])
    (tmp_path / "text.mp4").write_text("no video")
    with av.open(str(tmp_path / "slow.mp4"), "w") as container:
        stream = container.add_stream("libx264", rate=12)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for _ in range(3):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.zeros((48, 64, 3), np.uint8), format="rgb24")))
        container.mux(stream.encode(None))
    short = clip_of(tmp_path / "cut.mp4", [10, 20, 30]).mp4
    short.write_bytes(short.read_bytes()[:-40])
    for name, reason in (("text", "not a canonical video"), ("slow", "12 fps, not 24"), ("cut", "not a canonical video")):
        caption = caption_of(kind="video", mp4=tmp_path / f"{name}.mp4")
        certificate = render_caption(caption, clip, tmp_path / "out.mp4")
        assert certificate.outcome == Outcome.RENDER_CRASH
        assert reason in certificate.detail
        assert not (tmp_path / "out.mp4").exists()


def test_a_code_caption_is_rendered_at_its_reference_s_length_and_size(browser, tmp_path):
    clip = clip_of(tmp_path / "clip.mp4", [10, 20, 30])
    page = tmp_path / "page.html"
    page.write_text("<script>window.seek = t => {}</script>")
    certificate = render_caption(caption_of(html=page), clip, tmp_path / "out.mp4")
    assert (certificate.frames, certificate.width_px, certificate.height_px) == (3, 64, 48)
    assert probe(tmp_path / "out.mp4").frames == 3


def test_a_text_caption_cannot_be_rendered(tmp_path):
    clip = clip_of(tmp_path / "clip.mp4", [10])
    with pytest.raises(ValueError, match="text caption"):
        render_caption(caption_of(kind="text", text=tmp_path / "c.txt"), clip, tmp_path / "out.mp4")


def test_a_page_that_is_not_only_code_is_recorded_or_failed_as_the_settings_say(render, tmp_path):
    gif = "data:image/gif;base64,R0lGODlhAQABAIAAAP8AAP///ywAAAAAAQABAAACAkQBADs="
    page = f"<body><img src='{gif}'><script>window.seek = t => {{}}</script>"
    recorded = render(page, frames=2).certificate
    assert recorded.outcome == Outcome.OK
    assert any("data URI of image/gif" in finding for finding in recorded.purity)
    (tmp_path / "bad.html").write_text(page)
    failed = render_page(tmp_path / "bad.html", 2, 64, 64, tmp_path / "bad.mp4", {"purity": "fail"})
    assert (failed.outcome, failed.frames) == (Outcome.RUNTIME_ERROR, 0)
    assert failed.detail.startswith("not only code: 1:7: ")


@pytest.mark.parametrize("engine", ["beginframe", "playwright"])
def test_what_the_source_hides_is_found_by_what_the_page_does(render, engine):
    page = "<body><script>const a = 'im', b = 'g'; const e = document.createElement(a + b); e['s' + 'rc'] = 'ht' + 'tps://example.com/a';"
    page += "document.body.append(e); window.seek = t => {}</script>"
    recorded = render(page, frames=2, engine=engine).certificate
    assert recorded.outcome == Outcome.OK
    assert recorded.purity == ["at run time: asked for an image 'https://example.com/a'"]
    failed = render(page, frames=2, engine=engine, purity="fail", name="failed")
    assert failed.certificate.outcome == Outcome.RUNTIME_ERROR
    assert not failed.mp4.exists() and partial_path(failed.mp4).exists()


def test_one_frame_and_a_minute(render):
    page, seek = SEEKS["dom"]
    assert render(f"{page}{seek}</script>", frames=1, repeat_samples=3).certificate.seek_repeatable is True
    long = f"{page}window.seek = t => paint(Math.floor(t) % 32)</script>"
    done = render(long, frames=60 * 24, repeat_samples=3)
    assert done.certificate.outcome == Outcome.OK, done.certificate.detail
    assert [number_on(rgb) for rgb in done.frames()[::24]] == [second % 32 for second in range(60)]
    assert done.certificate.unique_frame_ratio == 32 / 1440


def test_four_thousand_pixels(render):
    size = (3840, 2160)
    page = (
        "<style>body { margin: 0; background: linear-gradient(90deg, #000, #fff) } i { position: absolute; width: 8px; height: 8px;"
    )
    page += " background: #f00; right: 0; bottom: 0 }</style><i></i><script>window.seek = t => {}</script>"
    done = render(page, frames=2, size=size, codec="lossless")
    assert done.certificate.outcome == Outcome.OK, done.certificate.detail
    for rgb in done.frames():
        assert rgb.shape == (2160, 3840, 3)
        assert (rgb[-8:, -8:] == (255, 0, 0)).all()
        assert rgb[0, 0].max() <= 1 and rgb[0, -1].min() >= 254


@pytest.mark.parametrize("size", [(161, 97), (160, 97), (1, 1), (2, 600)])
def test_odd_sizes_with_every_codec(render, size):
    for codec in ("h264", "h264_444", "lossless"):
        done = render("<body style='background:#2060a0'><script>window.seek = t => {}</script>", frames=1, size=size, codec=codec)
        assert done.certificate.outcome == Outcome.OK, done.certificate.detail
        (rgb,) = done.frames()
        assert rgb.shape == (size[1] + size[1] % 2, size[0] + size[0] % 2, 3)
        assert np.abs(rgb.astype(int) - (0x20, 0x60, 0xA0)).max() <= 2
