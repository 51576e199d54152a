"""How many of the objects whose true boxes are known the proposer drafts, on a whole demo clip."""

import json
from pathlib import Path

import pytest

from codecap.annotate.proposers.embedded import load
from codecap.boxes import object_iou
from codecap.records import Clip

DEMO = Path(__file__).parents[3] / "resources" / "demo"


@pytest.mark.slow
def test_it_drafts_most_of_the_objects_of_a_logo_animation():
    truth = json.loads((DEMO / "truth" / "C_001.json").read_text())
    told = {name: truth[name] for name in ("frames", "width_px", "height_px")}
    clip = Clip(clip_id="C_001", category="C", mp4=DEMO / "clips" / "C_001.mp4", sha256="0", **told)
    drafted = load({}).propose(clip).objects
    assert len(drafted) <= 16
    best = [max(object_iou(item["visible_xyxy"], draft.boxes_xyxy) for draft in drafted) for item in truth["objects"]]
    assert sum(value >= 0.5 for value in best) >= 5
