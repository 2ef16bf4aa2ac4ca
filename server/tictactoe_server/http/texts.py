"""Text about rooms and games for terminals and for the heads of pages, and CSV for spreadsheets.

Lines for terminals fit into 80 columns unless a board is wider. Boards show the last move as ``(O)`` and a winning line
as ``<X X X>``.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from io import StringIO
from itertools import zip_longest
from typing import Final

from rich.cells import cell_len, set_cell_size

from tictactoe_engine import BLOCKED, FREE, Rules, format_column, number_row
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import PastPlayer, RoomState, RoomSummary, SeatState
from tictactoe_protocol.terms import RulesState
from tictactoe_server.http.branding import DEFAULT, Branding
from tictactoe_server.rooms.finished import FinishedGame, final_position
from tictactoe_words.openings import mover_of
from tictactoe_words.wording import (
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

WIDTH: Final = 80
MOST_LISTED: Final = 20
MOST_BOARDS: Final = 100

ROBOTS: Final = (
    *(f"User-agent: {name}" for name in ("Twitterbot", "facebookexternalhit", "LinkedInBot", "Slackbot-LinkExpanding")),
    "Allow: /",
    "",
    *("User-agent: *", "Allow: /$", "Disallow: /"),
)
"""The file robots.txt: link previews may read any page, search engines only the home page."""

TITLE: Final = "Tic-tac-toe and its family"
PRIVATE: Final = "a private game"
HEAD_OF_SITE: Final = (TITLE, "Play against people or the computer, in the browser or a terminal.")
HEAD_OF_WALL: Final = (f"All games - {TITLE}", "All public games of this server at once, live.")
HEAD_OF_NOTHING: Final = (TITLE, "This page does not exist, or no longer exists.")

Seated = Mapping[str, SeatState | None] | Mapping[str, PastPlayer]
"""The players in a room or in a finished game, by their marks."""

_NAMES_WIDTH: Final = 27
_RULES_WIDTH: Final = 24
_LEAST_TILE: Final = 18
_COLOURS: Final = (36, 33, 35, 32, 34, 31)
_COLOURING: Final = re.compile("\x1b\\[\\d*m")
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def head_of_home(games: int) -> tuple[str, str]:
    title, description = HEAD_OF_SITE
    on = {0: "No game is on", 1: "One game is on"}.get(games, f"{games} games are on")
    return title, f"{description} {on}."


def head_of_room(state: RoomState) -> tuple[str, str]:
    """Return a room's title and description, which reveal nothing about a private room."""
    if state.visibility != "public":
        return PRIVATE, PRIVATE
    description = f"{describe_rules(state.rules)}. {describe_standing(state)}"
    return _describe_table(state.seats, state.rules), description


def head_of_game(game: FinishedGame) -> tuple[str, str]:
    return _describe_table(game.players, game.rules), describe_outcome(game)


def describe_home(
    on: int, waiting: int, rooms: Sequence[RoomSummary], origin: str, branding: Branding = DEFAULT
) -> list[str]:
    """Return the lines of the home page as text: the branding, the public rooms, and how to join.

    Args:
        on: The number of games in progress.
        waiting: The number of rooms that wait for players.
        origin: The prefix of links to this server.
    """
    wait = "waits" if waiting == 1 else "wait"
    return [
        f"{branding.title or TITLE}: {count(on, 'game')} on, {count(waiting, 'room')} {wait}.",
        "",
        *(part for line in branding.greeting.splitlines() for part in wrap(line)),
        *([""] if branding.greeting else []),
        *map(_row_of, rooms),
        *([""] if rooms else []),
        f"In a browser:    {origin}/",
        f"In a terminal:   tictactoe-client --server {origin}/",
        f"A room as text:  curl {origin}/CODE",
        f"All games:       curl {origin}/wall",
        *([f"Imprint:         {branding.imprint}"] if branding.imprint else []),
    ]


