"""Fetching from a server on the loopback: resumed, checked, whole or not at all; git from a repository of the test's own."""

import hashlib
import io
import os
import subprocess
import zipfile
from types import SimpleNamespace

import pytest

from codecap import weights
from codecap.weights import WeightsMissing, fetching, manifest
from codecap.weights.fetching import NotFetched, fetch

DATA = os.urandom(300_000)
SHA256 = hashlib.sha256(DATA).hexdigest()


def one_file(server, **part):
    server.files["a.bin"] = DATA
    return {"parts": [{"kind": "file", "source": server.url("a.bin"), "into": "a.bin", **part}]}


def test_a_file_comes_and_is_found(place, table, server):
    table(a=one_file(server, sha256=SHA256))
    fetch("a")
    found = weights.find("a")
    assert found.path == place / "a" / "a.bin"
    assert found.path.read_bytes() == DATA
    assert found.revision == f"a@{SHA256[:12]}"
    assert manifest.verify("a", weights.entry("a")) == []
    fetch("a")
    assert len(server.asked) == 1  # what is there is left


def test_a_broken_transfer_goes_on_where_it_broke_off(place, table, server):
    table(a=one_file(server, sha256=SHA256))
    server.breaks, server.after = 2, 100_000
    fetch("a")
    assert weights.place("a").read_bytes() == DATA
    assert server.asked == [("a.bin", None), ("a.bin", "bytes=100000-"), ("a.bin", "bytes=200000-")]


def test_the_next_command_goes_on_too(place, table, server, monkeypatch):
    table(a=one_file(server, sha256=SHA256))
    monkeypatch.setattr(fetching, "TRIES", 1)
    server.breaks, server.after = 1, 100_000
    with pytest.raises(NotFetched, match=r"100000 of 300000 bytes, 1 times; run the command again"):
        fetch("a")
    assert not (place / "a").exists()
    with pytest.raises(WeightsMissing, match="codecap weights fetch a"):
        weights.place("a")
    fetch("a")
    assert server.asked[-1] == ("a.bin", "bytes=100000-")
    assert weights.place("a").read_bytes() == DATA


def test_a_file_that_changed_in_between_is_begun_anew(place, table, server, monkeypatch):
    table(a=one_file(server))
    monkeypatch.setattr(fetching, "TRIES", 1)
    server.breaks, server.after = 1, 100_000
    with pytest.raises(NotFetched):
        fetch("a")
    server.files["a.bin"] = DATA[::-1]
    fetch("a")
    assert weights.place("a").read_bytes() == DATA[::-1]


def test_another_digest_than_the_tables_is_refused(place, table, server):
    table(a=one_file(server, sha256="0" * 64))
    with pytest.raises(NotFetched, match=f"has sha256 {SHA256}, weights.yaml names 0000"):
        fetch("a")
    assert not (place / "a").exists()
    assert list(place.rglob("a.bin*")) == []


def test_another_size_than_the_tables_is_refused(place, table, server):
    table(a=one_file(server, size_bytes=7))
    with pytest.raises(NotFetched, match="has 300000 bytes, weights.yaml names 7"):
        fetch("a")


def test_what_does_not_fit_on_the_disk_is_not_begun(place, table, server):
    table(a=one_file(server, size_bytes=10**18))
    with pytest.raises(NotFetched, match="1000000000.0 GB are needed"):
        fetch("a")
    assert server.asked == []


def test_a_fetch_that_was_killed_at_its_digest_asks_for_nothing_twice(place, table, server, monkeypatch):
    table(a=one_file(server, sha256=SHA256))
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(weights, "digest", interrupted)
        fetch("a")
    fetch("a")
    assert weights.place("a").read_bytes() == DATA
    assert server.asked == [("a.bin", None), ("a.bin", "bytes=300000-")]  # answered by 416: there is no more
    assert [path.name for path in (place / "a").iterdir()] == ["a.bin"]


def test_a_fetch_that_was_killed_when_its_file_was_in_place_leaves_nothing_else(place, table, server):
    table(a=one_file(server))
    begun(place, b"")
    (place / ".a.draft" / "a.bin.part").rename(place / ".a.draft" / "a.bin")
    fetch("a")
    assert [path.name for path in (place / "a").iterdir()] == ["a.bin"]


def interrupted(_):
    raise KeyboardInterrupt


def begun(place, data: bytes) -> None:
    """What a transfer leaves that broke off, of the file that the server has."""
    draft = place / ".a.draft"
    draft.mkdir(parents=True)
    (draft / "a.bin.part").write_bytes(data)
    (draft / "a.bin.part.tag").write_text(f'"{SHA256[:16]}"')


def test_what_is_longer_than_the_servers_file_is_begun_anew(place, table, server):
    table(a=one_file(server))
    begun(place, DATA + b"more")
    told = []
    fetch("a", told.append)
    assert weights.place("a").read_bytes() == DATA
    assert [line for line in told if "cannot go on after the 300004 bytes of an earlier try; it is begun anew" in line]


