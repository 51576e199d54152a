"""The review page's server: its files, the clips' videos and frames, and the desk as JSON."""

from __future__ import annotations

import gzip
import json
import logging
import mimetypes
import re
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from codecap import store
from codecap.config import PROJECT
from codecap.errors import UserError
from codecap.review import posted
from codecap.review.access import Access, Gate
from codecap.review.clip_review import Stale
from codecap.review.deciding import Blocked
from codecap.review.desk import Desk, Held, NoSuchClip
from codecap.review.frames import Films, FrameError
from codecap.review.posted import LARGEST_BODY, NotRead
from codecap.review.view import problems_of

LOG = logging.getLogger("codecap")
PAGE = PROJECT / "resources" / "review"
SHARED = [PROJECT / "resources" / "report" / name for name in ("report.css", "theme.js")]
SUFFIXES = (".html", ".css", ".js", ".svg")
LARGE = 32 << 10  # bytes of JSON that are sent packed
FOR_A_DAY = "private, max-age=86400, immutable"  # what is named by its clip's digest
STATUSES: dict[type[UserError], int] = {NoSuchClip: 404, FrameError: 404, NotRead: 400, Held: 409, Stale: 409}
OTHERWISE = 422
TAB = re.compile(r"[A-Za-z0-9_-]{1,64}")
FRAME = re.compile(r"[0-9]{1,9}")


class TooLarge(UserError):
    """A body of more bytes than anything here has."""


def make_app(desk: Desk, films: Films, gate: Gate) -> Starlette:
    """The application; whoever makes it closes desk and films."""
    return Starlette(
        routes=Service(desk, films).routes(),
        middleware=[Middleware(Access, gate=gate)],
        exception_handlers={HTTPException: _no_such, UserError: _cannot, OSError: _broken, Exception: _failed},
    )


class Service:
    """What each address answers."""

    def __init__(self, desk: Desk, films: Films) -> None:
        self.desk, self.films = desk, films
        self._files = {path.name: path for path in [*PAGE.iterdir(), *SHARED] if path.suffix in SUFFIXES}

    def routes(self) -> list[Route]:
        def get(path: str, answer: Callable[[Request], Any]) -> Route:
            return Route(path, answer, methods=["GET"])

        def post(action: str, answer: Callable[[Request], Any]) -> Route:
            return Route(f"/api/clips/{{clip_id}}/{action}", answer, methods=["POST"])

        return [
            get("/", self.page),
            get("/clip/{clip_id}", self.page),
            get("/assets/{name}", self.asset),
            get("/video/{clip_id}.mp4", self.video),
            get("/frames/{clip_id}/{frame}.jpg", self.frame),
            get("/api/queue", self.queue),
            get("/api/clips/{clip_id}", self.clip),
            get("/api/clips/{clip_id}/changes", self.changes),
            post("hold", self.hold),
            post("release", self.release),
            post("edits", self.edits),
            post("segment", self.segment),
            post("decide", self.decide),
        ]

    def page(self, _request: Request) -> Response:
        return FileResponse(self._files["index.html"])

    def asset(self, request: Request) -> Response:
        path = self._files.get(request.path_params["name"])
        if path is None:
            return JSONResponse({"why": "there is no such file"}, status_code=404)
        kind = "text/javascript" if path.suffix == ".js" else mimetypes.guess_type(path.name)[0]
        return FileResponse(path, media_type=kind, headers={"Cache-Control": "no-cache"})

    def video(self, request: Request) -> Response:
        clip = self.desk.clip(request.path_params["clip_id"])
        path = store.at(clip.mp4)
        if not path.is_file():
            raise NoSuchClip(f"{clip.mp4}: the clip's video is not there")
        return FileResponse(path, media_type="video/mp4", headers=_kept(request, clip.sha256))

    def frame(self, request: Request) -> Response:
        clip = self.desk.clip(request.path_params["clip_id"])
        told = request.path_params["frame"]
        if not FRAME.fullmatch(told):
            raise FrameError(f"{clip.clip_id}: {told[:20]!r} is no number of a frame")
        jpeg = self.films.jpeg(clip, int(told))
        return Response(jpeg, media_type="image/jpeg", headers=_kept(request, clip.sha256))

    def queue(self, request: Request) -> Response:
        return _json(request, self.desk.queue())

    def clip(self, request: Request) -> Response:
        tab = request.query_params.get("tab")
        shown_to = tab if tab is not None and TAB.fullmatch(tab) else None
        return _json(request, self.desk.view(request.path_params["clip_id"], shown_to, request.query_params.get("of")))

    def changes(self, request: Request) -> Response:
        return _json(request, self.desk.measured(request.path_params["clip_id"]))

    async def hold(self, request: Request) -> Response:
        told = await _body(request, posted.HoldPosted)
        return await _answered(request, lambda clip_id: self.desk.hold(clip_id, told.tab, told.take).told())

    async def release(self, request: Request) -> Response:
        told = await _body(request, posted.ReleasePosted)
        await run_in_threadpool(self.desk.release, request.path_params["clip_id"], told.tab)
        return JSONResponse({})

    async def edits(self, request: Request) -> Response:
        told = await _body(request, posted.EditsPosted)
        return await _answered(request, lambda clip_id: self.desk.edit(clip_id, told))

    async def segment(self, request: Request) -> Response:
        told = await _body(request, posted.SegmentPosted)
        return await _answered(request, lambda clip_id: self.desk.segment(clip_id, told))

    async def decide(self, request: Request) -> Response:
        told = await _body(request, posted.DecidePosted)
        return await _answered(request, lambda clip_id: self.desk.decide(clip_id, told))


