"""A clip, a run whose drafts are to be reviewed, and servers over it."""

import pytest
from under_review import Opened, film_to, run_in

from codecap.records import Clip


@pytest.fixture(scope="session")
def clip(tmp_path_factory) -> Clip:
    return film_to(tmp_path_factory.mktemp("film") / "clip.mp4")


@pytest.fixture
def run(tmp_path, clip) -> dict:
    return run_in(tmp_path, clip)


@pytest.fixture
def opening(run):
    """Opens servers over one run, for several people."""
    opened: list[Opened] = []

    def opens(who: str = "ann", **review) -> Opened:
        config = {**run, "review": {**run["review"], **review}}
        opened.append(Opened(config, who))
        return opened[-1].enter()

    yield opens
    for one in opened:
        one.close()


@pytest.fixture
def server(opening) -> Opened:
    return opening()


@pytest.fixture(scope="module")
def shared(tmp_path_factory, clip):
    """A server for tests that change nothing."""
    opened = Opened(run_in(tmp_path_factory.mktemp("run"), clip))
    yield opened.enter()
    opened.close()
