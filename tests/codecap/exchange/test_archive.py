"""One exchange with its pictures, and damage that is told."""

import io

import pytest
from PIL import Image

from codecap.errors import UserError
from codecap.exchange import NotReached, Picture, Question, Text
from codecap.exchange.archive import Archive


@pytest.fixture
def pictures():
    made = []
    for color in ("red", "blue"):
        file = io.BytesIO()
        Image.new("RGB", (4, 4), color).save(file, "PNG")
        made.append(Picture(file.getvalue()))
    return made


@pytest.fixture
def digest(server, open_exchange, endpoint_of, pictures):
    server.behave("500")
    exchange = open_exchange()
    reply = exchange.ask(endpoint_of(), Question((Text("Compare"), *pictures)))
    exchange.ask(endpoint_of(), Question((Text("another"),)))
    return reply.digest


def test_an_exchange_is_shown_with_its_tries_and_pictures(digest, tmp_path, pictures):
    archive = Archive(tmp_path / "durable")
    failed, answered = archive.show(digest[:8])
    assert (failed["status"], answered["status"]) == (500, 200)
    assert "You said Compare" in answered["response"]
    assert (answered["stage"], answered["system"]) == ("retention", "still")
    written = archive.unpack_media(answered, tmp_path / "out")
    assert [path.read_bytes() for path in written] == [picture.data for picture in pictures]
    assert [path.suffix for path in written] == [".png", ".png"]


@pytest.mark.parametrize("told", ["", "a", "f" * 64])
def test_what_names_no_exchange_is_told(digest, tmp_path, told):
    with pytest.raises(UserError, match="give more of its digits"):
        Archive(tmp_path / "durable").show(told)


def test_whole_archives_have_no_problems(digest, tmp_path):
    assert list(Archive(tmp_path / "durable").problems()) == []


def test_damage_and_missing_pictures_are_told(digest, tmp_path, open_exchange, endpoint_of, server, pictures):
    folder = tmp_path / "durable" / "exchange"
    (pack,) = (folder / "packs").glob("*.pack")
    pack.write_bytes(pack.read_bytes().replace(b"You said another", b"You SAID another"))
    for file in (folder / "media").iterdir():
        file.unlink()
    problems = list(Archive(tmp_path / "durable").problems())
    assert sum("is damaged" in problem for problem in problems) == 1
    assert sum("is missing" in problem for problem in problems) == 2
    server.stop()
    assert open_exchange().ask(endpoint_of(), Question((Text("Compare"), *pictures))).replayed
    with pytest.raises(NotReached):
        open_exchange(tries=1).ask(endpoint_of(), Question((Text("another"),)))