def describe_room(state: RoomState, origin: str, *, is_coloured: bool) -> list[str]:
    """Return the lines of a room's page as text: the board, details, and how to join."""
    terms = ", ".join((describe_rules(state.rules), describe_clock(state.time_control), *describe_manners(state)))
    lines = wrap(f"Room {state.room}: {terms}.")
    lines += ["", *board_of(state, is_coloured=is_coloured), "", *filter(None, wrap(describe_players(state, "")))]
    if state.clock is not None:
        left = [(mark, ms) for mark, ms in state.clock.remaining_ms.items() if state.seats.get(mark) is not None]
        lines += wrap(f"Left: {', '.join(f'{name_of(state, mark)} {format_duration(ms)}' for mark, ms in left)}.")
    if state.last is not None:
        mover, where = name_of(state, mover_of(state)), describe_cell(state.last, state.rules.to_rules())
        lines.append(f"Last: {mover} played {where}.")
    lines.append(describe_standing(state))
    if state.game > 1:
        lines += wrap(f"Score: {describe_tally(state)}.")
    if state.watchers:
        lines.append(f"{count(state.watchers, 'watcher')}.")
    link = f"{origin}/{state.room}"
    verb = "join" if state.status == "waiting" else "watch"
    return [*lines, "", f"In a browser:   {link}", f"In a terminal:  tictactoe-client {verb} {link}"]


def describe_wall(states: Sequence[RoomState], *, is_coloured: bool) -> list[str]:
    """Return the lines of the page with all games as text: boards side by side."""
    if not states:
        return ["No public game is on."]
    rows: list[list[tuple[int, list[str]]]] = []
    used = WIDTH
    for state in states:
        board = board_of(state, is_coloured=is_coloured)
        width = max(_LEAST_TILE, *map(_width_of, board))
        status = state.room if state.result is None else f"{state.room} over"
        if used + 2 + width > WIDTH:
            rows.append([])
            used = -2
        rows[-1].append((width, [status, _describe_pairing(state.seats), *board]))
        used += 2 + width
    lines = list[str]()
    for row in rows:
        widths = [width for width, _ in row]
        beside = zip_longest(*(tile for _, tile in row), fillvalue="")
        lines += ["", *("  ".join(map(fill, line, widths)).rstrip() for line in beside)]
    return lines[1:]


def describe_game(game: FinishedGame, link: str, *, is_coloured: bool) -> list[str]:
    """Return the lines of a finished game's page as text: the players, the final position and the result."""
    rules, position = game.rules, final_position(game)
    players = ", ".join(f"{name} is {mark}" for mark, name in names_of(game.players).items() if name != mark)
    return [
        *wrap(f"{players}{': ' if players else ''}{describe_rules(rules)}."),
        "",
        *_draw_board(position.board, position.rules, position.last, game.result.line, is_coloured=is_coloured),
        "",
        describe_outcome(game),
        "",
        f"In a browser:    {link}",
        f"As a record:     curl {link}.txt",
    ]


