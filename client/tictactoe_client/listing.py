"""The list of rooms as lines for people; pure."""

from __future__ import annotations

from collections.abc import Sequence

from tictactoe_client.wording import describe_clock, describe_rules, format_duration
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomSummary


def list_rooms(rooms: Sequence[RoomSummary], *, numbered: bool = False) -> list[str]:
    """Return one line a room in aligned columns, with a number before each for choosing; empty for no rooms.

    The age of the room stands last.
    """
    table = [
        (
            *((f"{number}.",) if numbered else ()),
            room.room,
            _describe_status(room),
            describe_rules(room.rules),
            _describe_seats(room),
            describe_clock(room.clock),
            format_duration(room.age_ms),
        )
        for number, room in enumerate(rooms, 1)
    ]
    widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]


def _describe_status(room: RoomSummary) -> str:
    if room.status == "playing":
        return "1 move" if room.ply == 1 else f"{room.ply} moves"
    return room.status


def _describe_seats(room: RoomSummary) -> str:
    seats = (f"{clean_text(seat.name)} ({mark})" if seat else f"free ({mark})" for mark, seat in room.seats.items())
    return " v ".join(seats)
