"""A full room, joined on the command line: an interactive user may watch, others get an error."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.end_to_end.clients import run_client
from tests.peer import open_peer
from tictactoe_server.server import Server


@asynccontextmanager
async def full_room(server: Server) -> AsyncIterator[str]:
    async with open_peer(server.url, "ana") as ana, open_peer(server.url, "bo") as bo:
        code = (await ana.ask("create"))["room"]
        await bo.ask("join", room=code)
        yield code


async def test_a_full_room_exits_with_5_if_no_question_can_be_asked(server: Server) -> None:
    async with full_room(server) as code:
        for options in ((), ("--no-input",)):
            async with run_client("join", code, "--plain", "-s", server.url, *options) as cy:
                assert await cy.end() == 5
                assert f"Room {code} is full" in await cy.errors()
        async with run_client("join", code, "--json", "-s", server.url) as script:
            assert (await script.message(type="error", code="room_full"))["room"] == code
            assert await script.end() == 5
