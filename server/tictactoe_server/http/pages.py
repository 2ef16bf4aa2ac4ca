"""Who answers what: the page for browsers, text for everybody else, and the files of the page.

What is asked for is only looked at; everything that happens in a room goes by its WebSocket.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Coroutine, Sequence
from functools import lru_cache
from http import HTTPStatus
from io import BytesIO
from itertools import islice
from typing import Any, Final

import segno
import structlog

from tictactoe_engine.records import format_record
from tictactoe_protocol import BadRoomCode, encode, parse_room_code
from tictactoe_protocol.catalogue import LANGUAGES
from tictactoe_protocol.pushes import RoomState
from tictactoe_server.core.core import Core
from tictactoe_server.core.kept import SHARES
from tictactoe_server.core.rooms import Refused
from tictactoe_server.core.rooms.finished import played_game, record_of
from tictactoe_server.http import texts
from tictactoe_server.http.assets import PREFIX, Assets, send, send_part, takes
from tictactoe_server.storage.store import StoreUnavailable
from tictactoe_server.transport.admission import Admission, key_of
from tictactoe_server.transport.http_messages import PLAIN_TEXT, HttpRequest, HttpResponse, say_too_many
from tictactoe_server.transport.rate_limit import RateLimit

ANSWER_SECONDS: Final = 5.0
"""How long the store may take until somebody who looks at something is told that it does not answer."""

WALL_MS: Final = 500  # for how long a wall that was drawn as text is shown: a hundred large boards take a while
_ROBOTS: Final = "User-agent: *\nAllow: /$\nDisallow: /"
_REPLAY: Final = "/replay/"
_QR: Final = re.compile(r"/qr(?:/([^/]+))?\.svg")
_FORMS: Final = ("", "json", "txt")  # of a shared game: to look at, for programs, and its record
_CHOSEN: Final = re.compile(r"\blanguage=(\w+)")
_LANGUAGE: Final = re.compile(r"(?:^|,)\s*([a-z]+)")  # of the tags that a browser sends, the best first
_SHARE_ID: Final = re.compile(r"[A-Za-z0-9_-]{16,64}", re.ASCII)

log: Final = structlog.get_logger(__name__)


class Pages:
    """Answers requests of plain HTTP."""

    def __init__(self, assets: Assets, core: Core, admission: Admission) -> None:
        self._assets = assets
        self._core = core
        self._admission = admission
        self._walls: dict[bool, tuple[int, list[str]]] = {}

    def answer(self, request: HttpRequest) -> HttpResponse | Awaitable[HttpResponse]:
        """Return the response to a request of GET or HEAD, or what will have it, where it has to wait for something."""
        asset = self._assets.find(request.path)
        if asset is not None:
            return send_part(request, asset, *_policy("'self'"))
        try:
            found = self._find(request)
        except Exception:
            return self._fail(request)
        return found if isinstance(found, HttpResponse) else self._wait_for(request, found)

    async def _wait_for(self, request: HttpRequest, finding: Coroutine[Any, Any, HttpResponse]) -> HttpResponse:
        """Return what is asked for, or why it does not come."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await finding
        except (StoreUnavailable, TimeoutError):
            words = "The server cannot read this now. Try again soon."
            return self._text(request, [words], HTTPStatus.SERVICE_UNAVAILABLE)
        except Exception:
            return self._fail(request)

    def _fail(self, request: HttpRequest) -> HttpResponse:
        """Log the exception that is being handled, and say that there was one."""
        log.exception("a request in plain HTTP failed", path=request.path)
        return self._text(request, ["The server made a mistake."], HTTPStatus.INTERNAL_SERVER_ERROR)

    def _find(self, request: HttpRequest) -> HttpResponse | Coroutine[Any, Any, HttpResponse]:
        path = request.path
        if path == "/robots.txt":
            return self._text(request, [_ROBOTS])
        if path in ("/favicon.svg", "/favicon.ico"):
            icon = self._assets.named("favicon.svg")
            return self._nothing(request) if icon is None else self._send(request, icon.body, icon.kind)
        if _wants_page(request) and not self._admission.knows(request.host):
            words = f"This server does not know itself by this name. Start it with --origin {request.origin}"
            return self._text(request, [words], HTTPStatus.MISDIRECTED_REQUEST)
        if path == "/":
            return self._home(request)
        if path == "/wall":
            head = texts.HEAD_OF_WALL
            return self._page(request, *head, module="wall.js") if _wants_page(request) else self._wall(request)
        if path.startswith(_REPLAY):
            return self._replay(request, path.removeprefix(_REPLAY))
        if qr := _QR.fullmatch(path):
            return self._qr(request, qr[1])
        if path.startswith(PREFIX):
            return self._nothing(request)
        return self._room(request, path.removeprefix("/"))

    # -- what is asked for --------------------------------------------------------------------------------------

    def _home(self, request: HttpRequest) -> HttpResponse:
        counts = self._core.registry.by_status
        if _wants_page(request):
            return self._page(request, *texts.head_of_home(counts["playing"]), module="home.js")
        rooms = [live.summary(self._core.time()) for live in islice(self._core.lobby.newest(), texts.MOST_LISTED)]
        return self._text(request, texts.describe_home(counts["playing"], counts["waiting"], rooms, request.origin))

    async def _wall(self, request: HttpRequest) -> HttpResponse:
        is_coloured, now = _wants_colour(request), self._core.time()
        drawn_at, lines = self._walls.get(is_coloured, (-WALL_MS, []))
        if now - drawn_at >= WALL_MS:
            games = (live for live in self._core.lobby.newest() if live.room.status == "playing" and live.is_alive)
            shown = list(islice(games, texts.MOST_BOARDS))
            await self._core.registry.elsewhere.look_at(shown)
            lines = texts.describe_wall([live.state(now) for live in shown], is_coloured=is_coloured)
            self._walls[is_coloured] = now, lines
        return self._text(request, [*lines, "", f"In a browser:  {request.origin}/wall"])

    def _room(self, request: HttpRequest, text: str) -> HttpResponse | Coroutine[Any, Any, HttpResponse]:
        """Return a room that is here, or the one that the store has."""
        try:
            code = parse_room_code(text)
        except BadRoomCode:
            return self._nothing(request)
        live, wait = self._core.registry.find_here(code), self._misses_of(request).wait()
        if wait and (live is None or live.room.visibility != "public"):  # the same whether there is such a room or not
            is_page = _wants_page(request)
            return self._page(request, texts.PRIVATE, texts.PRIVATE) if is_page else say_too_many(wait)
        return self._look(request, code) if live is None else self._show(request, live.state(self._core.time()))

    async def _look(self, request: HttpRequest, code: str) -> HttpResponse:
        """Return the room that the store has."""
        try:
            return self._show(request, await self._core.registry.look(code))
        except Refused as refused:
            return self._missed(request, refused.message)

    def _show(self, request: HttpRequest, state: RoomState) -> HttpResponse:
        if _wants_page(request):
            return self._page(request, *texts.head_of_room(state))
        return self._text(request, texts.describe_room(state, request.origin, is_coloured=_wants_colour(request)))

    async def _replay(self, request: HttpRequest, name: str) -> HttpResponse:
        """Return a game that was shared: with all that there is to know of it, as a record, or its end."""
        id, _, form = name.partition(".")
        if _SHARE_ID.fullmatch(id) is None or form not in _FORMS:
            return self._nothing(request)
        found = await self._core.store.table(SHARES).load(id)
        if found is None:
            return self._missed(request, "There is no such game, or it is not shared any more.")
        game, _ = found
        if form == "json":
            return self._send(request, encode(played_game(game)), "application/json")
        if form == "txt":
            return self._text(request, format_record(record_of(game)).splitlines())
        if _wants_page(request):
            return self._page(request, *texts.head_of_game(game))
        link = f"{request.origin}{_REPLAY}{id}"
        return self._text(request, texts.describe_game(game, link, is_coloured=_wants_colour(request)))

    def _qr(self, request: HttpRequest, text: str | None) -> HttpResponse:
        """Return the link to a room, or to this server, as a QR code; that there is such a room is not looked up."""
        try:
            path = parse_room_code(text) if text else ""
        except BadRoomCode:
            return self._nothing(request)
        link = f"{self._admission.address_for_others(request) or request.origin}/{path}"
        return self._send(request, _draw_qr(link), "image/svg+xml")

    # -- how it is answered -------------------------------------------------------------------------------------

    def _page(
        self,
        request: HttpRequest,
        title: str,
        words: str,
        status: HTTPStatus = HTTPStatus.OK,
        module: str = "game.js",
    ) -> HttpResponse:
        address = self._admission.address_for_others(request)
        body = self._assets.page(title, words, address, _language_of(request), module)
        return self._send(request, body, "text/html; charset=utf-8", status)

    def _text(self, request: HttpRequest, lines: Sequence[str], status: HTTPStatus = HTTPStatus.OK) -> HttpResponse:
        return self._send(request, "".join(f"{line}\n" for line in lines).encode(), PLAIN_TEXT, status)

    def _send(self, request: HttpRequest, body: bytes, kind: str, status: HTTPStatus = HTTPStatus.OK) -> HttpResponse:
        """Return a response that may connect to this server, and to the others of the cluster."""
        own = (f"ws://{request.host}", f"wss://{request.host}") if request.host else ()
        places = " ".join(("'self'", *own, *self._core.registry.elsewhere.urls))
        return send(request, HttpResponse(status, body, kind, _policy(places)))

    def _nothing(self, request: HttpRequest, words: str = "") -> HttpResponse:
        """Say that there is nothing, in a browser on a page that leads on."""
        if _wants_page(request):
            return self._page(request, *texts.HEAD_OF_NOTHING, HTTPStatus.NOT_FOUND, "nothing.js")
        words = words or f"There is nothing here. What there is to see: {request.origin}/"
        return self._text(request, [words], HTTPStatus.NOT_FOUND)

    def _missed(self, request: HttpRequest, words: str) -> HttpResponse:
        """Say that what was asked for is not there, and count that: codes are not to be found by trying."""
        wait = self._misses_of(request).take()
        return say_too_many(wait) if wait else self._nothing(request, words)

    def _misses_of(self, request: HttpRequest) -> RateLimit:
        """Return how much may be asked for from an address that is not there."""
        return self._core.allowances.page_misses[key_of(request.address)]


