"""Requests that name the game and the position that they are meant for: once done they are not done again.

A room remembers for each of them from which position it took effect. Where moves were taken back since and that
position was reached anew, it is forgotten, as it may be another one.
"""

from __future__ import annotations

from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_protocol import ErrorCode
from tictactoe_protocol.requests import Draw, Rematch, Undo
from tictactoe_server.rooms.player import Refused
from tictactoe_server.rooms.room import Room


def has_begun(room: Room, request: Rematch) -> bool:
    """Tell whether the game after the one that is named has begun: everybody has agreed to it."""
    return request.game is not UNSET and request.game < room.game


def is_done(room: Room, mark: str, request: Draw | Undo) -> bool:
    """Tell whether this very request took effect already."""
    return request.game == room.game and room.asked.get(_key(mark, request)) == request.ply


def note(before: Room, after: Room, mark: str, request: Draw | Undo) -> Room:
    """Return the room in which a request is done, where it names game and position; `after` is what it made of it."""
    if request.game is UNSET or request.ply is UNSET:
        return after
    return replace(after, seq=before.seq + 1, asked={**after.asked, _key(mark, request): request.ply})


def forget_reached(asked: dict[str, int], ply: int) -> dict[str, int]:
    """Return what is remembered once a move has led to the position `ply`."""
    return {key: at for key, at in asked.items() if at != ply}


def check_game(room: Room, request: Draw | Undo | Rematch) -> None:
    """Refuse what is meant for another game."""
    if request.game is not UNSET and request.game != room.game:
        message = f"You meant game {request.game}, but this is game {room.game}: look again."
        raise Refused(ErrorCode.STALE, message, path="game")


def check_ply(room: Room, request: Draw | Undo) -> None:
    """Refuse what is meant for another position."""
    played = room.position.ply
    if request.ply is not UNSET and request.ply != played:
        message = f"You meant the position after {request.ply} moves, but {played} lie on the board: look again."
        raise Refused(ErrorCode.STALE, message, path="ply")


def _key(mark: str, request: Draw | Undo) -> str:
    return f"{mark} {request.__struct_config__.tag} {request.action}"
