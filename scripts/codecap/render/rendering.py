"""From a caption to a canonical video and its certificate."""

from __future__ import annotations

import codecs
import contextlib
import shutil
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from codecap import registry, store
from codecap.errors import check_replaceable
from codecap.records import Caption, Certificate, Clip, Outcome
from codecap.render import fonts, purity
from codecap.render.attended import Attend, Attended
from codecap.render.engines import Engine, read_page
from codecap.render.failures import FrameLost, InfraError, PageFailure
from codecap.render.settings import RenderSettings

PASSED_THROUGH = "passed through"
TRIES = 3  # of a page whose browser loses a frame


def render_page(
    page: Path,
    frames: int,
    width_px: int,
    height_px: int,
    out_mp4: Path,
    settings: Mapping[str, Any] | RenderSettings = RenderSettings(),  # noqa: B008 - frozen
    attend: Attend = lambda: None,
) -> Certificate:
    """Draw a page at `i / 24` s for each frame `i`, in a viewport of the canonical (even) size, and write the video.

    Args:
        page: an HTML file whose `window.seek(seconds)` draws it at a time.
        frames: how many, at least 1.
        width_px, height_px: size of the reference; an odd one is made even as at ingest.
        out_mp4: the video, written only with outcome `ok`. Frames made before a failure are kept as `STEM.partial.mp4` beside it.
        settings: see `RenderSettings`.
        attend: called before the load and before each frame; what it raises ends the render.

    Returns:
        The certificate. `frames` counts the frames that were made, whatever the outcome.

    Raises:
        InfraError: no fault of the page (no browser that starts, page not readable, disk full).
        registry.Unavailable: no such engine.
        ValueError: a bad setting, or fewer than 1 frame.

    >>> render_page(Path("page.html"), 48, 640, 360, Path("page.mp4")).outcome  # doctest: +SKIP
    <Outcome.OK: 'ok'>
    """
    if frames < 1 or width_px < 1 or height_px < 1:
        raise ValueError(f"{page}: cannot render {frames} frames of {width_px}x{height_px} px")
    check_replaceable(out_mp4)
    settings = RenderSettings.of(settings)
    width_px, height_px = width_px + width_px % 2, height_px + height_px % 2
    found = purity.findings(_text(page))
    told: dict[str, Any] = {"width_px": width_px, "height_px": height_px, "purity": found}
    if settings.purity == "fail" and found:
        return Certificate(outcome=Outcome.RUNTIME_ERROR, detail=f"not only code: {found[0]}", **told)
    for _ in range(TRIES - 1):
        with contextlib.suppress(FrameLost):
            return _drawn(page, frames, out_mp4, settings, told, attend)
    return _drawn(page, frames, out_mp4, settings, told, attend)


def _drawn(page: Path, frames: int, out_mp4: Path, settings: RenderSettings, told: dict[str, Any], attend: Attend) -> Certificate:
    """Draw a page in a browser of its own, and write the video; `told` is what the certificate says already."""
    draft, size = partial_path(out_mp4), (told["width_px"], told["height_px"])
    repeatable: bool | None = None
    flags: list[str] = []
    did: list[str] = []
    with ThreadPoolExecutor(max_workers=1) as aside, _engine(settings) as engine:
        fonts_told = aside.submit(fonts.protocol)
        stage = Attended(engine.open(page, *size), attend)
        try:
            from codecap.render import recording  # numpy and av are loaded while the browser starts

            tally = recording.FrameTally()
            stage.load()
            recording.record(stage, frames, draft, size, settings.codec, tally)
            repeatable, flags = recording.repeatable(stage, tally.digests, settings.repeat_samples)
            did = stage.observed()
            outcome, detail = Outcome.OK, ""
        except PageFailure as failure:
            outcome, detail = failure.outcome, failure.told
            with contextlib.suppress(PageFailure):
                did = stage.observed()
        finally:
            stage.close()
            seen = {"console_errors": stage.console_errors, "requests_blocked": stage.requests_blocked}
            flags = [*stage.flags, *flags]
        seen["purity"] = [*told["purity"], *did]
        seen["engine"] = f"{engine.version} | {fonts_told.result()}"
        if outcome is Outcome.OK and settings.purity == "fail" and did:
            outcome, detail = Outcome.RUNTIME_ERROR, f"not only code: {did[0]}"
        if outcome is Outcome.OK:
            seen["mp4_sha256"] = recording.checked_sha256(draft, frames)
            draft.replace(out_mp4)
    return Certificate(
        outcome=outcome,
        detail=detail,
        frames=len(tally.digests),
        frames_sha256=tally.sha256,
        seek_repeatable=repeatable,
        unique_frame_ratio=tally.unique_ratio,
        blank_frames=tally.blank_frames,
        flags=[*flags, *tally.flags],
        **{**told, **seen},
    )


