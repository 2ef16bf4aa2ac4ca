"""Ladders and players in plain HTTP: as JSON and CSV for programs, as text and in a page's head for people."""

from __future__ import annotations

import csv
import io
from collections.abc import Awaitable, Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Final, NamedTuple

from msgspec import UNSET, Struct

from tictactoe_protocol import ErrorCode, encode
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.ladders import tabulate_standings
from tictactoe_protocol.pushes import PlayerProfile
from tictactoe_protocol.rated import MAX_LISTED_PLAYERS, LadderRow, LadderState
from tictactoe_server.core.core import PageHead, Reply, Route
from tictactoe_server.rooms import Refused
from tictactoe_server.transport.http_messages import JSON, HttpRequest, HttpResponse

CSV: Final = "text/csv; charset=utf-8"
_MAX_ID: Final = 40
_NAME_WIDTH: Final = 25
_MODULE: Final = "ladders/pages.js"


class LadderList(Struct, frozen=True):
    """The keys of the ladders that there are, each a name of rules."""

    ladders: tuple[str, ...]


class LadderPages(NamedTuple):
    """What is answered: `keys` returns those of all ladders, `describe` the first rows of one, `describe_player` one
    player by the id; that raises `Refused` for one who has played no rated game.
    """

    keys: Callable[[], Sequence[str]]
    describe: Callable[[str, int], Awaitable[LadderState]]
    describe_player: Callable[[str], Awaitable[PlayerProfile]]

    @property
    def routes(self) -> Mapping[str, Route]:
        """The paths, as a service has them."""
        return {
            "/api/ladders": lambda request: _json(LadderList(tuple(self.keys()))),
            r"/api/ladders/([\w-]+)(\.csv)?": self.export,
            r"/api/players/([\w-]+)": self.show_player,
            r"/ladder/([\w-]+)": self.show,
            r"/player/([\w-]+)": self.show_player_page,
        }

    async def export(self, request: HttpRequest, key: str, form: str | None) -> Reply:
        """Answer with the ladder of a key, as an object or as rows."""
        state = await self._find(key)
        if not form:
            return _json(state)
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(LadderRow.__struct_fields__)
        writer.writerows([getattr(row, name) for name in LadderRow.__struct_fields__] for row in state.rows)
        return HttpResponse(HTTPStatus.OK, text.getvalue().encode(), CSV)

    async def show_player(self, request: HttpRequest, id: str) -> Reply:
        """Answer with the ladders and newest rated games of a player."""
        return _json(await self.describe_player(id[:_MAX_ID]))

    async def show(self, request: HttpRequest, key: str) -> Reply:
        """Answer with a ladder as text, or the page's head."""
        state = await self._find(key)
        if request.wants_html:
            return PageHead(f"The ladder of {key}", f"{state.games} rated games of {key}.", _MODULE)
        return describe_ladder(state)

    async def show_player_page(self, request: HttpRequest, id: str) -> Reply:
        """Answer with a player's ladders as text, or the page's head: that page is also of who has none."""
        if request.wants_html:
            return PageHead("A player", "Ladders and rated games of a player.", _MODULE)
        profile = await self.describe_player(id[:_MAX_ID])
        return [profile.name, *(", ".join(filter(None, row)) for row in tabulate_standings(profile).values())]

    async def _find(self, key: str) -> LadderState:
        if key not in self.keys():
            raise Refused(ErrorCode.NOT_ALLOWED, "ladder", path="rules", ladders=list(self.keys()))
        return await self.describe(key, MAX_LISTED_PLAYERS)


def describe_ladder(state: LadderState) -> list[str]:
    """Return the lines of a ladder, of at most 80 columns."""
    head = f"{state.rules}: {state.games} rated games, the first move is worth {state.advantage:.0f} points"
    if state.closed is not UNSET:
        closed = state.closed
        head += f"\n{say(f'ladder closed {closed.reason}', n=closed.figure, of=closed.of)}"
    rows = [
        f"{row.place:>4}  {row.name:{_NAME_WIDTH}} {row.rating:>5.0f}  ±{2 * row.deviation:.0f}  {row.games} games"
        for row in state.rows
    ]
    return [*head.splitlines(), "", *(rows or ["Nobody is known well enough yet."])]


def _json(value: LadderList | LadderState | PlayerProfile) -> HttpResponse:
    return HttpResponse(HTTPStatus.OK, encode(value), JSON)
