"""A player's or watcher's conversation with one server: requests as methods, states as async iterators.

This is the door for other Python programs, and the commands stand on it. The connection's life is the
conversation's; neither knows anything of terminals. A whole bot::

    async with connect("ws://localhost:8765", name="first-free") as client:
        room = await client.match("classic")
        async for state in room:
            if state.status == "over":
                break
            if room.is_my_turn:
                await room.move(state.board.index("."))
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Literal

from msgspec import UNSET, UnsetType

from tictactoe_client.online.address import DEFAULT_SERVER, Address, House, house_of, parse_code
from tictactoe_client.online.backoff import Backoff
from tictactoe_client.online.conversation import Conversation
from tictactoe_client.online.errors import Refused
from tictactoe_client.online.reconnect import arrive, greet
from tictactoe_client.online.room import Room
from tictactoe_engine import Rules
from tictactoe_protocol import MAX_LISTED_GAMES, choice_of, requests
from tictactoe_protocol.pushes import PastGame, RoomSummary

DEFAULT_TIMEOUT_SECONDS: Final = 5.0


class Client(Conversation):
    """A connection on which the server knows who we are; made by `connect`."""

    def held_ms(self, room: str) -> int | None:
        """For how many ms our seat in a room was still held when we said hello, less what has passed since.

        0 past the hold, None where we were not away from it or the server does not say.
        """
        stated = (self.welcome.held_ms or {}).get(room)
        passed = asyncio.get_running_loop().time() - self._welcomed_at
        return None if stated is None else max(0, stated - round(passed * 1000))

    async def create(
        self,
        rules: Rules | str | None = None,
        *,
        clock: requests.ClockFields | None = None,
        private: bool = False,
        seat: str | None = None,
        bots: Sequence[str] = (),
        analysis: Literal["closed", "open"] = "closed",
        chat: Literal["all", "players"] = "all",
    ) -> Room:
        """Open a room and take a seat in it, the first where `seat` is None; `rules` may be a preset's name.

        With `analysis` open a running game may be analysed; with `chat` for players watchers only read. Raises
        `Refused` with ``unsupported`` where the server is too old for that.
        """
        for feature, is_wanted in (("analysis", analysis != "closed"), ("chat", chat != "all")):
            if is_wanted and feature not in self.features:
                raise Refused("unsupported", f"This server is too old for that: it knows no {feature} of a room.")
        request = requests.Create(
            rules=_choice(rules),
            clock=clock,
            visibility="private" if private else "public",
            seat=UNSET if seat is None else seat,
            bots=tuple(bots),
            analysis=analysis,
            chat=chat,
        )
        return await self._enter(request)

    async def match(self, rules: Rules | str | None = None, *, clock: requests.ClockFields | None = None) -> Room:
        """Join the oldest open public room with these rules and this clock, or open one."""
        return await self._enter(requests.Match(rules=_choice(rules), clock=clock))

    async def join(self, room: str) -> Room:
        """Take a free seat, or attach to the one that we hold; raises `BadRoomCode` for what is no code."""
        return await self._enter(requests.Join(room=parse_code(room)))

    async def watch(self, room: str) -> Room:
        """Spectate; the room's `seat` is None. Raises `BadRoomCode` for what is no code."""
        return await self._enter(requests.Watch(room=parse_code(room)))

    async def rooms(self) -> tuple[RoomSummary, ...]:
        """Return the public rooms, newest first."""
        return (await self._ask(requests.Rooms())).rooms or ()

    async def lobby(self, *, on: bool, boards: int = 0) -> None:
        """Subscribe to changes of the list of public rooms, which `messages` then brings, or end that.

        It also brings the boards of up to so many games that are on, 0 to 3, where the server's features name them.
        """
        await self._ask(requests.Lobby(on=on, boards=boards if "boards" in self.features else 0))

    async def history(self, limit: int = 20, *, before: str | None = None) -> tuple[PastGame, ...]:
        """Return our own finished games, newest first, at most `limit`, with `before` those older than that game.

        The server lists a hundred at a time; more are asked for page by page.
        """
        games: list[PastGame] = []
        while len(games) < limit:
            wanted = min(limit - len(games), MAX_LISTED_GAMES)
            page = await self._ask(requests.History(limit=wanted, before=UNSET if before is None else before))
            games.extend(page.games or ())
            if len(page.games or ()) < wanted:
                break
            before = games[-1].id
        return tuple(games[:limit])

    async def record(self, game: str) -> str:
        """Return one of our finished games as text, which `tictactoe_engine.parse_record` reads; `game` is its id.

        Raises `Refused` with ``not_allowed`` for a game that we did not play.
        """
        return (await self._ask(requests.Record(game=game))).record or ""

    async def ping(self) -> int:
        """Return the server's time in milliseconds since the epoch."""
        return (await self._ask(requests.Ping())).time or 0


@asynccontextmanager
async def connect(
    url: str | Address | House | Sequence[str | Address] = DEFAULT_SERVER,
    *,
    name: str | None = None,
    token: str | None = None,
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
    reconnect: bool | Backoff = False,
    ca: str | Path | None = None,
    keep_seats: bool = False,
) -> AsyncIterator[Client]:
    """Connect to a server, say hello, and close again at the end of the ``async with``.

    `url` is anything that names a server (``ws://host:port``, ``wss://host``, ``host``, or a link to one of its
    rooms), or several: servers of one house, which are tried in this order. Without a `name` the server chooses one.
    With `reconnect` a lost connection is made anew for as long as the server keeps our seats, at another address of the
    house where there is one: iterators then see states late, and requests are answered late. `ca` is a file with
    certificates in PEM to trust beside the machine's own. Raises `BadAddress`, `Unreachable`, `VersionRefused` or
    `Refused`.
    """
    house = house_of(url)
    backoff = Backoff() if reconnect is True else reconnect or None
    greeting = await arrive(house, lambda address: greet(address, name, token, timeout_seconds, ca))
    client = Client(house, greeting, backoff, timeout_seconds, ca)
    try:
        yield client
    finally:
        try:
            if not keep_seats:
                await client.leave_rooms()
        finally:
            await client.close()


def _choice(rules: Rules | str | None) -> requests.RulesChoice | UnsetType:
    if rules is None:
        return UNSET
    return rules if isinstance(rules, str) else choice_of(rules)
