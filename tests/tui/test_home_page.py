import contextlib
import re
from collections.abc import AsyncIterator, Sequence

import pytest

from tests.faults.hostile_server import ROOM, hostile_server, identity, state
from tests.kept import leave_seat, rooms_left
from tests.peer import Peer, open_peer, play_out, two_playing
from tests.tui.conftest import AtHome, OpenScreen
from tictactoe_protocol.pushes import Ok, Replaced
from tictactoe_protocol.requests import Join
from tictactoe_server.server import Server


async def test_a_quick_match_is_had_in_any_game_that_has_a_name(server: Server, open_screen: OpenScreen) -> None:
    async with open_screen(server.url) as ana, open_peer(server.url, "bo") as bo:
        await ana.until("> Find an opponent    ‹ Tic-tac-toe ›", "against whoever comes next", "←→ change")
        await ana.do("left left left", "‹ Gomoku ›", "against whoever comes next")
        await ana.do("right right right right", "‹ Blocker ›", "against whoever comes next")
        await ana.do("left left left left enter", "Waiting for another player", "Gomoku")
        await bo.ask("match", rules="gomoku")
        await ana.until("Your move, X.")


async def test_invalid_codes_and_missing_rooms_are_reported(at_home: AtHome) -> None:
    async with at_home() as ana:
        await ana.do("down down down enter enter", "Type or paste a room code or a link.")
        await ana.enter("k7m4p", "A room code has 6 letters and digits;", '"k7m4p" has 5.')
        await ana.enter("k7m4pq", "There is no room K7M4PQ")


@contextlib.asynccontextmanager
async def a_seat_left(server: Server, moves: Sequence[int] = (), url: str = "") -> AsyncIterator[tuple[Peer, str]]:
    """Leave ana, as if her run at this address had been killed, a seat in bo's room after these moves."""
    async with two_playing(server, "bo", "ana") as (bo, before, code):
        await play_out({"X": bo, "O": before}, code, moves)
        leave_seat(url or server.url, code, before.welcome["token"])
        await before.socket.close()
        await bo.until(lambda message: (message.get("seats", {}).get("O") or {}).get("online") is False)
        yield bo, code


async def test_keys_that_come_at_once_open_a_question_edit_its_text_and_answer_it(at_home: AtHome) -> None:
    async with at_home() as ana:
        ana.rush(*"nzoe", "enter")
        await ana.until("Playing as  zoe", gone="What's your name?")
        ana.rush(*"nxx", "ctrl+u", *"max", "left", "left", *"in", "enter", "down")
        await ana.until("Playing as  minax", "> Play the computer", gone="What's your name?")


async def test_an_abandoned_seat_is_offered_until_it_is_used(clocked: Server, open_screen: OpenScreen) -> None:
    async with a_seat_left(clocked) as (_, code), open_screen(clocked.url, name=None) as ana:
        text = await ana.until(f"> Resume {code} (", "your seat is kept: you are O", "Playing as  ana")
        assert re.search(r"> Resume \w{6} \((1:00|0:5\d) left\)", text)
        await ana.do("enter", "It's bo's move.", "O  ana (you)")
        await ana.do("escape enter", "> Find an opponent", gone="Resume")


async def test_a_game_continued_elsewhere_can_be_resumed(server: Server, open_screen: OpenScreen) -> None:
    async with two_playing(server, "bo", "ana") as (_, other, code):
        leave_seat(server.url, code, other.welcome["token"])
        async with open_screen(server.url, name=None) as ana:
            await ana.until(f"> Resume {code}")
            await ana.do("enter", "It's bo's move.")
            await other.ask("join", room=code)
            await ana.until("You continued this game in another window", f"> Resume {code}")
            await ana.do("enter", "It's bo's move.")


async def test_a_game_that_a_card_moved_to_another_device_cannot_be_resumed(open_screen: OpenScreen) -> None:
    async with hostile_server() as server, open_screen(server.url) as ana:
        await ana.until("Playing as")
        server.answers[Join] = lambda request: [Ok(id=identity(request), room=ROOM, seat="X"), state()]
        await ana.paste(ROOM)
        await ana.do("enter", "Your move, X.")
        await server.push(Replaced(room=ROOM, by_card=True))
        await ana.until("Your card was opened on another device.", "Playing as", gone="Resume")


async def test_a_seat_lost_meanwhile_is_forgotten(server: Server, open_screen: OpenScreen) -> None:
    async with a_seat_left(server, [0, 4]) as (bo, code):
        await bo.ask("resign", room=code)
    async with open_screen(server.url, name=None) as ana:
        await ana.until("Playing as  ana", gone="Resume")
    assert not rooms_left(server.url)


async def test_a_letter_chooses_the_line_that_begins_with_it(server: Server, open_screen: OpenScreen) -> None:
    async with open_screen(server.url) as ana:
        await ana.until("> Find an opponent")
        for line in ("Watch a game", "Your games", "Play the computer", "Join with"):
            await ana.do(line[0].lower(), f"> {line}")


@pytest.mark.parametrize("size", [(36, 12), (50, 16), (80, 24)])
async def test_advice_without_a_server_is_never_cut(open_screen: OpenScreen, size: tuple[int, int]) -> None:
    async with open_screen("ws://127.0.0.1:1", size=size) as ana:
        assert "…" not in await ana.until("one:", "tictactoe-server\n", "r retry")