def test_only_what_is_missing_needs_space(place, table, server, monkeypatch):
    table(a=one_file(server, size_bytes=len(DATA)))
    monkeypatch.setattr("codecap.weights.fetching.shutil.disk_usage", lambda _: SimpleNamespace(free=200_000))
    with pytest.raises(NotFetched, match=r"0\.3 MB are needed, 0\.2 MB are free"):
        fetch("a")
    (place / ".a.draft").rmdir()
    begun(place, DATA[:150_000])
    fetch("a")
    assert weights.place("a").read_bytes() == DATA


def test_a_failed_fetch_leaves_what_was_there(place, table, server):
    table(a=one_file(server, sha256=SHA256))
    fetch("a")
    table(a={"parts": [{"kind": "file", "source": server.url("none.bin"), "into": "a.bin", "sha256": "1" * 64}]})
    with pytest.raises(NotFetched, match="answers 404"):
        fetch("a")
    table(a=one_file(server, sha256=SHA256))  # the edit is taken back
    assert weights.place("a").read_bytes() == DATA
    assert [path for path, _ in server.asked] == ["a.bin", "none.bin"]


def test_a_file_that_is_right_does_not_come_again(place, table, server):
    server.files |= {"a.bin": DATA, "b.bin": b"b"}
    table(a={"parts": [{"kind": "file", "source": server.url(name), "into": name} for name in ("a.bin", "b.bin")]})
    fetch("a")
    (place / "a" / "b.bin").write_bytes(b"damaged")
    fetch("a")
    assert (weights.place("a") / "b.bin").read_bytes() == b"b"
    assert [path for path, _ in server.asked] == ["a.bin", "b.bin", "b.bin"]


def test_a_draft_of_another_release_is_not_taken(place, table, server):
    table(a=one_file(server, sha256=SHA256))
    (place / ".a.draft").mkdir(parents=True)
    (place / ".a.draft" / "a.bin").write_bytes(b"another release")
    fetch("a")
    assert weights.place("a").read_bytes() == DATA


@pytest.mark.parametrize("inner", ["", "inner"])
def test_a_file_for_the_weights_folder_is_told(tmp_path, monkeypatch, table, server, inner):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CODECAP_WEIGHTS", str(tmp_path / "file" / inner))
    table(a=one_file(server))
    with pytest.raises(WeightsMissing, match=r"file.*set CODECAP_WEIGHTS to"):
        fetch("a")
    with pytest.raises(WeightsMissing):
        weights.place("a")


@pytest.mark.parametrize(("status", "tries"), [(404, 1), (403, 1), (500, 3), (429, 3)])
def test_a_refusal_is_told_and_tried_again_only_where_that_can_help(place, table, server, monkeypatch, status, tries):
    table(a=one_file(server))
    monkeypatch.setattr(fetching, "TRIES", 3)
    server.statuses["a.bin"] = status
    with pytest.raises(NotFetched, match=f"the server answers {status}"):
        fetch("a")
    assert len(server.asked) == tries


def test_without_a_digest_the_first_fetch_holds(place, table, server):
    table(a=one_file(server))
    fetch("a")
    assert weights.find("a").revision == f"a@{SHA256[:12]}"
    assert manifest.verify("a", weights.entry("a")) == []
    (place / "a" / "a.bin").unlink()
    server.files["a.bin"] = DATA[::-1]
    with pytest.raises(NotFetched, match=r"at the first fetch it was .*To accept the new one, remove .*a.json"):
        fetch("a")
    manifest.path_of("a").unlink()
    fetch("a")
    assert weights.place("a").read_bytes() == DATA[::-1]


def test_a_changed_file_is_noticed_when_it_is_loaded(place, table, server):
    table(a=one_file(server))
    fetch("a")
    file = place / "a" / "a.bin"
    damaged = bytes([DATA[0] ^ 1]) + DATA[1:]
    file.write_bytes(damaged)
    os.utime(file, ns=(1, 1))
    with pytest.raises(WeightsMissing, match=r"a.bin: its contents have changed .*codecap weights fetch a"):
        weights.place("a")
    file.write_bytes(DATA)
    os.utime(file, ns=(1, 1))  # a folder that was copied: other times, the same contents
    assert weights.place("a") == file
    file.write_bytes(DATA[:-1])
    with pytest.raises(WeightsMissing, match="has 299999 bytes, 300000 were fetched"):
        weights.place("a")


def test_verify_reads_every_byte(place, table, server):
    table(a=one_file(server))
    fetch("a")
    file = place / "a" / "a.bin"
    before = file.stat()
    file.write_bytes(bytes([DATA[0] ^ 1]) + DATA[1:])
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    (problem,) = manifest.verify("a", weights.entry("a"))
    assert "its contents have changed" in problem


