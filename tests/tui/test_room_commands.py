"""Commands and bare words in a room: the answers of the table of bad input, and none that a board would tear."""

from __future__ import annotations

from tests.peer import play_out, two_playing
from tests.tui.conftest import Game, OpenScreen
from tests.tui.test_game_page import GOMOKU
from tictactoe_client.input.ways import Choice
from tictactoe_engine import Keys, Rules
from tictactoe_server.server import Server


async def test_the_board_is_in_sight_and_its_command_tells_the_last_move(game: Game) -> None:
    async with game() as (ana, bo, code):
        await ana.enter(":board", "No move has been played yet.")
        await ana.press("1")
        await bo.state(ply=1)
        await bo.ask("move", room=code, cell=4, ply=1)
        await ana.until("Your move", "(O)")
        talk = list(ana.app.pages[-1].model.talk)
        await ana.enter(":board", "Last: bo played B2, centre.")
        assert ana.app.pages[-1].model.talk == talk


async def test_the_command_brings_a_board_that_scrolls_to_the_last_move(game: Game) -> None:
    async with game(Rules(32, 32, 5)) as (ana, bo, code):
        await ana.enter("af32")
        await bo.state(ply=1)
        await bo.ask("move", room=code, cell=0, ply=1)
        await ana.until("Your move")
        await ana.press(*["right"] * 40, *["down"] * 40)
        await ana.until("-AF of", gone="(O)")
        await ana.enter(":b", "Last: bo played A1.", "(O)", "of A-AF")


async def test_a_watcher_steps_by_commands_too(server: Server, open_screen: OpenScreen) -> None:
    async with two_playing(server, "bo", "cy") as (bo, cy, code):
        await play_out({"X": bo, "O": cy}, code, [0, 4, 8])
        async with open_screen(server.url, Choice("watch", code=code)) as wat:
            await wat.until("you watch", "X C3")
            for words, shown in (("board 1", 1), ("next", 2), ("p", 1), ("n", 2), ("board 0", 0)):
                await wat.enter(f":{words}", f"Move {shown} of " if shown else "The start.")
            await wat.enter(":board 9", "There is no move 9: 0 to 3.")
            await wat.enter(":live", "It's cy's move.", gone="The start.")
            await wat.enter(":board", "Last: bo played C3, bottom right.")


async def test_a_bare_word_on_a_large_board_is_answered_by_what_was_meant(game: Game) -> None:
    async with game(GOMOKU) as (ana, *_):
        await ana.enter("hello", 'I don\'t know "hello". A move looks like b2. ? for help.')
        await ana.enter("resing", 'I don\'t know "resing". Did you mean resign?')
        await ana.enter("resign", "Commands begin with :   :resign")
        await ana.enter("b", 'I don\'t know "b". A move looks like b2. ? for help.')
        await ana.enter("2,", 'I don\'t know "2,". A move looks like b2. ? for help.')


async def test_a_digit_after_the_colon_means_what_it_means_without_it(game: Game) -> None:
    async with game(keys=Keys.PAD) as (ana, bo, _):
        await ana.enter(":7")
        assert (await bo.state(ply=1))["last"] == 0
