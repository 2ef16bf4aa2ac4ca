"""The terms of a room: how its games are played and what they count for."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from tictactoe_protocol.codes import EVENT_DRAW_PLY


class Terms(Struct, frozen=True):
    """The terms of a room; the defaults are for casual games."""

    name: str = ""  # begins the reasons of refusals, as in "event draw"
    is_counted: bool = True  # by the limits of the room's owner and players
    is_kept: bool = False  # it has a code of its own and stays until its event closes it
    is_assigned: bool = False  # its event sets the players and their names
    absence: Literal["excused", "loses"] = "excused"
    """If "excused", an absent player has time for a first move while the seat is held, and after the hold loses only
    by the opponent's claim. If "loses", the end of the time for a first move or of the hold loses the game.
    """

    is_aborted: bool = True  # a game that ends before each player has moved does not count
    stands_still: bool = False  # after a start of the server, time stands still until `GoOn`
    draw_from: int = 0  # the number of moves before a draw may be offered
    undo: bool = True  # moves may be taken back
    rematch: bool = True  # another game may follow
    hints: bool = True  # watchers of a game against a bot may have it analysed


USUAL: Final = Terms()

TOURNAMENT: Final = Terms(
    name="event",
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
"""The terms of a room of an event: one game between two players, always with a result."""

RATED: Final = Terms(name="rated", draw_from=EVENT_DRAW_PLY, undo=False, rematch=False)
