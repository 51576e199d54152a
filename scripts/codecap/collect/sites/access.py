"""How a site is reached, as an entry of the configuration says it, and what of that is secret."""

from __future__ import annotations

import io
import os
import re
import urllib.parse
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, field_validator

from codecap.errors import UserError
from codecap.records import Row, in_words

LONGEST_COOKIES = 1_000_000  # bytes
BROWSERS = "brave|chrome|chromium|edge|firefox|opera|safari|vivaldi|whale"
SHORTEST_SECRET = 4  # characters; what is shorter stands in many a word


class Access(Row):
    """How a site is reached.

    Attributes:
        proxy: address of a proxy, `http://host:port` or `socks5://host:port`, without a password.
        proxy_env: name of the environment variable that holds such an address, which may have a password.
        cookies_file: cookies of a signed-in browser, in Netscape's format. Read, never written.
        cookies_env: name of the environment variable that holds such a file's text.
        cookies_from_browser: a browser of this machine whose cookies are read, `firefox`, or one of its profiles, `firefox:work`.
        pause_s: between two requests that read pages.
        timeout_s: longest silence of a server.
        mbit_per_s: at most, of a download; None: no limit.
    """

    proxy: str | None = None
    proxy_env: str | None = None
    cookies_file: str | None = None
    cookies_env: str | None = None
    cookies_from_browser: str | None = Field(default=None, pattern=rf"^({BROWSERS})(:.{{1,500}})?$")
    pause_s: float = Field(default=1.0, ge=0, le=3600)
    timeout_s: float = Field(default=30.0, gt=0, le=600)
    mbit_per_s: float | None = Field(default=None, gt=0)

    @field_validator("proxy")
    @classmethod
    def _holds_no_password(cls, value: str | None) -> str | None:
        if value is not None:
            parts = urllib.parse.urlsplit(value)
            if parts.username or parts.password:
                raise ValueError(
                    "holds a name or a password: put the address into a variable of the environment, named in `proxy_env`"
                )
            if parts.scheme not in ("http", "https", "socks4", "socks5", "socks5h") or not parts.hostname:
                raise ValueError("is no address of a proxy, such as http://proxy.example.org:3128")
        return value

    def secrets(self) -> list[str]:
        """What must not appear in any log, row or error: the proxy's name and password. Cookies are known when they are loaded."""
        found = []
        if self.proxy_env:
            address = _variable(self.proxy_env, "proxy_env")
            parts = urllib.parse.urlsplit(address)
            found += [address, parts.netloc.rpartition("@")[0], parts.username, parts.password]
        return [one for one in found if one]

    def options(self) -> dict[str, Any]:
        """The same for yt-dlp."""
        cookies = self._cookies()
        browser, _, profile = (self.cookies_from_browser or "").partition(":")
        return {
            "proxy": _variable(self.proxy_env, "proxy_env") if self.proxy_env else self.proxy,
            "cookiefile": None if cookies is None else io.StringIO(cookies),
            "cookiesfrombrowser": (browser, profile or None, None, None) if browser else None,
            "sleep_interval_requests": self.pause_s,
            "socket_timeout": self.timeout_s,
            "ratelimit": None if self.mbit_per_s is None else self.mbit_per_s * 1e6 / 8,
        }

    def _cookies(self) -> str | None:
        if self.cookies_env:
            return _checked(_variable(self.cookies_env, "cookies_env"), f"cookies_env: {self.cookies_env}")
        if self.cookies_file is None:
            return None
        path = Path(self.cookies_file).expanduser()
        try:
            with path.open("rb") as file:
                text = file.read(LONGEST_COOKIES).decode("utf-8", "replace")
        except OSError as error:
            raise UserError(f"cookies_file: {path} cannot be read: {error.strerror}") from error
        return _checked(text, f"cookies_file: {path}")


def _checked(text: str, where: str) -> str:
    """Cookies in Netscape's format. yt-dlp would tell a line that is none, with all that is in it.

    Raises:
        UserError: a line is not of that format; its number is told, not what it holds.
    """
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.removeprefix("#HttpOnly_")
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != 7 or not re.fullmatch(r"(\d+(\.\d+)?)?", fields[4]):
            raise UserError(
                f"{where}: line {number} is no cookie in Netscape's format (seven fields with tabs between them); export them anew"
            )
    return text


def _variable(name: str, key: str) -> str:
    try:
        return os.environ[name]
    except KeyError:
        raise UserError(f"{key}: the environment variable {name} is not set; set it, or take the key out of the source") from None


def without(secrets: Iterable[str], words: str) -> str:
    """
    >>> without(["s3cret"], "proxy u:s3cret@host")
    'proxy u:***@host'
    """
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= SHORTEST_SECRET:
            words = words.replace(secret, "***")
    return words


def refuse_password(address: str) -> str:
    """An address as it is: addresses stand in every record.

    Raises:
        ValueError: it holds a name or a password.
    """
    if "@" in urllib.parse.urlsplit(address).netloc:
        raise ValueError("an address holds a name or a password, which would stand in records; use cookies, or take them out")
    return address


def as_settings(told: Mapping[str, Any], kind: type[Row], plugin: str) -> Any:
    """A source's entry as its settings.

    Raises:
        ValueError: an unknown key, or a wrong value; the message names the plugin and the key.
    """
    unknown = sorted(set(told) - set(kind.model_fields))
    if unknown:
        raise ValueError(f"source {plugin}: unknown key {', '.join(unknown)}; known are {', '.join(sorted(kind.model_fields))}")
    try:
        return kind.model_validate(dict(told))
    except ValidationError as error:
        raise ValueError(f"source {plugin}: {in_words(error)}") from error
