"""The line of keys at the bottom of a room: what counts at the moment, by the names of one's own keys. Pure."""

from __future__ import annotations

from typing import Final

from tictactoe_client.board.board import MOST_COLUMN_KEYS
from tictactoe_client.online.client import Choice
from tictactoe_client.settings import Settings
from tictactoe_client.text.news import can_play_again
from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.room.table import Table
from tictactoe_engine import Keys, Rules, format_cell, format_column, has_single_keys
from tictactoe_protocol.pushes import RoomState

COMMANDS: Final = "resign draw undo claim chat clock who leave help"


def describe_another(again: Choice | None) -> str:
    """Return what one gets who goes on to another game, or nothing where there is none to go on to."""
    if again is None:
        return ""
    if again.bots:
        return "new game"
    return "new private room" if again.private else "new opponent"


def hint_answers(keymap: Keymap) -> str:
    """Return the keys while it is asked whether a game is to be given up; any other plays on, too."""
    return f"{keymap.show('confirm')} yes  {keymap.show('back')} play on"


def hint_line(mode: str, keymap: Keymap) -> str:
    """Return the keys while something is being typed, in the mode ``chat`` or ``command``."""
    back = f"{keymap.show('back')} back to the board"
    if mode == "chat":
        return f"Enter say it  {back}"
    return f"{COMMANDS}   Enter do it  {keymap.show('back')} back"


def hint_typed(text: str, keymap: Keymap) -> str:
    """Return the keys while something is typed: a whole move that may be played, empty for what begins none."""
    show = keymap.show
    talk = f"{show('chat')} chat  {show('command')} command  {show('help')} help"
    play = f"Enter play {text.strip()}  " if text else ""
    return f"{play}{show('back')} clear  {talk}"


def hint_record(keymap: Keymap, settings: Settings, *, way_out: str) -> str:
    """Return the keys in a recorded game; `way_out` says where going back leads."""
    show = keymap.show
    sides = keymap.show_pair("left", "right", ascii_only=settings.ascii)
    steps = f"{sides} step  {show('review')} values  {show('mistake')} next mistake  {show('back')} {way_out}"
    return f"{steps}  {show('save')} save  {show('home')}/{show('end')}  12 Enter go to a move  {show('help')} help"


def hint_room(
    table: Table, state: RoomState, keymap: Keymap, settings: Settings, *, reviews: bool, another: str
) -> str:
    """Return the keys at the board of a state that is looked at.

    `reviews` is whether values are shown, `another` what another game would be, empty for none.
    """
    show = keymap.show
    sides = keymap.show_pair("left", "right", ascii_only=settings.ascii)
    rest = f"{show('chat')} chat  {show('back')} leave  {show('help')} help"
    if reviews:
        is_over = table.state is not None and table.state.status == "over"
        mistakes = f"{show('mistake')} next mistake  " if is_over else ""
        return (
            f"{sides} step  {keymap.show_pair('up', 'down', ascii_only=settings.ascii)} compare  "
            f"{show('review')} hide values  {mistakes}{show('end')} end  {show('back')} back"
        )
    if state.status == "waiting":
        return rest if table.seat is None else _hint_waiting(keymap, settings)
    if table.seat is None or (table.looks_on and state.status == "playing"):
        steps = f"{sides} step  {show('end')} live  {show('review')} values"
        return f"{steps}  {rest}"
    if table.looks_on and table.timeline.is_back:
        steps = f"{sides} step  {show('mistake')} next mistake  {show('end')} or {show('back')} to the end"
        return f"{steps}  {show('review')} values  {show('chat')} chat  {show('help')} help"
    if table.looks_on:
        new = f"{show('another')} {another}  " if another else ""
        rematch = f"{show('rematch')} rematch  " if table.state is not None and can_play_again(table.state) else ""
        ways = f"{rematch}{show('review')} review  {new}{show('save')} save"
        return f"{ways}  {show('chat')} chat  {show('back')} home"
    talk = f"{show('chat')} chat  {show('command')} command  {show('help')} help"
    arrows = f"{keymap.show_signs('arrows', 'up', 'down', 'left', 'right')}+{show('place')}"
    rules = state.rules.to_rules()
    if rules.gravity and rules.columns <= MOST_COLUMN_KEYS:
        return f"1-{rules.columns} drop  {sides} + {show('place')}  {talk}"
    if has_single_keys(rules):
        return f"{'qwe/asd/zxc' if settings.keys is Keys.LETTERS else '1-9'} place  {arrows}  {talk}"
    if rules.gravity:
        return f"type a column ({example_column(rules)}) and Enter, or {sides} + {show('place')}  {talk}"
    return f"type a cell ({example_cell(rules)}) and Enter, or {arrows}  {talk}"


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


def _hint_waiting(keymap: Keymap, settings: Settings) -> str:
    show = keymap.show
    code = f"  {show('hide_code')} hide QR" if settings.colour and not settings.ascii else ""
    ways = f"{show('copy')} copy{code}  {show('computer')} let the computer sit in"
    return f"{show('back')} cancel  {ways}  {show('help')} help"
