"""A crowd: people who are matched with each other for the same game, and a visitor who follows the lobby."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from tests.simulation.ledger import Message
from tests.simulation.peer import ConnectionLost, RequestRefused
from tests.simulation.people import Person, Player, Table

if TYPE_CHECKING:
    from tests.simulation.run import Site

PATIENCE_SECONDS: Final = 40.0
"""How long a player waits for an opponent before asking to be matched again."""
LOBBY_SECONDS: Final = 2.5
"""How late a change of the lobby may arrive."""


class Crowd:
    """Five people who want to be matched, each for a few games, and a lobby visitor."""

    def __init__(self, site: Site, number: int, *, games: int) -> None:
        self.seekers: Sequence[Wanderer] = [Seeker(site, f"eli{number}-{place}", games) for place in range(5)]
        self.people: list[Person] = [*self.seekers, LobbyVisitor(site, f"fay{number}", self)]

    def hurry(self) -> None:
        for seeker in self.seekers:
            seeker.table.hurry()

    async def settle(self, site: Site) -> None:
        """Check that the history has each game of each player once."""
        for seeker in self.seekers:
            await seeker.connect()
            rows = await seeker.list_history()
            for code in seeker.table.former_codes:
                site.ledger.check_history(code, seeker.id, rows, site.world.time())


class Wanderer(Player):
    """Plays one game after another, each in a room of its own.

    Attributes:
        rooms: The rooms where this person has had a seat.
    """

    def __init__(self, site: Site, name: str, games: int) -> None:
        table = Table(site, 0, games=games)
        table.rules, table.clock, table.bots, table.guests = "classic", None, [], []
        super().__init__(site, table, name)
        self.rooms: dict[str, None] = {}

    async def connect(self) -> None:
        await super().connect()
        self.rooms |= dict.fromkeys(row["room"] for row in self.welcome["rooms"])

    @property
    def next_room(self) -> str | None:
        """The room to play in, if there is one."""
        return self.table.code or next((code for code in self.rooms if code not in self.table.former_codes), None)

    @property
    def is_finished(self) -> bool:
        return self.site.is_closing or len(self.table.former_codes) >= self.table.games

    async def enter(self) -> None:
        self.table.code = self.next_room
        if self.table.code is None:
            return
        try:
            await super().enter()
        except RequestRefused as refused:
            if refused.code != "no_such_room":
                raise
            self.check_closed(self.table.code)

    def check_closed(self, code: str) -> None:
        """Check that a room is gone because all its players were away for long, and forget it."""
        if not self.ledger.rooms[code].was_left and not self.ledger.is_closed(code):
            self.ledger.fail(f"The room of {self.name} is gone.", code)
        self.table.leave_room(code)

    async def finish_or_ask_for_rematch(self, state: Message, marks: list[str]) -> None:
        if len(marks) > 1:
            self.ledger.fail(f"{self.name} was matched with nobody else: {state['seats']}.", state["room"])
        await self.leave(state)


class Seeker(Wanderer):
    """Is matched, plays one game, leaves, and is matched again."""

    _waiting_since: float | None = None

    async def enter(self) -> None:
        if self.next_room is None:
            reply = await self.try_once(type="match", rules="classic")
            if reply is None:  # it may have been stored nevertheless, which the next welcome shows
                raise ConnectionLost
            self.table.code = reply["room"]  # perhaps a room that this person has left before
        await super().enter()

    async def act(self) -> None:
        state = self.states.get(self.table.code or "")
        if state is None or state["status"] != "waiting":
            self._waiting_since = None
            await super().act()
            return
        now = self.world.time()
        self._waiting_since = self._waiting_since or now
        if self.site.is_closing or now - self._waiting_since > PATIENCE_SECONDS:
            await self.leave(state)
            self.is_done = self.site.is_closing
        else:
            await self.wait_for_news(10.0)

    async def finish_or_ask_for_rematch(self, state: Message, marks: list[str]) -> None:
        await super().finish_or_ask_for_rematch(state, marks)
        self.is_done = self.is_finished


class LobbyVisitor(Person):
    """Keeps a copy of the list of rooms by its changes, and compares it with the list."""

    def __init__(self, site: Site, name: str, crowd: Crowd) -> None:
        super().__init__(site, name)
        self.rows: dict[str, Message] = {}
        self._crowd = crowd

    async def enter(self) -> None:
        self.rows = {}
        rows = (await self.ask(type="lobby", on=True))["rooms"]
        self.rows = {row["room"]: row for row in rows} | self.rows

    def receive(self, message: Message) -> None:
        if message["type"] == "lobby":
            self.rows.update({row["room"]: row for row in message.get("changed", ())})
            for code in message.get("closed", ()):
                self.rows.pop(code, None)
        else:
            super().receive(message)

    async def act(self) -> None:
        if all(seeker.is_done for seeker in self._crowd.seekers):
            self.is_done = True
            return
        await self.wait_for_news(self.chance.uniform(5, 30))
        peer = self.peer
        if peer is None or peer.is_lost or not (before := await self._find_differences()):
            return
        started_at = self.world.time()
        await asyncio.sleep(LOBBY_SECONDS)
        if self.is_connected and self.is_calm_since(peer, started_at - LOBBY_SECONDS):
            lasting = {code: row for code, row in (await self._find_differences()).items() if before.get(code) == row}
            if lasting and self.is_calm_since(peer, started_at - LOBBY_SECONDS):
                self.ledger.fail(f"The lobby of {self.name} and the list of rooms differ for long: {lasting}.")

    async def _find_differences(self) -> dict[str, tuple[Any, Any]]:
        """Return the differing rows by room code, each as the lobby has it and as the list has it."""
        listed = {row["room"]: row for row in (await self.ask(type="rooms"))["rooms"]}
        self.ledger.count("lobbies compared")
        pairs = {code: (_essence(self.rows.get(code)), _essence(listed.get(code))) for code in {**listed, **self.rows}}
        return {code: pair for code, pair in pairs.items() if pair[0] != pair[1]}


def _essence(row: Message | None) -> Any:
    """Return what a change of a lobby row reports."""
    if row is None:
        return None
    seats = {mark: seat and (seat["player"], seat["online"]) for mark, seat in row["seats"].items()}
    return row["status"], seats
