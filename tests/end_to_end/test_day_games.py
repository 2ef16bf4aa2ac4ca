"""Games over days as a person meets them: the library, the commands, plain mode."""

import json

import pytest

from tests.day_games import begin
from tests.end_to_end.clients import outcome, run_client
from tests.peer import open_peer, until
from tictactoe_client import connect, events
from tictactoe_client.files.players import KnownPlayer, KnownPlayers
from tictactoe_protocol.days import Turns
from tictactoe_server.server import Server

NOBODY = 2**31 - 1


async def run(server: Server, *words: str, code: int = 0) -> list[str]:
    """Return the output of a run as ana."""
    return (await outcome(*words, "-s", server.url, "-n", "ana", code=code)).output.splitlines()


async def meet(server: Server, count: int = 1) -> list[str]:
    """Make ana known here, and begin games in which she is to move; return the rooms."""
    async with open_peer(server.url, "ana") as ana:
        token = ana.welcome["token"]
    KnownPlayers().keep(KnownPlayer(server.url, "ana", token, pid=NOBODY))
    return await begin(server, token, count)


async def test_the_library_keeps_the_list_of_waiting_games(server: Server) -> None:
    async with connect(server.url, name="ana") as ana, open_peer(server.url, "bo") as bo:
        told = list[events.RoomEvent]()
        room = await ana.rooms.create("classic", clock=None)
        room.subscribe(told.append)
        (code,) = await begin(server, ana.token)
        await until(lambda: [turn.room for turn in ana.turns] == [code])
        assert any(isinstance(event, events.Told) and isinstance(event.push, Turns) for event in told)
        days = await ana.rooms.join(code)
        assert (days.keeps_seat, room.keeps_seat) == (True, False)
        await days.move("b2")
        await until(lambda: not ana.turns)
    async with open_peer(server.url, token=ana.token) as ana_again:
        await ana_again.ask("join", room=code)
        assert (await ana_again.state())["status"] == "playing", "the end of the library's block gave nothing up"
        assert bo.welcome["player"]


async def test_turns_tells_which_games_wait(server: Server) -> None:
    assert await run(server, "turns", code=1) == ["No game awaits your move."]
    assert await run(server, "turns", "--quiet", code=1) == []
    first, second = await meet(server, 2)
    lines = await run(server, "turns")
    assert [line.split()[0] for line in lines] == [first, second]
    assert "4 d 23 h left" in lines[0]
    (own, closed) = map(json.loads, await run(server, "turns", "--json"))
    assert [turn["room"] for turn in own["turns"]] == [first, second]
    assert closed == {"from": "client", "type": "closed", "exit": 0}


@pytest.mark.parametrize("words", [("--quiet-hours", "25:00-07:00"), ("--quiet-hours", "never")])
async def test_notify_refuses_bad_input(server: Server, words: tuple[str, ...]) -> None:
    await run(server, "notify", *words, code=2)


async def test_the_prompt_leads_through_the_waiting_games_without_giving_one_up(server: Server) -> None:
    first, second = await meet(server, 2)
    async with run_client("join", first, "--plain", "-n", "ana", "-s", server.url) as ana:
        await ana.until("Your move, X.")
        await ana.ask("b2", "1 game awaits your move. Type next for the next.")
        await ana.ask("next", f"Joining {second}", "Your move, X.")
        await ana.ask("next", "No move has been played yet.")
        await ana.ask("b2", "You play B2")
        await ana.ask("leave", "Leave? Your seat is kept. Type leave to come back later, or resign")
        await ana.ask("yes", f"Your seat in {second} is kept.")
        assert await ana.end() == 0
    assert await run(server, "turns", code=1) == ["No game awaits your move."]
    async with open_peer(server.url, "eve") as eve:
        for code in (first, second):
            await eve.ask("watch", room=code)
            assert (await eve.state(room=code))["status"] == "playing"
        async with run_client("join", second, "--plain", "-n", "ana", "-s", server.url) as ana:
            await ana.ask("leave", "Leave? Your seat is kept.")
            await ana.ask("resign", f"You left room {second}")
            assert (await eve.state(room=second, status="over"))["result"]["reason"] == "resigned"


async def test_replies_are_planned_in_plain_mode(server: Server) -> None:
    (room,) = await meet(server)
    async with run_client("join", room, "--plain", "-n", "ana", "-s", server.url) as ana:
        await ana.until("Your move, X.")
        await ana.ask("plan a1 c3", "You can plan replies while your opponent is to move")
        await ana.ask("b2", "You play B2")
        await ana.ask("plan", "Nothing is planned. Write plan b2 c3")
        await ana.ask("plan a1", "Write plan b2 c3, b1 a1")
        await ana.ask("plan a1 b2", "B2 is taken by X")
        await ana.ask("plan a1 c3, c1 a3", "Planned: A1 C3, C1 A3.")
        await ana.ask("plan none", "Nothing is planned.")
        await ana.ask("plan a1 c3", "Planned: A1 C3.")
        await ana.ask("leave", "Leave? Your seat is kept.")
        await ana.ask("leave", f"Your seat in {room} is kept.")
    async with open_peer(server.url, "eve") as eve:
        await eve.ask("watch", room=room)
        assert (await eve.state())["moves"] == [4]
