"""A damaged room is named in the log and left alone, whichever bit it is that flipped; all others live."""

from __future__ import annotations

import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from tests.fakes import TroubledStore
from tests.faults.harness import Harness
from tests.peer import Peer, open_peer, play_out
from tests.server.stored import until_rooms
from tests.server.tables import ANA, BO, Table
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

DATABASE = "tictactoe.sqlite3"


def flip_after(document: bytes, text: bytes) -> bytes:
    """Flip a bit of the byte after `text`."""
    at = document.index(text) + len(text)
    return document[:at] + bytes([document[at] ^ 1]) + document[at + 1 :]


def damage(folder: Path, room: str, change: Callable[[bytes], bytes]) -> None:
    """Change the document of a room in the database of a server that does not run."""
    with closing(sqlite3.connect(folder / DATABASE)) as connection, connection:
        (document,) = connection.execute("SELECT document FROM rooms WHERE code = ?", (room,)).fetchone()
        connection.execute("UPDATE rooms SET document = ? WHERE code = ?", (change(document), room))


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
        await server.end(signal.SIGTERM)
        flips = (b'"rows"', b'"initial_ms":', b'["')
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


async def test_a_room_that_comes_back_in_an_unforeseen_way_keeps_no_other_from_coming(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = TroubledStore()
    for number in range(70):
        code = f"K7M4{number // 10 + 2}{number % 10 + 2}"
        room = replace(Table(ANA, BO).room, code=code)
        if number == 40:
            room = replace(room, seats=cast(Any, {"X": "nobody", "O": None}))
        store.rooms.put(room)
    async with Server(Settings(host="127.0.0.1", port=0), store) as server:
        await until_rooms(server, 69)
    assert caplog.text.count("could not be brought back") == 1


async def test_a_document_under_a_foreign_key_is_no_room(tmp_path: Path) -> None:
    async with Harness(tmp_path) as server:
        async with open_peer(server.url, "ana") as ana, open_peer(server.url, "bo") as bo:
            rooms = [await open_room(ana, bo) for _ in range(2)]
        await server.end(signal.SIGTERM)
        with closing(sqlite3.connect(tmp_path / DATABASE)) as connection, connection:
            (other,) = connection.execute("SELECT document FROM rooms WHERE code = ?", (rooms[1],)).fetchone()
        damage(tmp_path, rooms[0], lambda _: other)
        await server.start()
        async with open_peer(server.url, token=ana.welcome["token"]) as ana:
            assert await ana.refusal("join", room=rooms[0]) == "no_such_room"
            assert (await ana.ask("join", room=rooms[1]))["moves"] == [4, 0]
        await server.logged(lambda line: rooms[0] in line and "damaged" in line)
