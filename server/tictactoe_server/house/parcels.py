"""What the servers of a house say to each other: small arrays in MessagePack, many of them in one parcel.

The server that has a peer's socket is the peer's *host*; the one that serves a room is the room's *owner*. A host names
each of its sessions by a number of its own.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct

from tictactoe_protocol.requests import ClockFields, RulesFields


class _Item(Struct, frozen=True, array_like=True, gc=False):
    pass


# -- from a host to an owner ------------------------------------------------------------------------------------


class Met(_Item, frozen=True, tag=1):
    """Who a session is; `key` is the store's for one of whom it is not known that they took a seat, else empty."""

    session: int
    player: str
    name: str
    key: str
    address: str
    features: tuple[str, ...] = ()


class Asked(_Item, frozen=True, tag=2):
    """A request for a room, that came at `now` (ms of served time); `number` is its own, `seen` as in `Rejoined`.

    One that `is_match` is to lead into the room.
    """

    session: int
    number: int
    now: int
    room: str
    seen: int
    message: bytes
    is_match: bool = False


class Rejoined(_Item, frozen=True, tag=3):
    """A session plays or watches in a room that has another owner now; `seen` is the newest `seq` it was shown."""

    session: int
    room: str
    plays: bool
    seen: int


class Left(_Item, frozen=True, tag=4):
    """A session is over."""

    session: int


# -- from an owner to a host ------------------------------------------------------------------------------------


class Sent(_Item, frozen=True, tag=5):
    """A frame for some sessions; with `room` it is the state of that room, of which the newest is enough."""

    sessions: list[int]
    frame: bytes
    room: str = ""


class Answered(_Item, frozen=True, tag=11):
    """The answer to a request, as a frame; it is for nobody where the request has been answered otherwise by then."""

    session: int
    number: int
    frame: bytes


class Entered(_Item, frozen=True, tag=6):
    """A session plays or watches in a room of the owner's."""

    session: int
    room: str
    plays: bool


class Parted(_Item, frozen=True, tag=7):
    """It does no more."""

    session: int
    room: str


class Done(_Item, frozen=True, tag=8):
    """A request has been dealt with, and its answer sent."""

    session: int
    number: int


class Returned(_Item, frozen=True, tag=9):
    """A request could not be dealt with here: its room has another owner, or a match another room.

    A match that gave a seat in a room before that went to another owner says which. Where `number` is 0, it is a
    session that came back into a room that is not served here.
    """

    session: int
    number: int
    room: str = ""


class Lost(_Item, frozen=True, tag=10):
    """Something that was sent has not come: the other side is to say again what it knows."""


Item = Met | Asked | Rejoined | Left | Sent | Answered | Entered | Parted | Done | Returned | Lost


class Parcel(Struct, frozen=True, array_like=True):
    """Items in their order, from the server `sender`; `number` counts the parcels to this receiver from 1."""

    sender: str
    number: int
    items: list[Item]


# -- to all, and questions --------------------------------------------------------------------------------------


class Beat(Struct, frozen=True, array_like=True):
    """The sign of life of a server: its `name` for people, its served time in ms, whom it takes to be living.

    `watched` has those of its rooms whose number of watchers has changed, with that. One that `is_leaving` gives all
    its rooms away.
    """

    sender: str
    name: str
    time: int
    living: list[str]
    watched: dict[str, int] = {}
    is_leaving: bool = False


class Seek(Struct, frozen=True, array_like=True):
    """Who asks for a match of this kind, and the code under which the asker would open a room."""

    player: str
    name: str
    rules: RulesFields
    clock: ClockFields | None
    code: str


_encode: Final = msgspec.msgpack.Encoder().encode
_decode_parcel: Final = msgspec.msgpack.Decoder(Parcel).decode
_decode_beat: Final = msgspec.msgpack.Decoder(Beat).decode
_decode_seek: Final = msgspec.msgpack.Decoder(Seek).decode


def encode(value: Parcel | Beat | Seek) -> bytes:
    """Return the bytes of a parcel, a beat or a question."""
    return _encode(value)


def decode_parcel(data: bytes) -> Parcel:
    """Return a parcel; raises `msgspec.DecodeError`."""
    return _decode_parcel(data)


def decode_beat(data: bytes) -> Beat:
    """Return a sign of life; raises `msgspec.DecodeError`."""
    return _decode_beat(data)


def decode_seek(data: bytes) -> Seek:
    """Return a question for a match; raises `msgspec.DecodeError`."""
    return _decode_seek(data)