def _wants_page(request: HttpRequest) -> bool:
    """Tell whether a browser asks: it names HTML among what it takes, other programs take anything."""
    return takes(request.field("accept"), "text/html")


def _language_of(request: HttpRequest) -> str:
    """Return the language that a browser's page will speak: the one chosen on it, else the first that it asks for."""
    chosen = _CHOSEN.findall(request.field("cookie"))
    asked = _LANGUAGE.findall(request.field("accept-language").lower())
    return next((one for one in (*chosen, *asked) if one in LANGUAGES), LANGUAGES[0])


def _wants_colour(request: HttpRequest) -> bool:
    return any(part.partition("=")[0] in ("color", "colour") for part in request.query.split("&"))


@lru_cache(maxsize=256)
def _draw_qr(link: str) -> bytes:
    """Return a link as the image of a QR code, black on white with its quiet zone.

    Its mask is always the same: to look for the best of the eight takes three times as long, and all can be read.
    """
    image = BytesIO()
    code = segno.make(link, error="l", micro=False, mask=3)
    code.save(image, kind="svg", border=4, light="#fff", omitsize=True, xmldecl=False)
    return image.getvalue()


def _policy(places: str) -> tuple[tuple[str, str], ...]:
    """Return the headers by which a page loads nothing foreign, connects to `places` only and is nobody's frame."""
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        f"connect-src {places}; font-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return ("Content-Security-Policy", policy), ("Referrer-Policy", "no-referrer")
