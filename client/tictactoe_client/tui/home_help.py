"""The help outside rooms: what the keys do there and at the board, by one's own keys. Pure."""

from __future__ import annotations

from tictactoe_client.settings import Settings
from tictactoe_client.text.program import own_command
from tictactoe_client.tui.keymap import Keymap


def list_home_help(keymap: Keymap, settings: Settings) -> list[str]:
    """Return the help as lines, short enough for a small window."""
    show, colon, save = keymap.show, keymap.show("command"), keymap.show("save")
    arrows = keymap.show_signs("arrows", "up", "down", "left", "right")
    steps, compare = (
        keymap.show_pair(one, other, ascii_only=settings.ascii) for one, other in (("left", "right"), ("up", "down"))
    )
    return [
        f"Everywhere: {show('help')} help, {show('redraw')} draw anew, {show('leave')} leave, {show('quit')} quit.",
        "",
        "At the board:",
        "  3x3: the digits 1-9 and the letters qwe/asd/zxc place at once.",
        f"  Larger boards: type the cell, such as h8, and Enter; {show('back')} clears it.",
        f"  Or {arrows} and {show('place')}. A click places on 3x3, elsewhere a second one does.",
        "  (O) last move, <X> deciding line, [ ] cursor, x? a move on its way.",
        f"  {show('chat')} talks to everybody in the room, {colon} begins a command.",
        f"  {show('accept')} accepts what the other offers, {show('decline')} refuses it.",
        f"  Of an opponent who is gone too long {show('claim')} claims the win, {show('claim_draw')} a draw.",
        "",
        "Watching, and after the end:",
        f"  {steps} step through the game, {show('end')} returns to the present.",
        f"  {show('review')} shows what each move is worth: +3 wins in 3 moves of all players,",
        "    -4 loses in 4, = is a draw; ~+ ~ ~- are guesses, * marks the best.",
        f"  {compare} go from the best cell to the worst, a click or {colon}h8 to any one.",
        f"  {show('rematch')} asks for a rematch, {show('another')} for another opponent, {save} saves the game.",
        "",
        f"Another window, a script, a screen reader: {own_command('--help')}",
    ]
