"""The help in a room: what the keys do on this board, for who plays, watches or waits, by one's own keys. Pure."""

from __future__ import annotations

from typing import Final

from tictactoe_client.board.view import MOST_COLUMN_KEYS
from tictactoe_client.settings import Settings
from tictactoe_client.text.wording import describe_rules
from tictactoe_client.tui.hints import example_cell
from tictactoe_client.tui.keymap import Keymap
from tictactoe_engine import Coordinates, Keys, Rules, format_column, has_single_keys
from tictactoe_protocol.pushes import RoomState

_COMMANDS: Final = ("draw", "undo", "resign", "claim", "who", "clock", "leave")


def list_room_help(state: RoomState, keymap: Keymap, settings: Settings) -> list[str]:
    """Return the help as lines, short enough for a small window: the moves first, then what else one may do."""
    show, rules = keymap.show, state.rules.to_rules()
    colon = show("command")
    steps, compare = (
        keymap.show_pair(one, other, ascii_only=settings.ascii) for one, other in (("left", "right"), ("up", "down"))
    )
    return [
        f"Goal: {describe_rules(rules)}.",
        *_list_moves(rules, keymap, settings),
        "Shapes: (O) last move, <X> deciding line, [ ] cursor, x? on its way.",
        "",
        f"{show('chat')} talks to everybody in the room; {colon}mute NAME hides what they say.",
        f"Offers: {show('accept')} accepts, {show('decline')} refuses, or takes back one's own.",
        f"Commands: {' '.join(f'{colon}{word}' for word in _COMMANDS)}",
        f"An opponent who is gone too long: {show('claim')} claims the win, {show('claim_draw')} a draw.",
        "",
        f"Watching, or after the end: {steps} step through the game, {show('end')} returns.",
        f"{show('review')} values: +3 wins in 3 moves of all, -4 loses in 4, = is a draw;",
        f"  ~+ ~ ~- are guesses, * is best. {compare} compare, a click points at one.",
        f"After the end: {show('rematch')} rematch, {show('another')} another game, {show('save')} saves its record.",
        "",
        f"{show('back')} goes back or leaves, {show('quit')} quits; where that loses a game it asks.",
        f"{show('redraw')} draws the screen anew.",
    ]


def _list_moves(rules: Rules, keymap: Keymap, settings: Settings) -> list[str]:
    colon, place = keymap.show("command"), keymap.show("place")
    arrows = keymap.show_signs("arrows", "up", "down", "left", "right")
    mouse = ", a click chooses, a second one places." if settings.mouse else "."
    if rules.gravity:
        last = format_column(rules.columns - 1)
        sides = " ".join(keymap.show(action, ascii_only=settings.ascii) for action in ("left", "right"))
        digits = [f"A digit drops at once: 1-{rules.columns}."] if rules.columns <= MOST_COLUMN_KEYS else []
        return [
            *digits,
            f"A move: type the column (A to {last}) and Enter; the mark falls.",
            "The name of a cell in it, such as d1, does as well.",
            f"Or {sides} and {place}{mouse}",
        ]
    if not has_single_keys(rules):
        example = example_cell(rules)
        pair = {
            Coordinates.ROW_COLUMN_1: "2,3 (row, column)",
            Coordinates.ROW_COLUMN_0: "1,2 (row, column from 0)",
            Coordinates.X_Y_1: "3,2 (column, row)",
        }[settings.coordinates]
        return [
            f"A move: type the cell, {example} or {pair}, and Enter.",
            f"Backspace edits what is typed, {keymap.show('back')} clears it.",
            f"Or {arrows} and {place}{mouse}",
        ]
    click = ", or a click" if settings.mouse and not settings.confirm else ""
    if settings.keys is Keys.LETTERS:
        return [
            f"A letter places at once: qwe/asd/zxc by place{click}.",
            f"A name: {colon}b3 Enter.   {arrows} and {place}.",
        ]
    top = "7 8 9" if settings.keys == Keys.PAD else "1 2 3"
    return [
        f"A digit places at once: 1-9 ({top} on top){click}.",
        "Out of turn it is kept as text; in turn Enter plays it.",
        f"Or type a name such as b3 and Enter, or {arrows} and {place}.",
    ]
