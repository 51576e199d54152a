"""The browser is found where it is, and what is wrong with one that is found is said in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from codecap.render import BrowserMissing, browser_version, find_browser, install_browser


@pytest.fixture
def bare(monkeypatch, tmp_path) -> Path:
    """A machine without any browser: nothing on PATH, nothing downloaded, no usual place."""
    for name in ("CODECAP_BROWSER", "PLAYWRIGHT_BROWSERS_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("codecap.render.browser.USUAL_PLACES", ())
    return tmp_path


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_the_one_of_this_machine_starts(browser):
    assert "Chrom" in browser_version(browser)
    assert browser_version(browser)[-1].isdigit()


def test_installing_is_nothing_to_do_when_there_is_one(browser):
    said: list[str] = []
    assert install_browser(said.append) == browser
    assert said == []


@pytest.mark.usefixtures("bare")
def test_none_at_all_is_one_message_that_says_what_to_do():
    with pytest.raises(BrowserMissing) as told:
        find_browser()
    for way in ("make install", "playwright install chromium-headless-shell", "apt-get install", "CODECAP_BROWSER"):
        assert way in str(told.value)
    assert "\n" not in str(told.value)


def test_the_variable_comes_first_and_is_not_passed_over(bare, monkeypatch):
    on_path = program(bare / "bin" / "chromium", "echo Chromium 1.2.3")
    assert find_browser() == on_path
    own = program(bare / "own" / "browser", "echo Chromium 4.5.6")
    monkeypatch.setenv("CODECAP_BROWSER", str(own))
    assert find_browser() == own
    assert browser_version(own) == "Chromium 4.5.6"
    monkeypatch.setenv("CODECAP_BROWSER", str(bare / "nowhere"))
    for look in (find_browser, install_browser):
        with pytest.raises(BrowserMissing, match=r"CODECAP_BROWSER is '.*nowhere', which does not exist"):
            look()


def test_playwrights_downloads_are_found_newest_and_shell_first(bare, monkeypatch):
    folder = bare / "downloads"
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(folder))
    program(folder / "chromium-1300" / "chrome-linux" / "chrome", "echo Chromium 3")
    assert find_browser() == folder / "chromium-1300" / "chrome-linux" / "chrome"
    program(folder / "chromium_headless_shell-999" / "chrome-linux" / "headless_shell", "echo Chromium 1")
    new = program(folder / "chromium_headless_shell-1200" / "chrome-linux" / "headless_shell", "echo Chromium 2")
    assert find_browser() == new


def test_a_full_browser_is_passed_over_where_the_shell_is_needed_and_the_way_out_is_told(bare, monkeypatch):
    full = program(bare / "bin" / "google-chrome", "echo Google Chrome 156.0.1.2")
    assert find_browser() == full
    with pytest.raises(BrowserMissing, match="google-chrome is a full browser, which engine playwright can use"):
        find_browser(shell_only=True)
    monkeypatch.setattr("codecap.render.browser._ways_to_install", lambda: [("asking a friend", [["/bin/sh", "-c", "exit 1"]])])
    said: list[str] = []
    assert install_browser(said.append) == full
    assert "set `render: {engine: playwright}`" in said[-1]
    shell = program(bare / "bin" / "chrome-headless-shell", "echo Google Chrome for Testing 156.0.1.2")
    assert find_browser(shell_only=True) == install_browser(said.append) == shell


def test_a_browser_that_does_not_start_is_passed_over_and_named(bare):
    library = "error while loading shared libraries: libnss3.so: cannot open shared object file: No such file or directory"
    program(bare / "bin" / "chromium-headless-shell", f"echo chrome: {library} >&2; exit 127")
    program(bare / "bin" / "chromium-browser", "echo 'requires the chromium snap to be installed' >&2; exit 1")
    with pytest.raises(BrowserMissing) as told:
        find_browser()
    assert "chromium-headless-shell misses the system library libnss3.so (as root:" in str(told.value)
    assert "chromium-browser is only a pointer to the snap package" in str(told.value)
    good = program(bare / "bin" / "google-chrome", "echo Google Chrome 156.0.1.2")
    assert find_browser() == good


def test_a_repaired_browser_is_asked_again(bare, monkeypatch):
    own = program(bare / "own", "exit 3")
    monkeypatch.setenv("CODECAP_BROWSER", str(own))
    with pytest.raises(BrowserMissing, match="exits with status 3"):
        find_browser()
    program(own, "echo Chromium 1.0 # repaired")
    assert find_browser() == own