def test_an_edited_table_asks_for_the_new_one(place, table, server):
    table(a=one_file(server))
    fetch("a")
    table(a=one_file(server, sha256="1" * 64))
    with pytest.raises(WeightsMissing, match=f"is {SHA256}, weights.yaml names 1111"):
        weights.place("a")


def test_another_fetch_cures_what_is_wrong(place, table, server):
    table(a=one_file(server))
    fetch("a")
    (place / "a" / "a.bin").write_bytes(DATA[::-1])  # damaged
    fetch("a")
    assert weights.place("a").read_bytes() == DATA
    manifest.path_of("a").write_text("{")
    with pytest.raises(WeightsMissing, match=r"a.json: damaged; run `codecap weights fetch a`"):
        weights.place("a")
    fetch("a")
    assert weights.place("a").read_bytes() == DATA
    server.files["a.bin"] = DATA[::-1]
    other = hashlib.sha256(DATA[::-1]).hexdigest()
    table(a={"parts": [{"kind": "file", "source": server.url("a.bin"), "into": "a.bin", "sha256": other}]})
    fetch("a")  # the table names another release
    assert weights.place("a").read_bytes() == DATA[::-1]


def test_a_damaged_archive_is_fetched_and_unpacked_again(place, table, server):
    server.files["z.zip"] = zipped(**{"x.pth": b"x", "y.pth": b"y"})
    table(a={"parts": [{"kind": "archive", "source": server.url("z.zip")}]})
    fetch("a")
    (place / "a" / "x.pth").write_bytes(b"?")
    (place / "a" / "y.pth").unlink()
    fetch("a")
    assert {path.name: path.read_bytes() for path in weights.place("a").iterdir()} == {"x.pth": b"x", "y.pth": b"y"}


def zipped(**files: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return held.getvalue()


def test_an_archive_is_unpacked_beside_other_parts(place, table, server):
    server.files |= {"z.zip": zipped(**{"x.pth": b"x", "lora/y.json": b"{}"}), "b.bin": b"b"}
    table(
        a={
            "parts": [
                {"kind": "archive", "source": server.url("z.zip")},
                {"kind": "file", "source": server.url("b.bin"), "into": "checkpoints/b.bin"},
            ]
        }
    )
    fetch("a")
    there = weights.place("a")
    assert there == place / "a"
    kept = {path.relative_to(there).as_posix() for path in weights.files_of(there)}
    assert kept >= {"x.pth", "lora/y.json", "checkpoints/b.bin"} and not any(name.endswith(".zip") for name in kept)
    assert manifest.read("a").archives == {"": hashlib.sha256(server.files["z.zip"]).hexdigest()}


def test_what_is_no_archive_is_told(place, table, server):
    server.files["z.zip"] = b"<html>"
    table(a={"parts": [{"kind": "archive", "source": server.url("z.zip")}]})
    with pytest.raises(NotFetched, match="is no zip archive"):
        fetch("a")


@pytest.fixture
def repository(tmp_path):
    """A git repository, and its first commit; a second one changes the file."""
    folder = tmp_path / "repository"
    folder.mkdir()

    def git(*arguments):
        who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        return subprocess.run(["git", *who, "-C", str(folder), *arguments], check=True, capture_output=True, text=True).stdout

    git("init", "--quiet")
    (folder / "hubconf.py").write_text("one")
    git("add", ".")
    git("commit", "--quiet", "-m", "one")
    commit = git("rev-parse", "HEAD").strip()
    (folder / "hubconf.py").write_text("two")
    git("commit", "--quiet", "-am", "two")
    return folder, commit


def test_a_checkout_is_of_the_commit(place, table, repository, monkeypatch):
    folder, commit = repository
    monkeypatch.setattr(weights, "SECURE", ("file://",))
    table(code={"parts": [{"kind": "git", "source": f"file://{folder}", "revision": commit}]})
    fetch("code")
    found = weights.find("code")
    assert (found.path / "hubconf.py").read_text() == "one"
    assert not (found.path / ".git").exists()
    assert found.revision == f"code@{commit[:12]}"
    (found.path / "hubconf.py").write_text("two")
    with pytest.raises(WeightsMissing, match=r"hubconf.py: its contents have changed"):
        weights.place("code")


def test_a_commit_that_is_not_there_is_told(place, table, repository, monkeypatch):
    monkeypatch.setattr(weights, "SECURE", ("file://",))
    table(code={"parts": [{"kind": "git", "source": f"file://{repository[0]}", "revision": "1" * 40}]})
    with pytest.raises(NotFetched, match="at 1111.*git cannot fetch it"):
        fetch("code")
    assert not (place / "code").exists()


def test_gated_weights_ask_for_a_token(place, table, monkeypatch):
    monkeypatch.delenv("HF_TOKEN", raising=False)
    table(a={"gated": True, "parts": [{"kind": "hub", "source": "owner/model"}]})
    with pytest.raises(NotFetched, match=r"agree to its terms at https://huggingface.co/owner/model, and set HF_TOKEN"):
        fetch("a")
