"""A damaged room is named in the log and left alone, whichever bit it is that flipped; all others live."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.fakes import TroubledStore
from tests.faults.harness import Harness
from tests.peer import Peer, open_peer, play_out
from tests.server.tables import ANA, BO, Table
from tictactoe_protocol import encode
from tictactoe_protocol.requests import ClockFields
from tictactoe_server.rooms import (
    Dropped,
    Player,
    Room,
    UnreadableRoom,
    decode_room,
    encode_room,
    expires_at,
    state_of,
    summary_of,
)
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tictactoe_server.stores import MISSING

DATABASE = "tictactoe.sqlite3"
NOW = 60_000


def use(room: Room) -> None:
    """Do with a room all that bringing it back does."""
    for seat in room.seats.values():
        if seat is not None and seat.online:
            room = room.apply(Player(seat.player, seat.name), Dropped(), NOW)
    expires_at(room)
    encode(state_of(room, NOW, watchers=1))
    encode(summary_of(room, NOW, watchers=1))
    encode_room(room)


@pytest.mark.parametrize(
    "clock", [None, ClockFields(initial_ms=300_000, increment_ms=2_000), ClockFields(move_ms=10_000)]
)
def test_whichever_bit_of_a_document_of_the_first_schema_flips_it_is_a_room_that_works_or_unreadable(
    clock: ClockFields | None,
) -> None:
    table = Table(ANA, BO, clock=clock)
    table.play(0, 4, 1)
    document = encode_room(table.room).partition(b"\n")[0].replace(b'{"schema":2,', b'{"schema":1,')
    use(decode_room(document))
    unreadable = 0
    for damaged in flip_each_bit(document):
        try:
            use(decode_room(damaged))
        except UnreadableRoom:
            unreadable += 1
    assert unreadable > len(document)


def test_whichever_bit_of_a_document_flips_it_is_unreadable() -> None:
    table = Table(ANA, BO, clock=ClockFields(move_ms=10_000))
    table.play(0, 4, 1)
    for damaged in flip_each_bit(encode_room(table.room)):
        with pytest.raises(UnreadableRoom):
            decode_room(damaged)


def flip_each_bit(document: bytes) -> Iterator[bytes]:
    """Return the documents that differ from this one in a single bit."""
    for bit in range(len(document) * 8):
        damaged = bytearray(document)
        damaged[bit // 8] ^= 1 << bit % 8
        yield bytes(damaged)


def flip_after(document: bytes, text: bytes) -> bytes:
    """Flip a bit of the byte after `text`."""
    at = document.index(text) + len(text)
    return document[:at] + bytes([document[at] ^ 1]) + document[at + 1 :]


def damage(folder: Path, room: str, change: Callable[[bytes], bytes]) -> None:
    """Change the document of a room in the database of a server that does not run."""
    with closing(sqlite3.connect(folder / DATABASE)) as connection, connection:
        (document,) = connection.execute("SELECT document FROM documents WHERE key = ?", (f"room/{room}",)).fetchone()
        connection.execute("UPDATE documents SET document = ? WHERE key = ?", (change(document), f"room/{room}"))


async def open_room(ana: Peer, bo: Peer, **options: object) -> str:
    room = str((await ana.ask("create", **options))["room"])
    await bo.ask("join", room=room)
    await ana.state(room=room, status="playing")
    await bo.state(room=room, status="playing")
    await play_out({"X": ana, "O": bo}, room, [4, 0])
    return room


async def test_a_room_with_a_flipped_bit_is_named_in_the_log_and_the_others_live(tmp_path: Path) -> None:
    async with Harness(tmp_path) as server:
        async with open_peer(server.url, "ana") as ana, open_peer(server.url, "bo") as bo:
            rooms = [await open_room(ana, bo, clock={"initial_ms": 600_000, "increment_ms": 0}) for _ in range(5)]
        await server.end()
        flips = (b'{"schema"', b'"remaining_ms":{"X":', b'"code":"')
        for room, text in zip(rooms, flips, strict=False):
            damage(tmp_path, room, lambda document, text=text: flip_after(document, text))  # type: ignore[misc]
        await server.start()
        async with (
            open_peer(server.url, token=ana.welcome["token"]) as ana,
            open_peer(server.url, token=bo.welcome["token"]) as bo,
        ):
            assert {held["room"] for held in ana.welcome["rooms"]} == set(rooms[3:])
            for room in rooms[:3]:
                assert await ana.refusal("join", room=room) == "no_such_room"
                await server.logged(lambda line, room=room: room in line and "damaged" in line)  # type: ignore[misc]
            for room in rooms[3:]:
                assert (await ana.ask("join", room=room))["moves"] == [4, 0]
                await bo.ask("join", room=room)
                await play_out({"X": ana, "O": bo}, room, [8, 1], first_ply=2)


async def test_a_room_that_comes_back_in_an_unforeseen_way_keeps_no_other_from_coming() -> None:
    store = TroubledStore()
    for number in range(4):
        code = f"K7M4P{number + 2}"
        room = replace(Table(ANA, BO).room, code=code)
        await store.save(f"room/{code}", encode_room(room), MISSING)
    store.fail("load", RuntimeError("a bug"), prefix="room/K7M4P3")
    async with Server(Settings(host="127.0.0.1", port=0), store) as server, open_peer(server.url) as eve:
        assert len((await eve.ask("rooms"))["rooms"]) == 3
