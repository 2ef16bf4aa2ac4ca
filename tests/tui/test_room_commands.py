from tests.tui.conftest import Game
from tests.tui.test_game_page import GOMOKU
from tictactoe_engine import Rules


async def test_the_command_brings_a_board_that_scrolls_to_the_last_move(game: Game) -> None:
    async with game(Rules(32, 32, 5)) as (ana, bo, code):
        await ana.enter("af32")
        await bo.state(ply=1)
        await bo.ask("move", room=code, cell=0, ply=1)
        await ana.until("Your move")
        await ana.press(*["right"] * 40, *["down"] * 40)
        await ana.until("-AF of", gone="(O)")
        await ana.enter(":b", "Last: bo played A1.", "(O)", "of A-AF")


async def test_a_bare_word_on_a_large_board_is_answered_with_the_likely_command(game: Game) -> None:
    async with game(GOMOKU) as (ana, *_):
        await ana.enter("resing", 'I don\'t know "resing". Did you mean resign?')
        await ana.enter("resign", "Commands start with :   :resign")
