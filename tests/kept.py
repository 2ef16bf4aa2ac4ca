"""Write and read the client's files: configuration, players and their seats."""

import os
from pathlib import Path

import pytest

from tests.peer import until
from tictactoe_client.files.config import config_path
from tictactoe_client.files.players import Identity, KnownPlayer, KnownPlayers
from tictactoe_client.online.client import Client
from tictactoe_client.session import Session
from tictactoe_client.settings import Settings

GONE = 2**22 + 1
"""A process id that cannot exist."""


def leave_seat(server: str, room: str, token: str, name: str = "ana") -> None:
    """Record a seat as a killed client leaves it."""
    KnownPlayers().keep(KnownPlayer(server, name, token, pid=GONE, rooms=(room,)))


def write_config(text: str) -> Path:
    path = config_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def rooms_left(server: str) -> list[str]:
    return [room for player in KnownPlayers().on((server,)) for room in player.rooms]


async def until_left(server: str, *rooms: str) -> None:
    """Wait until exactly these rooms have recorded seats; they are written in the background."""
    await until(lambda: rooms_left(server) == list(rooms))


def hold_lock(path: Path) -> int:
    """Lock a file of the client as another program would; closing the returned descriptor releases it."""
    fcntl = pytest.importorskip("fcntl")
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path.with_suffix(".lock"), os.O_WRONLY | os.O_CREAT)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def session_of(client: Client, settings: Settings | None = None) -> Session:
    session = Session(settings or Settings(), client.cluster, Identity(None))
    session.client = client
    return session
