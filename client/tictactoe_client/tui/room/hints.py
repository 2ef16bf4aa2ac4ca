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
_WORTH = {"review": "values", "mistake": "next mistake"}
_COMMANDS = "resign draw undo claim chat clock who leave help"


def name_keys(table: Table, state: RoomState, desk: Desk) -> Mapping[str, str]:
    """Return what the keys do that are named, by their actions or as they are typed, for a state that is looked at.

    Those that do not count now may be among them.
    """
    hand, situation, holds_seat = table.hand, table.situation, table.room.seat is not None
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
        looks = {**_STEPS, **_WORTH, "back": "back" if len(desk.screens) > 1 else "leave", "save": "save"}
        return {**looks, "home": "", "end": "", "12 Enter": "go to a move", "help": "help"}
    if situation == "waiting" and holds_seat:
        code = "hide QR" if hand.shows_code else "show QR"
        ways = {"copy": "copy", "hide_code": code, "computer": "let the computer sit in"}
        return {"back": "cancel", **ways, "help": "help"}
    if situation in ("waiting", "watching") or not holds_seat:
        looks = {} if situation == "waiting" else {**_STEPS, "end": "live", "review": "values"}
        return {**looks, "chat": "chat", "back": "leave", "help": "help"}
    if table.actions.timeline.is_back:
        return {**_STEPS, "end": f"or {desk.keymap.show('back')} to the end", **_WORTH, "chat": "chat", "help": "help"}
    ways = {"rematch": "rematch", "review": "review", "another": table.another, "save": "save"}
    return {**ways, "chat": "chat", "back": "home"}


def _name_moves(table: Table, rules: Rules, desk: Desk) -> dict[str, str]:
    """Return how one plays, or what becomes of what is typed as a move."""
    typed, settings = table.hand.ahead, desk.settings
    if typed and table.room.is_my_turn and table.hand.pending is None and is_whole(typed, rules, settings.keys):
        return {"Enter": f"play {typed.strip()}", "back": "clear"}
    if typed and not goes_on(typed.lstrip(), rules):
        return {"back": "clear"}
    left, right, up, down, place = (
        desk.keymap.show(name, ascii_only=settings.ascii) for name in ("left", "right", "up", "down", "place")
    )
    arrows = "/".join((up, down, left, right))
    arrows = "arrows" if arrows in ("↑/↓/←/→", "up/down/<-/->") else arrows
    if rules.gravity and rules.columns <= MOST_COLUMN_KEYS:
        return {f"1-{rules.columns}": "drop", f"{left}/{right} + {place}": ""}
    if has_single_keys(rules):
        return {"qwe/asd/zxc" if settings.keys is Keys.LETTERS else "1-9": "place", f"{arrows}+{place}": ""}
    if rules.gravity:
        column = format_column(rules.columns // 2).lower()
        return {"": f"type a column ({column}) and Enter, or {left}/{right} + {place}"}
    return {"": f"type a cell ({example_cell(rules)}) and Enter, or {arrows}+{place}"}


def example_cell(rules: Rules) -> str:
    """Return the name of a cell of this board, to show what a name looks like.

    >>> example_cell(Rules(15, 15, 5)), example_cell(Rules(4, 4, 4))
    ('h8', 'd4')
    """
    return format_cell((min(8, rules.rows) - 1) * rules.columns + min(8, rules.columns) - 1, rules).lower()
