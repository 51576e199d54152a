"""Grids: nothing dropped, in order, within the limits, and as large as they may be."""

import io
import math

import numpy as np
import pytest
from PIL import Image

from codecap.showing.album import Album, BlankAlbum
from codecap.showing.sheets import GAP_PX, Limits, Sheet, arrange, best_grid, tiles_a_sheet

LIMITS = Limits(2048, 2_500_000)


@pytest.mark.parametrize("size_px", [(640, 360), (1920, 1080), (360, 640), (2, 2), (3840, 400)])
@pytest.mark.parametrize("counts", [(1, 1, 0), (40, 8, 2), (49, 1, 0), (60, 13, 2), (1200, 40, 2), (0, 0, 0)])
@pytest.mark.parametrize("most", [3, 8, 50])
def test_every_frame_is_in_one_tile_in_order_and_within_the_limits(counts, size_px, most):
    groups = [list(range(100 * k, 100 * k + count)) for k, count in enumerate(counts)]
    arranged = arrange(groups, size_px, most, LIMITS)
    assert [[frame for sheet in sheets for frame in sheet.frames] for sheets in arranged] == groups
    sheets = [sheet for group in arranged for sheet in group]
    assert len(sheets) <= most
    if sum(counts) <= most:
        assert all(len(sheet.frames) == 1 for sheet in sheets)
    for sheet in sheets:
        assert max(sheet.size_px) <= 2048 and math.prod(sheet.size_px) <= 2_500_000
        assert len(sheet.frames) > (sheet.rows - 1) * sheet.columns  # no empty row
        corners = [sheet.corner_of(place) for place in range(len(sheet.frames))]
        assert corners == sorted(corners, key=lambda corner: (corner[1], corner[0]))
    assert len({sheet.tile_px for sheet in sheets}) <= 1  # reference and render are shown at one scale
    for group in arranged:
        sizes = {len(sheet.frames) for sheet in group}
        assert max(sizes, default=0) - min(sizes, default=0) <= 1


def test_no_fewer_tiles_would_do():
    for counts in ([40, 11], [100, 20, 2], [1200, 4]):
        tiles = tiles_a_sheet(counts, 50)
        assert sum(math.ceil(count / tiles) for count in counts) <= 50
        assert sum(math.ceil(count / (tiles - 1)) for count in counts) > 50


def test_no_other_grid_has_larger_tiles():
    """Every grid is tried by hand: the scale is what the longest side and the area leave, gaps taken off."""
    for tiles in (2, 3, 4, 6, 7, 25):
        for width_px, height_px in ((1280, 720), (640, 360), (720, 1280), (1000, 1000)):
            _, found_px = best_grid(tiles, (width_px, height_px), LIMITS)
            for columns in range(1, tiles + 1):
                rows = math.ceil(tiles / columns)
                for share in np.linspace(0.01, 1.0, 400):
                    across = columns * width_px * share + GAP_PX * (columns - 1)
                    down = rows * height_px * share + GAP_PX * (rows - 1)
                    if max(across, down) > 2048 or across * down > 2_500_000:
                        break
                    assert int(width_px * share) <= found_px[0] + 1


def test_small_frames_are_never_enlarged_and_large_ones_fit():
    assert best_grid(1, (96, 64), LIMITS) == (1, (96, 64))
    assert best_grid(1, (4096, 1024), LIMITS) == (1, (2048, 512))
    assert best_grid(1, (2000, 2000), LIMITS)[1] == (1581, 1581)  # the root of 2.5 million


def test_too_few_pictures_are_told():
    with pytest.raises(ValueError, match="2 pictures a request are too few"):
        arrange([[0], [0], [0]], (96, 64), 2, LIMITS)


@pytest.mark.parametrize("encoding", ["png", "jpeg"])
@pytest.mark.parametrize("most", [50, 5, 3])
def test_the_pixels_of_every_frame_are_in_some_tile(encoding, most):
    """Each frame has a colour of its own, and a mark in its lower right corner; all are found again in their tiles."""
    frames = [np.full((64, 96, 3), (4 * k, 250 - 4 * k, 128), np.uint8) for k in range(20)]
    for rgb in frames:
        rgb[48:, 80:] = 255
    whole, part = arrange([list(range(20)), [3, 4, 17]], (96, 64), most, LIMITS)
    album = Album([*whole, *part], encoding)
    assert album.wanted == set(range(20))
    for k, rgb in enumerate(frames):
        shown = rgb.copy()
        album.see(k, shown)
        shown[:] = 77  # what is kept must be a copy
    seen = []
    for sheet in [*whole, *part]:
        picture = album[sheet]
        assert picture.media_type == f"image/{encoding}" and picture.size_px == sheet.size_px
        with Image.open(io.BytesIO(picture.data)) as opened:
            pixels = np.asarray(opened.convert("RGB")).astype(int)
        for place, frame in enumerate(sheet.frames):
            left, top = sheet.corner_of(place)
            tile = pixels[top : top + sheet.tile_px[1], left : left + sheet.tile_px[0]]
            assert np.abs(tile[:24, :40] - frames[frame][0, 0]).max() <= (0 if encoding == "png" else 3)
            assert tile[-4:, -4:].min() >= 250
            seen.append(frame)
    assert seen == [*range(20), 3, 4, 17]


def test_an_album_holds_encoded_pictures_and_those_just_begun():
    whole, part = arrange([list(range(100)), list(range(40, 60))], (96, 64), 8, LIMITS)
    album = Album([*whole, *part], "png")
    most = 0
    for k in range(100):
        album.see(k, np.zeros((64, 96, 3), np.uint8))
        most = max(most, len(album._begun))
    assert most <= 2 and not album._begun


def test_blank_pictures_have_the_sizes():
    sheet = Sheet((0, 12, 24), 2, (300, 200))
    assert BlankAlbum()[sheet].size_px == sheet.size_px == (608, 408)
