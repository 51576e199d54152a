"""The single call: what is sent to each of the three APIs, what its answer becomes, and what a replay costs."""

import base64
import io
import math
import re

import numpy as np
import pytest
from loopback import Loopback
from PIL import Image

from codecap import registry
from codecap.generate.captions import caption_shard
from codecap.generate.harnesses import direct
from codecap.generate.shown import single_question
from codecap.generate.single_call import Read
from codecap.records import Outcome
from codecap.showing import prompts
from codecap.showing.sheets import GAP_PX
from codecap.video import read_frames

from .conftest import HEIGHT_PX, PAGE, WIDTH_PX

APIS = ("openai", "anthropic", "google")
ANSWER = f"Here:\n```html\n{PAGE.format(name='it')}\n```\n"


def entry(server, api="openai", **told):
    endpoint = {"api": api, "model": "m-1", "base_url": server.base_url(api), "key_env": None, "timeout_s": 20}
    return {"endpoint": endpoint | told.pop("endpoint", {}), **told}


def captions(clips, settings, durable, harness="direct"):
    return list(caption_shard(clips, "mine", harness, settings, "code", durable))


def parts_sent(api, body):
    """The user's turn as (text) and (media type, bytes), in order."""
    if api == "google":
        for part in body["contents"][0]["parts"]:
            told = part.get("inlineData")
            yield part["text"] if told is None else (told["mimeType"], base64.b64decode(told["data"]))
    for part in body["messages"][-1]["content"] if api != "google" else []:
        if part["type"] == "text":
            yield part["text"]
        elif api == "anthropic":
            yield part["source"]["media_type"], base64.b64decode(part["source"]["data"])
        else:
            head, _, data = part["image_url"]["url"].partition(",")
            yield re.match(r"data:(.*);base64", head)[1], base64.b64decode(data)


def tiles(picture, columns, count):
    """Mean colours of the frames of a picture, in reading order."""
    rgb = np.asarray(Image.open(io.BytesIO(picture)).convert("RGB")).astype(float)
    places = [divmod(place, columns) for place in range(count)]
    corners = [(row * (HEIGHT_PX + GAP_PX), column * (WIDTH_PX + GAP_PX)) for row, column in places]
    return [rgb[top : top + HEIGHT_PX, left : left + WIDTH_PX].mean(axis=(0, 1)) for top, left in corners]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(("sampled", "pictures"), [(50, 50), (51, 26), (400, 50)])
def test_every_frame_at_2_fps_is_sent_once_in_order(api, sampled, pictures, clip_of, durable, opened):
    clip = clip_of(12 * sampled - 5)
    with Loopback(answer=lambda _: ANSWER) as server, opened():
        (row,) = captions([clip], entry(server, api), durable)
        (body,) = server.bodies
    assert row.outcome is Outcome.OK and row.kind == "code"
    sent = list(parts_sent(api, body))
    shown = [(sent[place - 1], part[1]) for place, part in enumerate(sent) if isinstance(part, tuple)]
    assert len(shown) == pictures
    times, colours = [], []
    for said, picture in shown:
        told = [float(time) for time in re.findall(r"([\d.]+) s", said)]
        across = re.search(r"grid, (\d+) across", said)
        times += told
        colours += tiles(picture, int(across[1]) if across else 1, len(told))
    assert times == [k / 2 for k in range(sampled)]
    real = {index: rgb.astype(float).mean(axis=(0, 1)) for index, rgb in read_frames(clip.mp4) if index % 12 == 0}
    assert len(colours) == len(real)
    for seen, (_, there) in zip(colours, sorted(real.items()), strict=True):
        assert np.abs(seen - there).max() < 3, "another frame than was said"
    text = " ".join(part for part in sent if isinstance(part, str))
    assert f"{clip.frames / 24:.3f} s" in text and f"{WIDTH_PX} x {HEIGHT_PX} pixels" in text and "window.seek" in text


@pytest.mark.parametrize("effort", ["low", "medium", "high", "xhigh"])
@pytest.mark.parametrize("api", APIS)
def test_the_effort_is_on_the_wire(api, effort, clip_of, durable, opened):
    with Loopback(answer=lambda _: ANSWER) as server, opened():
        captions([clip_of(24)], entry(server, api, endpoint={"thinking": effort}, most_output_tokens=777), durable)
        (body,) = server.bodies
    where = {
        "openai": lambda: (body["reasoning_effort"], body["max_completion_tokens"]),
        "anthropic": lambda: (body["output_config"]["effort"], body["max_tokens"]),
        "google": lambda: (
            body["generationConfig"]["thinkingConfig"]["thinkingLevel"],
            body["generationConfig"]["maxOutputTokens"],
        ),
    }
    assert where[api]() == (effort, 777)


def test_a_video_is_sent_whole_where_the_entry_says_so(clip_of, durable, opened):
    clip = clip_of(60)
    with Loopback(answer=lambda _: ANSWER) as server, opened():
        captions([clip], entry(server, "google", endpoint={"video": True}), durable)
        (body,) = server.bodies
    (video,) = [part for part in body["contents"][0]["parts"] if "inlineData" in part]
    assert base64.b64decode(video["inlineData"]["data"]) == clip.mp4.read_bytes()
    assert video["videoMetadata"] == {"fps": 2.0}


