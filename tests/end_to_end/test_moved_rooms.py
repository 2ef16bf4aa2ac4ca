from tests.end_to_end.clients import run_client
from tests.faults.hostile_server import ROOM, hostile_cluster, identity, sends_to, state
from tictactoe_protocol.pushes import Moved, Ok
from tictactoe_protocol.requests import Join, Move


async def test_a_transcript_announces_the_new_server_and_continues_there() -> None:
    async with hostile_cluster() as (one, two), run_client("join", ROOM, "-n", "ana", "-s", one.url) as ana:
        await ana.until("Your move, X.")
        two.answers[Move] = lambda request: [Ok(id=identity(request)), state(2, (4,))]
        await one.push(Moved(ROOM, two.url))
        assert await ana.read_line() == f"The room is at {two.url} now."
        await ana.ask("b2", "You play B2")
        assert two.socket is not None
        two.socket.transport.abort()
        await ana.until("Connection lost.")
        assert await ana.read_line() == f"Now at {one.url}."


async def test_a_script_gets_one_message_about_a_moved_room() -> None:
    async with hostile_cluster() as (one, two):
        one.answers[Join] = sends_to(two.url)
        async with run_client("join", ROOM, "--json", "-s", one.url) as script:
            there = {"from": "client", "type": "moved", "room": ROOM, "url": two.url}
            said = [await script.message() for _ in range(6)]
            assert [line["type"] for line in said] == ["connected", "welcome", "moved", "welcome", "ok", "room"]
            assert said[2] == there
            del one.answers[Join]
            await two.push(Moved(ROOM, one.url))
            said = [await script.message() for _ in range(4)]
            assert [line["type"] for line in said] == ["moved", "welcome", "ok", "room"]
            assert said[0] == there | {"url": one.url}
