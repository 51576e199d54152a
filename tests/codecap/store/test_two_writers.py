"""Two processes, as two users have them, on one store at the same time; and those who are killed in it."""

import json
import random
import signal
import time
from collections import Counter, defaultdict

import pytest

from codecap import store
from codecap.store import ItemStore

from .conftest import files

MAKE = """
import json, os, sys, time
from pathlib import Path
from codecap.store import ItemStore, at
root, rounds, start = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
items = ItemStore(root, stage="generate", salt=0)

def make(draft):
    mine = os.urandom(32).hex()
    draft.file("html").write_text(mine * 50)
    draft.file("masks.json.gz").write_text(mine)
    return {"mine": mine}

while time.time() < start:
    time.sleep(0.001)
for number in range(rounds):
    clip_id = f"A_{number:03d}"
    item = items.get_or_make("agent", clip_id, "k", make)
    html, masks = at(item.files["html"]).read_text(), at(item.files["masks.json.gz"]).read_text()
    print(json.dumps([clip_id, item.value["mine"], html[:64], masks, sorted(map(str, item.files.values()))]), flush=True)
"""


def test_all_who_make_one_item_at_once_get_the_same(root, workers):
    """Sixty items, each made by four processes with contents that no two share."""
    for _ in range(4):
        workers.start(MAKE, root, 60, time.time() + 2)
    told = defaultdict(set)
    for lines in workers.results():
        for clip_id, *said in map(json.loads, lines.splitlines()):
            assert len({said[0], said[1], said[2]}) == 1  # value and files are of one maker
            told[clip_id].add(json.dumps(said))
    assert len(told) == 60 and all(len(said) == 1 for said in told.values())
    assert list(store.verify(root, contents=True)) == []
    assert len(files(root)) == 3 * 60  # what the others made is gone
    made = Counter(entry["clip_id"] for entry in store.made(root))
    assert set(made.values()) == {1}


def test_one_item_made_at_once_while_its_files_are_purged(root, workers):
    """A purge takes files away again and again: no file of one maker is ever found beside another's value."""
    for _ in range(3):
        workers.start(MAKE.replace("number:03d", "number % 2:03d").replace(".read_text()", ".read_text() or 'gone'"), root, 80, 0)
    patient = list(workers.started)
    while any(process.poll() is None for process in patient):
        for path in root.rglob("*.html"):
            if random.random() < 0.2:
                path.unlink(missing_ok=True)
        time.sleep(0.01)
    for process in patient:
        lines, _ = process.communicate()
        whole = [json.loads(line) for line in lines.splitlines()]
        assert all(mine == html == masks for _, mine, html, masks, _ in whole)
        assert process.returncode == 0 or len(whole) < 80  # a file may go before it is opened
    items = ItemStore(root, stage="generate", salt=0)
    again = items.get_or_make("agent", "A_000", "k", lambda draft: [draft.file("html").write_text("x")])
    assert items.get("agent", "A_000", "k") == again


@pytest.mark.parametrize("seed", range(3))
def test_killed_at_any_time_leaves_whole_items_and_drafts_at_most(root, workers, seed):
    """SIGKILL at random points, and others go on: nothing half, nothing twice, nothing of the dead in the way."""
    chance = random.Random(seed)
    for _ in range(8):
        process = workers.start(MAKE, root, 40, 0)
        for _ in range(chance.randrange(1, 40)):
            process.stdout.readline()
        time.sleep(chance.random() * 0.005)
        process.send_signal(signal.SIGKILL)
        process.wait(10)
    items = ItemStore(root, stage="generate", salt=0)
    finished = {clip: items.get("agent", clip, "k") for clip in (f"A_{number:03d}" for number in range(40))}
    finished = {clip: item for clip, item in finished.items() if item is not None}
    assert list(store.verify(root, contents=True)) == []
    workers.started.clear()
    workers.start(MAKE, root, 40, 0)
    (lines,) = workers.results()
    told = {line[0]: line[1] for line in map(json.loads, lines.splitlines())}
    assert len(told) == 40 and all(told[clip] == item.value["mine"] for clip, item in finished.items())
    made = Counter(entry["clip_id"] for entry in store.made(root))
    assert max(made.values()) == 1 and set(made) | set(finished) == set(told)
