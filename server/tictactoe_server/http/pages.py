"""Who answers what: the page for browsers, text for everybody else, and the files of the page.

What is asked for is only looked at; everything that happens in a room goes by its WebSocket.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from http import HTTPStatus
from itertools import islice
from typing import Any, Final

import structlog

from tictactoe_engine.records import format_record
from tictactoe_protocol import BadRoomCode, parse_room_code
from tictactoe_protocol.pushes import RoomState
from tictactoe_server.core.allowances import Allowances
from tictactoe_server.core.lobby import Lobby
from tictactoe_server.core.registry import Registry
from tictactoe_server.http import texts
from tictactoe_server.http.assets import PREFIX, Assets
from tictactoe_server.http.sending import send, send_part, takes
from tictactoe_server.rooms import FinishedGame, Refused
from tictactoe_server.rooms.finished import record_of
from tictactoe_server.storage.store import StoreUnavailable, Table
from tictactoe_server.transport.door import Door, key_of
from tictactoe_server.transport.http import too_many
from tictactoe_server.transport.plain import Request, Response, say
from tictactoe_server.transport.rate_limit import RateLimit

ANSWER_SECONDS: Final = 5.0
"""How long the store may take until somebody who looks at something is told that it does not answer."""

WALL_MS: Final = 500
"""For how long a wall that was drawn as text is shown: a hundred large boards take a while."""

_ROBOTS: Final = "User-agent: *\nAllow: /$\nDisallow: /\n"
_REPLAY: Final = "/replay/"
_RECORD: Final = ".txt"
_SHARE_ID: Final = re.compile(r"[A-Za-z0-9_-]{16,64}", re.ASCII)

log: Final = structlog.get_logger(__name__)


class Pages:
    """Answers requests of plain HTTP. `now` returns ms of served time."""

    def __init__(
        self,
        assets: Assets,
        registry: Registry,
        lobby: Lobby,
        shares: Table[FinishedGame],
        allowances: Allowances,
        door: Door,
        now: Callable[[], int],
    ) -> None:
        self._assets = assets
        self._registry = registry
        self._lobby = lobby
        self._shares = shares
        self._allowances = allowances
        self._door = door
        self._now = now
        self._walls: dict[bool, tuple[int, list[str]]] = {}

    def answer(self, request: Request) -> Response | Awaitable[Response]:
        """Return the response to a request of GET or HEAD, or what will have it."""
        path = request.path
        asset = self._assets.find(path)
        if asset is not None:
            return send_part(request, asset, *_policy("'self'"))
        if path == "/robots.txt":
            return self._text(request, HTTPStatus.OK, _ROBOTS.splitlines())
        if path in ("/favicon.svg", "/favicon.ico"):
            icon = self._assets.named("favicon.svg")
            if icon is None:
                return self._nothing(request)
            return send(request, HTTPStatus.OK, icon.body, icon.kind, *self._secure(request))
        if _wants_page(request) and not self._door.knows(request.host):
            words = f"This server does not know itself by this name. Start it with --origin {request.origin}"
            return self._text(request, HTTPStatus.MISDIRECTED_REQUEST, [words])
        if path == "/":
            return self._home(request)
        if path == "/wall":
            if _wants_page(request):
                return self._page(request, *texts.head_of_wall())
            return self._later(request, self._wall(request))
        if path.startswith(_REPLAY):
            return self._game(request, path.removeprefix(_REPLAY))
        if path.startswith(PREFIX):
            return self._nothing(request)
        return self._room(request, path.removeprefix("/"))

    # -- what is asked for --------------------------------------------------------------------------------------

    def _home(self, request: Request) -> Response:
        counts = self._registry.by_status
        if _wants_page(request):
            return self._page(request, *texts.head_of_home(counts["playing"]))
        rooms = [live.summary(self._now()) for live in islice(self._lobby.newest(), texts.MOST_LISTED)]
        lines = texts.describe_home(counts["playing"], counts["waiting"], rooms, request.origin)
        return self._text(request, HTTPStatus.OK, lines)

    async def _wall(self, request: Request) -> Response:
        is_coloured, now = _wants_colour(request), self._now()
        drawn_at, lines = self._walls.get(is_coloured, (-WALL_MS, []))
        if now - drawn_at >= WALL_MS:
            games = (live for live in self._lobby.newest() if live.room.status == "playing" and live.is_alive)
            shown = list(islice(games, texts.MOST_BOARDS))
            await self._registry.elsewhere.look_at(shown)
            lines = texts.describe_wall([live.state(now) for live in shown], is_coloured=is_coloured)
            self._walls[is_coloured] = now, lines
        return self._text(request, HTTPStatus.OK, [*lines, "", f"In a browser:  {request.origin}/wall"])

    def _room(self, request: Request, text: str) -> Response | Awaitable[Response]:
        try:
            code = parse_room_code(text)
        except BadRoomCode:
            return self._nothing(request)
        live = self._registry.find_here(code)
        wait = self._misses_of(request).wait()
        if live is not None and (not wait or live.room.visibility == "public"):
            return self._show(request, live.state(self._now()))
        if not wait:
            return self._later(request, self._find(request, code))
        if _wants_page(request):  # the same whether there is such a room or not
            return self._page(request, texts.PRIVATE, texts.PRIVATE)
        return _too_many(wait)

    async def _find(self, request: Request, code: str) -> Response:
        """Return the room that the store has."""
        try:
            state = await self._registry.look(code)
        except Refused as refused:
            return self._missed(request, refused.message)
        return self._show(request, state)

    def _show(self, request: Request, state: RoomState) -> Response:
        if _wants_page(request):
            return self._page(request, *texts.head_of_room(state))
        is_coloured = _wants_colour(request)
        return self._text(request, HTTPStatus.OK, texts.describe_room(state, request.origin, is_coloured=is_coloured))

    def _game(self, request: Request, name: str) -> Response | Awaitable[Response]:
        id = name.removesuffix(_RECORD)
        if _SHARE_ID.fullmatch(id) is None:
            return self._nothing(request)
        return self._later(request, self._replay(request, id, name != id))

    async def _replay(self, request: Request, id: str, is_record: bool) -> Response:
        """Return a game that was shared, with `is_record` as its record."""
        found = await self._shares.load(id)
        if found is None:
            return self._missed(request, "There is no such game, or it is not shared any more.")
        game, _ = found
        if is_record:
            return self._text(request, HTTPStatus.OK, format_record(record_of(game)).splitlines())
        if _wants_page(request):
            return self._page(request, *texts.head_of_game(game))
        link = f"{request.origin}{_REPLAY}{id}"
        return self._text(request, HTTPStatus.OK, texts.describe_game(game, link, is_coloured=_wants_colour(request)))

    # -- how it is answered -------------------------------------------------------------------------------------

    def _page(self, request: Request, title: str, description: str, status: HTTPStatus = HTTPStatus.OK) -> Response:
        body = self._assets.page(title, description, self._door.address_for_others(request))
        return send(request, status, body, "text/html; charset=utf-8", *self._secure(request))

    def _text(self, request: Request, status: HTTPStatus, lines: Sequence[str]) -> Response:
        body = "".join(f"{line}\n" for line in lines).encode()
        return send(request, status, body, "text/plain; charset=utf-8", *self._secure(request))

    def _secure(self, request: Request) -> tuple[tuple[str, str], ...]:
        """Return the headers that let a page load nothing foreign, and nobody show it as a part of theirs.

        It may connect to this server, and to the others of the cluster.
        """
        own = (f"ws://{request.host}", f"wss://{request.host}") if request.host else ()
        return _policy(" ".join(("'self'", *own, *self._registry.elsewhere.urls)))

    def _nothing(self, request: Request, words: str = "") -> Response:
        """Say that there is nothing, in a browser on a page that leads on."""
        if _wants_page(request):
            return self._page(request, *texts.head_of_nothing(), HTTPStatus.NOT_FOUND)
        words = words or f"There is nothing here. What there is to see: {request.origin}/"
        return self._text(request, HTTPStatus.NOT_FOUND, [words])

    def _missed(self, request: Request, words: str) -> Response:
        """Say that what was asked for is not there, and count that: codes are not to be found by trying."""
        wait = self._misses_of(request).take()
        if wait:
            return _too_many(wait)
        return self._nothing(request, words)

    def _misses_of(self, request: Request) -> RateLimit:
        """Return how much may be asked for from an address that is not there."""
        return self._allowances.page_misses.of(key_of(request.address))

    async def _later(self, request: Request, work: Coroutine[Any, Any, Response]) -> Response:
        """Return what takes longer, or why it does not come: the one place that says so."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await work
        except (StoreUnavailable, TimeoutError):
            words = "The server cannot read this now. Try again soon."
            return self._text(request, HTTPStatus.SERVICE_UNAVAILABLE, [words])
        except Exception:
            log.exception("a request in plain HTTP failed", path=request.path)
            return self._text(request, HTTPStatus.INTERNAL_SERVER_ERROR, ["The server made a mistake."])


def _wants_page(request: Request) -> bool:
    """Tell whether a browser asks: it names HTML among what it takes, other programs take anything."""
    return takes(request.field("accept"), "text/html")


def _wants_colour(request: Request) -> bool:
    return any(part.partition("=")[0] in ("color", "colour") for part in request.query.split("&"))


def _policy(connections: str) -> tuple[tuple[str, str], ...]:
    """Return the same with the places that may be connected to."""
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        f"connect-src {connections}; font-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return ("Content-Security-Policy", policy), ("Referrer-Policy", "no-referrer")


def _too_many(wait: int) -> Response:
    """Return that too much is asked for, and after how many ms it will do again."""
    words, field = too_many(wait)
    return say(HTTPStatus.TOO_MANY_REQUESTS, words, field)
