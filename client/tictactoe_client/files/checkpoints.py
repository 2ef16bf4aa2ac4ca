"""The newest checkpoint of ratings that this client saw of each server, against which later ones are compared.

They stand in `checkpoints.json` in the folder for state; a file that cannot be read counts as empty.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from tictactoe_client.files.writer import NotKept, change_file, state_folder
from tictactoe_client.online.checkpoints import Standing, compare_checkpoint, describe_standing
from tictactoe_client.online.client import Client
from tictactoe_protocol.ratings.checkpoints import Checkpoint

_MOST: Final = 100


class SeenCheckpoint(Struct, frozen=True):
    """A checkpoint, and the address of the server that had it."""

    server: str
    checkpoint: Checkpoint


class _File(Struct):
    seen: list[SeenCheckpoint] = []
    version: int = 1


class SeenCheckpoints:
    """The file. Servers of one cluster sign with one key, by which they are known at any address."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or state_folder() / "checkpoints.json"

    def list_all(self) -> list[SeenCheckpoint]:
        """Return what is remembered, the newest of each key, whichever was seen last being last."""
        try:
            return _parse(self.path.read_bytes())
        except OSError:
            return []

    def find(self, server: str, key: str) -> Checkpoint | None:
        """Return the newest one by this key, else what was seen last at the server, or None."""
        seen = self.list_all()
        own = [one for one in seen if one.checkpoint.key == key] or [one for one in seen if one.server == server]
        return own[-1].checkpoint if own else None

    def keep(self, server: str, checkpoint: Checkpoint) -> None:
        """Remember one in place of an earlier one of its key; what cannot be written is not remembered."""

        def put(content: bytes) -> bytes:
            seen = _parse(content)
            own = [one.checkpoint for one in seen if one.checkpoint.key == checkpoint.key]
            newest = max([*own, checkpoint], key=lambda one: one.number)
            rest = [one for one in seen if one.checkpoint.key != checkpoint.key]
            after = [*rest, SeenCheckpoint(server, newest)][-_MOST:]
            return msgspec.json.format(msgspec.json.encode(_File(after)), indent=1)

        with suppress(NotKept):
            change_file(self.path, put)

    async def look_at(self, client: Client, checkpoint: Checkpoint) -> str | None:
        """Compare a server's checkpoint with what is remembered, and remember it where it goes on from that.

        Returns in one sentence what a person should know, or None where all is as it should be.
        """
        server = client.address.url
        earlier = await asyncio.to_thread(self.find, server, checkpoint.key)
        standing: Standing = await compare_checkpoint(client.address, checkpoint, earlier, ca=client.ca)
        if standing in ("first", "stands", "other key"):
            await asyncio.to_thread(self.keep, server, checkpoint)
        return describe_standing(standing, checkpoint, earlier)


def _parse(content: bytes) -> list[SeenCheckpoint]:
    with suppress(msgspec.MsgspecError, ValueError):
        return msgspec.json.decode(content, type=_File).seen
    return []
