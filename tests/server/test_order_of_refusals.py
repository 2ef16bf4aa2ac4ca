"""Which of several refusals is sent: the order of `docs/reference/protocol/sentences.md`."""

import pytest
from websockets.asyncio.client import connect

from tests.peer import Peer, open_peer, two_playing
from tictactoe_server.server import Server


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"type":"rooms","more":1', "bad_json"),
        ('{"type":"room","more":1}', "unknown_type"),
        ('{"type":"rooms","more":1}', "bad_message"),
        ('{"type":"rooms"}', "hello_required"),
    ],
)
async def test_the_message_comes_before_hello(server: Server, text: str, code: str) -> None:
    async with connect(server.url, proxy=None) as socket:
        await socket.send(text)
        assert (await Peer(socket).receive())["code"] == code


async def test_a_second_hello_is_refused(ana: Peer) -> None:
    assert await ana.refusal("hello") == "already_hello"


async def test_the_room_comes_before_the_seat_and_the_seat_before_the_game(server: Server) -> None:
    async with two_playing(server) as (_, _, room), open_peer(server.url) as eve:
        assert await eve.refusal("draw", room=room, action="accept", game=9, ply=9) == "not_in_room"
        await eve.ask("watch", room=room)
        assert await eve.refusal("draw", room=room, action="accept", game=9, ply=9) == "not_seated"
