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


async def test_why_a_game_ended_stays_when_the_other_one_leaves(game: Game) -> None:
    async with game(gives_up=True) as (ana, bo, code):
        await ana.until("You win! bo resigns")
        await ana.do("enter", "The game is over.")
        await bo.ask("leave", room=code)
        await ana.until("bo left the room.", "You win! bo resigns", "(has left)", gone="r play again")


async def test_the_frame_gives_way_to_a_question_in_a_small_window(game: Game) -> None:
    async with game(moves=[0, 4], size=(40, 12)) as (ana, bo, code):
        await ana.until("┌──", "Your move")
        await bo.ask("undo", room=code, action="offer")
        await ana.until("bo asks to take back B2.", "Ctrl+Y accept   Ctrl+N decline", "Your move", gone="┌──")
        await ana.do("ctrl+n", "┌──", "Your move", gone="Ctrl+N")
        await bo.ask("draw", room=code, action="offer")
        await ana.do("ctrl+n", "┌──", gone="Ctrl+N")


async def test_the_keys_for_offers_answer_a_rematch(game: Game) -> None:
    async with game(gives_up=True) as (ana, bo, code):
        await bo.ask("rematch", room=code)
        await ana.until("bo wants a rematch.")
        await ana.do("ctrl+n", "To refuse a rematch, leave the room")
        await ana.do("ctrl+y", "Game 2", "It's bo's move.")
