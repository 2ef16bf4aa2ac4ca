"""Conditional moves in games over days."""

from typing import Any

import pytest

from tests.peer import Peer, open_peer
from tests.server.days.conftest import StartServer
from tests.server.days.test_day_games import asleep, begin, play
from tictactoe_server.features.days.plans import Plans
from tictactoe_server.server import Server


async def enter(peer: Peer, room: str) -> dict[str, Any]:
    await peer.ask("join", room=room)
    return await peer.state()


async def with_plan(server: Server, *branches: list[int]) -> tuple[str, str, str]:
    """Begin a game in which X has taken A1 and planned replies, and both are away; return it as `begin` does."""
    room, x, o = await begin(server)
    async with open_peer(server.url, token=x) as ana:
        await enter(ana, room)
        await ana.ask("move", room=room, cell=0, ply=0)
        assert (await ana.ask("plan", room=room, moves=branches))["plan"] == list(branches)
    await asleep(server, room)
    return room, x, o


async def test_replies_are_played_as_soon_as_they_apply(server: Server) -> None:
    room, x, o = await with_plan(server, [4, 1, 2, 6], [3, 1, 4, 2])
    async with open_peer(server.url, token=o) as bo:
        await enter(bo, room)
        assert (await bo.ask("plan", room=room))["plan"] == [], "only its author sees a plan"
        await bo.ask("move", room=room, cell=3, ply=1)
        state = await bo.state(ply=3)
        assert state["moves"] == [0, 3, 1]
        await bo.ask("move", room=room, cell=4, ply=3)
        state = await bo.state(status="over")
        assert (state["moves"], state["result"]["winner"]) == ([0, 3, 1, 4, 2], "X")
        async with open_peer(server.url, token=x) as ana:
            await enter(ana, room)
            assert (await ana.ask("plan", room=room))["plan"] == []


async def test_another_move_drops_the_plan(server: Server) -> None:
    room, x, o = await with_plan(server, [4, 1])
    state = await play(server, o, room, (8, 1))
    assert state["moves"] == [0, 8]
    async with open_peer(server.url, token=x) as ana:
        assert (await enter(ana, room))["moves"] == [0, 8]
        assert (await ana.ask("plan", room=room))["plan"] == []


async def test_a_plan_is_shown_replaced_and_deleted(server: Server) -> None:
    room, x, o = await with_plan(server, [4, 1])
    async with open_peer(server.url, token=x) as ana:
        await enter(ana, room)
        assert (await ana.ask("plan", room=room))["plan"] == [[4, 1]]
        assert (await ana.ask("plan", room=room, moves=[[5, 2]]))["plan"] == [[5, 2]]
        assert (await ana.ask("plan", room=room, moves=[]))["plan"] == []
    assert (await play(server, o, room, (5, 1)))["moves"] == [0, 5]
    async with open_peer(server.url, token=x) as ana:
        assert (await enter(ana, room))["moves"] == [0, 5]


@pytest.mark.parametrize(
    ("branches", "code", "path"),
    [
        ([[4, 1]] * 11, "bad_message", "moves"),
        ([[4, 1, 2, 3, 5, 6]], "bad_message", "moves[0]"),
        ([[4, 1], []], "bad_message", "moves[1]"),
        ([[4, 0]], "occupied", "moves[0][1]"),
        ([[4, 99]], "off_board", "moves[0][1]"),
        ([[1, 3, 2, 4, 8]], None, None),
    ],
)
async def test_bad_plans(server: Server, branches: Any, code: str | None, path: str | None) -> None:
    room, x, _ = await begin(server)
    async with open_peer(server.url, token=x) as ana:
        await enter(ana, room)
        assert await ana.refusal("plan", room=room, moves=[[4, 1]]) == "not_allowed", "it is the author's turn"
        await ana.ask("move", room=room, cell=0, ply=0)
        reply = await ana.ask("plan", room=room, moves=branches)
        assert (reply.get("code"), reply.get("path")) == (code, path)


async def test_only_players_of_games_over_days_plan(server: Server) -> None:
    room, *_ = await with_plan(server, [4, 1])
    async with open_peer(server.url, "cy") as cy:
        await cy.ask("watch", room=room)
        assert await cy.refusal("plan", room=room, moves=[[4, 1]]) == "not_seated"
        other = (await cy.ask("create", bots=["easy"], seat="O"))["room"]
        assert await cy.refusal("plan", room=other, moves=[[4, 1]]) == "not_allowed"


async def test_a_reply_missed_in_a_crash_is_played_after_the_start(
    start: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def crash(self: Plans, *reply: object) -> None: ...

    async with start() as server:
        room, _, o = await with_plan(server, [4, 1])
        with monkeypatch.context() as patch:
            patch.setattr(Plans, "_play", crash)
            assert (await play(server, o, room, (4, 1)))["moves"] == [0, 4]
    async with start() as server, open_peer(server.url, token=o) as bo:
        if not bo.welcome["turns"]:
            await bo.until(lambda message: message["type"] == "turns" and message["turns"])
        assert (await enter(bo, room))["moves"] == [0, 4, 1]
