"""One HTTP request and its response, within a deadline; the only module that touches the network."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx2

from codecap.exchange.failures import Broken, Rejected

CONNECT_S = 30.0
LARGEST_RESPONSE = 64 << 20  # bytes; an answer has some thousands
KEPT_HEADERS = ("retry-after", "retry-after-ms", "x-request-id", "request-id", "date", "content-type", "location")

for _name in ("httpx2", "httpcore2", "httpcore"):
    logging.getLogger(_name).setLevel(logging.WARNING)  # they would log every request


@dataclass(frozen=True)
class Response:
    status: int
    headers: dict[str, str]  # some of them, by lower-case names
    text: str
    wall_s: float


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
        timeout = httpx2.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s))
        try:
            with self._client.stream("POST", url, headers=dict(headers), json=body, timeout=timeout) as response:
                text = self._text(response, started + timeout_s)
                kept = {name: response.headers[name] for name in KEPT_HEADERS if name in response.headers}
                return Response(response.status_code, kept, text, time.monotonic() - started)
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
        parts, size = [], 0
        for part in response.iter_bytes():
            parts.append(part)
            size += len(part)
            if size > LARGEST_RESPONSE:
                raise Broken(f"the response is larger than {LARGEST_RESPONSE >> 20} MB", sent=True)
            if time.monotonic() > until:  # the client's own limit is for each read: a slow stream would never end
                raise Broken("no whole answer within the time limit", sent=True)
        return b"".join(parts).decode("utf-8", "replace")

    def close(self) -> None:
        self._client.close()
