"""Answers plain HTTP requests: the page and its files for browsers, and text for other programs.

These requests only read. All changes to rooms use a WebSocket.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Coroutine, Iterable
from dataclasses import replace
from http import HTTPStatus
from itertools import islice
from typing import Any, Final

import structlog

from tictactoe_protocol import BadRoomCode, ErrorCode, parse_room_code
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.room_codes import find_link
from tictactoe_server.http import texts
from tictactoe_server.http.assets import EMBED, PREFIX, Assets, link_card, send, send_part
from tictactoe_server.http.qr_codes import draw_qr
from tictactoe_server.operator.order import ServerParts
from tictactoe_server.rooms.room import Refused
from tictactoe_server.storage.store import StoreUnavailable
from tictactoe_server.transport.admission import key_of, name_of
from tictactoe_server.transport.http_messages import (
    READABLE,
    HttpRequest,
    HttpResponse,
    PageHead,
    Reply,
    explain,
    lead_to,
    redirect,
    say,
    say_too_many,
)
from tictactoe_server.transport.listen import Links, is_for_others
from tictactoe_server.transport.rate_limit import RateLimit
from tictactoe_words.catalogue import LANGUAGES
from tictactoe_words.refusals import describe_fault

ANSWER_SECONDS: Final = 5.0  # the longest wait for the store

_QR: Final = re.compile(r"/qr(?:/([^/]+))?\.svg")
_EMBEDDED: Final = re.compile(r"/embed(/(?:[a-z]+/)?[^/.]+)")
"""The path of an embedded page: a room's, or one below the folder of a service, such as ``replay/``."""
_SECRET: Final = re.compile(r"[\w-]{16,}")
"""A part of a path that only its owner may know, such as the name of a shared game."""
_LANGUAGE_COOKIE: Final = re.compile(r"\blanguage=(\w+)")
_ACCEPTED_LANGUAGE: Final = re.compile(r"(?:^|,)\s*([a-z]+)")

_PREFLIGHT: Final = (
    ("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS"),
    ("Access-Control-Allow-Headers", "*"),
    ("Access-Control-Max-Age", "86400"),
)
"""The response to a CORS preflight request. Source: Fetch, 3.3."""

log: Final = structlog.get_logger(__name__)


