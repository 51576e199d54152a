"""Projects under review, and a browser to review them in."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from reviewing import Project, make_project

from codecap.records import Annotation
from codecap.render.browser import find_browser


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Project]]:
    """Makes projects of drafts; their servers end with the tests."""
    made: list[Project] = []

    def make_one(*drafts: Annotation, twice: float = 0) -> Project:
        made.append(make_project(tmp_path_factory.mktemp("project"), list(drafts), twice))
        return made[-1]

    yield make_one
    for project in made:
        project.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator:
    """Gone when other tests begin, since who drives another browser in the same thread is refused."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=str(find_browser()))
        yield found
        found.close()
