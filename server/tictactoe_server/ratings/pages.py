"""Ladders and players in plain HTTP: as JSON and CSV for programs, as text and in a page's head for people."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qs

from msgspec import UNSET, Struct

from tictactoe_protocol import encode
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.ladders import tabulate_standings
from tictactoe_protocol.pushes import PlayerProfile
from tictactoe_protocol.rated import MAX_LISTED_PLAYERS, LadderRow, LadderState
from tictactoe_protocol.ratings.checkpoints import Links
from tictactoe_server.core.core import PageHead, Reply, Service
from tictactoe_server.http.sheets import CSV
from tictactoe_server.ratings.seasons import Season, SeasonRow, describe_row, describe_season, format_rows, parse_span
from tictactoe_server.ratings.service import Ladders
from tictactoe_server.transport.admission import key_of
from tictactoe_server.transport.http_messages import JSON, HttpRequest, HttpResponse

_MAX_ID: Final = 40
_NUMBER: Final = re.compile(r"[0-9]{1,9}", re.ASCII)
_MODULE: Final = "ladders/pages.js"


class LadderList(Struct, frozen=True):
    """The keys of the ladders that there are, each a name of rules."""

    ladders: tuple[str, ...]


class LadderPages(Service):
    """Shows ladders, players, seasons and the tables of bots."""

    def __init__(self, ladders: Ladders) -> None:
        self._ladders = ladders
        self.routes = {
            "/api/ladders": lambda request: _json(LadderList(tuple(ladders.keys))),
            "/api/ladders/checkpoints": self.show_links,
            "/api/ladders/bots": self.list_bots,
            r"/api/ladders/bots/([\w-]+)(\.csv)?": self.export_bots,
            r"/ladder/bots/([\w-]+)": self.show_bots,
            r"/api/ladders/([\w-]+)(\.csv)?": self.export,
            "/api/players/([^/]+)": self.show_player,
            r"/ladder/([\w-]*)": lambda request, key: self.show(request, key or next(iter(ladders.keys), "")),
            "/player/([^/]+)": self.show_player_page,
        }

    async def export(self, request: HttpRequest, key: str, form: str | None) -> Reply:
        """Answer with the ladder of a key, or a season of it, as an object or as rows."""
        return _answer(await self._find_season(request, key) or await self._find(key), form)

    async def export_bots(self, request: HttpRequest, key: str, form: str | None) -> Reply:
        """Answer with the table of bots by some rules, as an object or as rows."""
        return _answer(await self._ladders.seasons.measure(key, None, key_of(request.address)), form)

    async def list_bots(self, request: HttpRequest) -> Reply:
        """Answer with the rules by which bots have played."""
        return _json(LadderList(tuple(await self._ladders.seasons.list_bots())))

    def show_links(self, request: HttpRequest) -> Reply:
        """Answer with the links of the checkpoints `after` one of this number, 0 for all from the first one."""
        after = parse_qs(request.query).get("after", ["0"])[-1]
        return _json(self._ladders.folding.list_links(int(after) if _NUMBER.fullmatch(after) else 0))

    async def show_player(self, request: HttpRequest, id: str) -> Reply:
        """Answer with the ladders and newest rated games of a player."""
        return _json(await self._ladders.describe_player(id[:_MAX_ID]))

    async def show(self, request: HttpRequest, key: str) -> Reply:
        """Answer with a ladder, or a season of it, as text, or the page's head."""
        if not request.wants_html and (season := await self._find_season(request, key)) is not None:
            return describe_season(season)
        state = await self._find(key)
        if request.wants_html:
            return PageHead(f"The ladder of {key}", f"{state.games} rated games of {key}.", _MODULE)
        return describe_ladder(state)

    async def show_bots(self, request: HttpRequest, key: str) -> Reply:
        """Answer with the table of bots by some rules as text, or the page's head."""
        season = await self._ladders.seasons.measure(key, None, key_of(request.address))
        if request.wants_html:
            return PageHead(f"Bots at {key}", f"{season.games} games of bots.", _MODULE)
        return describe_season(season)

    async def _find_season(self, request: HttpRequest, key: str) -> Season | None:
        """Return the season that is asked for, None where it is the ladder as it is now."""
        asked = parse_qs(request.query)
        if not asked.keys() & {"from", "to"}:
            return None
        self._ladders.check_key(key)
        since, until = (asked.get(name, [None])[-1] for name in ("from", "to"))
        return await self._ladders.seasons.measure(key, parse_span(since, until), key_of(request.address))

    async def show_player_page(self, request: HttpRequest, id: str) -> Reply:
        """Answer with a player's ladders as text, or the page's head: that page is also of who has none."""
        if request.wants_html:
            return PageHead("A player", "Ladders and rated games of a player.", _MODULE)
        profile = await self._ladders.describe_player(id[:_MAX_ID])
        return [profile.name, *(", ".join(filter(None, row)) for row in tabulate_standings(profile).values())]

    async def _find(self, key: str) -> LadderState:
        self._ladders.check_key(key)
        return await self._ladders.describe(key, MAX_LISTED_PLAYERS)


def describe_ladder(state: LadderState) -> list[str]:
    """Return the lines of a ladder, of at most 80 columns."""
    head = f"{state.rules}: {state.games} rated games, the first move is worth {state.advantage:.0f} points"
    if state.closed is not UNSET:
        closed = state.closed
        head += f"\n{say(f'ladder closed {closed.reason}', n=closed.figure, of=closed.of)}"
    rows = [describe_row(row, 2 * row.deviation) for row in state.rows]
    return [*head.splitlines(), "", *(rows or ["Nobody is known well enough yet."])]


def _answer(table: LadderState | Season, form: str | None) -> HttpResponse:
    kind = SeasonRow if isinstance(table, Season) else LadderRow
    return HttpResponse(HTTPStatus.OK, format_rows(table.rows, kind), CSV) if form else _json(table)


def _json(value: LadderList | LadderState | Links | PlayerProfile | Season) -> HttpResponse:
    return HttpResponse(HTTPStatus.OK, encode(value), JSON)
