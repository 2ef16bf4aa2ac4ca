"""A private server for one run: no other player can join, and the screen does not suggest it."""

from tests.tui.conftest import OpenScreen
from tictactoe_client.input.ways import against_computer

NOWHERE = "ws://127.0.0.1:1"


async def test_home_on_a_local_server_offers_only_useful_entries(open_screen: OpenScreen) -> None:
    async with open_screen(NOWHERE, local=True) as ana:
        text = await ana.until("Playing as  ana")
        assert "Nobody else can join you here." in text
        assert "a server for this run only" in text.splitlines()[0]
        for words in ("Find an opponent", "Watch a game", "Rooms waiting", "invite", "127.0.0.1"):
            assert words not in text
        await ana.until("> Play the computer   ‹ medium ›")
        await ana.do("right down left left left", "> The game            ‹ Gomoku ›", "15x15, 5 in a row")
        await ana.do("enter", "hard-bot", "Gomoku", "Your move, X.")


async def test_after_a_game_with_the_computer_home_offers_the_same_again(open_screen: OpenScreen) -> None:
    async with open_screen(NOWHERE, against_computer("hard"), local=True) as ana:
        await ana.until("Your move, X.")
        await ana.do("escape enter", "Nobody else can join you here.", "> Play the computer   ‹ hard ›")
        await ana.do("enter", "hard-bot", "Your move, X.")
