"""The line of keys at the bottom of a room: what counts at the moment, by the names of one's own keys."""

from __future__ import annotations

from typing import Final

from tictactoe_client.board.grid import MOST_COLUMN_KEYS
from tictactoe_client.input.cells import goes_on, is_whole
from tictactoe_client.text.news import can_play_again
from tictactoe_client.tui.desk import Desk
from tictactoe_client.tui.room.table import Table
from tictactoe_engine import Keys, Rules, format_cell, format_column, has_single_keys
from tictactoe_protocol.pushes import RoomState

COMMANDS: Final = "resign draw undo claim chat clock who leave help"


def hint_keys(table: Table, state: RoomState, desk: Desk, *, another: str) -> str:
    """Return the keys for a state that is looked at; `another` is what another game would be, empty for none."""
    show, hand, rules, keys = desk.keymap.show, table.hand, state.rules.to_rules(), desk.settings.keys
    back, typed = show("back"), hand.ahead.text
    talk = f"{show('chat')} chat  {show('command')} command  {show('help')} help"
    if hand.confirming is not None:
        return f"{show('confirm')} yes  {back} play on"
    if hand.mode == "chat":
        return f"Enter say it  {back} back to the board"
    if hand.mode == "command":
        return f"{COMMANDS}   Enter do it  {back} back"
    if desk.link.phase == "away" and table.record is None:
        return f"{show('retry')} try now  {back} leave"
    if typed and table.room.is_my_turn and hand.pending is None and is_whole(typed, rules, keys):
        return f"Enter play {typed.strip()}  {back} clear  {talk}"
    if typed and table.room.plays and not goes_on(typed.lstrip(), rules):
        return f"{back} clear  {talk}"
    return _hint_play(rules, desk, talk) if table.situation == "playing" else _hint_rest(table, desk, another)


def _hint_play(rules: Rules, desk: Desk, talk: str) -> str:
    """Return the keys of one who plays."""
    keymap, place = desk.keymap, desk.keymap.show("place")
    sides = keymap.show_pair("left", "right", ascii_only=desk.settings.ascii)
    arrows = f"{keymap.show_signs('arrows', 'up', 'down', 'left', 'right')}+{place}"
    if rules.gravity and rules.columns <= MOST_COLUMN_KEYS:
        return f"1-{rules.columns} drop  {sides} + {place}  {talk}"
    if has_single_keys(rules):
        return f"{'qwe/asd/zxc' if desk.settings.keys is Keys.LETTERS else '1-9'} place  {arrows}  {talk}"
    if rules.gravity:
        return f"type a column ({example_column(rules)}) and Enter, or {sides} + {place}  {talk}"
    return f"type a cell ({example_cell(rules)}) and Enter, or {arrows}  {talk}"


def _hint_rest(table: Table, desk: Desk, another: str) -> str:
    """Return the keys of one who waits, looks on or looks back."""
    keymap, show, settings, situation = desk.keymap, desk.keymap.show, desk.settings, table.situation
    step = f"{keymap.show_pair('left', 'right', ascii_only=settings.ascii)} step"
    chat, back, helps = f"{show('chat')} chat", show("back"), f"{show('help')} help"
    mistakes, values = f"{show('mistake')} next mistake", f"{show('review')} values"
    if table.review.is_on:
        compare = f"{keymap.show_pair('up', 'down', ascii_only=settings.ascii)} compare  {show('review')} hide values"
        is_over = table.room.state is not None and table.room.state.status == "over"
        return f"{step}  {compare}  {f'{mistakes}  ' if is_over else ''}{show('end')} end  {back} back"
    if situation == "replay":
        way_out = "back" if len(desk.screens) > 1 else "leave"
        ways = f"{show('save')} save  {show('home')}/{show('end')}  12 Enter go to a move"
        return f"{step}  {values}  {mistakes}  {back} {way_out}  {ways}  {helps}"
    if situation == "waiting" and table.room.seat is not None:
        code = f"  {show('hide_code')} hide QR" if settings.colour and not settings.ascii else ""
        return f"{back} cancel  {show('copy')} copy{code}  {show('computer')} let the computer sit in  {helps}"
    if situation == "waiting":
        return f"{chat}  {back} leave  {helps}"
    if situation == "watching" or table.room.seat is None:
        return f"{step}  {show('end')} live  {values}  {chat}  {back} leave  {helps}"
    if table.actions.timeline.is_back:
        return f"{step}  {mistakes}  {show('end')} or {back} to the end  {values}  {chat}  {helps}"
    new = f"{show('another')} {another}  " if another else ""
    rematch = f"{show('rematch')} rematch  " if table.room.state and can_play_again(table.room.state) else ""
    return f"{rematch}{show('review')} review  {new}{show('save')} save  {chat}  {back} home"


def example_cell(rules: Rules) -> str:
    """Return the name of a cell of this board, to show what a name looks like.

    >>> example_cell(Rules(15, 15, 5)), example_cell(Rules(4, 4, 4))
    ('h8', 'd4')
    """
    return format_cell((min(8, rules.rows) - 1) * rules.columns + min(8, rules.columns) - 1, rules).lower()


def example_column(rules: Rules) -> str:
    """Return the name of the column in the middle of this board.

    >>> example_column(Rules(6, 7, 4, gravity=True))
    'd'
    """
    return format_column(rules.columns // 2).lower()
