import numpy as np

from codecap.annotate.regions import regions_of
from codecap.boxes import iou

HEIGHT_PX, WIDTH_PX = 180, 320


def best(regions, family, box):
    boxes = [region.box_xyxy for region in regions if region.family == family]
    return max((float(iou(np.array(box, float), np.array(found))) for found in boxes), default=0.0)


def test_a_sprite_before_a_landscape_of_many_colours_is_an_accent():
    rng = np.random.default_rng(2)
    shades = np.array([(90, 50, 110), (60, 40, 90), (120, 70, 120), (40, 30, 70), (80, 90, 60)], np.uint8)
    picture = np.repeat(np.repeat(shades[rng.integers(0, 5, (18, 32))], 10, axis=0), 10, axis=1)
    picture[60:90, 100:122] = (220, 40, 40)
    picture[60:68, 100:122] = (40, 120, 230)
    assert best(regions_of(picture), "accent", (100, 60, 122, 90)) > 0.9


def test_a_card_that_is_hardly_brighter_than_the_page_is_a_panel():
    picture = np.full((HEIGHT_PX, WIDTH_PX, 3), 238, np.uint8)
    picture[40:80, 60:200] = 247
    picture[55:65, 80:120] = 40  # what is written on it
    assert best(regions_of(picture), "panel", (60, 40, 200, 80)) > 0.9


def test_contrast_is_the_difference_from_what_is_around():
    picture = np.full((HEIGHT_PX, WIDTH_PX, 3), (20, 30, 60), np.uint8)
    picture[40:80, 60:120] = (220, 40, 40)
    figure = next(region for region in regions_of(picture) if region.family == "figure")
    assert abs(figure.contrast - 200) < 2
    assert best([figure], "figure", (60, 40, 120, 80)) > 0.9
