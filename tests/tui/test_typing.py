"""Where one types text, every printable character is text, whatever keys a person has given to other things."""

from __future__ import annotations

from tests.tui.conftest import AtHome, OpenScreen
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


async def test_a_code_to_watch_has_all_letters(server: Server, open_screen: OpenScreen) -> None:
    async with open_screen(server.url, first_page=FirstPage("watch"), changed_keys=KEYS) as ana:
        await ana.until("Private games")
        await ana.type("kjob hx", "kjob hx")
