"""Draws, undos, claims and clocks in whole games over real sockets."""

from __future__ import annotations

from tests.fakes import FakeClock
from tests.peer import Message, Peer, open_peer, play_out, two_playing
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

MINUTE = {"move_ms": 60_000}
QUICK = {"move_ms": 150}


def rooms_seen(peer: Peer) -> list[Message]:
    return [message for message in peer.seen if message["type"] == "room"]


async def settle(peer: Peer, room: str) -> Message:
    """Return the newest state; whatever was sent before it has been seen."""
    await peer.ask("sync", room=room)
    return await peer.state()


# -- clocks -----------------------------------------------------------------------------------------------------


async def test_a_clock_that_runs_out_ends_the_game_by_itself_and_is_told_to_all_exactly_once(server: Server) -> None:
    async with two_playing(server, clock=QUICK) as (ana, bo, room), open_peer(server.url) as eve:
        await eve.ask("watch", room=room)
        await play_out({"X": ana, "O": bo}, room, [0, 4])
        for peer in (ana, bo, eve):
            over = await peer.state(status="over")
            assert over["result"] == {"winner": "O", "reason": "timeout", "line": []}
            assert over["clock"] == {"remaining_ms": {"X": 0, "O": 150}, "running": None}
            assert over["score"] == {ana.welcome["player"]: 0, bo.welcome["player"]: 1, "draws": 0}
        for peer in (ana, bo, eve):
            last = await settle(peer, room)
            assert last["seq"] == over["seq"]
            assert len([state for state in rooms_seen(peer) if state["status"] == "over"]) == 2


# -- offers and claims ------------------------------------------------------------------------------------------


async def test_the_welcome_says_how_long_a_seat_is_held_and_how_long_ones_own_still_is() -> None:
    clock, settings = FakeClock(), Settings(host="127.0.0.1", port=0, hold_seconds=300)
    async with Server(settings, monotonic_ns=clock) as server, two_playing(server) as (ana, bo, room):
        assert (bo.welcome["hold_ms"], "held_ms" in bo.welcome) == (300_000, False)
        async with open_peer(server.url, token=bo.welcome["token"]) as second:
            assert "held_ms" not in second.welcome
        await bo.socket.close()
        await ana.until(lambda message: message["type"] == "room" and not message["seats"]["O"]["online"])
        clock.advance(40_000)
        async with open_peer(server.url, token=bo.welcome["token"]) as again:
            assert again.welcome["held_ms"] == {room: 260_000}
            assert again.seats == {room: "O"}
        clock.advance(300_000)
        async with open_peer(server.url, token=bo.welcome["token"]) as late:
            assert late.welcome["held_ms"] == {room: 0}
