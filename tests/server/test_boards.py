import contextlib
from collections.abc import AsyncIterator, Callable

import pytest

from tests.peer import Message, Peer, open_peer, play_out
from tictactoe_server.server import Server

pytestmark = pytest.mark.features


@contextlib.asynccontextmanager
async def games(server: Server, count: int, **options: object) -> AsyncIterator[tuple[Peer, Peer, list[str]]]:
    """Yield two peers and the codes of `count` games between them."""
    async with open_peer(server.url, "ana") as ana, open_peer(server.url, "bo") as bo:
        rooms = [(await ana.ask("create", **options))["room"] for _ in range(count)]
        for room in rooms:
            await bo.ask("join", room=room)
        yield ana, bo, rooms


async def boards_until(eve: Peer, condition: Callable[[list[Message]], object]) -> list[Message]:
    while True:
        boards: list[Message] = (await eve.next_of("boards"))["boards"]
        if condition(boards):
            return boards


def codes(boards: list[Message]) -> list[str]:
    return [board["room"] for board in boards]


async def test_the_board_of_a_game_is_shown_at_once_and_as_it_changes(server: Server) -> None:
    async with open_peer(server.url, "eve") as eve, games(server, 1) as (ana, bo, (room,)):
        await eve.send("lobby", on=True, boards=3)
        shown = await eve.next_of("boards")
        assert shown["boards"] == [
            {
                "room": room,
                "game": 1,
                "preset": "classic",
                "rows": 3,
                "columns": 3,
                "board": ".........",
                "ply": 0,
                "turn": "X",
                "last": None,
                "names": {"X": "ana", "O": "bo"},
            }
        ]
        await play_out({"X": ana, "O": bo}, room, [4])
        board = (await boards_until(eve, lambda boards: boards[0]["ply"] == 1))[0]
        assert (board["board"], board["turn"], board["last"]) == ("....X....", "O", 4)


async def test_a_wall_is_shown_all_games_and_its_number_may_change(server: Server) -> None:
    async with games(server, 12) as (_, _, rooms), open_peer(server.url, "eve") as eve, open_peer(server.url) as flo:
        await flo.ask("lobby", on=True, boards=1)
        assert codes((await flo.next_of("boards"))["boards"]) == rooms[:-2:-1]
        await eve.ask("lobby", on=True, boards=100)
        assert codes((await eve.next_of("boards"))["boards"]) == rooms[::-1]
        await flo.ask("lobby", on=True, boards=5)
        assert codes((await flo.next_of("boards"))["boards"]) == rooms[:-6:-1]
        await eve.ask("lobby", on=True, boards=2)
        assert codes((await eve.next_of("boards"))["boards"]) == rooms[:-3:-1]


async def test_a_finished_board_is_replaced_after_a_while(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    async with games(server, 4) as (ana, bo, rooms), open_peer(server.url, "eve") as eve:
        await eve.ask("lobby", on=True, boards=3)
        await play_out({"X": ana, "O": bo}, rooms[2], [0, 3, 1, 4, 2])
        boards = await boards_until(eve, lambda boards: "result" in boards[1])
        assert boards[1]["result"] == {"winner": "X", "reason": "line", "line": [0, 1, 2]}
        assert boards[1]["turn"] is None
        monkeypatch.setattr("tictactoe_server.features.boards.service.OVER_SECONDS", 0.0)
        boards = await boards_until(eve, lambda boards: "result" not in boards[1])
        assert codes(boards) == [rooms[3], rooms[0], rooms[1]]


async def test_an_idle_board_is_replaced(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    async with games(server, 4) as (_, _, rooms), open_peer(server.url, "eve") as eve:
        await eve.ask("lobby", on=True, boards=1)
        assert codes((await eve.next_of("boards"))["boards"]) == [rooms[3]]
        monkeypatch.setattr("tictactoe_server.features.boards.service.DULL_SECONDS", 0.0)
        await boards_until(eve, lambda boards: codes(boards) == [rooms[0]])


async def test_a_waiting_room_and_a_private_game_are_not_shown(server: Server) -> None:
    async with open_peer(server.url, "eve") as eve, games(server, 1, visibility="private") as (ana, _, _):
        await ana.ask("create")
        await eve.ask("lobby", on=True, boards=3)
        assert (await eve.next_of("boards"))["boards"] == []


@pytest.mark.parametrize("goodbye", [None, {"on": False}, {"on": True}, {"on": True, "boards": 0}])
async def test_only_subscribers_are_sent_boards(server: Server, goodbye: dict[str, object] | None) -> None:
    async with (
        games(server, 1) as (ana, bo, (room,)),
        open_peer(server.url, "eve") as eve,
        open_peer(server.url, "flo") as flo,
    ):
        for peer in (flo,) if goodbye is None else (eve, flo):
            await peer.ask("lobby", on=True, boards=3)
            await peer.next_of("boards")
        await eve.ask("lobby", **(goodbye or {"on": True}))
        eve.seen.clear()
        await play_out({"X": ana, "O": bo}, room, [4])
        await boards_until(flo, lambda boards: boards[0]["ply"] == 1)
        await eve.ask("ping")
        assert "boards" not in [message["type"] for message in eve.seen]
