"""Finished games as rows of a table that fits: where there is little room, the less telling goes first. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from typing import Final

from tictactoe_client.text.lists import describe_outcome, format_date
from tictactoe_client.tui.picture import measure, shorten
from tictactoe_client.tui.room_list import short_rules
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import PastGame

_TITLES: Final = {
    "number": "#",
    "date": "ended",
    "game": "game",
    "against": "against",
    "result": "result",
    "moves": "moves",
}
_GAP: Final = 2
_NARROW: Final = 8
_DAY: Final = len("2030-12-31")


def lay_out_games(
    games: Sequence[PastGame], viewer: str, width: int, zone: tzinfo | None = None
) -> tuple[str, list[str]]:
    """Return the line above and one line a game, none wider than so many cells; dates are in the zone.

    Too little room takes the time of day first, then long names, then why a game was won, at last the moves.
    """
    table = {
        "number": [f"{number}." for number in range(1, len(games) + 1)],
        "date": [format_date(game.at, zone) for game in games],
        "game": [clean_text(game.rules.preset or short_rules(game.rules)) for game in games],
        "against": [_name_opponents(game, viewer) for game in games],
        "result": [describe_outcome(game, viewer) for game in games],
        "moves": [str(game.moves) for game in games],
    }
    if _excess(table, width) > 0:
        table["date"] = [date[:_DAY] for date in table["date"]]
    _narrow(table, "against", width)
    if _excess(table, width) > 0:
        table["result"] = [result.partition(" ")[0] for result in table["result"]]
    _narrow(table, "game", width)
    for name in ("moves", "date"):
        if _excess(table, width) > 0:
            del table[name]
    widths = {name: _width_of(name, cells) for name, cells in table.items()}
    rows = [_join({name: cells[row] for name, cells in table.items()}, widths, width) for row in range(len(games))]
    return _join({name: _TITLES[name] for name in table}, widths, width), rows


def _name_opponents(game: PastGame, viewer: str) -> str:
    others = [player.name for player in game.players.values() if player.player != viewer]
    return clean_text(", ".join(others)) or "-"


def _narrow(table: dict[str, list[str]], name: str, width: int) -> None:
    """Cut a column by as much as is missing, but leave something of it."""
    excess = _excess(table, width)
    if excess > 0:
        room = max(_NARROW, _width_of(name, table[name]) - excess)
        table[name] = [shorten(cell, room) for cell in table[name]]


def _excess(table: dict[str, list[str]], width: int) -> int:
    columns = sum(_width_of(name, cells) for name, cells in table.items())
    return columns + _GAP * (len(table) - 1) - width


def _width_of(name: str, cells: Sequence[str]) -> int:
    return max(measure(_TITLES[name]), *map(measure, cells), 0)


def _join(cells: dict[str, str], widths: dict[str, int], width: int) -> str:
    padded = []
    for name, cell in cells.items():
        margin = " " * (widths[name] - measure(cell))
        padded.append(f"{margin}{cell}" if name in ("number", "moves") else f"{cell}{margin}")
    return shorten((" " * _GAP).join(padded).rstrip(), width)
