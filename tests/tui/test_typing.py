"""Where one types text, every printable character is text, whatever keys a person has given to other things."""

from __future__ import annotations

from tests.tui.conftest import AtHome, OpenScreen
from tests.tui.test_new_room import at_form
from tictactoe_client.tui import FirstPage
from tictactoe_server.server import Server

KEYS = {
    "up": ("up", "k"),
    "down": ("down", "j"),
    "open": ("enter", "o", "space"),
    "back": ("escape", "b"),
    "help": ("?", "h"),
    "left": ("left", "x"),
}


async def test_a_code_has_all_letters(at_home: AtHome) -> None:
    async with at_home(changed_keys=KEYS) as ana:
        await ana.do("down j down", "> Join with a code")
        await ana.type("ob hxkj", "ob hxkj")
        await ana.do("escape up", "> New room")
        await ana.do("k", "> Play the computer")


async def test_a_name_has_all_letters(at_home: AtHome) -> None:
    async with at_home(changed_keys=KEYS) as ana:
        await ana.press("n")
        await ana.type("kjo bhx", "Your name:", "kjo bhx")
        await ana.do("enter", "Playing as  kjo bhx")


async def test_the_lines_of_a_new_room_have_all_letters(at_home: AtHome) -> None:
    async with at_form(at_home, "Marks", changed_keys=KEYS) as ana:
        await ana.type("kjo bhx", "kjo bhx")
        await ana.do("?", "A game with a name.")


async def test_the_choices_of_a_new_room_have_the_keys_of_one_s_own(at_home: AtHome) -> None:
    async with at_form(at_home, "Misère", changed_keys=KEYS) as ana:
        await ana.do("x", "> Misère             yes")
        await ana.do("j", "> Gravity")
        await ana.do("k b", "Playing as")


async def test_a_code_to_watch_has_all_letters(server: Server, open_screen: OpenScreen) -> None:
    async with open_screen(server.url, first_page=FirstPage("watch"), changed_keys=KEYS) as ana:
        await ana.until("Private games")
        await ana.type("kjob hx", "kjob hx")
