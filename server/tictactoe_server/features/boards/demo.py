"""Recorded games between bots, shown on the first page while no other game is running.

A demo game is not in a room: it is not listed, counted or stored, and cannot be joined.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, repeat
from typing import Final

from msgspec import UNSET

from tictactoe_engine import PRESETS, Position
from tictactoe_protocol.pushes import LiveBoard, Result
from tictactoe_server.rooms.view import live_board

_CONNECT_FOUR: Final = (
    *(38, 31, 24, 17, 10, 3, 39, 40, 32, 25, 18, 36, 11, 33, 41),
    *(26, 19, 12, 29, 4, 22, 5, 15, 8, 37, 30, 23, 16, 9, 2),
)
_GOMOKU: Final = (
    *(112, 84, 126, 99, 154, 140, 114, 100, 111, 113, 141, 96, 156),
    *(171, 157, 98, 97, 101, 102, 155, 125, 142, 83, 69, 139),
)
_FOUR: Final = (6, 9, 10, 5, 1, 12, 3, 15, 2, 14, 0)
GAMES: Final = {"connect-four": _CONNECT_FOUR, "gomoku": _GOMOKU, "four": _FOUR}
"""The cells of the games, each of which ends with a line, by name of the preset."""
_OVER_BOARDS: Final = 6  # how often the last board of a game is shown


def play_demos() -> Iterator[LiveBoard]:
    """Yield the boards of one game after another, without end. Each game begins in the middle."""
    for game, (preset, cells) in enumerate(cycle(GAMES.items()), 1):
        end = Position.replay(PRESETS[preset], cells)
        winner = end.outcome and end.outcome.winner
        names = {mark: "hard-bot" if mark == winner else "medium-bot" for mark in end.rules.marks}
        for position in map(end.at, range(end.ply // 2, end.ply + 1)):
            outcome = position.outcome
            result = UNSET if outcome is None else Result(outcome.winner, outcome.reason, outcome.line)
            board = live_board(position, room="", game=game, turn=position.turn, names=names, result=result)
            yield from repeat(board, 1 if outcome is None else _OVER_BOARDS)
