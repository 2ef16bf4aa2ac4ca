"""The help of a new room's form: what its lines mean, and the keys that change them, by one's own keys. Pure."""

from __future__ import annotations

from tictactoe_client.settings import Settings
from tictactoe_client.tui.keymap import Keymap
from tictactoe_engine import PRESETS


def list_form_help(keymap: Keymap, settings: Settings, *, alone: bool) -> list[str]:
    """Return the help as lines, short enough for a small window; `alone` is for who can only play the computer."""
    show = keymap.show
    choose, change = (
        keymap.show_pair(one, other, ascii_only=settings.ascii) for one, other in (("up", "down"), ("left", "right"))
    )
    seen = [
        "Who may see it: public rooms are listed and met by quick match;",
        "  private ones are found by whoever has the code or the link.",
        "Analysis: open, for a lesson, lets all have the running game analysed.",
        "Chat: players lets those who watch only read.",
    ]
    return [
        f"{choose} go to a line, {change} change it, or type over it. {show('open')} opens the room,",
        f"{show('back')} takes back what is typed on a line, else it goes back.",
        "",
        f"Game: {', '.join(PRESETS)}.",
        "  Whatever one changes below makes it a game of one's own.",
        "Board: rows x columns, such as 15x15; from 1x2 to 32x32.",
        "In a row to win: how many marks make a line, along, down or slanting.",
        "Marks: a capital letter for each player in turn order, two to six: XOA.",
        "Blocked cells: nobody may take them, and no line goes through: b2,c3.",
        "Misère: whoever completes a line loses. For two players.",
        "Gravity: a mark falls to the lowest free cell of its column.",
        "Clock: 3+2 is 3 minutes each and 2 seconds more for every move;",
        "  10/move is 10 seconds for each move; empty is no clock.",
        *(() if alone else seen),
        "Your mark: whose turn it is to begin goes by the order of the marks.",
        "The computer: takes all seats that you leave free.",
    ]
