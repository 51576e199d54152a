"""An exchange that only replays: what is recorded is answered, nothing else is asked, and nothing is written."""

import pytest

from codecap.exchange import Exchange, NotReached

from .conftest import saying


def test_recorded_answers_alone(server, endpoint_of, tmp_path, prices, open_exchange):
    first = open_exchange().ask(endpoint_of(), saying("one"))
    before = {path: path.read_bytes() for path in (tmp_path / "durable").rglob("*") if path.is_file()}
    replaying = Exchange(tmp_path / "durable", {"prices": prices}, replay_only=True)
    assert replaying.ask(endpoint_of(), saying("one")).text == first.text
    with pytest.raises(NotReached, match=r"m-1.*: there is no recorded answer to this question, and nothing new is asked"):
        replaying.ask(endpoint_of(), saying("two"))
    replaying.close()
    assert server.account.calls == 1
    assert {path: path.read_bytes() for path in (tmp_path / "durable").rglob("*") if path.is_file()} == before


def test_of_nothing_nothing_is_made(endpoint_of, tmp_path):
    replaying = Exchange(tmp_path / "none", replay_only=True)
    with pytest.raises(NotReached):
        replaying.ask(endpoint_of(), saying("one"))
    replaying.close()
    assert not (tmp_path / "none").exists()
