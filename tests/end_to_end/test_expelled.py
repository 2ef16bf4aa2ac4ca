import asyncio

import pytest

from tests.end_to_end.clients import plain_game
from tests.peer import PATIENCE_SECONDS
from tictactoe_client import Backoff, Expelled, Messages, connect
from tictactoe_server.operator.people import Announce, BanOrder
from tictactoe_server.operator.status import DrainOrder
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

CONNECTION_LOST = 7


async def test_a_client_banned_while_away_gives_up_at_once(server: Server) -> None:
    async with connect(server.url, name="ana", reconnect=Backoff((0.5,))) as ana:
        messages = ana.messages()
        (session,) = server.core.presence
        session.connection.abort()
        await server.carry_out(BanOrder(ana.player, reason="too loud"))
        with pytest.raises(Expelled, match="too loud"):
            await asyncio.wait_for(_read_all(messages), PATIENCE_SECONDS)


async def _read_all(messages: Messages) -> None:
    async for _ in messages:
        pass


async def test_a_transcript_shows_notices_and_announcements(server: Server) -> None:
    async with plain_game(server.url) as (ana, _, _room):
        await server.carry_out(Announce("Tea at five."))
        assert await ana.until("The server says:") == "The server says: Tea at five."
        await server.carry_out(DrainOrder(600))
        told = await ana.until("No new games")
        waits = "It waits at most 10 minutes for running games."
        assert told == f"No new games: the server restarts when the running games are over. {waits}"
        await ana.ask("b2", "You play B2")


@pytest.mark.parametrize("for_good", [False, True])
async def test_a_client_does_not_come_back_to_a_server_that_stops_for_good(*, for_good: bool) -> None:
    server = await Server(Settings(host="127.0.0.1", port=0)).__aenter__()
    async with plain_game(server.url) as (ana, _, _room):
        await server.carry_out(DrainOrder(600, for_good=for_good))
        await ana.until("No new games")
        stopping = asyncio.create_task(server.__aexit__(None, None, None))
        if for_good:
            await ana.until("The server is about to stop: ")
            assert await ana.end() == CONNECTION_LOST
            assert "the server has stopped" in await ana.errors()
        else:
            await ana.until("The server is about to restart: ", "Connection lost. Trying again")
        await stopping
