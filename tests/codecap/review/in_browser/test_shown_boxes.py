"""The page and the server make the same boxes of a machine's boxes and a person's keys."""

import random

from codecap.review.shown import shown_boxes

PAGE = """async ([cases, frames]) => {
  const { shownBoxes } = await import("/assets/boxes.js");
  return cases.map((item) => shownBoxes(item, { frames, width_px: 100, height_px: 50 }));
}"""
FRAMES = 24


def case(chance: random.Random) -> dict:
    def box() -> list[float]:
        x, y = chance.uniform(0, 80), chance.uniform(0, 40)
        return [x, y, x + chance.uniform(1, 40), y + chance.uniform(1, 20)]

    def or_none(least: float) -> list[float] | None:
        return box() if chance.random() > least else None

    base = None if chance.random() < 0.2 else [or_none(0.2) for _ in range(FRAMES)]
    keys = {frame: or_none(0.25) for frame in chance.sample(range(FRAMES), chance.randint(0, 6))}
    times = sorted(chance.uniform(0, 1.1) for _ in range(2 * chance.randint(0, 3)))
    return {"visible_s": list(zip(times[::2], times[1::2], strict=True)), "base": base, "keys": keys}


def test_the_page_shows_what_is_approved(server, browser):
    chance = random.Random(8)
    cases = [case(chance) for _ in range(300)]
    page = browser.new_page()
    page.goto(server.addresses[-1])
    page.wait_for_url(f"http://{server.host}/")
    posted = [{**told, "keys": {str(frame): box for frame, box in told["keys"].items()}} for told in cases]
    shown = page.evaluate(PAGE, [posted, FRAMES])
    page.close()
    for told, in_page in zip(cases, shown, strict=True):
        boxes = shown_boxes(told["base"], told["keys"], told["visible_s"], FRAMES, (100, 50))
        assert [None if box is None else list(box) for box in boxes] == in_page
