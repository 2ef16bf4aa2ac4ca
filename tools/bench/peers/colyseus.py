"""Two players at a table of Colyseus: its binary protocol, by hand.

A message to the room consists of its kind, its name and MessagePack; the reply is the patch of the state: for each
changed field 0x80 plus its number, and the value. The state begins with `ply` (0) and `agreed` (1).
Source: `Protocol.ts`, `Room._onMessage` and `encode.ts` of the packages that `node/package.json` names.
"""

import asyncio
import itertools

import msgspec

from tools.bench.load import BINARY, encode_frame, open_wire
from tools.bench.peers import post
from tools.bench.tables import DRAWN, Seat, Step, Table

_JOIN_ROOM, _ROOM_DATA, _PATCH = 10, 13, 15
_PLY, _AGREED = 0x80, 0x81


async def seat_at_colyseus(url: str, _number: int) -> Table:
    first = await asyncio.to_thread(post, url, "/matchmake/create/table")
    second = await asyncio.to_thread(post, url, f"/matchmake/joinById/{first['roomId']}")
    seats = (await _join(url, first), await _join(url, second))
    return Table(seats, itertools.cycle(_steps(seats)))


async def _join(url: str, reservation: dict[str, str]) -> Seat:
    path = f"{reservation['processId']}/{reservation['roomId']}?sessionId={reservation['sessionId']}"
    seat = await open_wire(f"{url}/{path}", Seat)
    assert (await seat.next_message())[0] == _JOIN_ROOM
    seat.transport.write(encode_frame(bytes([_JOIN_ROOM]), BINARY))
    await seat.next_message()
    return seat


def encode_message(name: str, *content: object) -> bytes:
    """Return the frame of a message to the room.

    >>> encode_message("rematch")[6:]
    b'\\r\\xa7rematch'
    """
    body = b"".join(msgspec.msgpack.encode(one) for one in (name, *content))
    return encode_frame(bytes([_ROOM_DATA]) + body, BINARY)


def _steps(seats: tuple[Seat, Seat]) -> list[Step]:
    steps = []
    for first in (0, 1):
        for ply, cell in enumerate(DRAWN):
            frame = encode_message("move", {"cell": cell, "ply": ply})
            send = seats[(first + ply) % 2].transport.write
            steps.append(Step(send, frame, bytes([_PLY, ply + 1]), is_move=True))
        for seat, mark in zip(seats, (bytes([_AGREED, 1]), bytes([_PLY, 0])), strict=True):
            steps.append(Step(seat.transport.write, encode_message("rematch"), mark, is_move=False))
    return steps
