"""Which moves were taken back between two states of a game, and by whom, in a sentence. Pure.

A state does not tell it: it shows in what the board lacks, and in the request that stood open before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tictactoe_client.text.company import say_who
from tictactoe_engine import format_cell
from tictactoe_protocol.pushes import RoomState

MOST_NAMED: Final = 6
"""How many moves that were taken back are told by their names."""


def announce_taken_back(
    old: RoomState, new: RoomState, viewer: str, kept: int, before: Sequence[int] | None
) -> list[str]:
    """Return which moves were taken back and who had asked for it, as far as it is known; nothing where none were."""
    count = old.ply - kept
    if count <= 0:
        return []
    if count > MOST_NAMED:
        return [f"The last {count} moves are taken back."]
    cells, asker = _cells_taken_back(old, new, kept, before), old.offers.undo
    named = [format_cell(cell, new.rules.to_rules()) for cell in cells]
    names = " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
    if names and asker is not None and new.seq <= old.seq + 1:
        return [say_who(new, asker, f"take{{}} back {names}", viewer)]
    if names:
        return [f"{names} {'is' if count == 1 else 'are'} taken back."]
    return ["The last move is taken back." if count == 1 else f"The last {count} moves are taken back."]


def _cells_taken_back(old: RoomState, new: RoomState, kept: int, before: Sequence[int] | None) -> tuple[int, ...]:
    """Return the cells that were taken back in the order in which they were played; none where that is not known."""
    count = old.ply - kept
    if before is not None and len(before) == old.ply:
        return tuple(before[kept:])
    cleared = [cell for cell, mark in enumerate(old.board) if mark not in ".#" and mark != new.board[cell]]
    if len(cleared) != count or count > 2 or old.last not in cleared:
        return ()
    return tuple(sorted(cleared, key=lambda cell: cell == old.last))
