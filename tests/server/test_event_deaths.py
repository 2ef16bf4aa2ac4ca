"""A server dies between any two steps of an event, and the next one goes on: one result, of one game."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.limits import uncounted
from tests.peer import Peer, open_peer
from tests.server.test_events_service import HERE, card_game, known, play_on
from tictactoe_server.events.event import Event
from tictactoe_server.events.kept import EVENTS
from tictactoe_server.records.tables import ROOMS
from tictactoe_server.rooms import FinishedGame
from tictactoe_server.server import Server, kept_by
from tictactoe_server.storage.memory import MemoryLog, MemoryStore, MemoryTable
from tictactoe_server.storage.specs import TableSpec
from tictactoe_server.storage.store import UNAWAITED, Value, Waiter

TERMS = {
    "title": "Friday",
    "clock": {"move_ms": 60_000},
    "break_ms": 20,
    "rules": {"rows": 2, "columns": 2, "line": 2},  # X, who begins, wins with the third move, whatever is played
    "bots": ["easy", "easy"],
}
STEPS = (
    "opened",
    "begun",
    "paired",
    "given its room's code",
    "given its room",
    "said to be open",
    "moved in",
    "moved in twice",
    "played to its end",
    "scored",
)
"""What the writes of such an event are, one after another."""


class Life:
    """How many `writes` a server has left; its `end` is when it is to make one more.

    Of the last one it may not hear any more, where `is_told` is false.
    """

    def __init__(self, writes: int, *, is_told: bool) -> None:
        self.writes = writes
        self.is_told = is_told
        self.end = asyncio.Event()

    def takes(self, waiter: Waiter) -> Waiter | None:
        """Return who is told of the next write, None where it is not made any more."""
        if self.writes == 0:
            self.end.set()
            return None
        self.writes -= 1
        if self.writes == 0 and not self.is_told:
            self.end.set()
            return UNAWAITED
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


async def begin(organiser: Peer, store: MortalStore, kind: str) -> None:
    """Open an event, unless there is one, and begin it, unless that was done."""
    event = await stored_in(store)
    code = (await organiser.ask("event_open", kind=kind, **TERMS))["event"] if event is None else event.code
    await organiser.ask("event_watch", event=code, on=True)
    state = await organiser.next_of("event")
    await organiser.ask("event_run", event=code, seq=state["seq"], action="begin")


async def stored_in(store: MortalStore) -> Event | None:
    """Return the one event that there is, if any."""
    events = [stored.value async for some in store.events.load_all() for stored in some]
    assert len(events) <= 1
    return events[0] if events else None  # type: ignore[return-value]


async def until_over(store: MortalStore) -> Event:
    """Return the event once it is over, as it is stored."""
    async with asyncio.timeout(10):
        while (event := await stored_in(store)) is None or not event.is_over:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
    return event


async def die_and_go_on(kind: str, life: Life) -> tuple[Event, list[FinishedGame]]:
    """Run an event until the server dies, and then another server until it is over; return it with the games kept."""
    store = MortalStore()
    store.live(life)
    async with Server(HERE, store, uncounted()) as server, open_peer(server.url, "ana") as ana:
        token = ana.welcome["token"]
        beginning = asyncio.create_task(begin(ana, store, kind))
        ends = [asyncio.create_task(until_over(store)), asyncio.create_task(life.end.wait())]
        async with asyncio.timeout(20):
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for task in (beginning, *ends):
            task.cancel()
        await asyncio.gather(beginning, *ends, return_exceptions=True)
    store.live(None)
    async with (
        Server(HERE, store, uncounted()) as server,
        open_peer(server.url, token=token) as ana,
    ):
        await begin(ana, store, kind)
        over = await until_over(store)
        return over, [game async for _, _, game in store.games.after("", 100)]


def check(event: Event, games: list[FinishedGame]) -> None:
    """Look whether each pairing has one game, and the result of that."""
    kept = [(game.event, game.pairing, game.room, game.id) for game in games]
    assert sorted(kept) == sorted((event.code, one.id, one.room, one.game_id) for one in event.pairings)
    winners = {game.pairing: game.players[game.result.winner or ""].player for game in games}
    assert {one.id: one.winner for one in event.pairings} == winners
    assert {(one.state, one.by, one.reason) for one in event.pairings} == {("scored", "game", "line")}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a server look often."""
    monkeypatch.setattr("tictactoe_server.events.running.LOOK_SECONDS", 0.05)


@pytest.mark.parametrize("is_told", [True, False], ids=["told", "untold"])
@pytest.mark.parametrize("writes", range(len(STEPS)), ids=STEPS)
async def test_an_event_goes_on_after_a_death_between_any_two_steps(writes: int, *, is_told: bool) -> None:
    kind = "round_robin" if writes % 2 == is_told else "swiss"  # both are driven alike
    event, games = await die_and_go_on(kind, Life(writes + 1, is_told=is_told))
    check(event, games)
    assert len(games) == 1


@pytest.mark.parametrize("writes", range(9, 50, 5))
async def test_a_match_goes_on_after_a_death_in_any_of_its_games(writes: int) -> None:
    event, games = await die_and_go_on("knock_out", Life(writes, is_told=writes % 2 == 0))
    check(event, games)
    assert [one.number for one in event.pairings] == [1, 2, 3, 4, 5, 6]


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
