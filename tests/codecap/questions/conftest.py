"""A drawn clip, of which questions are asked."""

import pytest
from loopback import annotator


@pytest.fixture(scope="session")
def film(tmp_path_factory):
    """T_001: a red square slides right, a blue bar appears."""
    return annotator.film(tmp_path_factory.mktemp("film") / "T_001.mp4")
