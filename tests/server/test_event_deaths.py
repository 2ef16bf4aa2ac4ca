"""A server dies while a card changes hands, and the next one continues. `tests/simulation` kills at all other steps."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.limits import uncounted
from tests.server.test_events_service import HERE, card_game, known, play_on
from tictactoe_server.events.kept import EVENTS
from tictactoe_server.records.tables import ROOMS
from tictactoe_server.server import Server, kept_by
from tictactoe_server.storage.memory import MemoryLog, MemoryStore, MemoryTable
from tictactoe_server.storage.specs import TableSpec
from tictactoe_server.storage.store import Pending, Value, Waiter


class Life:
    """Counts the writes that a server has left.

    Attributes:
        is_told: Whether the server learns the outcome of its last write.
        end: Set when the server has to die.
    """

    def __init__(self, writes: int, *, is_told: bool) -> None:
        self.writes = writes
        self.is_told = is_told
        self.end = asyncio.Event()

    def takes(self, waiter: Waiter) -> Waiter | None:
        """Return the waiter for the next write, or None if the write is dropped."""
        if self.writes == 0:
            self.end.set()
            return None
        self.writes -= 1
        if self.writes == 0 and not self.is_told:
            self.end.set()
            return Pending()
        return waiter


class MortalTable(MemoryTable[Value]):
    """A table whose writes end with the life of the server."""

    def __init__(self, spec: TableSpec[Value], games: MemoryLog[Any]) -> None:
        super().__init__(spec, games)
        self.life: Life | None = None

    def save(self, key: str, value: Value, expected_revision: int | None, waiter: Waiter, finished: Any = None) -> None:
        told = waiter if self.life is None else self.life.takes(waiter)
        if told is not None:
            super().save(key, value, expected_revision, told, finished)

    def delete(self, key: str, expected_revision: int | None, waiter: Waiter) -> None:
        if self.life is None or not self.life.end.is_set():
            super().delete(key, expected_revision, waiter)


class MortalStore(MemoryStore):
    """A store in memory that outlives its servers; rooms and events are written as long as these live."""

    def __init__(self) -> None:
        super().__init__(kept_by())
        self.events = MortalTable(EVENTS, self.games)
        self.rooms = MortalTable(ROOMS, self.games)
        self.tables |= {EVENTS.name: self.events, ROOMS.name: self.rooms}

    def live(self, life: Life | None) -> None:
        self.events.life = self.rooms.life = life


@pytest.mark.parametrize("is_told", [True, False], ids=["told", "untold"])
async def test_a_card_goes_on_after_a_death_before_its_seat_was_handed_over(*, is_told: bool) -> None:
    store, life = MortalStore(), Life(1, is_told=is_told)
    async with Server(HERE, store, uncounted()) as server, card_game(server) as game, known(server, "new") as heir:
        event, ticket, holder, other, call = game
        store.live(life)
        await heir.send("event_join", event=event, ticket=ticket, here=True)
        await asyncio.wait_for(life.end.wait(), 10)
    store.live(None)
    async with (
        Server(HERE, store, uncounted()) as server,
        known(server, token=heir.welcome["token"]) as heir,
        known(server, token=other.welcome["token"]) as other,
        known(server, token=holder.welcome["token"]) as holder,
    ):
        assert ("calls" in holder.welcome, [told["room"] for told in heir.welcome["calls"]]) == (False, [call["room"]])
        assert (await other.ask("join", room=call["room"]))["seat"] == "X"
        await other.until(
            lambda told: told["type"] == "room" and told["seats"]["O"]["player"] == heir.welcome["player"]
        )
        await play_on(event, heir, other, call, {"type": "move", "cell": 0})
