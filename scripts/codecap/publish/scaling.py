"""An annotation for a clip in another size."""

from __future__ import annotations

from collections.abc import Sequence

from codecap.records import Annotation, Box


def scaled(annotation: Annotation, across: float, down: float) -> Annotation:
    """The annotation with all boxes brought to another size; itself where the size is the same.

    Args:
        across, down: new width by old width, new height by old height.
    """
    if across == 1 and down == 1:
        return annotation

    def brought(boxes: Sequence[Box | None] | None) -> list[Box | None] | None:
        if boxes is None:
            return None
        return [None if box is None else (box[0] * across, box[1] * down, box[2] * across, box[3] * down) for box in boxes]

    objects = [
        item.model_copy(update={"boxes_xyxy": brought(item.boxes_xyxy), "amodal_xyxy": brought(item.amodal_xyxy)})
        for item in annotation.objects
    ]
    return annotation.model_copy(update={"objects": objects})