class Pages:
    """Answers plain HTTP requests. The routes of services take precedence over the links to rooms.

    Attributes:
        _assets: The files of the page; unset if the page is disabled.
    """

    _assets: Assets

    def __init__(self, server: ServerParts, links: Links, assets: Assets | None) -> None:
        self._server, self._core, self._admission, self._links = server, server.core, server.admission, links
        routes = [route for service in server.services for route in service.routes.items()]
        self._routes = [(re.compile(path), route) for path, route in routes]
        self._is_enabled = assets is not None
        if assets is not None:
            self._assets = assets

    def answer(self, request: HttpRequest) -> HttpResponse | Awaitable[HttpResponse]:
        return self._answer_without_page(request) or self._answer_with_page(request)

    def _answer_without_page(self, request: HttpRequest) -> HttpResponse | None:
        """Return a health check's result, the reason for a refusal, or None if the page may answer the request."""
        if request.method not in ("GET", "HEAD") and not (request.method == "OPTIONS" and request.is_open_to_all):
            return say(HTTPStatus.METHOD_NOT_ALLOWED, "Method not allowed. Use GET or HEAD.", ("Allow", "GET, HEAD"))
        if request.has_body:
            return say(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "Request bodies are not accepted. Send none.")
        if request.names_host and not self._admission.knows(request.host):
            return say(HTTPStatus.BAD_REQUEST, "This server is not a proxy, and the host is not one of its names.")
        if request.path == "/healthz":
            return say(HTTPStatus.OK, "ok")
        if request.path == "/readyz":
            reason = self._server.unready()
            return say(HTTPStatus.OK if reason is None else HTTPStatus.SERVICE_UNAVAILABLE, reason or "ok")
        if (refusal := self._server.bans.refusal_of(request.address)) is not None:
            return say(HTTPStatus.FORBIDDEN, describe_fault(refusal))
        is_stripped = "sec-websocket-key" in request.fields
        if request.path == "/ws" or (request.path == "/" and (not self._is_enabled or is_stripped)):
            self._admission.warn_of_refusal(request, HTTPStatus.UPGRADE_REQUIRED)
            stripped = "A proxy removed the Upgrade header. Configure it to forward WebSocket connections."
            words = stripped if is_stripped else "This is a WebSocket endpoint. Connect with a WebSocket client."
            return say(HTTPStatus.UPGRADE_REQUIRED, words, ("Upgrade", "websocket"))
        if not self._is_enabled:
            return say(HTTPStatus.NOT_FOUND, "Not found. WebSocket clients connect to / or /ws.")
        return None

    def _answer_with_page(self, request: HttpRequest) -> HttpResponse | Awaitable[HttpResponse]:
        asset = self._assets.find(request.path)
        if asset is not None:
            is_image = asset.kind.startswith("image/")
            policy = _policy("'self'", also="; sandbox" if is_image else "")
            return send_part(request, asset, *policy, ("Service-Worker-Allowed", "../"))
        if request.method == "OPTIONS":
            return self._reply(request, HttpResponse(HTTPStatus.OK, b"", fields=_PREFLIGHT))
        if _EMBEDDED.fullmatch(request.path):  # frames show errors as pages, too
            request = replace(request, fields={**request.fields, "accept": ["text/html"]})
        try:
            found = self._find(request)
        except Exception as error:
            found = self._fail(request, error)
        if not isinstance(found, Coroutine):
            return self._reply(request, found)
        coming = asyncio.ensure_future(self._wait_for(request, found))
        coming.add_done_callback(lambda _: found.close())  # in case the peer disconnects before the coroutine begins
        return coming

    async def _wait_for(self, request: HttpRequest, found: Coroutine[Any, Any, Reply | None]) -> HttpResponse:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return self._reply(request, await self._read(request, found))
        except Exception as error:
            return self._reply(request, self._fail(request, error))

    async def _read(self, request: HttpRequest, finding: Reply | Coroutine[Any, Any, Reply | None]) -> Reply:
        """Return the result of a route, or, if the result is None, the room whose code the path is."""
        found = await finding if isinstance(finding, Coroutine) else finding
        if found is not None:
            return found
        room = self._room(request)
        return await room if isinstance(room, Coroutine) else room

    def _fail(self, request: HttpRequest, error: Exception) -> HttpResponse:
        """Return an error response, and count failed requests, which prevents the guessing of room codes."""
        if isinstance(error, Refused):
            is_missed = error.code is not ErrorCode.RATE_LIMITED
            wait = self._misses_of(request).consume() if is_missed else error.retry_ms or 0
            return say_too_many(request, wait) if wait else self._nothing(request, error.code, describe_fault(error))
        if isinstance(error, StoreUnavailable | TimeoutError):
            words = "The data is temporarily unavailable. Try again soon."
            return explain(request, HTTPStatus.SERVICE_UNAVAILABLE, ErrorCode.UNAVAILABLE, words)
        log.error("HTTP request failed", path=_SECRET.sub("...", request.path), exc_info=error)
        words = "Internal server error. See the server's log."
        return explain(request, HTTPStatus.INTERNAL_SERVER_ERROR, ErrorCode.INTERNAL, words)

    def _find(self, request: HttpRequest) -> Reply | Coroutine[Any, Any, Reply | None]:
        path = request.path
        if path == "/robots.txt":
            return texts.ROBOTS
        if path in ("/favicon.svg", "/favicon.ico"):
            icon = self._assets.named("favicon.svg")
            return self._nothing(request) if icon is None else HttpResponse(HTTPStatus.OK, icon.body, icon.kind)
        if request.wants_html and not self._admission.knows(request.host):
            origin = request.origin.removesuffix(request.base)
            words = f"Unknown host name. To use it, start the server with --origin {origin}"
            return _text([words], HTTPStatus.MISDIRECTED_REQUEST)
        if path == "/":
            return self._home(request)
        if embedded := _EMBEDDED.fullmatch(path):
            return self._embed(replace(request, path=embedded[1]))
        for pattern, route in self._routes:
            if found := pattern.fullmatch(path):
                return route(request, *found.groups())
        if qr := _QR.fullmatch(path):
            return self._qr(request, qr[1])
        if path.startswith(PREFIX) or request.is_open_to_all:
            return self._nothing(request)
        if (pasted := _read_pasted(path)) not in ("", path):
            return redirect(request, pasted)
        if "//" in path.rstrip("/"):
            return redirect(request, re.sub("/{2,}", "/", path))
        return self._room(request)

    def _home(self, request: HttpRequest) -> Reply:
        counts = self._core.lobby.count()
        if request.wants_html:
            return PageHead(*texts.head_of_home(counts["playing"]), "home.js", "/preview.png")
        newest = islice(self._core.lobby.newest(), texts.MOST_LISTED)
        rooms = [self._core.names.public(live.summary(self._core.time())) for live in newest]
        return texts.describe_home(counts["playing"], counts["waiting"], rooms, request.origin, self._assets.branding)

    def _room(self, request: HttpRequest) -> Reply | Coroutine[Any, Any, Reply]:
        try:
            code = parse_room_code(request.path.removeprefix("/"))
        except BadRoomCode:
            return self._nothing(request)
        live, wait = self._core.rooms.find_here(code), self._misses_of(request).wait()
        if wait and (live is None or live.room.visibility != "public"):  # does not reveal whether the room exists
            return PageHead(texts.PRIVATE, texts.PRIVATE) if request.wants_html else say_too_many(request, wait)
        if live is not None:
            return _show(request, self._core.names.public(live.state(self._core.time())))

        async def look() -> Reply:
            return _show(request, self._core.names.public(await self._core.rooms.load_state(code)))

        return look()

    async def _embed(self, request: HttpRequest) -> Reply:
        """Return a page for a frame in another site's page.

        Only public rooms, shared games and open tournaments have pictures. Other requests are answered as if nothing
        existed at their paths.
        """
        page = await self._read(request, self._find(request))
        if not isinstance(page, PageHead) or not page.picture:
            return self._nothing(request)
        url = self._core.rooms.elsewhere.find(request.path.removeprefix("/"))
        if url is not None:  # a frame may connect only to the server that it is loaded from
            return lead_to(url, f"/embed{request.path}")
        return page._replace(module=EMBED, picture="")

    def _qr(self, request: HttpRequest, text: str | None) -> HttpResponse:
        """Return a QR code with a link to a room or to the home page. The room need not exist."""
        try:
            path = parse_room_code(text) if text else ""
        except BadRoomCode:
            return self._nothing(request)
        link = f"{self._address_for_others(request) or request.origin}/{path}"
        return HttpResponse(HTTPStatus.OK, draw_qr(link), "image/svg+xml")

    def _reply(self, request: HttpRequest, reply: Reply) -> HttpResponse:
        """Return the response with a reply, and with a content security policy for this server and its cluster."""
        is_embedded = isinstance(reply, PageHead) and reply.module == EMBED
        if isinstance(reply, PageHead):
            reply = self._page(request, reply)
        elif not isinstance(reply, HttpResponse):
            reply = _text(reply)
        own = (f"ws://{request.host}", f"wss://{request.host}") if request.host else ()
        servers = " ".join(("'self'", *own, *self._core.rooms.elsewhere.cluster_status.urls[1:]))
        readable = READABLE if request.is_open_to_all and READABLE[0] not in reply.fields else ()
        policy = _policy("'self'", "*") if is_embedded else _policy(servers)
        return send(request, replace(reply, fields=(*reply.fields, *readable, *policy)))

    def _page(self, request: HttpRequest, head: PageHead, status: HTTPStatus = HTTPStatus.OK) -> HttpResponse:
        address = self._address_for_others(request)
        own_title = self._assets.branding.title
        title = head.title
        if own_title and title.endswith(texts.TITLE):
            title = title.removesuffix(texts.TITLE) + own_title
        origin = address or request.origin
        path = head.picture.partition("?")[0]
        has_picture = origin and path and any(pattern.fullmatch(path) for pattern, _ in self._routes)
        picture = f"{origin}{head.picture}" if has_picture else ""
        card = link_card(own_title or "tictactoe", title, head.description, f"{origin}{request.path}", picture)
        language = language_of(request)
        body = self._assets.page(title, head.description, address, language, head.module, card, request.root)
        return HttpResponse(status, body, "text/html; charset=utf-8")

    def _nothing(self, request: HttpRequest, code: ErrorCode = ErrorCode.NOT_ALLOWED, words: str = "") -> HttpResponse:
        if request.wants_html and not request.is_open_to_all:
            return self._page(request, PageHead(*texts.HEAD_OF_NOTHING, "nothing.js"), HTTPStatus.NOT_FOUND)
        words = words or f"Not found. The list of games is at {request.origin}/"
        return explain(request, HTTPStatus.NOT_FOUND, code, words)

    def _address_for_others(self, request: HttpRequest) -> str:
        """Return the prefix of links for other machines if they cannot use the request's host, such as ``localhost``.

        Return "" if they can use that host, or if there are trusted proxies, because only they know the public name.
        """
        if self._admission.proxies or is_for_others(name_of(request.host)) or is_for_others(request.address):
            return ""
        return next(iter(self._links.for_others()), "")

    def _misses_of(self, request: HttpRequest) -> RateLimit:
        return self._core.allowances.page_misses[key_of(request.address)]


