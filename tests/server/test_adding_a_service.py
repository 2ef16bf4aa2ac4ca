"""A service in one file and a line in the list of services adds to what others show, and hears of all that it needs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import UNSET, Struct, UnsetType

from tests.limits import uncounted
from tests.peer import Peer, open_peer, play_out, two_playing, until
from tictactoe_protocol.pushes import SeatState
from tictactoe_server.admin.orders.people import Merge
from tictactoe_server.agenda import Tasks
from tictactoe_server.core.core import Call, Core, Service
from tictactoe_server.core.live_room import LiveRoom
from tictactoe_server.listings.additions import Additions
from tictactoe_server.listings.listed import Listed
from tictactoe_server.records.changes import change
from tictactoe_server.rooms import FinishedGame
from tictactoe_server.server import Server
from tictactoe_server.services.history import find_by_id
from tictactoe_server.settings import Settings
from tictactoe_server.storage.specs import TableSpec

HERE = Settings(host="127.0.0.1", port=0, bot_pause_seconds=0)
WINNING = [0, 3, 1, 4, 2]


class Won(Struct, frozen=True):
    """The games that a player has won, by their ids in the log, so that each counts once whoever hears of it again."""

    games: frozenset[str] = frozenset()


WON: TableSpec[Won] = TableSpec("won", "score", msgspec.json.encode, msgspec.json.Decoder(Won).decode)


class Points(Service):
    """Gives a point for each game that is won and kept, and shows them in `welcome`, in the lobby and at the seats."""

    tables = (WON,)

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self._tasks = Tasks()

    def start(self, core: Core) -> None:
        self._core, self._won = core, core.store.table(WON)
        core.on_result(self.count)
        core.on_merge(lambda player, into: self._tasks.start(self._move(player, into)))
        core.additions.welcome.add("points", self._load)
        core.additions.rows.add("points", self._add_up)
        core.additions.seats.add("points", lambda seat: self.known.get(seat.player, UNSET))

    async def close(self) -> None:
        await asyncio.gather(*self._tasks)

    def count(self, game: FinishedGame, id: str) -> None:
        if id and game.result.winner is not None:
            self._tasks.start(self._give(game.players[game.result.winner].player, frozenset({id})))

    async def _load(self, player: str) -> int:
        found = await self._won.load(player)
        return self.known.setdefault(player, 0 if found is None else len(found[0].games))

    def _add_up(self, listed: Listed) -> int | UnsetType:
        return sum(self.known.get(seat.player, 0) for seat in listed.room.held_seats) or UNSET

    async def _give(self, player: str, games: frozenset[str]) -> None:
        won = await change(self._won, player, lambda old: Won(games | (old or Won()).games))
        self.known[player] = len(won.games)
        self._core.show_again(player)

    async def _move(self, player: str, into: str) -> None:
        if (found := await self._won.load(player)) is not None:
            await self._give(into, found[0].games)
            await change(self._won, player, lambda old: None)


def points_of(state: dict[str, Any]) -> dict[str, int | None]:
    return {mark: seat.get("points") for mark, seat in state["seats"].items()}


async def win(ana: Peer, bo: Peer, room: str) -> dict[str, Any]:
    """Have ana, who plays X, win, and return the state in which her points are shown."""
    await play_out({"X": ana, "O": bo}, room, WINNING)
    return await ana.until(lambda message: message["type"] == "room" and points_of(message)["X"])


async def test_what_it_adds_is_in_the_welcome_in_the_lobby_and_at_the_seats(tmp_path: Path) -> None:
    settings = replace(HERE, data=tmp_path)
    async with Server(settings, services=[Points()]) as server, two_playing(server) as (ana, bo, room):
        assert (ana.welcome["points"], bo.welcome["points"]) == (0, 0)
        async with open_peer(server.url, "eve") as eve:
            await eve.ask("lobby", on=True)
            state = await win(ana, bo, room)
            assert (state["status"], points_of(state)) == ("over", {"X": 1, "O": 0})
            assert points_of(await bo.until(lambda told: told["type"] == "room" and points_of(told)["X"]))["O"] == 0
            (row,) = (await eve.until(lambda told: told["type"] == "lobby" and told["changed"][0].get("points")))[
                "changed"
            ]
            assert (row["room"], row["points"], points_of(row)) == (room, 1, {"X": 1, "O": 0})
            (listed,) = (await eve.ask("rooms"))["rooms"]
            assert {**listed, "age_ms": 0} == {**row, "age_ms": 0}
    token = ana.welcome["token"]
    async with Server(settings, services=[Points()]) as server, open_peer(server.url, token=token) as again:
        assert again.welcome["points"] == 1
        await again.ask("join", room=room)
        assert points_of(await again.next_of("room")) == {"X": 1, "O": None}, "bo is not back"


async def test_it_hears_of_each_game_once_with_its_id_in_the_log() -> None:
    heard: list[tuple[int, str]] = []
    async with Server(HERE, services=[Points()], limits=uncounted()) as server, two_playing(server) as (ana, bo, room):
        server.core.on_result(lambda game, id: heard.append((game.game, id)))
        over = await win(ana, bo, room)
        for peer in (ana, bo):
            await peer.ask("rematch", room=room)
        assert (await ana.ask("resign", room=room))["type"] == "ok"
        assert heard == [(1, over["game_id"]), (2, "")], "what was aborted is not in the log"
        game = await find_by_id(server.core.store.games, over["game_id"])
        assert game is not None
        assert (game.game, game.moves) == (1, tuple(WINNING))


async def test_it_hears_of_a_merge_and_adds_up() -> None:
    points = Points()
    async with Server(HERE, services=[points], limits=uncounted()) as server:
        async with two_playing(server) as (ana, bo, room):
            await win(ana, bo, room)
            await ana.ask("claim_name", name="ana")
        async with two_playing(server, "new phone", "cy") as (phone, cy, room):
            assert points_of(await win(phone, cy, room)) == {"X": 1, "O": 0}
        await server.carry_out(Merge(phone.welcome["player"], "ana"))
        await until(lambda: points.known[ana.welcome["player"]] == 2)
        async with open_peer(server.url, token=phone.welcome["token"]) as back:
            assert (back.welcome["player"], back.welcome["points"]) == (ana.welcome["player"], 2)


def add_twice(additions: Additions) -> None:
    additions.rows.add("points", lambda listed: 1)
    additions.rows.add("points", lambda listed: 2)


@pytest.mark.parametrize(
    "add",
    [
        add_twice,
        lambda additions: additions.seats.add("online", lambda seat: True),
        lambda additions: additions.welcome.add("type", lambda player: asyncio.sleep(0)),
    ],
)
def test_a_field_that_there_is_cannot_be_added(add: Callable[[Additions], None]) -> None:
    with pytest.raises(ValueError, match="There is a field"):
        add(Additions())


def test_a_field_that_cannot_be_made_is_left_out_and_the_others_are_said() -> None:
    additions = Additions()
    additions.seats.add("worth", lambda seat: 1 // 0)
    additions.seats.add("odd", lambda seat: object())  # which no JSON can say
    additions.seats.add("points", lambda seat: 7)
    seat = SeatState("p1", "ana", online=True, bot=None)
    encoded = additions.encode_seats({"X": seat, "O": None})
    found = msgspec.json.decode(encoded)
    assert found["O"] is None
    assert {*found["X"]} - {*msgspec.json.decode(msgspec.json.encode(seat))} == {"points"}
    assert msgspec.json.decode(encoded, type=dict[str, SeatState | None]) == {"X": seat, "O": None}


@pytest.mark.parametrize(
    ("kind", "order"),
    [
        ("move", ["answered", "shown", "bots"]),
        ("resign", ["answered", "shown", "bots", "listed", "a service", "result"]),
        ("join", ["listed", "a service", "answered", "shown"]),
    ],
)
async def test_after_a_write_this_is_the_order(kind: str, order: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What decides about requests is true before anybody is answered, and players see a game's end before lists do."""
    heard: list[str] = []

    def noting(kind: type, name: str, word: str) -> None:
        original = getattr(kind, name)

        def noted(*arguments: Any) -> Any:
            heard.append(word)
            return original(*arguments)

        monkeypatch.setattr(kind, name, noted)

    async with Server(HERE, limits=uncounted()) as server, open_peer(server.url, "ana") as ana:
        core = server.core
        room = (await ana.ask("create", bots=[] if kind == "join" else ["rules"]))["room"]
        await ana.next_of("room")
        core.registry.on_told.add(lambda live: heard.append("listed"))
        core.on_room(lambda live, before: heard.append("a service"))
        core.on_result(lambda game, id: heard.append("result"))
        core.changes.on_shown.add(lambda live: heard.append("bots"))
        noting(Call, "settled", "answered")
        noting(LiveRoom, "show", "shown")
        async with open_peer(server.url, "bo") as bo:
            asker = bo if kind == "join" else ana
            await asker.ask(kind, room=room, **({"cell": 4, "ply": 0} if kind == "move" else {}))
            await until(lambda: len(heard) >= len(order))
    assert heard[: len(order)] == order
