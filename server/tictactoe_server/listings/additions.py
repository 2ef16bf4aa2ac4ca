"""Fields that services add to `welcome` and to the rows of the lobby, and the hiding of people's names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import structlog
from msgspec import UNSET, Raw
from msgspec.structs import replace

from tictactoe_protocol import encode
from tictactoe_protocol.pushes import LiveBoard, RoomState, RoomSummary, SeatState, is_server_bot
from tictactoe_server.listings.listed import Listed
from tictactoe_server.records.tables import Account
from tictactoe_server.rooms.finished import FinishedGame, Participant
from tictactoe_server.storage.store import StoreUnavailable

log: Final = structlog.get_logger(__name__)

Shown = TypeVar("Shown", RoomSummary, RoomState, FinishedGame)
Held = TypeVar("Held", SeatState, Participant)


class Additions:
    """The functions that make added fields, and whether people's names are hidden; a field that fails is left out.

    Attributes:
        welcome: Each returns a field of `welcome` for a player's account, UNSET for none; by the field's name.
        rows: Each returns fields of a room's row in the lobby by their names.
    """

    def __init__(self, *, hides_names: bool = False) -> None:
        self._hides_names = hides_names
        self.welcome: dict[str, Callable[[Account], Awaitable[Any]]] = {}
        self.rows: list[Callable[[Listed], Mapping[str, Any]]] = []

    async def of_welcome(self, account: Account) -> dict[str, Raw]:
        """Return the fields added to `welcome`; raises `StoreUnavailable`."""
        fields: dict[str, Raw] = {}
        for name, make in self.welcome.items():
            with _logged(name):
                if (value := await make(account)) is not UNSET:
                    fields[name] = Raw(encode(value))
        return fields

    def encode_row(self, listed: Listed, row: RoomSummary) -> bytes:
        encoded = encode(self.public(row))
        for make in self.rows:
            with _logged("row"):
                encoded = with_fields(encoded, make(listed))
        return encoded

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

    def public_board(self, listed: Listed, board: LiveBoard) -> LiveBoard:
        if not self._hides_names:
            return board
        seats = by_marks(listed.room.seats)
        return replace(board, names={mark: seat.name for mark, seat in seats.items() if seat is not None})


def by_marks(seats: Mapping[str, Held | None]) -> dict[str, Held | None]:
    """Return seats with marks in place of people's names and ids."""
    return {
        mark: seat if seat is None or is_server_bot(seat.bot) else replace(seat, player=mark, name=mark)
        for mark, seat in seats.items()
    }


def with_fields(encoded: bytes, fields: Mapping[str, Any]) -> bytes:
    """Return an encoded object with more fields.

    >>> with_fields(b'{"a":1}', {"b": [2]}), with_fields(b'{"a":1}', {})
    (b'{"a":1,"b":[2]}', b'{"a":1}')
    """
    return encoded[:-1] + b"," + encode(fields)[1:] if fields else encoded


@contextmanager
def _logged(name: str) -> Iterator[None]:
    try:
        yield
    except StoreUnavailable:
        raise
    except Exception:
        log.exception("a field could not be added", field=name)
