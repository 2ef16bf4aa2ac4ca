from tests.client.models import model_of
from tests.client.states import ANA, state
from tests.peer import open_peer
from tests.tui.conftest import Game, OpenScreen
from tictactoe_client.input.ways import Choice
from tictactoe_client.tui.room.picture import fill_panel
from tictactoe_engine import PRESETS
from tictactoe_server.server import Server
from tictactoe_words.emblems import SIGNS

THREE = PRESETS["three-players"]


def test_the_sign_of_each_player_has_the_colour_of_their_mark() -> None:
    model = model_of(ANA, state([0], THREE))
    lines, _ = fill_panel(model, model.scene(0.0), 38, 20, ascii_only=False)
    assert [role for line in lines for text, role in line if text.strip() and text.strip() in SIGNS] == [
        f"mark{number}" for number in range(3)
    ]


async def test_a_resigned_player_of_three_can_watch_and_leave_freely(server: Server, open_screen: OpenScreen) -> None:
    async with (
        open_screen(server.url, Choice("create", THREE)) as ana,
        open_peer(server.url, "bo") as bo,
        open_peer(server.url, "cy") as cy,
    ):
        await ana.until("You are waiting in your own room, as X.", "Waiting for 2 more")
        code = ana.code
        await bo.ask("join", room=code)
        await ana.until("You are X. bo is O.", "Waiting for another player")
        await cy.ask("join", room=code)
        await ana.until("Your move, X.")
        await ana.type(":resign")
        told = ("ana (you)", "(out of this game)", "It's bo's move.")
        await ana.do("enter enter", *told, gone="type a cell")
        await ana.do("enter", "You are out of this game. The others play on.")
        await bo.ask("move", room=code, cell=0, ply=0)
        await ana.until("It's cy's move.")
        await ana.do("escape", "Playing as")


async def test_the_end_of_a_game_is_shown_large_with_the_turning_point(game: Game) -> None:
    async with game(size=(80, 24), ascii=True, moves=[0, 1, 3, 2]) as (ana, *_):
        await ana.do("7", "You win", "r play again")
        text = await ana.until("Y   Y  OOO  U   U", "IIIII", "was best.")
        assert text.isascii()
        await ana.do("left", "Move 4 of ", gone="IIIII")
