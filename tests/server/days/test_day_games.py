"""Games over days: they sleep, are woken, await a move, and end when time is up."""

from pathlib import Path
from typing import Any

import pytest

from tests.fakes import FakeClock
from tests.limits import uncounted
from tests.peer import open_peer, play_out, until
from tests.server.days.conftest import StartServer
from tests.server.test_forgetting import until_done
from tictactoe_protocol.terms import DAY_MS
from tictactoe_server import OperatorError
from tictactoe_server.features.days.service import DayGames
from tictactoe_server.operator.rooms import CloseRoom, ListRooms, ShowRoom
from tictactoe_server.play.names import Names
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

DAYS = {"days": 3, "bank_days": 2}
HOUR_MS = 60 * 60 * 1000


async def begin(server: Server, **options: Any) -> tuple[str, str, str]:
    """Begin a game whose players leave at once, and return the room and the tokens of X and O."""
    async with open_peer(server.url, "ana") as ana, open_peer(server.url, "bo") as bo:
        room = (await ana.ask("create", clock=DAYS, **options))["room"]
        await bo.ask("join", room=room)
        await bo.state(status="playing")
        await written(server)
        return room, ana.welcome["token"], bo.welcome["token"]


async def written(server: Server) -> None:
    """Wait until the rows of all games are stored, which tell players that it is their turn."""
    days = server.service(DayGames)
    await until(lambda: not days._unwritten)


async def asleep(server: Server, room: str) -> None:
    await until(lambda: room not in server.core.rooms.by_code)


async def play(server: Server, token: str, room: str, *cells: tuple[int, int]) -> dict[str, Any]:
    """Make moves, each a cell with its ply, in a visit, and return the last state."""
    async with open_peer(server.url, token=token) as peer:
        reply = await peer.ask("join", room=room)
        assert reply["type"] == "ok", reply
        state = await peer.state()
        for cell, ply in cells:
            await peer.ask("move", room=room, cell=cell, ply=ply)
            state = await peer.state(ply=ply + 1)
        await written(server)
        return state


async def turns(server: Server, token: str) -> list[dict[str, Any]]:
    async with open_peer(server.url, token=token) as peer:
        return list(peer.welcome["turns"])


