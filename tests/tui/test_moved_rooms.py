"""A room that goes to another server while one is in it: a line says so, and nothing that is typed is lost."""

from __future__ import annotations

from msgspec.structs import replace

from tests.client.tournaments import CALL
from tests.faults.hostile_server import (
    NOBODY,
    ROOM,
    Frame,
    hostile_cluster,
    hostile_server,
    identity,
    lets_in,
    says_nobody_is_there,
    sends_to,
    state,
)
from tests.tui.conftest import OpenScreen
from tictactoe_client.input.ways import Choice
from tictactoe_protocol.pushes import ChatLine, Error, Moved, Ok, Result
from tictactoe_protocol.requests import Chat, Join, Leave, Move, Request, Watch


async def test_the_new_place_is_said_above_what_is_typed(open_screen: OpenScreen) -> None:
    async with hostile_cluster() as (one, two), open_screen(one.url, Choice("join", code=ROOM)) as ana:
        await ana.until("Your move, X.")
        line = ChatLine(room=ROOM, from_="ana", seat="X", text="heard over there", at=0)
        two.answers[Chat] = lambda request: [Ok(id=identity(request)), line]
        await ana.do("tab h i", "say: hi_")
        await one.push(Moved(ROOM, two.url))
        await ana.until("The room is at", f"{two.url} now.", "say: hi_")
        await ana.do("! enter", "heard over there", gone="say:")
        assert [request.text for request in two.heard if isinstance(request, Chat)] == ["hi!"]


async def test_a_move_that_is_made_meanwhile_is_played_there(open_screen: OpenScreen) -> None:
    async with hostile_cluster() as (one, two), open_screen(one.url, Choice("join", code=ROOM)) as ana:
        await ana.until("Your move, X.")
        one.answers[Move] = sends_to(two.url)
        two.answers[Move] = lambda request: [Ok(id=identity(request)), state(2, (4,))]
        await ana.do("5", "The room is at", f"{two.url} now.", "It's bo (O)'s move.")


async def test_where_nobody_answers_stands_there_until_the_room_is_here(open_screen: OpenScreen) -> None:
    def refuse(request: Request) -> list[Frame]:
        return [Error(id=identity(request), code="not_allowed", message="Somebody is there.", room=ROOM)]

    async with hostile_server() as server:
        server.servers, server.features = (server.url, NOBODY), ("unreachable",)
        async with open_screen(server.url, Choice("join", code=ROOM)) as ana:
            await ana.until("Your move, X.")
            server.answers[Join] = says_nobody_is_there(refuse)
            await server.push(Moved(ROOM, NOBODY))
            await ana.until(f"Nobody answers at {NOBODY}, where room {ROOM} is.", "Somebody is there.")
            server.answers[Join] = lets_in(seq=2)
            await ana.until("The room is at", gone="Nobody answers")


async def test_it_is_told_on_the_way_into_a_room_too(open_screen: OpenScreen) -> None:
    async with hostile_server() as server:
        server.servers = (server.url, NOBODY)
        server.answers[Watch] = sends_to(NOBODY)
        async with open_screen(server.url) as ana:
            ana.app.ways_in.enter(Choice("watch", code=ROOM))
            await ana.until(f"Nobody answers at {NOBODY}, where room {ROOM} is.")
            del server.answers[Watch]
            await ana.until(f"Tic-tac-toe  {ROOM}")


async def test_who_is_called_to_another_server_while_they_play_is_asked_and_comes_back_to_their_seat(
    open_screen: OpenScreen,
) -> None:
    async with hostile_cluster() as (one, two), open_screen(one.url, Choice("join", code=ROOM)) as ana:
        await ana.until("Your move, X.")
        one.answers[Join] = sends_to(two.url, "K7M4P2")
        await one.push(replace(CALL, room="K7M4P2"))
        await ana.until("Ctrl+G: go.")
        await ana.do("ctrl+g", "Room K7M4P2 is at another server. Go there?", "is held for 1 minute.")
        await ana.do("escape", "Ctrl+G: go.", gone="Go there?")
        over = replace(state(2, (0, 4, 1, 3, 2), result=Result("X", "line", (0, 1, 2))), room="K7M4P2")
        two.answers[Join] = lambda request: [Ok(id=identity(request), room="K7M4P2", seat="X", moves=()), over]
        await ana.do("ctrl+g", "Go there?")
        await ana.do("enter", "Tic-tac-toe  K7M4P2", "You win")
        one.answers[Join], two.answers[Join] = lets_in(ROOM), sends_to(one.url)
        await ana.do("escape", f"Tic-tac-toe  {ROOM}", "Your move, X.")
        assert [request.room for request in one.heard if isinstance(request, Leave)] == []


async def test_the_link_that_is_shown_stays_the_one_that_one_came_by(open_screen: OpenScreen) -> None:
    async with hostile_cluster() as (one, two):
        one.answers[Join], two.answers[Join] = sends_to(two.url), lets_in(is_waiting=True)
        async with open_screen(one.url, Choice("join", code=ROOM)) as ana:
            await ana.until("Waiting for another player", f":{one.url.rpartition(':')[2]}/{ROOM}")
            assert ana.app.session.address.url == two.url
            assert two.url.rpartition(":")[2] not in ana.text
