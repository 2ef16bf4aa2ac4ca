"""The names and ids of people in public views, which can be hidden."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from msgspec.structs import replace

from tictactoe_protocol.pushes import LiveBoard, RoomState, RoomSummary, SeatState, is_server_bot
from tictactoe_server.rooms.finished import FinishedGame, Participant
from tictactoe_server.rooms.view import RoomListing

Shown = TypeVar("Shown", RoomSummary, RoomState, FinishedGame)
Holder = TypeVar("Holder", SeatState, Participant)


class NameMask:
    """Replaces people's names and ids with their marks in public views, if the settings hide names."""

    def __init__(self, *, hides_names: bool) -> None:
        self._hides_names = hides_names

    def public(self, one: Shown) -> Shown:
        if not self._hides_names:
            return one
        if isinstance(one, FinishedGame):
            return replace(one, players=by_marks(one.players))
        seats = by_marks(one.seats)
        if isinstance(one, RoomSummary):
            return replace(one, seats=seats)
        pairs = zip(one.seats.values(), seats.values(), strict=True)
        ids = {"draws": "draws"} | {seat.player: shown.player for seat, shown in pairs if seat and shown}
        return replace(one, seats=seats, score={ids[id]: won for id, won in one.score.items() if id in ids})

    def public_board(self, listed: RoomListing, board: LiveBoard) -> LiveBoard:
        if not self._hides_names:
            return board
        seats = by_marks(listed.room.seats)
        return replace(board, names={mark: seat.name for mark, seat in seats.items() if seat is not None})


def by_marks(seats: Mapping[str, Holder | None]) -> dict[str, Holder | None]:
    """Return seats with marks in place of people's names and ids."""
    return {
        mark: seat if seat is None or is_server_bot(seat.bot) else replace(seat, player=mark, name=mark)
        for mark, seat in seats.items()
    }
