from tests.tui.conftest import Game


async def test_help_in_a_room_lists_only_possible_actions(game: Game) -> None:
    async with game(size=(80, 50)) as (ana, *_):
        assert "play again" not in await ana.do("?", "resign", "offer a draw")
    async with game(size=(80, 50), moves=(0, 3), gives_up=True) as (ana, *_):
        assert "resign" not in await ana.do("?", "play again")
