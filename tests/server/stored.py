"""Helpers for tests that write to a store and read it back."""

import contextlib
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tests.environment import environment
from tests.server.tables import ANA, BO, Table
from tictactoe_server.records.tables import BANS, PLAYERS, ROOMS, SHARES, Ban, KnownPlayer, today
from tictactoe_server.rooms.finished import FinishedGame, finished_game
from tictactoe_server.rooms.room import Player, Room
from tictactoe_server.storage.specs import Storage
from tictactoe_server.storage.store import MISSING, Pending, delete, save

ANA_KEY = "a" * 64
_ROOM = Table(ANA, BO).room


def change(database: Path, *statements: str) -> None:
    """Execute statements in a database, bypassing its store."""
    with closing(sqlite3.connect(database)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def room_of(code: str, seq: int = 1) -> Room:
    """Return a room that waits for its first move; `seq` distinguishes it from others."""
    return replace(_ROOM, code=code, seq=seq)


async def keep(store: Storage, room: Room, expected: int, finished: FinishedGame | None = None) -> int:
    pending = Pending()
    store.table(ROOMS).save(room.code, room, expected, pending, finished)
    revision: int = await pending.future
    return revision


async def forget(store: Storage, code: str, expected: int) -> None:
    pending = Pending()
    store.table(ROOMS).delete(code, expected, pending)
    assert await pending.future == MISSING


async def keep_player(store: Storage, key: str, player: Player, expected: int) -> int:
    """Save a player who was seen today and return the revision."""
    return await save(store.table(PLAYERS), key, KnownPlayer(player, today()), expected)


async def seat(store: Storage, key: str) -> None:
    found = await store.table(PLAYERS).load(key)
    assert found is not None
    await save(store.table(PLAYERS), key, replace(found[0], is_seated=True), found[1])


async def keep_ban(store: Storage, ban: Ban) -> None:
    await save(store.table(BANS), ban.subject, ban, None)


async def forget_ban(store: Storage, subject: str) -> None:
    await delete(store.table(BANS), subject, None)


async def bans_in(store: Storage) -> list[Ban]:
    found = [stored.value async for some in store.table(BANS).load_all() for stored in some]
    return [ban for ban in found if isinstance(ban, Ban)]


async def share(store: Storage, id: str, game: FinishedGame) -> None:
    await save(store.table(SHARES), id, game, None)


async def shared(store: Storage, id: str) -> FinishedGame | None:
    found = await store.table(SHARES).load(id)
    return None if found is None else found[0]


async def has_noted(store: Storage, ms: int) -> bool:
    return await store.noted_time() == ms


async def rooms_in(store: Storage) -> dict[str, Room]:
    return {
        stored.key: stored.value
        async for some in store.table(ROOMS).load_all()
        for stored in some
        if isinstance(stored.value, Room)
    }


async def finish(
    store: Storage, code: str, *players: Player, over: int = MISSING, at: int = 1_700_000_000_000
) -> FinishedGame:
    """Save a room whose players have just finished a game, and archive the game."""
    table = Table(*players)
    table.play(0, 3, 1, 4, 2)
    room = replace(table.room, code=code)
    game = finished_game(room, at)
    await keep(store, room, over, game)
    return game


@contextlib.contextmanager
def child(folder: Path, script: str) -> Iterator[Any]:
    """Run a script in a separate process, inside an event loop and with an open `store`."""
    program = (
        "import asyncio, os, signal, sys\nfrom pathlib import Path\n"
        "from tests.server.stored import *\nfrom tictactoe_server.records.tables import *\n"
        "from tictactoe_server.storage.sqlite import SqliteStore\nfrom tictactoe_server.storage.store import *\n"
        f"async def main():\n    store = SqliteStore.open(Path({str(folder)!r}), KEPT)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program + textwrap.indent(textwrap.dedent(script), "    ") + "\nasyncio.run(main())\n"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                pipe.close()
