"""Custom keys: every action may have another key, and every display of keys follows."""

import pytest

from tests.literals import IDS
from tests.tui.conftest import AtHome, Game, OpenScreen
from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.page import Page
from tictactoe_client.tui.program import Program
from tictactoe_server.server import Server
from tictactoe_words.catalogue import speak
from tictactoe_words.commands import ACTIONS, SITUATIONS, list_keys


@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_keys_that_the_client_comes_with_mean_one_thing_at_once(situation: str) -> None:
    keys = [key for action in SITUATIONS[situation] if action in ACTIONS for key in ACTIONS[action]]
    assert len(keys) == len(set(keys))


def list_pages(page: type[Page] = Page) -> list[type[Page]]:
    return [page, *(one for kind in page.__subclasses__() for one in list_pages(kind))]


@pytest.mark.parametrize("page", list_pages())
def test_every_key_of_a_page_does_something_there(page: type[Page]) -> None:
    for name, (key, label) in list_keys(page.situation).items():
        method = (key.does or name).split()[0]
        owner = Program if method.startswith("app.") else page
        assert hasattr(owner, f"action_{method.removeprefix('app.')}"), name
        assert label in {"", *IDS}


def test_of_two_actions_with_one_key_the_first_counts() -> None:
    keymap = Keymap({"copy": ("b",), "computer": ("b",)})
    actions = [action for action in SITUATIONS["waiting"] if action in ACTIONS]
    assert keymap.find("b", "b", actions) == "copy"
    assert keymap.find("y", "y", actions) == ""


def test_an_action_is_shown_by_its_first_key() -> None:
    keymap = Keymap({"left": ("h", "left")})
    assert (keymap.show("left"), keymap.show("right")) == ("h", "→")
    speak(in_ascii=True)
    assert keymap.show("right") == "->"


@pytest.mark.parametrize(
    ("changed", "shown"), [({}, "arrows+Enter"), ({"left": ("h",), "up": ("k", "up")}, "k/↓/h/→+Enter")]
)
async def test_arrows_are_named_unless_remapped(game: Game, changed: dict[str, tuple[str, ...]], shown: str) -> None:
    async with game(changed_keys=changed) as (ana, *_):
        await ana.until(f"1-9 place  {shown}  Tab chat")


async def test_pages_name_the_keys_that_move_the_choice(server: Server, open_screen: OpenScreen) -> None:
    keys = {"up": ("k",), "down": ("j",), "left": ("h",), "right": ("l",), "open": ("o",)}
    async with open_screen(server.url, changed_keys=keys) as ana:
        await ana.until("k/j choose", "h/l change")
        await ana.do("s", "k/j choose  h/l change")
        await ana.do("escape w o", "No public game", "Esc back")
        await ana.do("escape y o", "No finished game yet.")
        await ana.do("?", "k/j scroll")
        await ana.do("escape escape k k k k k", "> Join with a code")
        await ana.do("k k", "> Play the computer")
        await ana.do("j o", "o open  Esc cancel  k/j choose  h/l change")
        await ana.do("o", "Waiting for another player")


@pytest.mark.parametrize(
    ("ways", "words"),
    [
        ("n", "What's your name?"),
        ("j", "> Join with a code"),
        ("?", "Everywhere"),
        ("s", "Two numbers mean"),
        ("w enter", "No public game"),
        ("w enter k 7", "Code or link"),
        ("y enter", "No finished game yet."),
        ("down down enter down", "> Clock"),
    ],
)
async def test_the_key_that_leaves_does_so_on_every_page_and_line(at_home: AtHome, ways: str, words: str) -> None:
    async with at_home(changed_keys={"leave": ("f12",)}) as ana:
        for key in ways.split():
            await ana.press(key)
        await ana.until(words)
        await ana.press("ctrl+c")
        assert not ana.app.is_leaving
        await ana.press("f12")
    assert ana.app.return_code == 130
