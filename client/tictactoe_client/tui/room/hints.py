"""The line of keys at the bottom of a room: which of those that count at the moment it names, and how."""

from __future__ import annotations

from collections.abc import Mapping

from tictactoe_client.board.grid import MOST_COLUMN_KEYS
from tictactoe_client.input.cells import goes_on, is_whole
from tictactoe_client.tui.desk import Desk
from tictactoe_client.tui.room.table import Table
from tictactoe_engine import Keys, Rules, format_cell, format_column, has_single_keys
from tictactoe_protocol.pushes import RoomState

_TALK = {"chat": "chat", "command": "command", "help": "help"}
_STEPS = {"left": "step", "right": "step"}
_COMMANDS = "resign draw undo claim chat clock who leave help"


def name_keys(table: Table, state: RoomState, desk: Desk) -> Mapping[str, str]:
    """Return what the keys do that are named, by their actions or as they are typed, for a state that is looked at.

    Those that do not count now may be among them.
    """
    hand, situation = table.hand, table.situation
    if hand.question is not None:
        return {"confirm": "yes", "back": "play on"}
    if hand.line.mode == "chat":
        return {"Enter": "say it", "back": "back to the board"}
    if hand.line.mode:
        completes = {"chat": hand.line.completion} if hand.line.completion else {"": _COMMANDS}
        return {**completes, "Enter": "do it", "back": "back"}
    if desk.link.phase == "away" and table.record is None:
        return {"retry": "try now", "back": "leave"}
    if situation == "playing":
        return {**_name_moves(table, state.rules.to_rules(), desk), **_TALK}
    if table.review.is_on:
        is_over = table.room.state is not None and table.room.state.status == "over"
        compare = {"up": "compare", "down": "compare", "review": "hide values"}
        return {**_STEPS, **compare, **({"mistake": "next mistake"} if is_over else {}), "end": "end", "back": "back"}
    if situation == "replay":
        way_out = "back" if len(desk.screens) > 1 else "leave"
        looks = {**_STEPS, "review": "values", "mistake": "next mistake", "back": way_out, "save": "save"}
        return {**looks, "home": "", "end": "", "12 Enter": "go to a move", "help": "help"}
    if situation == "waiting" and table.room.seat is not None:
        code = {"copy": "copy", "hide_code": "hide QR", "computer": "let the computer sit in"}
        return {"back": "cancel", **code, "help": "help"}
    if situation == "waiting":
        return {"chat": "chat", "back": "leave", "help": "help"}
    if situation == "watching" or table.room.seat is None:
        return {**_STEPS, "end": "live", "review": "values", "chat": "chat", "back": "leave", "help": "help"}
    if table.actions.timeline.is_back:
        to_end = f"or {desk.keymap.show('back')} to the end"
        return {**_STEPS, "mistake": "next mistake", "end": to_end, "review": "values", "chat": "chat", "help": "help"}
    ways = {"rematch": "rematch", "review": "review", "another": table.another, "save": "save"}
    return {**ways, "chat": "chat", "back": "home"}


def _name_moves(table: Table, rules: Rules, desk: Desk) -> dict[str, str]:
    """Return how one plays, or what becomes of what is typed as a move."""
    typed, keymap, keys = table.hand.ahead, desk.keymap, desk.settings.keys
    if typed and table.room.is_my_turn and table.hand.pending is None and is_whole(typed, rules, keys):
        return {"Enter": f"play {typed.strip()}", "back": "clear"}
    if typed and not goes_on(typed.lstrip(), rules):
        return {"back": "clear"}
    place, sides = keymap.show("place"), keymap.show_pair("left", "right", ascii_only=desk.settings.ascii)
    arrows = f"{keymap.show_signs('arrows', 'up', 'down', 'left', 'right')}+{place}"
    if rules.gravity and rules.columns <= MOST_COLUMN_KEYS:
        return {f"1-{rules.columns}": "drop", f"{sides} + {place}": ""}
    if has_single_keys(rules):
        return {"qwe/asd/zxc" if keys is Keys.LETTERS else "1-9": "place", arrows: ""}
    if rules.gravity:
        return {"": f"type a column ({format_column(rules.columns // 2).lower()}) and Enter, or {sides} + {place}"}
    return {"": f"type a cell ({example_cell(rules)}) and Enter, or {arrows}"}


def example_cell(rules: Rules) -> str:
    """Return the name of a cell of this board, to show what a name looks like.

    >>> example_cell(Rules(15, 15, 5)), example_cell(Rules(4, 4, 4))
    ('h8', 'd4')
    """
    return format_cell((min(8, rules.rows) - 1) * rules.columns + min(8, rules.columns) - 1, rules).lower()