def describe_outcome(game: FinishedGame) -> str:
    """Return a game's result, such as ``ana wins by a line after 5 moves. 2026-01-31.``"""
    winner = names_of(game.players).get(game.result.winner or "")
    outcome = "A draw" if winner is None else f"{winner} wins"
    day = datetime.fromtimestamp(game.at // 1000, UTC).strftime("%Y-%m-%d")
    return f"{outcome} {describe_reason(game.result.reason)} after {count(len(game.moves), 'move')}. {day}."


def describe_standing(state: RoomState) -> str:
    """Return a sentence that says whose turn it is or how the game ended."""
    result = state.result
    if result is None:
        return describe_turn(state, "")
    how = describe_reason(result.reason)
    if result.winner is None:
        return f"The game is over: {'nobody wins' if result.reason == 'aborted' else 'a draw'} {how}."
    return f"The game is over: {name_of(state, result.winner)}, {result.winner}, wins {how}."


def _describe_table(held: Seated, rules: RulesState) -> str:
    return f"{_describe_pairing(held)}, {rules.rows}x{rules.columns}"


def _describe_pairing(held: Seated) -> str:
    """Return the players' names, such as ``ana v bo``."""
    return " v ".join(names_of(held).values()) or "nobody yet"


def names_of(held: Seated) -> dict[str, str]:
    return {mark: clean_text(player.name) for mark, player in held.items() if player is not None}


def board_of(state: RoomState, *, is_coloured: bool) -> list[str]:
    line = state.result.line if state.result is not None else ()
    return _draw_board(state.board, state.rules.to_rules(), state.last, line, is_coloured=is_coloured)


def _draw_board(
    board: str, rules: Rules, last: int | None, line: Collection[int] = (), *, is_coloured: bool = False
) -> list[str]:
    """Return the lines of a board as the client's plain mode draws it, but without trailing spaces.

    The cells in `line` are highlighted or, if it is empty, the cell `last`. ANSI colours are optional.

    >>> print("\\n".join(_draw_board("X...O....", Rules(), 4)))
       A B C
    1  X . .
    2  .(O).
    3  . . .
    >>> print("\\n".join(_draw_board("XXXOO....", Rules(), 2, (0, 1, 2))))
       A B C
    1 <X X X>
    2  O O .
    3  . . .
    """
    rows, columns, marks = rules.rows, rules.columns, rules.marks
    margin, names = len(str(rows)), [format_column(column) for column in range(columns)]
    tall = len(names[-1])
    drawn = [" " * (margin + 2) + " ".join(name.rjust(tall)[level] for name in names) for level in range(tall)]
    signs = {}
    if is_coloured:
        signs = {mark: f"\x1b[{_COLOURS[at % len(_COLOURS)]}m{mark}\x1b[0m" for at, mark in enumerate(marks)}
        signs |= {sign: f"\x1b[2m{sign}\x1b[0m" for sign in (FREE, BLOCKED)}
    strong: set[int | None] = {*line} or {last}
    opening, closing = "<>" if line else "()"
    for row in range(rows):
        text = f"{number_row(row, rules):>{margin}} "
        for cell in range(row * columns, (row + 1) * columns):
            is_first, sign = cell % columns == 0, signs.get(board[cell], board[cell])
            before = not is_first and cell - 1 in strong
            if cell in strong:
                text += (" " if before else opening) + ("\x1b[1m" if is_coloured else "") + sign
            else:
                text += (closing if before else " ") + sign
        drawn.append(f"{text}{closing if cell in strong else ''}".rstrip())
    return drawn


def _row_of(room: RoomSummary) -> str:
    names = fill(_describe_pairing(room.seats), _NAMES_WIDTH)
    rules = shorten(room.rules.preset or describe_rules(room.rules), _RULES_WIDTH)
    row = f"{room.room}  {room.status:<7}  {names}  {rules:<{_RULES_WIDTH}}  {count(room.ply, 'move')}"
    return shorten(row, WIDTH)


def _width_of(text: str) -> int:
    """Return a text's width in terminal columns, ignoring colour codes."""
    return cell_len(_COLOURING.sub("", text))


def shorten(text: str, width: int) -> str:
    """Return a text; if it is wider than `width` columns, its end is replaced by ``~``.

    >>> shorten("a name", 6), shorten("a longer name", 6), shorten("\u4e09\u76ee\u4e26\u3079", 6)
    ('a name', 'a lon~', '\u4e09\u76ee~')
    """
    return text if _width_of(text) <= width else f"{set_cell_size(text, width - 1).rstrip()}~"


def fill(text: str, width: int) -> str:
    """Return a text padded or shortened to exactly `width` columns."""
    text = shorten(text, width)
    return text + " " * (width - _width_of(text))


def wrap(text: str) -> list[str]:
    """Return a text as lines of at most 80 columns."""
    first, *words = text.split(" ")
    lines = [first]
    for word in words:
        if _width_of(longer := f"{lines[-1]} {word}") > WIDTH:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def format_csv(rows: Iterable[Sequence[object]], *, has_semicolons: bool = False) -> bytes:
    """Return rows as CSV in UTF-8 with a byte order mark. Texts that look like formulas are escaped.

    If `has_semicolons` is True, semicolons separate the cells, and numbers have decimal commas, because a German Excel
    would read 1.5 as a date.
    """

    def format_cell(cell: object) -> object:
        if isinstance(cell, str) and cell.startswith(_FORMULA):
            return f"'{cell}"
        return str(cell).replace(".", ",") if has_semicolons and isinstance(cell, float) else cell

    text = StringIO()
    csv.writer(text, delimiter=";" if has_semicolons else ",").writerows(map(format_cell, row) for row in rows)
    return text.getvalue().encode("utf-8-sig")
