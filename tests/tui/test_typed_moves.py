import pytest

from tests.tui.conftest import Game
from tests.tui.test_game_page import GOMOKU
from tictactoe_engine import Keys, parse_cell


@pytest.mark.parametrize(
    ("place", "keys", "typed", "last"),
    [
        ("enter", "right right", "2 3", "C2"),
        ("enter", "", "3 14", "N3"),
        ("space", "space", "", "H8"),
        ("f6", "right right", "b3", "B3"),
    ],
    ids=["a space with a cursor", "a space without one", "at the cursor", "another key for placing"],
)
async def test_enter_places_typed_text_or_the_cursor(game: Game, place: str, keys: str, typed: str, last: str) -> None:
    own = {"changed_keys": {"place": (place,)}} if place == "f6" else {}
    async with game(GOMOKU, **own) as (ana, bo, _):
        await ana.do(keys, "[" if keys else "Your move", gone=None if keys else "[+]")
        await ana.type(typed, "Your move", f"move: {typed}_")
        await ana.press(place)
        assert (await bo.state(ply=1))["last"] == parse_cell(last, GOMOKU)


async def test_a_key_out_of_turn_is_kept_on_3x3_until_it_is_dropped_or_enter_sends_it_in_turn(game: Game) -> None:
    async with game() as (ana, bo, code):
        await ana.do("1", "It's bo's move.", "(X)")
        for drop in ("backspace", "escape"):
            await ana.do("5", "It's bo's move. Enter plays 5 when it is yours.", "move: 5_")
            await ana.do(drop, "It's bo's move.", "move: _", gone="Leave and lose")
        await ana.do("3 enter", "It's bo's move.", "move: 3_")
        await bo.ask("move", room=code, cell=4, ply=1)
        await ana.until("Your move, X.", "move: 3_", "Enter play 3  Esc cancel")
        assert (await bo.state(ply=2))["turn"] == "X"
        await ana.press("enter")
        assert (await bo.state(ply=3))["last"] == 2
        await ana.until("It's bo's move.", "move: _")


@pytest.mark.parametrize(("keys", "key", "cell"), [(Keys.PHONE, "7", 6), (Keys.PAD, "7", 0), (Keys.LETTERS, "z", 6)])
async def test_a_queued_key_has_the_same_meaning_as_on_turn(game: Game, keys: Keys, key: str, cell: int) -> None:
    async with game(keys=keys) as (ana, bo, code):
        await ana.press("s" if keys is Keys.LETTERS else "5")
        await bo.state(ply=1)
        await ana.until("It's bo's move.")
        await ana.do(key, f"move: {key}_")
        await bo.ask("move", room=code, cell=1, ply=1)
        await ana.until("Your move, X.")
        await ana.press("enter")
        assert (await bo.state(ply=3))["last"] == cell


async def test_on_turn_a_key_on_3x3_places_at_once_and_drops_the_queued_move(game: Game) -> None:
    async with game() as (ana, bo, code):
        await ana.do("1", "It's bo's move.", "(X)")
        await ana.do("5 space", "move: 5_")
        await bo.ask("move", room=code, cell=4, ply=1)
        await ana.until("Your move, X.", "move: 5_")
        await ana.do("space", "Your move, X.", "move: 5_")
        await ana.press("9")
        assert (await bo.state(ply=3))["last"] == 8
        await ana.until("It's bo's move.", "move: _")


@pytest.mark.parametrize("arrow", ["up", "left"])
async def test_the_first_arrow_shows_the_cursor_on_the_last_move(game: Game, arrow: str) -> None:
    async with game(GOMOKU, ascii=True) as (ana, bo, code):
        await ana.do(arrow, "[+]")
        await ana.enter("a1")
        await bo.state(ply=1)
        ana.app.pages[-1].model.cursor = None
        await bo.ask("move", room=code, cell=20, ply=1)
        await ana.until("Your move", "(O)")
        await ana.do(arrow, "[O]", gone="[+]")


@pytest.mark.parametrize("typed", ["q", "thanks", "b3"])
async def test_letters_on_3x3_are_text_and_place_nothing_before_enter(game: Game, typed: str) -> None:
    async with game() as (ana, bo, _):
        await ana.type(typed)
        hint = {"q": "1-9 place", "b3": "Enter play b3"}.get(typed, "Esc cancel")
        await ana.until("Your move, X.", f"move: {typed}_", hint)
        await ana.press("enter")
        if typed == "b3":
            assert (await bo.state(ply=1))["last"] == 7
        else:
            await ana.until(f'I don\'t know "{typed}".', "move: _")


async def test_letter_keys_place_marks_and_are_shown_in_the_cells(game: Game) -> None:
    async with game(keys=Keys.LETTERS) as (ana, bo, _):
        assert all(f"│  {letter}  │" in ana.text for letter in "wsx")
        await ana.until("qwe/asd/zxc place")
        await ana.do("5", "Your move, X.", "move: 5_")
        await ana.press("escape", "s")
        assert (await bo.state(ply=1))["last"] == 4


@pytest.mark.parametrize("dismissing", ["escape", "n"])
async def test_keys_right_after_an_answer_place_no_mark(game: Game, dismissing: str) -> None:
    async with game() as (ana, bo, _):
        page = ana.app.pages[-1]
        await ana.do("escape", "Leave and abort this game?")
        await ana.press(dismissing, "1", "enter", "enter")
        await ana.until("Your move, X.", "│  1  │", gone="[")
        page.model.quiet_until = 0.0
        await ana.press("1")
        assert (await bo.state(ply=1))["last"] == 0
