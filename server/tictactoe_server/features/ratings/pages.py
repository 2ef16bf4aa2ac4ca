"""Ladders and players over plain HTTP: JSON and CSV for programs, text for terminals, pages for browsers."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from msgspec import Struct
from msgspec.structs import astuple

from tictactoe_protocol.rated import MAX_LISTED_PLAYERS, LadderRow, LadderState
from tictactoe_server.core.core import Service
from tictactoe_server.features.ratings.service import Ladders
from tictactoe_server.http.texts import format_csv, wrap
from tictactoe_server.transport.http_messages import CSV, HttpRequest, HttpResponse, PageHead, Reply, answer_json
from tictactoe_words import ladders as words

_MAX_ID: Final = 40
_MODULE: Final = "ladders/pages.js"


class LadderList(Struct, frozen=True):
    """The keys of all ladders; each is the name of its rules."""

    ladders: tuple[str, ...]


class LadderPages(Service):
    """Serves ladders and player profiles."""

    def __init__(self, ladders: Ladders) -> None:
        self._ladders = ladders
        self.routes = {
            "/api/ladders": lambda request: answer_json(LadderList(tuple(ladders.presets))),
            r"/api/ladders/([\w-]+)(\.csv)?": self.export,
            "/api/players/([^/]+)": self.show_player,
            r"/ladder/([\w-]*)": lambda request, key: self.show(request, key or next(iter(ladders.presets), "")),
            "/player/([^/]+)": self.show_player_page,
        }

    async def export(self, request: HttpRequest, key: str, extension: str | None) -> Reply:
        ladder = await self._find(key)
        if not extension:
            return answer_json(ladder)
        rows = LadderRow.__struct_fields__, *map(astuple, ladder.rows)
        return HttpResponse(HTTPStatus.OK, format_csv(rows, has_semicolons=request.wants_semicolons), CSV)

    async def show_player(self, request: HttpRequest, id: str) -> Reply:
        return answer_json(await self._ladders.describe_player(id[:_MAX_ID]))

    async def show(self, request: HttpRequest, key: str) -> Reply:
        ladder = await self._find(key)
        if request.wants_html:
            return PageHead(f"The ladder of {key}", f"{ladder.games} rated games of {key}.", _MODULE)
        return describe_ladder(ladder)

    async def show_player_page(self, request: HttpRequest, id: str) -> Reply:
        """Return a player's ladders as text or, for a browser, the head of a page, even if the player is unknown."""
        if request.wants_html:
            return PageHead("A player", "Ladders and rated games of a player.", _MODULE)
        profile = await self._ladders.describe_player(id[:_MAX_ID])
        return [
            profile.name,
            *(", ".join(cell or "-" for cell in row) for row in words.tabulate_standings(profile).values()),
        ]

    async def _find(self, key: str) -> LadderState:
        return await self._ladders.describe(self._ladders.check_key(key), MAX_LISTED_PLAYERS)


def describe_ladder(ladder: LadderState) -> list[str]:
    """Return a ladder as lines of text of at most 80 characters."""
    lines = [line for paragraph in (ladder.rules, *words.describe_ladder(ladder)) for line in wrap(paragraph)]
    rows = [
        f"{place:>5}  {name:25} {rating:>11}  {games:>5}  {trend:>5}".rstrip()
        for place, name, rating, games, trend in words.tabulate_ladder(ladder).values()
    ]
    return [*lines, "", *rows] if ladder.rows else lines
