"""What terminals are told in plain text, and what stands in a page's head: rooms, all games, one that is over. Pure.

Every line fits 80 columns, unless a board is wider.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Final

from tictactoe_engine import Position
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState, RoomSummary, RulesState, SeatState
from tictactoe_protocol.wording import (
    count,
    describe_cell,
    describe_clock,
    describe_manners,
    describe_players,
    describe_reason,
    describe_rules,
    describe_tally,
    describe_turn,
    format_duration,
    name_of,
)
from tictactoe_server.http.drawing import draw_board
from tictactoe_server.rooms import FinishedGame

WIDTH: Final = 80
MOST_LISTED: Final = 20
MOST_BOARDS: Final = 100

TITLE: Final = "Tic-tac-toe and its family"
PRIVATE: Final = "a private game"

_NAMES_WIDTH: Final = 27
_RULES_WIDTH: Final = 24
_LEAST_TILE: Final = 18
_BETWEEN: Final = 2


# -- what stands in a page's head -----------------------------------------------------------------------------------


def head_of_home(games: int) -> tuple[str, str]:
    """Return title and description of the home page; `games` is how many are on."""
    on = {0: "No game is on", 1: "One game is on"}.get(games, f"{games} games are on")
    return TITLE, f"Play against people or the computer, in the browser or a terminal. {on}."


def head_of_wall() -> tuple[str, str]:
    """Return title and description of the wall."""
    return f"All games - {TITLE}", "All public games of this server at once, live."


def head_of_room(state: RoomState) -> tuple[str, str]:
    """Return title and description of a room's page; of a private one it is said only that."""
    if state.visibility != "public":
        return PRIVATE, PRIVATE
    rules = describe_rules(state.rules)
    standing = _describe_standing(state)
    return f"{describe_pairing(_names_of(state.seats))}, {_size_of(state.rules)}", f"{rules}. {standing}"


def head_of_game(game: FinishedGame) -> tuple[str, str]:
    """Return title and description of the page of a game that is over."""
    names = {mark: clean_text(player.name) for mark, player in game.players.items()}
    return f"{describe_pairing(names)}, {_size_of(game.rules)}", f"{describe_outcome(game)} {_day_of(game)}."


def head_of_nothing() -> tuple[str, str]:
    """Return title and description of a page where there is nothing to be seen."""
    return TITLE, "There is nothing under this address, or not any more."


# -- text for terminals ---------------------------------------------------------------------------------------------


def describe_home(on: int, waiting: int, rooms: Sequence[RoomSummary], origin: str) -> list[str]:
    """Return how many games are on and rooms wait, the newest of those that are public, and how to join."""
    wait = "waits" if waiting == 1 else "wait"
    return [
        f"{TITLE}: {count(on, 'game')} on, {count(waiting, 'room')} {wait}.",
        "",
        *map(_row_of, rooms),
        *([""] if rooms else []),
        f"In a browser:    {origin}/",
        f"In a terminal:   tictactoe-client --server {origin}",
        f"A room as text:  curl {origin}/CODE",
        f"All games:       curl {origin}/wall",
    ]


def describe_room(state: RoomState, origin: str, *, is_coloured: bool) -> list[str]:
    """Return a room as plain mode draws it, what there is to be known about it, and how to come in."""
    terms = ", ".join((describe_rules(state.rules), describe_clock(state.time_control), *describe_manners(state)))
    lines = _wrap(f"Room {state.room}: {terms}.")
    lines += ["", *_board_of(state, is_coloured=is_coloured), ""]
    lines += _wrap(describe_players(state, ""))
    if state.clock is not None:
        left = [(mark, ms) for mark, ms in state.clock.remaining_ms.items() if state.seats.get(mark) is not None]
        lines += _wrap(f"Left: {', '.join(f'{name_of(state, mark)} {format_duration(ms)}' for mark, ms in left)}.")
    if state.last is not None:
        who, where = name_of(state, state.board[state.last]), describe_cell(state.last, state.rules.to_rules())
        lines.append(f"Last: {who} played {where}.")
    lines.append(_describe_standing(state))
    if state.game > 1:
        lines += _wrap(f"Score: {describe_tally(state)}.")
    if state.watchers:
        lines.append(f"{count(state.watchers, 'watcher')}.")
    link = f"{origin}/{state.room}"
    verb = "join" if state.status == "waiting" else "watch"
    return [*lines, "", f"In a browser:   {link}", f"In a terminal:  tictactoe-client {verb} {link}"]


def describe_wall(states: Sequence[RoomState], *, is_coloured: bool) -> list[str]:
    """Return the boards of games side by side, as many in a row as there is room for."""
    if not states:
        return ["No public game is on."]
    lines: list[str] = []
    row: list[list[tuple[str, int]]] = []
    used = 0
    for state in states:
        tile, width = _tile_of(state, is_coloured=is_coloured)
        if row and used + _BETWEEN + width > WIDTH:
            lines += [*_side_by_side(row), ""]
            row, used = [], 0
        row.append([(line, width) for line in tile])
        used += width + (_BETWEEN if used else 0)
    return [*lines, *_side_by_side(row)]


