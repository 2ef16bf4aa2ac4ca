"""Tournaments whose games take days."""

import pytest

from tests.fakes import FakeClock
from tests.peer import open_peer, until
from tests.server.days.test_day_games import DAYS, play, turns
from tests.server.test_events_service import begun, events_of
from tictactoe_protocol.terms import DAY_MS
from tictactoe_server.features.tournaments import running
from tictactoe_server.server import Server


async def test_a_round_ends_when_all_results_are_in(
    server: Server, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "DESERTED_SECONDS", 0.1)
    async with open_peer(server.url, "ana") as ana, open_peer(server.url, "bo") as bo:
        event = await begun(ana, ana, bo, clock=DAYS, double=True)
        tokens = {peer.welcome["player"]: peer.welcome["token"] for peer in (ana, bo)}
    events = events_of(server).running._events

    def is_begun() -> bool:
        clock.advance(100)  # the break between the rounds
        return bool((known := events.known(event)) and known.round == number + 1 and known.open_pairings)

    for number in range(2):
        await until(is_begun)
        (pairing,) = events.known(event).open_pairings  # type: ignore[union-attr]
        room, x, o = pairing.room, *(tokens[pairing.players[mark]] for mark in "XO")
        await until(lambda room=room: room in server.core.rooms.by_code)  # type: ignore[misc]
        clock.advance(DAY_MS)
        assert [turn["room"] for turn in await turns(server, x)] == [room]
        assert (await play(server, x, room, (0, 0)))["status"] == "playing"
        assert [turn["room"] for turn in await turns(server, o)] == [room]
        for token, cell, ply in ((o, 3, 1), (x, 1, 2), (o, 4, 3)):
            clock.advance(4 * DAY_MS if ply == 1 else 1)
            assert (await play(server, token, room, (cell, ply)))["status"] == "playing"
        if number == 0:
            await play(server, x, room, (2, 4))
        else:
            clock.advance(6 * DAY_MS)
    await until(lambda: events.known(event).status == "over")  # type: ignore[union-attr]
    over = events.known(event)
    assert over is not None
    assert [pairing.result for pairing in over.pairings] == ["X", "O"]
