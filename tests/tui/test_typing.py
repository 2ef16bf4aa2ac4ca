"""In a text field every printable character is text, even if it is the key of an action."""

from tests.tui.conftest import AtHome

KEYS = {
    "up": ("up", "k"),
    "down": ("down", "j"),
    "open": ("enter", "o", "space"),
    "back": ("escape", "b"),
    "help": ("?", "h"),
    "left": ("left", "x"),
}


async def test_codes_and_names_take_every_letter_though_letters_are_keys(at_home: AtHome) -> None:
    async with at_home(changed_keys=KEYS) as ana:
        await ana.do("down j down", "> Join with a code")
        await ana.type("ob hxkj", "ob hxkj")
        await ana.do("escape up", "> Invite a friend")
        await ana.do("k", "> Play the computer")
        await ana.do("n", "What's your name?")
        await ana.type("kjo bhx", "What's your name?", "kjo bhx")
        await ana.do("enter", "Playing as  kjo bhx")
        await ana.do("w o", "Private games")
        await ana.type("kjob hx", "kjob hx")
