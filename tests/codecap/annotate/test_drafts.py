"""Drafts of a shard: what cannot be had for one clip holds up no other, and is told to be tried again or not."""

import pytest
from loopback import annotator

from codecap import registry
from codecap.annotate.drafts import drafts, to_try_again
from codecap.records import FocalPoint, ObjectPrompt, ObjectTrack, PromptFrame, Proposal, ProposedObject, write_rows

BOX = (20.0, 60.0, 52.0, 92.0)


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    return annotator.film(tmp_path_factory.mktemp("clips") / "T_001.mp4")


class Exhausted:
    """A segmenter for whose first clip the memory does not suffice."""

    protocol, proxy, calls = "none", True, 0

    def segment(self, mp4, frames, prompts):
        self.calls += 1
        if self.calls == 1:
            raise MemoryError
        return [ObjectTrack(name=prompt.name, status="found", boxes_xyxy=[BOX] * frames) for prompt in prompts]


def test_out_of_memory_costs_one_clip_this_time_and_what_was_not_proposed_is_not_its_fault(clip, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(registry, "make", lambda *_: segmenter)
    segmenter, asked = Exhausted(), tmp_path / "asked.jsonl"
    clips = [clip.model_copy(update={"clip_id": f"T_00{number}"}) for number in (1, 2, 3)]
    prompt = ObjectPrompt(
        name="ball", status="found", visible_s=[(0.0, 3.0)], frames=[PromptFrame(frame=0, box_xyxy=BOX, positive_xy=[(30, 70)])]
    )
    told = {
        "objects": [ProposedObject(description="a ball", prompt=prompt)],
        "focal_points": [FocalPoint(focal_id="f1", kind="static", description="a ball", start_s=0, end_s=1)],
    }
    rows = [Proposal(clip_id=clip_id, status="ok", **told) for clip_id in ("T_001", "T_002")]
    write_rows(asked, Proposal, [*rows, Proposal(clip_id="T_003", status="no usable answer in 3 asks")])
    by = {"segmenter": {"name": "color", "settings": {}, "code": "c"}, "code": "code"}

    made = list(drafts(clips, by, tmp_path, asked))
    assert [row.clip_id for row in made] == ["T_002"] and "no annotation of T_001: out of memory" in caplog.text
    assert [clip_id for clip_id, _ in to_try_again(clips, made, asked)] == ["T_001"]
    made = list(drafts(clips, by, tmp_path, asked))
    assert [row.clip_id for row in made] == ["T_001", "T_002"] and to_try_again(clips, made, asked) == []
    assert segmenter.calls == 3  # T_002 was in the store