def describe_game(game: FinishedGame, link: str, *, is_coloured: bool) -> list[str]:
    """Return the last position of a game that is over, who played it and how it ended."""
    rules, line = game.rules, game.result.line
    position = Position.replay(rules.to_rules(), game.moves, game.passed)
    last = position.last
    drawn = draw_board(position.board, rules.columns, rules.marks, last=last, line=line, is_coloured=is_coloured)
    names = {mark: clean_text(player.name) for mark, player in game.players.items()}
    return [
        *_wrap(f"{', '.join(f'{name} is {mark}' for mark, name in names.items())}: {describe_rules(rules)}."),
        "",
        *drawn,
        "",
        f"{describe_outcome(game)} {_day_of(game)}.",
        "",
        f"In a browser:    {link}",
        f"As a record:     curl {link}.txt",
    ]


def describe_outcome(game: FinishedGame) -> str:
    """Return how a game ended: ``ana wins by a line after 5 moves.``"""
    result = game.result
    player = game.players.get(result.winner) if result.winner is not None else None
    what = "A draw" if player is None else f"{clean_text(player.name)} wins"
    return f"{what} {describe_reason(result.reason)} after {count(len(game.moves), 'move')}."


def describe_pairing(names: Mapping[str, str]) -> str:
    """Return who plays whom.

    >>> describe_pairing({"X": "ana", "O": "bo"}), describe_pairing({"X": "ana"}), describe_pairing({})
    ('ana v bo', 'ana', 'nobody yet')
    """
    return " v ".join(names.values()) or "nobody yet"


def shorten(text: str, width: int) -> str:
    """Return a text of at most so many columns of a terminal, with its end cut off where it has more.

    >>> shorten("a name", 6), shorten("a longer name", 6), shorten("\u4e09\u76ee\u4e26\u3079", 6)
    ('a name', 'a lon~', '\u4e09\u76ee~')
    """
    if width_of(text) <= width:
        return text
    while width_of(text) > width - 1:
        text = text[:-1]
    return f"{text}~"


def width_of(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) > 0 for character in text)


# -- inside ---------------------------------------------------------------------------------------------------------


def _describe_standing(state: RoomState) -> str:
    """Return whose move it is, or how the game ended."""
    result = state.result
    if result is None:
        return describe_turn(state, "")
    how = describe_reason(result.reason)
    if result.winner is None:
        return f"The game is over: {'nobody wins' if result.reason == 'aborted' else 'a draw'} {how}."
    return f"The game is over: {name_of(state, result.winner)}, {result.winner}, wins {how}."


def _board_of(state: RoomState, *, is_coloured: bool) -> list[str]:
    line = state.result.line if state.result is not None else ()
    rules = state.rules
    return draw_board(state.board, rules.columns, rules.marks, last=state.last, line=line, is_coloured=is_coloured)


def _row_of(room: RoomSummary) -> str:
    names = shorten(describe_pairing(_names_of(room.seats)), _NAMES_WIDTH)
    rules = shorten(room.rules.preset or describe_rules(room.rules), _RULES_WIDTH)
    gap = " " * (_NAMES_WIDTH - width_of(names))
    row = f"{room.room}  {room.status:<7}  {names}{gap}  {rules:<{_RULES_WIDTH}}  {count(room.ply, 'move')}"
    return shorten(row, WIDTH)


def _tile_of(state: RoomState, *, is_coloured: bool) -> tuple[list[str], int]:
    """Return a board under its room and players, and how wide that is."""
    plain = _board_of(state, is_coloured=False)
    width = max(_LEAST_TILE, *map(len, plain))
    names = shorten(describe_pairing(_names_of(state.seats)), width)
    drawn = _board_of(state, is_coloured=True) if is_coloured else plain
    padded = [line + " " * (width - len(bare)) for line, bare in zip(drawn, plain, strict=True)]
    status = state.room if state.result is None else f"{state.room} over"
    return [status.ljust(width), names + " " * (width - width_of(names)), *padded], width


def _side_by_side(tiles: Sequence[Sequence[tuple[str, int]]]) -> list[str]:
    """Return tiles in one row; each line of one comes with its width."""
    blanks = [(" " * tile[0][1]) for tile in tiles]
    rows = zip_longest(*([line for line, _ in tile] for tile in tiles))
    return [
        (" " * _BETWEEN).join(blank if line is None else line for line, blank in zip(row, blanks, strict=True)).rstrip()
        for row in rows
    ]


def _names_of(seats: Mapping[str, SeatState | None]) -> dict[str, str]:
    return {mark: clean_text(seat.name) for mark, seat in seats.items() if seat is not None}


def _size_of(rules: RulesState) -> str:
    return f"{rules.rows}x{rules.columns}"


def _day_of(game: FinishedGame) -> str:
    return datetime.fromtimestamp(game.at // 1000, UTC).strftime("%Y-%m-%d")


def _wrap(text: str) -> list[str]:
    """Return a text in lines of at most 80 columns, broken between words."""
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and width_of(lines[-1]) + 1 + width_of(word) > WIDTH:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return lines
