"""Who may ask: the browser that opened the printed address, and no page of another origin.

The address holds a token that can be used once, for a cookie that no script can read and that goes with no request from another
site; when it is used, a new address is printed, for another browser. The name that the browser knows the server by must be this
machine's, under any port, since SSH may forward another one: a foreign name that was made to point here (DNS rebinding) is refused.
A request that a page of another origin has made is refused, whatever cookie it has.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import socket
import time
from collections.abc import Callable
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOSTS = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?", re.IGNORECASE)
OWN_SITE = ("same-origin", "none")  # of Sec-Fetch-Site: asked by this page, or by the person
READING = ("GET", "HEAD")
LONGEST_CLIP = 80
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
ENTRANCE = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={place}"><title>CodeCap</title>'


class Gate:
    """The token of the day, and the secret of those that have used one.

    Args:
        port: of the server. Cookies of servers on other ports and of other machines have other names, since a browser that
            reaches several through tunnels knows them all as 127.0.0.1, and cookies do not tell ports apart.
        announce: called with each new token, the first one too.

    Attributes:
        asked: when somebody who may has asked last, in seconds of `time.monotonic`.
    """

    def __init__(self, port: int, announce: Callable[[str], None]) -> None:
        machine = hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]
        self.cookie = f"codecap_review_{machine}_{port}"
        self.asked = time.monotonic()
        self._secret = secrets.token_urlsafe(32)
        self._announce = announce
        self._token = ""
        self._renew()

    def spend(self, token: str) -> bool:
        """Whether the token is the present one, which it is no more then."""
        if not secrets.compare_digest(token.encode(), self._token.encode()):
            return False
        self._renew()
        return True

    def knows(self, request: Request) -> bool:
        """Whether a request has the cookie."""
        return secrets.compare_digest(request.cookies.get(self.cookie, "").encode(), self._secret.encode())

    def let_in(self, response: Response) -> None:
        response.set_cookie(self.cookie, self._secret, httponly=True, samesite="strict", path="/")

    def _renew(self) -> None:
        self._token = secrets.token_urlsafe(32)
        self._announce(self._token)


class Access:
    """ASGI middleware that lets through what may be asked, and gives every answer its headers."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self._app, self._gate = app, gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return  # nothing here speaks WebSocket

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        request = Request(scope)
        answer = self._entrance(request) or self._refusal(request)
        if answer is None:
            self._gate.asked = time.monotonic()
        await (answer or self._app)(scope, receive, with_headers)

    def _entrance(self, request: Request) -> Response | None:
        """What a printed address gives: the cookie, and a page that goes on to an address without the token.

        It goes on by itself and not by a redirect, for a browser sends no strict cookie after a redirect that another page began.
        """
        if request.method != "GET" or request.url.path != "/" or "token" not in request.query_params:
            return None
        if _is_foreign_name(request.headers):
            return _refused(request, FOREIGN_NAME)
        is_in = self._gate.knows(request)
        if not self._gate.spend(request.query_params["token"]) and not is_in:
            return _refused(request, "this address was used already; the terminal in which `codecap review` runs shows a new one")
        clip = request.query_params.get("clip", "")[:LONGEST_CLIP]
        page = HTMLResponse(ENTRANCE.format(place=f"/clip/{quote(clip, safe='')}" if clip else "/"))
        self._gate.let_in(page)
        return page

    def _refusal(self, request: Request) -> Response | None:
        """The answer to a request that may not be; None for one that may."""
        headers = request.headers
        if _is_foreign_name(headers):
            return _refused(request, FOREIGN_NAME)
        origin = headers.get("origin")
        if origin is None and request.method not in READING:
            return _refused(request, "the request does not say which page it comes from (Origin)")
        if origin is not None and origin != f"http://{headers['host']}":
            return _refused(request, "the request comes from a page of another origin")
        if headers.get("sec-fetch-site", "same-origin") not in OWN_SITE:
            return _refused(request, "the request comes from a page of another site")
        if not self._gate.knows(request):
            return _refused(request, "open the address that the terminal shows in which `codecap review` runs")
        return None


FOREIGN_NAME = "this server is asked as 127.0.0.1 or localhost, and by no other name"


def _is_foreign_name(headers: Headers) -> bool:
    named = headers.getlist("host")
    return len(named) != 1 or not HOSTS.fullmatch(named[0])


def _refused(request: Request, why: str) -> Response:
    if "text/html" in request.headers.get("accept", ""):
        return PlainTextResponse(f"CodeCap: {why}\n", status_code=403)
    return JSONResponse({"why": why}, status_code=403)
