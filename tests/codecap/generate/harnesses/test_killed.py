"""Ten clips, two systems, an endpoint that fails a fifth of the time, two kills: nothing is paid twice, every row is right."""

import json
import random
import subprocess
import sys
import time
from collections import Counter

from loopback import Loopback

from codecap.generate.captions import caption_shard
from codecap.records import Outcome

from .conftest import PAGE, PRICES

AT_ONCE = 3
EFFORTS = {"mild": "low", "keen": "high"}
RUN = """
import json, sys
from pathlib import Path
from codecap.exchange import patience, session
from codecap.generate.captions import caption_shard
from codecap.records import Clip
patience.FIRST_WAIT_S = 0.01
told = json.loads(sys.argv[1])
clips = [Clip.model_validate(clip) for clip in told["clips"]]
for system, settings in told["systems"].items():
    with session(Path(told["durable"]), told["exchange"], stage="generate_captions", system=system):
        list(caption_shard(clips, system, "direct", settings, "code", Path(told["durable"])))
"""


def ways(count, seed):
    """A fifth of failures, of the kinds that pass."""
    chosen = random.Random(seed)
    failing = ("500", "429 with Retry-After", "cut stream", "no JSON", "529")
    return [chosen.choice(failing) if chosen.random() < 0.2 else "well" for _ in range(count)]


def until(what, seconds=30.0):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "did not come to it"
        time.sleep(0.02)


def answer(text):
    """A page for most; a few are cut off or none, as models do."""
    number = int(text.partition("lasts ")[2].partition(".")[0])
    return "I cannot." if number == 3 else f"```html\n{PAGE.format(name=number)}\n```"


def test_two_kills_and_failures_all_along(clip_of, durable, opened, tmp_path):
    clips = [clip_of(24 * (number + 1), f"A_{number:03d}") for number in range(10)]
    (tmp_path / "prices.yaml").write_text(PRICES)
    exchange = {"prices": str(tmp_path / "prices.yaml"), "concurrency": AT_ONCE}
    with Loopback(answer=answer, retry_after_s=0.05, hang_s=3, for_s=110) as server:
        endpoint = {"api": "openai", "model": "m-1", "base_url": server.base_url(), "key_env": None, "timeout_s": 20}
        systems = {name: {"endpoint": {**endpoint, "thinking": effort}} for name, effort in EFFORTS.items()}
        told = {"clips": [json.loads(clip.model_dump_json()) for clip in clips], "systems": systems}
        told |= {"durable": str(durable), "exchange": exchange}
        for kill, before in enumerate((7, 8)):
            server.ways.clear()
            server.behave(*ways(before, seed=kill), *["hang"] * AT_ONCE)
            run = subprocess.Popen([sys.executable, "-c", RUN, json.dumps(told)])
            until(lambda: server.ways.count("hang") == AT_ONCE)
            run.kill()
            run.wait(10)
        paid = server.account.calls
        assert 4 < paid < 20
        server.behave(*ways(20, seed=7))
        with opened(concurrency=AT_ONCE, tries=1):  # so that some fail this time
            first = {name: list(caption_shard(clips, name, "direct", entry, "code", durable)) for name, entry in systems.items()}
        assert Counter(row.outcome for rows in first.values() for row in rows)[Outcome.INFRA_ERROR] > 0
        with opened(concurrency=AT_ONCE):
            last = {name: list(caption_shard(clips, name, "direct", entry, "code", durable)) for name, entry in systems.items()}
        assert (server.account.calls, server.account.twice) == (20, 0)
    for name, rows in last.items():
        assert [row.clip_id for row in rows] == [clip.clip_id for clip in clips]
        expected = [Outcome.NO_COMPLETE_HTML if clip.frames == 72 else Outcome.OK for clip in clips]
        assert [row.outcome for row in rows] == expected
        for before, row in zip(first[name], rows, strict=True):
            assert before == row or before.outcome is Outcome.INFRA_ERROR
        pages = [row.html.read_text() for row in rows if row.html]
        assert pages == [PAGE.format(name=clip.frames // 24) + "\n" for clip in clips if clip.frames != 72]