@pytest.mark.parametrize("api", APIS)
def test_usage_and_cost_are_what_the_server_counted_and_a_replay_gives_the_same_row_for_nothing(
    api, clip_of, durable, opened, tmp_path
):
    clips = [clip_of(30, "A_001"), clip_of(30, "B_002", shade=90)]
    with Loopback(answer=lambda _: ANSWER) as server:
        settings = entry(server, api)
        with opened():
            first = captions(clips, settings, durable)
        account = server.account
        assert account.calls == 2
        assert sum(row.usage.input_uncached for row in first) == account.uncached
        assert sum(row.usage.input_cache_read for row in first) == account.read
        assert sum(row.usage.input_cache_write for row in first) == account.written
        assert sum(row.usage.output for row in first) == account.output
        assert sum(row.cost_usd for row in first) == pytest.approx(account.millionths(11, 2, 17, 53) / 1e6, abs=1e-9)
        pages = [row.html.read_bytes() for row in first]
        for folder in ("runs", "generate"):  # only the exchanges are left
            (durable / folder).rename(tmp_path / f"gone-{folder}")
        with opened():
            again = captions(clips, settings, durable)
        assert server.account.calls == 2
        assert again == first and [row.html.read_bytes() for row in again] == pages
    with opened():  # nobody answers any more
        assert captions(clips, settings, durable) == first
    assert [row.rounds for row in first] == [1, 1]


@pytest.mark.parametrize(
    ("way", "outcome", "detail"),
    [
        ("empty", Outcome.NO_COMPLETE_HTML, "the answer is empty"),
        ("thinking only", Outcome.NO_COMPLETE_HTML, "the answer is empty"),
        ("refusal", Outcome.REFUSED, "refused"),
        ("filtered", Outcome.REFUSED, "refused"),
        ("400 by a filter", Outcome.REFUSED, "kept back by the provider's filter"),
        ("length", Outcome.NO_COMPLETE_HTML, "cut off at the limit of output tokens"),
        ("401", Outcome.INFRA_ERROR, "HTTP 401"),
        ("no quota", Outcome.INFRA_ERROR, "quota or credit is used up"),
        ("too long", Outcome.INFRA_ERROR, "maximum context length"),
    ],
)
def test_what_an_answer_that_is_no_page_becomes(way, outcome, detail, clip_of, durable, opened):
    clip = clip_of(24)
    with Loopback(answer=lambda _: "```html\n<!doctype html><html><body>half") as server, opened():
        server.behave(way)
        (row,) = captions([clip], entry(server), durable)
        assert row.outcome is outcome and detail in row.detail and row.html is None, row
    kept = list((durable / "runs").rglob("*.json"))
    assert bool(kept) is (outcome is not Outcome.INFRA_ERROR)


def test_what_failed_by_our_fault_is_tried_again_and_then_right(clip_of, durable, opened):
    clips = [clip_of(24, f"A_{number:03d}", shade=number) for number in range(3)]
    with Loopback(answer=lambda _: ANSWER) as server:
        server.behave(*["500"] * 3)
        with opened(concurrency=1, tries=3):
            rows = captions(clips, entry(server), durable)
        assert [row.outcome for row in rows] == [Outcome.INFRA_ERROR, Outcome.OK, Outcome.OK]
        with opened():
            again = captions(clips, entry(server), durable)
        assert [row.outcome for row in again] == [Outcome.OK] * 3 and again[1:] == rows[1:]
        assert (server.account.calls, server.account.twice) == (3, 0)


def test_an_edit_reads_the_answers_anew_and_buys_nothing(clip_of, durable, opened, monkeypatch):
    clip = clip_of(24)
    with Loopback(answer=lambda _: ANSWER) as server, opened():
        (first,) = captions([clip], entry(server), durable)
        monkeypatch.setattr(direct, "read_page", lambda answer, cut_off: Read(answer.upper().encode() + b"\xff"))
        (second,) = captions([clip], entry(server), durable)
        assert server.account.calls == 1
    assert second.html.read_bytes() == ANSWER.upper().encode() + b"\xff" and second.key != first.key
    assert (second.usage, second.cost_usd, second.wall_s) == (first.usage, first.cost_usd, first.wall_s)


def test_another_address_key_or_patience_is_the_same_run_and_anything_asked_differently_another(clip_of, durable, opened):
    clip = clip_of(24)
    same = [{"endpoint": {"base_url": "http://127.0.0.1:9/v1"}}, {"endpoint": {"timeout_s": 7}}]
    other = [
        {"endpoint": {"model": "m-2"}},
        {"endpoint": {"thinking": "high"}},
        {"endpoint": {"images": 1}},
        {"rate_hz": 1},
        {"longest_px": 256},
        {"most_output_tokens": 4000},
    ]
    with Loopback(answer=lambda _: ANSWER) as server, opened():
        captions([clip], entry(server), durable)
        for told in same:
            captions([clip], entry(server, **told), durable)
        assert server.account.calls == 1
        identities = [registry.make("generate.harnesses", "direct", entry(server, **told)).identity for told in [{}, *other]]
    assert len({str(identity) for identity in identities}) == len(identities)


def test_the_cost_of_a_call_can_be_told_before_it(clip_of, durable, opened):
    """Blank pictures of the right sizes: the same number of the same size."""
    clip = clip_of(12 * 51)
    with Loopback(answer=lambda _: ANSWER) as server, opened():
        harness = registry.make("generate.harnesses", "direct", entry(server))
        real, (blank,) = single_question(clip, harness.settings, prompts.load(harness.prompt)), harness.questions_expected(clip)
    assert [part.size_px for part in blank.media] == [part.size_px for part in real.media]
    assert len(blank.media) == math.ceil(51 / 2)