def _answered(request: Request, work: Callable[[str], Any]) -> Awaitable[Response]:
    """What some work gives, done where it holds up nobody."""
    return run_in_threadpool(lambda: _json(request, work(request.path_params["clip_id"])))


async def _body(request: Request, kind: type[posted.P]) -> posted.P:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise NotRead("the body must be JSON, sent as application/json")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            raise TooLarge(f"the body is larger than {LARGEST_BODY >> 20} MB")
    return await run_in_threadpool(posted.read, kind, bytes(body))


def _json(request: Request, told: Any) -> Response:
    content = json.dumps(told, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    headers = {}
    if len(content) > LARGE and "gzip" in request.headers.get("accept-encoding", ""):
        content, headers = gzip.compress(content, compresslevel=1), {"Content-Encoding": "gzip"}
    return Response(content, media_type="application/json", headers=headers)


def _kept(request: Request, sha256: str) -> dict[str, str]:
    """A browser may keep what it asked for by the clip's digest; else it asks again each time."""
    version = request.query_params.get("v", "")
    return {"Cache-Control": FOR_A_DAY if len(version) >= 12 and sha256.startswith(version) else "no-cache"}


def _cannot(_request: Request, error: Exception) -> Response:
    told: dict[str, Any] = {"why": str(error)}
    if isinstance(error, Held):
        told |= {"hold": error.hold.told(), "revision": error.revision}
    elif isinstance(error, Stale):
        told |= {"hold": None, "revision": error.revision}
    elif isinstance(error, Blocked):
        told |= {"problems": problems_of(error.problems)}
    status = 413 if isinstance(error, TooLarge) else STATUSES.get(type(error), OTHERWISE)
    return JSONResponse(told, status_code=status)


def _no_such(_request: Request, error: Exception) -> Response:
    """An address or a method that nothing here has."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    return JSONResponse({"why": "there is nothing at this address"}, status_code=status)


def _broken(request: Request, error: Exception) -> Response:
    """A disk that is full, a folder that may not be written: told, and nothing counts as saved."""
    LOG.error("%s", error)
    told = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)
    return JSONResponse({"why": f"{'not saved' if request.method == 'POST' else 'not to be had'}: {told}"}, status_code=507)


def _failed(_request: Request, error: Exception) -> Response:
    del error  # the server's log has it
    return JSONResponse({"why": "this is a fault of the program; the terminal shows it"}, status_code=500)
