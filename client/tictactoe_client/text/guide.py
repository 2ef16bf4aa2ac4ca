"""What plain mode tells and answers: where one is, how to play, and every query's answer as lines. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tictactoe_client.board.board import BoardStyle, BoardView, render_board
from tictactoe_client.online.address import Address
from tictactoe_client.settings import Settings
from tictactoe_client.text.placing import is_move_by_letter, name_columns
from tictactoe_client.text.program import own_command
from tictactoe_client.text.reading import list_runs
from tictactoe_client.text.wording import (
    describe_cell,
    describe_clock,
    describe_manners,
    describe_players,
    describe_rules,
    describe_tally,
    describe_turn,
    format_duration,
    list_free,
    name_of,
    seat_of,
)
from tictactoe_engine import Coordinates, Keys, Rules, format_cell, format_key, has_single_keys
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState

MOST_FREE_CELLS = 30
_MOST_MOVES_TOLD = 12
_COLUMN_CELLS = "Any cell of the column means the same."
_MUTING = "Chat: mute NAME hides what somebody says, for you alone; unmute NAME; mute says who is muted."
_OFFERS = "Offers: yes and no answer one; draw withdraw and undo withdraw take back your own."


def describe_arrival(
    state: RoomState, viewer: str, address: Address, latency_seconds: float, *, with_own_name: bool = False
) -> list[str]:
    """Return where one has arrived: the room, its players, and how to invite others while a seat is free.

    `with_own_name` as for `describe_players`.
    """
    clock = describe_clock(state.time_control)
    verb = "Room" if seat_of(state, viewer) else "Watching room"
    rules = describe_rules(state.rules)
    latency = max(1, round(latency_seconds * 1000))
    terms = ", ".join((rules, clock, *describe_manners(state)))
    lines = [f"Connected, {latency} ms. {verb} {state.room}: {terms}."]
    lines.append(describe_players(state, viewer, with_own_name=with_own_name))
    if state.status == "waiting":
        lines += describe_invitation(state.room, address)
    return lines


def describe_invitation(room: str, address: Address) -> list[str]:
    """Return how others get into the room: its code, its link and the command."""
    command = f"tictactoe-client join {address.word_for(room)}"
    return [f"Code  {room}", f"Link  {address.link_to(room)}", f"Or    {command}"]


def describe_attempts(seconds: float) -> str:
    """Return that the connection is lost, and for how long it is tried to have it again.

    >>> describe_attempts(60), describe_attempts(0)
    ('Connection lost. Trying again for up to 60 seconds.', 'Connection lost. Trying again.')
    """
    whole = round(seconds)
    limit = f" for up to {whole} second{'' if whole == 1 else 's'}" if whole else ""
    return f"Connection lost. Trying again{limit}."


def describe_return(seconds: float) -> str:
    """Return that the connection is back.

    >>> describe_return(3.6)
    'Connected again after 4 seconds.'
    """
    whole = max(1, round(seconds))
    return f"Connected again after {whole} second{'' if whole == 1 else 's'}."


def describe_giving_up(state: RoomState | None, viewer: str, address: Address, reason: str) -> str:
    """Return that the connection did not come back, what that means for the game, and how to try again."""
    if state is None:
        return f"Could not get back: {clean_text(reason)}."
    others = [name_of(state, mark) for mark, seat in state.seats.items() if seat is not None and seat.player != viewer]
    claims = f": {' and '.join(others)} may claim the game" if others and seat_of(state, viewer) else ""
    late = reason == "could not get back in time"
    head = f"Could not get back in time{claims}." if late else f"Could not get back: {clean_text(reason)}."
    return f"{head} Try again: {describe_return_command(state, viewer, address)}"


def describe_going(state: RoomState | None, viewer: str, address: Address) -> str:
    """Return that one goes without a connection, and how a player finds the seat again."""
    if state is None or seat_of(state, viewer) is None:
        return "Goodbye."
    command = describe_return_command(state, viewer, address)
    return f"Your seat is held for a while, as the server could not be told. To come back: {command}"


def describe_return_command(state: RoomState, viewer: str, address: Address) -> str:
    """Return the command that leads back to the seat, or for a watcher to the room."""
    return own_command("join" if seat_of(state, viewer) else "watch", address.word_for(state.room))


def describe_progress(state: RoomState, moves: Sequence[int]) -> list[str]:
    """Return the moves so far in one line, the latest twelve of many; nothing before the first."""
    if state.ply == 0:
        return []
    rules, count = state.rules.to_rules(), state.ply
    head = "1 move has been played" if count == 1 else f"{count} moves have been played"
    told = [f"{state.board[cell]} {format_cell(cell, rules)}" for cell in moves if state.board[cell] not in ".#"]
    if len(told) != count:
        return [f"{head}."]
    dots = "... " if count > _MOST_MOVES_TOLD else ""
    return [f"{head}: {dots}{', '.join(told[-_MOST_MOVES_TOLD:])}."]


def describe_controls(rules: Rules, settings: Settings) -> list[str]:
    """Return how to play in one line."""
    ways = []
    if has_single_keys(rules):
        top = " ".join(format_key(cell, settings.keys) for cell in range(3))
        ways.append("q w e / a s d / z x c" if settings.keys == Keys.LETTERS else f"1-9 ({top} on top)")
    ways.append(f"a column, {name_columns(rules)}" if rules.gravity else "a cell such as b2")
    board = f"{_ask('b', rules, settings)} for the board, " if rules.gravity else ""
    return [f"To play, type {' or '.join(ways)}. {board}{_ask('h', rules, settings)} for help, leave to go."]


def describe_help(state: RoomState, settings: Settings, viewer: str) -> list[str]:
    """Return what the viewer can type on this board and with these options."""
    is_player = seat_of(state, viewer) is not None
    rules = state.rules.to_rules()

    def ask(letter: str, about: str = "") -> str:
        return _ask(letter, rules, settings, about=about) if is_player else f"{letter}{about}"

    return [
        f"Goal: {describe_rules(rules)}.",
        *(_describe_moving(rules, settings) if is_player else []),
        f"Ask: {ask('b')} board, {ask('l')} last move, {ask('f')} free cells, {ask('c')} clocks, "
        f"{ask('o')} who is here.",
        f"Read: {ask('s', ' A')} a column, {ask('s', ' 1')} a row, {ask('s', ' b2')} a cell.",
        f"Look: {ask('a', ' b2')} around a cell, {ask('d', ' b2')} along its diagonals; "
        f"{ask('a')} or {ask('d')} alone: of the last move.",
        f"List: {ask('m')} cells of each mark, {ask('m', ' x')} of one, {ask('r')} rows of marks, moves, moves 6.",
        f"Step: {ask('p')} or back, next, board 5 (after move 5), live (the newest).",
        *(_describe_deeds() if is_player else _describe_watching()),
        *([_OFFERS] if is_player else []),
        "An empty line repeats whose move it is.",
    ]


def _ask(letter: str, rules: Rules, settings: Settings, *, about: str = "") -> str:
    """Return what to type for a question of one letter: with a slash where that would be a move."""
    line = f"{letter}{about}"
    return f"/{line}" if is_move_by_letter(line, rules, settings.keys) else line


def _describe_moving(rules: Rules, settings: Settings) -> list[str]:
    pair = {
        Coordinates.ROW_COLUMN_1: "2,3 (row 2, column 3)",
        Coordinates.ROW_COLUMN_0: "1,2 (row 1, column 2, both from 0)",
        Coordinates.X_Y_1: "3,2 (column 3, row 2)",
    }[settings.coordinates]
    lines = []
    if has_single_keys(rules):
        rows = (" ".join(format_key(row * 3 + column, settings.keys) for column in range(3)) for row in range(3))
        lines.append(f"A move by key: {' / '.join(rows)}, row by row from the top.")
    if rules.gravity:
        return [
            *lines,
            f"A move: a column, {name_columns(rules)}; the mark falls to its lowest free cell. {_COLUMN_CELLS}",
        ]
    return [*lines, f"A move by name: b2 (column B, row 2), or {pair}."]


def _describe_deeds() -> list[str]:
    return [
        "Do: resign, new (another opponent), leave, chat TEXT, draw, undo, claim (when the other one is gone).",
        _MUTING,
        "What gives a running game up asks once: the word again, or yes, does it; anything else plays on.",
        "After the end: rematch, new, leave, save (or save FILE) for the record of the game.",
        "After the end: value what the position is worth, value 5 after the fifth move.",
    ]


def _describe_watching() -> list[str]:
    return [
        "Worth, where no two people play: value what the position is worth, value 5 after the fifth move.",
        _MUTING,
        "Do: chat TEXT, leave; after the end save (or save FILE) for the record of the game.",
    ]


def draw_board(state: RoomState, settings: Settings) -> list[str]:
    """Return the board as plain mode shows it: keys beside it where other than digits from the top were chosen."""
    rules = state.rules.to_rules()
    keys = settings.keys if settings.keys != Keys.PHONE and state.status != "over" else None
    style = BoardStyle(colour=settings.colour, keys=keys, mark_last=not has_single_keys(rules))
    return render_board(BoardView.of(state), style)


def describe_last(state: RoomState, viewer: str) -> str:
    """Return the last move: ``Last: ana played C1, top right.``"""
    if state.last is None:
        return "No move has been played yet."
    mark = state.board[state.last]
    who = "you" if mark == seat_of(state, viewer) else name_of(state, mark)
    return f"Last: {who} played {describe_cell(state.last, state.rules.to_rules())}."


def describe_clocks(state: RoomState) -> str:
    """Return what is left on each clock at the time of the state."""
    if state.clock is None:
        return "There is no clock."
    left = (f"{name_of(state, mark)} {format_duration(ms)}" for mark, ms in state.clock.remaining_ms.items())
    return f"Left: {', '.join(left)}."


def describe_company(state: RoomState, viewer: str, unblamed: Collection[str] = ()) -> str:
    """Return who is here, whether they are online, and how many watch.

    `unblamed` are the marks of those who have been away since a loss of the viewer's own connection: it may have been
    the server that was lost to all.
    """
    parts = []
    for mark, seat in state.seats.items():
        if seat is not None and seat.player == viewer and not seat.left:
            parts.append(f"You are {mark}.")
        elif seat is None:
            parts.append(f"The seat {mark} is free.")
        else:
            away = "is not here" if mark in unblamed else "has dropped"
            presence = "has left" if seat.left else "is online" if seat.online else away
            bot = f" (computer, {clean_text(seat.bot)})" if seat.bot else ""
            parts.append(f"{clean_text(seat.name)}{bot} is {mark} and {presence}.")
    if state.watchers:
        parts.append(f"{state.watchers} watching.")
    return " ".join(parts)


def describe_score(state: RoomState) -> str:
    """Return the games won by each in this room."""
    return f"Score: {describe_tally(state)}."


def answer_query(
    kind: str, state: RoomState, viewer: str, settings: Settings, unblamed: Collection[str] = ()
) -> list[str]:
    """Return the answer to a query of `intents`; `unblamed` as for `describe_company`."""
    if kind == "board":
        return draw_board(state, settings)
    if kind == "last":
        return [describe_last(state, viewer)]
    if kind == "clock":
        return [describe_clocks(state)]
    if kind == "who":
        return [describe_company(state, viewer, unblamed)]
    if kind == "free":
        return [list_free(state, MOST_FREE_CELLS)]
    if kind == "runs":
        return list_runs(state)
    if kind == "help":
        return describe_help(state, settings, viewer)
    return [describe_turn(state, viewer)]