async def test_a_game_that_falls_asleep_while_its_player_joins_is_woken(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    room, x, _ = await begin(server)
    name_guests = Names.name_guests

    async def name_later(self: Names, *arguments: Any) -> Any:
        await asleep(server, room)
        return await name_guests(self, *arguments)

    monkeypatch.setattr(Names, "name_guests", name_later)
    assert (await play(server, x, room, (0, 0)))["ply"] == 1


async def test_a_seat_in_a_sleeping_game_is_held(server: Server) -> None:
    room, x, o = await begin(server)
    await asleep(server, room)
    for token, mark in ((x, "X"), (o, "O")):
        async with open_peer(server.url, token=token) as peer:
            (held,) = peer.welcome["rooms"]
            assert held | {"rules": None} == {"room": room, "seat": mark, "rules": None, "names": {}, "turn": "X"}


async def test_a_seat_in_a_room_that_another_server_has_just_woken_is_listed_once(server: Server) -> None:
    room, x, _ = await begin(server)
    server.core.rooms.asleep[room] = ()  # until the row arrives
    async with open_peer(server.url, token=x) as ana:
        assert [seat["room"] for seat in ana.welcome["rooms"]] == [room]


async def test_the_operator_lists_shows_and_closes_a_sleeping_game(server: Server) -> None:
    room, *_ = await begin(server)
    await asleep(server, room)
    (row,) = await server.carry_out(ListRooms())
    assert (row["room"], row["status"], row["players"]) == (room, "asleep", None)
    assert (await server.carry_out(ShowRoom(room)))["status"] == "playing"
    await asleep(server, room)
    assert (await server.carry_out(CloseRoom(room)))["room"] == room
    with pytest.raises(OperatorError, match="There is no room"):
        await server.carry_out(ShowRoom(room))


async def test_whose_turn_it_is(server: Server, clock: FakeClock) -> None:
    room, x, o = await begin(server)
    clock.advance(DAY_MS)
    assert await turns(server, o) == []
    (turn,) = await turns(server, x)
    assert turn | {"rules": None} == {"room": room, "rules": None, "since_ms": DAY_MS, "left_ms": 4 * DAY_MS}
    async with open_peer(server.url, token=o) as bo:
        await play(server, x, room, (0, 0))
        pushed = await bo.next_of("turns")
        assert [turn["room"] for turn in pushed["turns"]] == [room]
        await bo.ask("join", room=room)
        await bo.ask("move", room=room, cell=3, ply=1)
        assert (await bo.next_of("turns"))["turns"] == []


async def test_a_game_sleeps_through_a_restart(start: StartServer, clock: FakeClock) -> None:
    async with start() as server:
        room, x, o = await begin(server)
        await play(server, x, room, (0, 0))
        clock.advance(3 * DAY_MS)
    clock.advance(30 * DAY_MS)  # an outage costs nobody time
    async with start() as server:
        assert room not in server.core.rooms.by_code
        (turn,) = await turns(server, o)
        assert turn["left_ms"] == 2 * DAY_MS
        assert (await play(server, o, room))["status"] == "playing"
        clock.advance(2 * DAY_MS - HOUR_MS // 2)
    async with start() as server:  # nobody loses in the first hour, so that an outage leaves time to react
        clock.advance(HOUR_MS - 1)
        assert (await play(server, o, room))["status"] == "playing"
        await asleep(server, room)
        clock.advance(1)
        await until(lambda: room in server.core.rooms.by_code)
        assert (await play(server, x, room))["result"]["winner"] == "X"


async def test_a_standing_offer_is_found_while_its_host_is_away(server: Server) -> None:
    async with open_peer(server.url, "ana") as ana:
        room = (await ana.ask("match", clock=DAYS))["room"]
    await until(lambda: not server.core.rooms.by_code[room].players)
    async with open_peer(server.url, "bo") as bo:
        listed = (await bo.ask("rooms"))["rooms"]
        assert [row["room"] for row in listed] == [room]
        assert (await bo.ask("match", clock=DAYS | {"bank_days": 1}))["room"] != room
    async with open_peer(server.url, "cy") as cy:
        assert (await cy.ask("match", clock=DAYS))["room"] == room


async def test_a_finished_game_stays_for_a_rematch(server: Server, clock: FakeClock) -> None:
    room, x, o = await begin(server)
    async with open_peer(server.url, token=x) as ana, open_peer(server.url, token=o) as bo:
        for peer in (ana, bo):
            await peer.ask("join", room=room)
        await play_out({"X": ana, "O": bo}, room, [0, 3, 1, 4, 2])
        await ana.ask("rematch", room=room, game=1)
    await asleep(server, room)
    clock.advance(6 * DAY_MS)
    async with open_peer(server.url, token=o) as bo:
        await bo.ask("join", room=room)
        await bo.ask("rematch", room=room, game=1)
        state = await bo.state(status="playing")
        assert (state["game"], state["clock"]["remaining_ms"]) == (2, {"X": 5 * DAY_MS, "O": 5 * DAY_MS})
        await bo.ask("resign", room=room)
    await asleep(server, room)
    clock.advance(8 * DAY_MS)
    async with open_peer(server.url, token=o) as bo:
        rooms = server.core.rooms
        await until(lambda: room not in rooms.asleep and room not in rooms.by_code)  # it is woken to be closed
        assert await bo.refusal("join", room=room) == "no_such_room"


async def test_leaving_and_absence(server: Server, clock: FakeClock) -> None:
    room, x, o = await begin(server)
    async with open_peer(server.url, token=o) as bo:
        await bo.ask("join", room=room)
        state = await bo.state()
        assert state["seats"]["X"] | {"player": ""} == {"player": "", "name": "ana", "online": False, "bot": None}
        assert state["may"]["O"][-1] == "leave lose"
        clock.advance(DAY_MS)
        assert await bo.refusal("claim", room=room, **{"as": "win"}) == "not_allowed"
        await bo.ask("leave", room=room)
    assert (await play(server, x, room))["result"]["reason"] == "resigned"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"clock": {"days": 15}}, "bad_clock"),
        ({"clock": {"days": 1, "bank_days": 31}}, "bad_clock"),
        ({"clock": {"move_ms": DAY_MS}}, "bad_clock"),
        ({"clock": {"bank_days": 3}}, "bad_message"),
        ({"clock": {"days": 1, "move_ms": 1000}}, "bad_message"),
        ({"clock": {"days": 0}}, "bad_message"),
        ({"clock": {"days": 1}, "analysis": "open"}, "not_allowed"),
    ],
)
async def test_bad_terms(server: Server, fields: dict[str, Any], code: str) -> None:
    async with open_peer(server.url, "ana") as ana:
        assert await ana.refusal("create", **fields) == code


async def test_too_many_games(tmp_path: Path, clock: FakeClock) -> None:
    limits = uncounted(day_games_per_player=1)
    async with Server(Settings("127.0.0.1", 0, data=tmp_path), None, limits, monotonic_ns=clock) as server:
        room, x, _ = await begin(server)
        await asleep(server, room)
        async with open_peer(server.url, token=x) as ana:
            assert await ana.refusal("create", clock=DAYS) == "rate_limited"
            assert await ana.refusal("match", clock=DAYS) == "rate_limited"


@pytest.mark.parametrize("sleeps", [True, False])
async def test_a_forgotten_player_resigns_games_over_days(server: Server, *, sleeps: bool) -> None:
    room, x, o = await begin(server)
    if sleeps:
        await asleep(server, room)
    else:
        await play(server, x, room, (0, 0))
    async with open_peer(server.url, token=x) as ana:
        player = ana.welcome["player"]
        exported = (await ana.ask("export"))["export"]
        assert [game["room"] for game in exported["day_games"]] == [room]
        assert exported["rooms"]
        assert (await ana.ask("forget"))["type"] == "ok"
    await until(lambda: not server.core.presence.ids)
    await until_done(server, player)
    await until(lambda: not next(iter(server.service(DayGames).games)).turn)
    async with open_peer(server.url, token=o) as bo:
        await bo.ask("join", room=room)
        state = await bo.state(status="over")
        assert (state["result"]["winner"], state["result"]["reason"]) == ("O", "resigned")
        assert state["seats"]["X"]["name"].startswith("player-")
        (game,) = (await bo.ask("history"))["games"]
        assert game["players"]["X"]["player"].startswith("player-")
