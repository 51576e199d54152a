"""yt-dlp reads nothing of the user's, follows nothing but http, and tells no secret."""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3

import pytest

from codecap.collect import collect_candidates, fetch_shard
from codecap.collect.sites.access import Access
from codecap.collect.sites.session import session
from codecap.collect.sources import NotToBeHad
from codecap.errors import UserError

PASSWORD = "pa55word-of-the-proxy"
COOKIE = "c00kie-value-of-mine"
JAR = f"# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\t{COOKIE}\n"


def fetch(tmp_path, address, **settings):
    sources = {"web": {"plugin": "http", "urls": [address], **settings}}
    (row,) = fetch_shard(collect_candidates(sources).candidates, sources, tmp_path / "bulk", tmp_path / "durable")
    return row


def all_text(folder) -> str:
    return "".join(path.read_bytes().decode("latin-1") for path in folder.rglob("*") if path.is_file())


def test_a_proxy_with_a_password(site, video, tmp_path, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("MY_PROXY", site.url.replace("://", f"://me:{PASSWORD}@"))
    site.put("http://videos.example/a.mp4", video(frames=12), "video/mp4")
    row = fetch(tmp_path, "http://videos.example/a.mp4", proxy_env="MY_PROXY")
    assert row.status == "ok", row.reason
    assert any("Proxy-Authorization" in headers for headers in site.headers)
    monkeypatch.setenv("MY_PROXY", f"http://me:{PASSWORD}@127.0.0.1:9")
    row = fetch(tmp_path, "http://videos.example/b.mp4", proxy_env="MY_PROXY")
    assert (row.status, row.cause) == ("failed", "network")
    assert PASSWORD not in row.model_dump_json() + caplog.text + all_text(tmp_path)


@pytest.mark.parametrize("way", ["file", "variable"])
def test_cookies_are_sent_and_not_written(site, video, tmp_path, monkeypatch, caplog, way):
    caplog.set_level(logging.DEBUG)
    if way == "file":
        jar = tmp_path / "cookies.txt"
        jar.write_text(JAR)
        settings = {"cookies_file": str(jar)}
    else:
        monkeypatch.setenv("MY_COOKIES", JAR)
        settings = {"cookies_env": "MY_COOKIES"}
    address = site.put("a.mp4", video(frames=12), "video/mp4", 503, "ok", headers={"Set-Cookie": "session=new; Path=/"})
    row = fetch(tmp_path, address, **settings)
    assert row.status == "ok", row.reason
    assert any(COOKIE in headers.get("Cookie", "") for headers in site.headers)
    if way == "file":
        assert jar.read_text() == JAR
        jar.unlink()
    assert COOKIE not in row.model_dump_json() + caplog.text + all_text(tmp_path)


def test_cookies_of_a_browser_s_profile(site, video, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    profile = tmp_path / "home" / "profile"
    profile.mkdir(parents=True)
    with contextlib.closing(sqlite3.connect(profile / "cookies.sqlite")) as base, base:
        base.execute("CREATE TABLE moz_cookies (host, name, value, path, expiry, isSecure, originAttributes)")
        base.execute("INSERT INTO moz_cookies VALUES ('127.0.0.1', 'session', ?, '/', 4102444800, 0, '')", (COOKIE,))
    row = fetch(tmp_path, site.put("a.mp4", video(frames=12), "video/mp4"), cookies_from_browser=f"firefox:{profile}")
    assert row.status == "ok", row.reason
    assert any(COOKIE in headers.get("Cookie", "") for headers in site.headers)
    assert COOKIE not in row.model_dump_json() + caplog.text + all_text(tmp_path / "bulk") + all_text(tmp_path / "durable")


def test_a_cookie_that_a_site_repeats_is_in_no_reason(tmp_path, monkeypatch):
    monkeypatch.setenv("MY_COOKIES", JAR)
    with pytest.raises(NotToBeHad) as caught, session(Access(cookies_env="MY_COOKIES")):
        raise NotToBeHad("no_video", f"who are you, {COOKIE}?")
    assert caught.value.reason == "who are you, ***?"


def test_what_a_user_s_configuration_of_yt_dlp_says_is_not_done(site, video, tmp_path, monkeypatch):
    """Neither its options, nor a program to run, nor a plugin."""
    home = tmp_path / "home"
    (home / ".config/yt-dlp").mkdir(parents=True)
    (home / ".config/yt-dlp/config").write_text(f"--exec 'touch {tmp_path}/done'\n--output elsewhere\n")
    plugin = home / ".config/yt-dlp/plugins/mine/yt_dlp_plugins/extractor"
    plugin.mkdir(parents=True)
    (plugin / "mine.py").write_text(f"open({str(tmp_path / 'done')!r}, 'w')\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    assert fetch(tmp_path, site.put("a.mp4", video(frames=12), "video/mp4")).status == "ok"
    assert not (tmp_path / "done").exists()


def test_a_page_without_end(site, monkeypatch):
    monkeypatch.setattr("codecap.collect.sites.session.LARGEST_PAGE", 1000)
    address = site.put("endless", b"x" * 5000, "text/html")
    with session(Access()) as opened, pytest.raises(NotToBeHad, match="more than 0.001 MB"):
        opened.urlopen(address).read()


@pytest.mark.parametrize("address", ["file:///etc/hostname", "ftp://127.0.0.1/x", "data:text/plain,x"])
def test_only_http_is_followed(address):
    with session(Access()) as opened, pytest.raises(NotToBeHad, match="only http and https"):
        opened.urlopen(address)


def test_a_redirection_to_a_file_of_this_machine(site, tmp_path):
    address = site.put("a.mp4", b"", "video/mp4", 302, headers={"Location": "file:///etc/hostname"})
    row = fetch(tmp_path, address)
    assert row.status == "failed" and os.uname().nodename not in all_text(tmp_path)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"proxy": f"http://me:{PASSWORD}@host:1"}, "named in `proxy_env`"),
        ({"proxy": "host"}, "is no address of a proxy"),
        ({"urls": [f"https://me:{PASSWORD}@host/x.mp4"]}, "holds a name or a password"),
        ({"pause": 1}, "unknown key pause"),
        ({"cookies_from_browser": "lynx"}, "cookies_from_browser"),
        ({"timeout_s": 0}, "timeout_s"),
        ({"urls": ["ftp://x/y"]}, "url"),
        ({"urls": []}, "urls"),
        ({"urls": [{"url": "http://x/y", "sha256": "abc"}]}, "sha256"),
        ({"urls": [{"url": "http://x/y", "id": "../../x"}]}, "id"),
    ],
)
def test_a_wrong_entry_says_what_is_wrong_and_no_secret(settings, says):
    with pytest.raises(ValueError, match=says) as caught:
        collect_candidates({"web": {"plugin": "http", "urls": ["http://x/y.mp4"], **settings}})
    assert PASSWORD not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"proxy_env": "NOT_SET"}, "NOT_SET is not set"),
        ({"cookies_env": "NOT_SET"}, "NOT_SET is not set"),
        ({"cookies_file": "no.txt"}, "no.txt cannot be read"),
        ({"cookies_file": __file__}, "line 1 is no cookie"),
        ({"cookies_env": "PATH"}, "PATH: line 1 is no cookie"),
        ({"cookies_from_browser": "firefox:/no/such/profile"}, "cannot be read as cookies"),
    ],
)
def test_what_an_entry_names_and_is_not_there(settings, says, tmp_path, capfd):
    with pytest.raises(UserError, match=says):
        fetch(tmp_path, "http://127.0.0.1:9/a.mp4", **settings)
    assert capfd.readouterr().err == ""