def _show(request: HttpRequest, state: RoomState) -> Reply:
    if request.wants_html:
        picture = f"/preview/{state.room}.png?{state.seq}" if state.visibility == "public" else ""
        return PageHead(*texts.head_of_room(state), picture=picture)
    return texts.describe_room(state, request.origin, is_coloured=request.wants_colour)


def _read_pasted(path: str) -> str:
    """Return the path of the room or tournament in a carelessly pasted link, such as ``/K7M4PQ).``

    Return "" if the path is not such a link, or needs no repair.
    """
    link = find_link(f"host{path}")
    if link is None or link.base != "host" or any(map(str.isalnum, link.rest)):
        return ""
    return link.path if link.is_event or link.rest else ""


def _text(lines: Iterable[str], status: HTTPStatus = HTTPStatus.OK) -> HttpResponse:
    return HttpResponse(status, "".join(f"{line}\n" for line in lines).encode())


def language_of(request: HttpRequest) -> str:
    chosen = _LANGUAGE_COOKIE.findall(request.field("cookie"))
    accepted = _ACCEPTED_LANGUAGE.findall(request.field("accept-language").lower())
    return next((language for language in (*chosen, *accepted) if language in LANGUAGES), LANGUAGES[0])


def _policy(servers: str, ancestors: str = "'none'", *, also: str = "") -> tuple[tuple[str, str], ...]:
    """Return the headers of a page with a content security policy. The page may load files only from this server.

    Args:
        servers: The sources that the page may connect to.
        ancestors: The pages that may contain this page in a frame.
        also: More directives, beginning with a semicolon.
    """
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        f"connect-src {servers}; font-src 'none'; base-uri 'none'; form-action 'none'; "
        f"frame-ancestors {ancestors}{also}"
    )
    return ("Content-Security-Policy", policy), ("Referrer-Policy", "no-referrer")
