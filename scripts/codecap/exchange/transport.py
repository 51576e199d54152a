"""One HTTP request and its response, within a deadline; the only module that touches the network."""

from __future__ import annotations

import contextlib
import logging
import socket
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2

from codecap.exchange.failures import Broken, Rejected

CONNECT_S = 30.0
KEEPALIVE = (  # probes of a silent connection: the first after 60 s, then every 30 s, broken after 5 without an answer
    ("TCP_KEEPIDLE", 60),
    ("TCP_KEEPINTVL", 30),
    ("TCP_KEEPCNT", 5),
)
LARGEST_RESPONSE = 64 << 20  # bytes; an answer has some thousands
KEPT_HEADERS = ("retry-after", "retry-after-ms", "x-request-id", "request-id", "date", "content-type", "location", "x-should-retry")

for _name in ("httpx2", "httpcore2", "httpcore"):
    logging.getLogger(_name).setLevel(logging.WARNING)  # they would log every request


@dataclass(frozen=True)
class Response:
    status: int
    headers: dict[str, str]  # some of them, by lower-case names
    text: str
    wall_s: float


class Opened:
    """A response that is read as it comes.

    Attributes:
        status, headers: see `Response`.
    """

    def __init__(
        self, status: int, headers: dict[str, str], response: httpx2.Response, until: float, most_bytes: int = LARGEST_RESPONSE
    ) -> None:
        self.status, self.headers = status, headers
        self._response, self._until, self._most_bytes = response, until, most_bytes

    def parts(self) -> Iterator[bytes]:
        """Its bytes, decompressed. Raises `Broken` where it is too large, or not whole in time."""
        return _parts(self._response, self._until, self._most_bytes)

    def cut(self) -> None:
        """Break the connection off, from another thread than the reader's."""
        stream = self._response.extensions.get("network_stream")
        connection = stream.get_extra_info("socket") if stream is not None else None
        if connection is not None:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class Transport:
    """Connections that are kept open; used by many threads at once. Proxies and certificates are the environment's."""

    def __init__(self) -> None:
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=64, keepalive_expiry=30)
        self._client = httpx2.Client(follow_redirects=False, limits=limits, headers={"User-Agent": "codecap"})

    def post(self, url: str, headers: Mapping[str, str], body: Any, timeout_s: float) -> Response:
        """Send a JSON body and read the whole response.

        Raises:
            Broken: no whole response came within `timeout_s`.
            Rejected: none ever will (the server's certificate is not trusted).
        """
        started = time.monotonic()
        with self._opened(url, headers, timeout_s, json=body) as response:
            text = self._text(response, started + timeout_s)
            return Response(response.status_code, _kept(response), text, time.monotonic() - started)

    def get(self, url: str, headers: Mapping[str, str], timeout_s: float) -> Response:
        """As `post`, of a GET."""
        started = time.monotonic()
        with self._opened(url, headers, timeout_s, method="GET") as response:
            text = self._text(response, started + timeout_s)
            return Response(response.status_code, _kept(response), text, time.monotonic() - started)

    @contextlib.contextmanager
    def open(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        silence_s: float,
        until: float,
        most_bytes: int = LARGEST_RESPONSE,
    ) -> Iterator[Opened]:
        """Send a body, or a GET where there is none, and read the response as it comes.

        Args:
            silence_s: longest time without a byte.
            until: moment of `time.monotonic()` by which it must be whole.
            most_bytes: that it may have.

        Raises:
            Broken, Rejected: as `post`, also while it is read.
        """
        method, timeout_s = "GET" if body is None else "POST", max(min(silence_s, until - time.monotonic()), 0.001)
        with self._opened(url, headers, timeout_s, method=method, content=body) as response:
            yield Opened(response.status_code, _kept(response), response, until, most_bytes)

    @contextlib.contextmanager
    def _opened(
        self, url: str, headers: Mapping[str, str], timeout_s: float, method: str = "POST", **sent: Any
    ) -> Iterator[httpx2.Response]:
        timeout = httpx2.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s))
        try:
            told = {"headers": dict(headers), "timeout": timeout, "extensions": {"trace": _keep_alive}}
            with self._client.stream(method, url, **told, **sent) as response:
                yield response
        except (httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            raise Broken("no connection within the time limit", sent=False) from error
        except httpx2.TimeoutException as error:
            raise Broken(f"no answer within {timeout_s:g} s", sent=True) from error
        except (httpx2.ConnectError, httpx2.ProxyError) as error:
            if "CERTIFICATE_VERIFY_FAILED" in str(error):
                raise Rejected(
                    "the server's certificate is not trusted; where a proxy of your site signs it, name its authorities' file in "
                    "SSL_CERT_FILE"
                ) from error
            raise Broken(f"no connection ({error})", sent=False) from error
        except httpx2.TransportError as error:
            raise Broken(f"the connection was cut ({error or type(error).__name__})", sent=True) from error
        except httpx2.DecodingError as error:
            raise Broken("the response cannot be decompressed", sent=True) from error

    def _text(self, response: httpx2.Response, until: float) -> str:
        return b"".join(_parts(response, until)).decode("utf-8", "replace")

    def close(self) -> None:
        self._client.close()


def _keep_alive(event: str, told: Mapping[str, Any]) -> None:
    """Have the system probe each new connection while a model thinks: what stands on the way forgets silent ones, and a dead one
    would be waited for until the time limit. (As a transport's option it would switch the environment's proxies off.)"""
    if not event.endswith("connect_tcp.complete"):
        return
    connection = told["return_value"].get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEPALIVE:
        if hasattr(socket, name):  # they are named otherwise on other systems than Linux
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _kept(response: httpx2.Response) -> dict[str, str]:
    return {name: response.headers[name] for name in KEPT_HEADERS if name in response.headers}


def _parts(response: httpx2.Response, until: float, most_bytes: int = LARGEST_RESPONSE) -> Iterator[bytes]:
    size = 0
    for part in response.iter_bytes():
        yield part
        size += len(part)
        if size > most_bytes:
            raise Broken(f"the response is larger than {most_bytes / 1e6:.0f} MB", sent=True)
        if time.monotonic() > until:  # the client's own limit is for each read: a slow stream would never end
            raise Broken("no whole answer within the time limit", sent=True)
