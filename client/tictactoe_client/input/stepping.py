"""Stepping back through the game on the table, in plain mode: a board of before, while the game goes on. Pure.

The words are those of `replay`; which moment one looks at is remembered here, None for the present.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from tictactoe_client.input.intents import Look
from tictactoe_client.settings import Settings
from tictactoe_client.text.choices import OfferKind, open_offers
from tictactoe_client.text.guide import draw_board
from tictactoe_client.text.wording import describe_cell, describe_turn, name_of
from tictactoe_protocol.pushes import RoomState


class Stepping:
    """Where one person looks, in one game after another."""

    def __init__(self, settings: Settings, viewer: str = "") -> None:
        self._settings = settings
        self._viewer = viewer
        self._offers: set[OfferKind] = set()
        self._came_meanwhile: set[OfferKind] = set()
        self._game = 0
        self._ply: int | None = None

    def follow(self, state: RoomState) -> None:
        """Take note of the offers of a state that is told: which of them came while one looked back."""
        offers = set(open_offers(state, self._viewer))
        came, self._offers = offers - self._offers, offers
        self._came_meanwhile &= offers
        if self._is_back(state):
            self._came_meanwhile |= came

    def is_n_a_step(self, state: RoomState) -> bool:
        """Tell whether ``n`` goes a move on, whatever was asked: one looks back, or did when an open offer came."""
        return self._is_back(state) or bool(self._came_meanwhile)

    def _is_back(self, state: RoomState) -> bool:
        return self._ply is not None and self._game == state.game and self._ply < state.ply

    def look(self, look: Look, state: RoomState, moves: Sequence[int]) -> list[str]:
        """Go where the words say, and return what is to be seen there; `moves` are all cells of the game in order."""
        count = len(moves)
        if self._game != state.game or (self._ply is not None and self._ply > count):
            self._game, self._ply = state.game, None
        there = self._find(look, count)
        if there > count:
            if look.kind == "at":
                return [f"There is no move {there}: 0 to {count}."]
            return ["This is the latest move: p goes back."]
        if there < 0:
            return ["This is the start: n goes on."]
        self._ply = None if there == count else there
        lines = [_describe_moment(state, moves, there)]
        if look.kind == "at" or self._settings.draws_board:
            lines += draw_board(state if there == count else rewind(state, moves[:there]), self._settings)
        return [*lines, describe_turn(state, self._viewer)] if look.kind == "live" else lines

    def _find(self, look: Look, count: int) -> int:
        if look.kind == "live":
            return count
        return look.number if look.kind == "at" else (count if self._ply is None else self._ply) + look.number


def rewind(state: RoomState, moves: Sequence[int]) -> RoomState:
    """Return the state with the board as it was after these of its moves."""
    board = "".join(mark if cell in moves or mark in ".#" else "." for cell, mark in enumerate(state.board))
    return replace(state, board=board, ply=len(moves), last=moves[-1] if moves else None, result=None, turn=None)


def _describe_moment(state: RoomState, moves: Sequence[int], ply: int) -> str:
    if ply == 0:
        return "The start."
    cell = moves[ply - 1]
    who, where = name_of(state, state.board[cell]), describe_cell(cell, state.rules.to_rules())
    return f"Move {ply} of {len(moves)}: {who} plays {where}."
