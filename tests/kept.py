"""What the client keeps of its players on this machine, as tests make it and look at it."""

from __future__ import annotations

from pathlib import Path

from tests.peer import until
from tictactoe_client.files.config import config_path
from tictactoe_client.files.players import Identity, KnownPlayer, KnownPlayers
from tictactoe_client.online.client import Client
from tictactoe_client.session import Session
from tictactoe_client.settings import Settings

GONE = 2**22 + 1
"""The number of a process that there cannot be."""


def leave_seat(server: str, room: str, token: str, name: str = "ana") -> None:
    """Write a seat down as a run does that was killed."""
    KnownPlayers().keep(KnownPlayer(server, name, token, pid=GONE, rooms=(room,)))


def write_config(text: str) -> Path:
    """Write the configuration; return where it stands."""
    path = config_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def rooms_left(server: str) -> list[str]:
    """Return the rooms in which seats are written down, the newest last."""
    return [room for player in KnownPlayers().on((server,)) for room in player.rooms]


async def until_left(server: str, *rooms: str) -> None:
    """Wait until seats in these rooms, and in no others, are written down: that goes on beside everything else."""
    await until(lambda: rooms_left(server) == list(rooms))


def session_of(client: Client) -> Session:
    """Return a session that has this connection."""
    session = Session(Settings(), client.cluster, Identity(None))
    session.client = client
    return session
