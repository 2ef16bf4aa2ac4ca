"""The chat of games over days waits for those who are away."""

import asyncio

from tests.peer import open_peer, play_out, until
from tests.server.days.conftest import StartServer
from tests.server.days.test_day_games import asleep, begin
from tests.server.test_forgetting import until_done
from tictactoe_server.features.days.chats import CHATS
from tictactoe_server.server import Server


async def test_chat_is_heard_on_another_day(start: StartServer) -> None:
    async with start() as server:
        room, x, o = await begin(server)
        async with open_peer(server.url, token=x) as ana:
            await ana.ask("join", room=room)
            for text in ("good luck", "see you tomorrow"):
                await ana.ask("chat", room=room, text=text)
            player = ana.welcome["player"]
        await asleep(server, room)
    async with start() as server:
        async with open_peer(server.url, token=o) as bo:
            await bo.ask("join", room=room)
            heard = [await bo.next_of("chat") for _ in range(2)]
            assert [(line["from"], line["text"]) for line in heard] == [
                ("ana", "good luck"),
                ("ana", "see you tomorrow"),
            ]
            await bo.ask("chat", room=room, text="hello")
            assert (await bo.next_of("chat"))["text"] == "hello", "each line comes once"
        async with open_peer(server.url, token=x) as ana:
            await ana.ask("join", room=room)
            assert [(await ana.next_of("chat"))["text"] for _ in range(3)] == ["good luck", "see you tomorrow", "hello"]
            assert (await ana.ask("forget"))["type"] == "ok"
        await until_done(server, player)
        async with open_peer(server.url, token=o) as bo:
            await bo.ask("join", room=room)
            assert (await bo.next_of("chat"))["text"] == "hello"


async def test_chat_goes_with_the_room(server: Server) -> None:
    room, x, o = await begin(server)
    async with open_peer(server.url, token=x) as ana, open_peer(server.url, token=o) as bo:
        for peer in (ana, bo):
            await peer.ask("join", room=room)
        await ana.ask("chat", room=room, text="good luck")
        await play_out({"X": ana, "O": bo}, room, [0, 3, 1, 4, 2])
        for peer in (ana, bo):
            await peer.ask("leave", room=room)
        await until(lambda: room not in server.core.rooms.by_code)
        table = server.core.store.table(CHATS)

        async def is_gone() -> bool:
            return await table.load(room) is None

        await until(is_gone)


async def test_a_blocked_player_is_not_heard_on_another_day(server: Server) -> None:
    room, x, o = await begin(server)
    async with open_peer(server.url, token=x) as ana:
        await ana.ask("join", room=room)
        await ana.ask("chat", room=room, text="you are too slow")
        player = ana.welcome["player"]
    async with open_peer(server.url, token=o) as bo:
        assert (await bo.ask("block", player=player))["blocks"] == [player]
        await bo.ask("join", room=room)
        await asyncio.sleep(0.2)
        await bo.ask("chat", room=room, text="well")
        await bo.next_of("chat")
        assert [message["text"] for message in bo.seen if message["type"] == "chat"] == ["well"]
