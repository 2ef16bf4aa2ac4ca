from tests.peer import until
from tests.tui.conftest import Game


async def test_an_offer_can_be_answered_by_key_while_typing(game: Game) -> None:
    async with game() as (ana, bo, code):
        await ana.press("tab")
        await ana.type("well")
        await bo.ask("draw", room=code, action="offer")
        await ana.until("bo offers a draw.   Ctrl+Y accept", "say: well_")
        await ana.press("ctrl+y")
        assert (await bo.state(room=code, status="over"))["result"]["reason"] == "agreed"
        await ana.until("say: well_")


async def test_own_offers_are_withdrawn_by_key_and_by_command(game: Game) -> None:
    async with game() as (ana, *_):
        await ana.enter(":draw", "You offered a draw.")
        await ana.do("ctrl+y", "This is your own offer: the other side has to answer it.")
        await ana.do("ctrl+n", "You withdraw the draw offer.", gone="You offered a draw.")
        await ana.press("5")
        await until(lambda: ana.app.pages[-1].room.moves)
        await ana.enter(":undo", "You asked to take back B2. Waiting for the answer ...   Ctrl+N withdraw")
        await ana.enter(":undo withdraw", "You withdraw the request to take a move back.")


async def test_why_a_game_ended_stays_when_the_other_one_leaves(game: Game) -> None:
    async with game(gives_up=True) as (ana, bo, code):
        await ana.until("You win! bo resigns")
        await ana.do("enter", "The game is over.")
        await bo.ask("leave", room=code)
        await ana.until("bo left the room.", "You win! bo resigns", "(has left)", gone="r play again")