def render_caption(
    caption: Caption,
    clip: Clip,
    out_mp4: Path,
    settings: Mapping[str, Any] | RenderSettings = RenderSettings(),  # noqa: B008
) -> Certificate:
    """The video of a caption: a page is rendered on its reference's clock, a video is passed through as it is.

    A video caption must be a canonical clip, of whatever length and size; what is none gives `render_crash` with the reason.

    Raises:
        ValueError: the caption is a text, or names no file.
        InfraError: see `render_page`.
    """
    if caption.kind == "code" and caption.html is not None:
        return render_page(caption.html, clip.frames, clip.width_px, clip.height_px, out_mp4, settings)
    if caption.kind == "video" and caption.mp4 is not None:
        return _pass_through(caption.mp4, clip, out_mp4)
    raise ValueError(f"{caption.system}, {caption.clip_id}: a {caption.kind} caption without a page or a video to render")


def render_protocol(settings: Mapping[str, Any] | RenderSettings = RenderSettings()) -> str:  # noqa: B008
    """How renders are made here, readable: engine, browser, flags, fonts and encoder.

    Raises:
        BrowserMissing: there is no browser.
    """
    from codecap.video import encoding

    settings = RenderSettings.of(settings)
    return f"{_engine(settings).version} | {fonts.protocol()} | {encoding(settings.codec)}"


def partial_path(out_mp4: Path) -> Path:
    """Where the frames of a render that failed are kept."""
    return Path(out_mp4).with_suffix(".partial.mp4")


def _text(page: Path) -> str:
    """As the browser reads it: UTF-8, unless it begins as UTF-16 does."""
    raw = read_page(page)
    utf16 = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return raw.decode("utf-16" if utf16 else "utf-8", errors="replace")


def _engine(settings: RenderSettings) -> Engine:
    return registry.load("render.engines", settings.engine).load(settings)


def _pass_through(mp4: Path, clip: Clip, out_mp4: Path) -> Certificate:
    """Copy a video caption and count its frames."""
    from codecap.render.tally import FrameTally
    from codecap.video import VideoError, draft_beside, file_sha256, probe, put_in_place, read_frames

    told: dict[str, Any] = {"engine": PASSED_THROUGH}
    try:
        info = probe(mp4)
        told |= {"frames": info.frames, "width_px": info.width_px, "height_px": info.height_px}
        tally = FrameTally()
        for number, (index, rgb) in enumerate(read_frames(mp4)):
            if index != number:
                raise VideoError(f"{mp4}: frame {number} is shown at {index}/24 s; run `codecap ingest` on it first")
            tally.add(rgb)
    except VideoError as error:
        return Certificate(outcome=Outcome.RENDER_CRASH, detail=f"not a canonical video: {error}", **told)
    try:
        draft = draft_beside(out_mp4)
        try:
            store.open_at(mp4, lambda place: shutil.copyfile(place, draft))
            put_in_place(draft, out_mp4)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise InfraError(f"{out_mp4}: cannot be written: {error.strerror}") from error
    other = [f"{info.frames} frames, the reference has {clip.frames}"] if info.frames != clip.frames else []
    return Certificate(
        outcome=Outcome.OK,
        frames_sha256=tally.sha256,
        mp4_sha256=file_sha256(out_mp4),
        unique_frame_ratio=tally.unique_ratio,
        blank_frames=tally.blank_frames,
        flags=[*other, *tally.flags],
        **told,
    )
