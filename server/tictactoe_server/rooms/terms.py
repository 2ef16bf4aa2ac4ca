"""The terms of a room: what whoever opens it chooses about how its games are played and for whom it counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from tictactoe_protocol.codes import EVENT_DRAW_PLY


class Terms(Struct, frozen=True):
    """What a room is for decides; the defaults are those of rooms that players open.

    They are not stored: they follow from what the room was opened for (see `terms_of`).
    """

    refusals: Mapping[str, str] = {}  # why what these terms do not allow is refused, see `docs/protocol/sentences.md`
    is_counted: bool = True  # for the limits of who opens the room, and of those who sit there
    is_kept: bool = False  # it is opened under its own code or not at all, and stays until whoever opened it lets go
    is_assigned: bool = False  # who sits where, and by what name, is said from outside; nobody else takes a seat
    absence: Literal["excused", "loses"] = "excused"
    """Whether who is away has time for a first move while their seat is held, and loses only when the opponent claims
    that after the hold; or loses when the time for a first move is over, or the hold, as when a clock runs out.
    """

    is_aborted: bool = True  # a game that is given up before everybody has moved, so that it counts for nobody
    stands_still: bool = False  # after a start of the server time does, until it is told to go on
    draw_from: int = 0  # after how many moves a draw may be offered
    undo: bool = True  # a move may be taken back
    rematch: bool = True  # another game may follow
    hints: bool = True  # those who watch somebody play a bot may have the running game analysed


USUAL: Final = Terms()

TOURNAMENT: Final = Terms(
    refusals={
        "claim": "event claim",
        "draw": "event draw",
        "rematch": "event rematch",
        "seat": "event",
        "undo": "event undo",
    },
    is_counted=False,
    is_kept=True,
    is_assigned=True,
    absence="loses",
    is_aborted=False,
    stands_still=True,
    draw_from=EVENT_DRAW_PLY,
    undo=False,
    rematch=False,
    hints=False,
)
"""Of a game of an event: it is played once, by its two alone, and always comes to a result."""


RATED: Final = Terms(
    refusals={"draw": "rated draw", "rematch": "rated rematch", "undo": "rated undo"},
    draw_from=EVENT_DRAW_PLY,
    undo=False,
    rematch=False,
)
"""Of a rated game: it is played once, and what was played counts."""


def terms_of(event: str, *, rated: bool = False) -> Terms:
    """Return the terms of a room: by the code of the event that it was opened for, empty for none."""
    return TOURNAMENT if event else RATED if rated else USUAL
