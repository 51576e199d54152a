"""Where a reference's objects are in a candidate: prompts first (an MLLM needs network), then tracks (a segmenter needs a GPU)."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from codecap import registry
from codecap.clips import check_file
from codecap.records import (
    AnnotatedObject,
    Annotation,
    Clip,
    ObjectPrompt,
    ObjectPrompts,
    ObjectTracks,
    Outcome,
    Render,
)
from codecap.score import Unreached, Unscored
from codecap.score.engine.choice import Choice
from codecap.score.engine.memory import within_memory
from codecap.score.masks import kept
from codecap.score.segmenters import MaskSegmenter
from codecap.store import Draft, ItemStore, digest_of
from codecap.video import VideoError, probe

OK = "ok"


def visible_objects(annotation: Annotation) -> list[AnnotatedObject]:
    """The objects that are visible in some frame; others are annotation errors, which `codecap.annotate` reports."""
    return [item for item in annotation.objects if any(box is not None for box in item.boxes_xyxy)]


def prompt_shard(
    renders: Iterable[Render],
    clips: Mapping[str, Clip],
    annotations: Mapping[str, Annotation],
    choice: Choice,
    durable: Path,
) -> Iterator[ObjectPrompts]:
    """Ask the prompter, candidate after candidate."""
    store = ItemStore(durable, stage="prompt_objects", salt=choice.salt)
    prompter = functools.cache(lambda: registry.make("score.prompters", choice.name, choice.settings))
    for render in renders:
        row = functools.partial(ObjectPrompts, system=render.system, clip_id=render.clip_id)
        annotation = annotations.get(render.clip_id)
        objects = [] if annotation is None else visible_objects(annotation)
        if render.outcome is not Outcome.OK or not objects:
            yield row(key="none", status=render.outcome if render.outcome is not Outcome.OK else "no annotated object")
            continue
        clip = clips[render.clip_id]
        key = store.key(clip.sha256, render.key, digest_of([item.model_dump(mode="json") for item in objects]))

        def make(_draft: Draft, objects: list = objects, clip: Clip = clip, render: Render = render) -> dict[str, Any]:
            check_file(clip)
            prompts = prompter().prompt(objects, clip, render.mp4)
            told = {"protocol": prompter().protocol, "proxy": prompter().proxy}
            return {"prompts": [prompt.model_dump(mode="json") for prompt in prompts], **told}

        try:
            value = store.get_or_make(render.system, render.clip_id, key, make).value
        except (Unscored, VideoError) as why:
            yield row(key="none", status=str(why), retry=isinstance(why, Unreached | VideoError))
            continue
        yield row(key=key, status=OK, **value)


def segment_shard(
    prompts: Iterable[ObjectPrompts],
    renders: Mapping[str, Render],
    clips: Mapping[str, Clip],
    choice: Choice,
    bulk: Path,
) -> Iterator[ObjectTracks]:
    """Propagate the prompts through their candidates; what fails by our fault is not stored, and its row says `retry`."""
    store = ItemStore(bulk, stage="segment_objects", salt=choice.salt)
    segmenter = functools.cache(lambda: registry.make("score.segmenters", choice.name, choice.settings))
    for asked in prompts:
        row = functools.partial(ObjectTracks, system=asked.system, clip_id=asked.clip_id)
        if asked.status != OK:
            yield row(key="none", status=asked.status, retry=asked.retry)
            continue
        render, clip = renders[asked.clip_id], clips[asked.clip_id]
        key = store.key(asked.key)

        def make(draft: Draft, asked: ObjectPrompts = asked, render: Render = render, clip: Clip = clip) -> dict[str, Any]:
            check_prompts(asked.prompts, min(clip.frames, probe(render.mp4).frames))
            if isinstance(segmenter(), MaskSegmenter):
                found = segmenter().segment_masks(render.mp4, clip.frames, asked.prompts)
                kept.write(draft.file(kept.SUFFIX), found)
                tracks = found.tracks
            else:
                tracks = segmenter().segment(render.mp4, clip.frames, asked.prompts)
            told = {"protocol": f"{asked.protocol} | {segmenter().protocol}", "proxy": asked.proxy or segmenter().proxy}
            return {"tracks": [track.model_dump(mode="json") for track in tracks], **told}

        try:
            item = within_memory(functools.partial(store.get_or_make, asked.system, asked.clip_id, key, make))
        except (Unscored, VideoError) as why:
            yield row(key="none", status=str(why), retry=isinstance(why, Unreached | VideoError))
            continue
        yield row(key=key, status=OK, masks=item.files.get(kept.SUFFIX), **item.value)


def check_prompts(prompts: Sequence[ObjectPrompt], frames: int) -> None:
    """Refuse what no segmenter can follow in a video of so many frames.

    Raises:
        Unscored: an object is found, but on no frame; or on one that is not there.
    """
    for prompt in prompts:
        if prompt.status == "found" and not prompt.frames:
            raise Unscored(f"prompt {prompt.name!r}: found, but on no frame")
        last = -1 if prompt.status == "absent" else max((item.frame for item in prompt.frames), default=-1)
        if last >= frames:
            raise Unscored(f"prompt {prompt.name!r}: frame {last} in a video of {frames} frames")
