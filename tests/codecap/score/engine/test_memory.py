"""What memory does not suffice for is tried again; any other error goes through."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from codecap.score import Unreached
from codecap.score.engine.memory import guarded, within_memory

TOO_MANY = 10**16


def raising(error):
    def work(*_):
        raise error

    return work


@pytest.mark.parametrize(
    "work",
    [
        lambda: np.ones(TOO_MANY),
        lambda: torch.empty(TOO_MANY),
        raising(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")),
        raising(RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`")),
        raising(MemoryError()),
    ],
)
def test_out_of_memory_is_tried_again(work):
    with pytest.raises(Unreached, match="^out of memory"):
        within_memory(work)


@pytest.mark.parametrize("error", [RuntimeError("CUDA error: device-side assert"), Unreached("down"), ZeroDivisionError()])
def test_any_other_error_goes_through(error):
    with pytest.raises(type(error)) as raised:
        within_memory(raising(error))
    assert raised.value is error


def test_torch_is_not_loaded_for_it():
    code = (
        "import sys\n"
        "from codecap.score.engine.memory import within_memory\n"
        "try: within_memory(lambda: bytearray(10**18))\n"
        "except Exception as why: print(why, 'torch' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told == "out of memory False\n"


class Hungry:
    wanted = None

    def __init__(self, at):
        self.at, self.seen = at, []

    def see(self, frame, rgb):
        if frame == self.at:
            raise MemoryError
        self.seen.append(frame)

    def result(self):
        if self.at == "result":
            raise MemoryError
        return {"seen": np.array(self.seen)}


def test_a_watcher_says_at_the_end_that_it_could_not_see():
    picture = np.zeros((2, 2, 3), np.uint8)
    for at in (1, "result"):
        inner = Hungry(at)
        watcher = guarded(lambda inner=inner: inner)
        for frame in range(4):
            watcher.see(frame, picture)
        with pytest.raises(Unreached, match="out of memory"):
            watcher.result()
        assert inner.seen == ([0] if at == 1 else [0, 1, 2, 3])
    failed = guarded(raising(MemoryError("a tensor")))
    failed.see(0, picture)
    assert 0 not in failed.wanted
    with pytest.raises(Unreached, match="a tensor"):
        failed.result()
    assert guarded(lambda: None) is None
