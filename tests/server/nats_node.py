"""A real nats-server for tests of a single store; it takes a moment to start."""

import asyncio
import contextlib
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.cluster.nodes import find_program
from tests.environment import environment
from tests.ports import free_ports
from tictactoe_server.features.jetstream.link import Link
from tictactoe_server.features.jetstream.store import JetStreamStore
from tictactoe_server.features.jetstream.stream import Stream, StreamInfo
from tictactoe_server.features.jetstream.streams import make_streams, name_of
from tictactoe_server.records.tables import KEPT
from tictactoe_server.storage.specs import Specs
from tictactoe_server.storage.store import CannotOpenStore

_START_SECONDS = 120


STREAMS = 3


class Node:
    """A running node; `url` is where it listens."""

    def __init__(self, folder: Path, extra: str = "") -> None:
        (self.port,) = free_ports(1)
        self.url = f"nats://127.0.0.1:{self.port}"
        self._config = folder / "nats.conf"
        self._config.write_text(
            f'listen: "127.0.0.1:{self.port}"\n'
            f'jetstream {{ store_dir: "{folder}", sync_interval: always }}\n'
            "ping_interval: 5s, ping_max: 2, write_deadline: 2s, max_payload: 256KB\n" + extra
        )
        self.start()

    def start(self) -> None:
        """Start the node and wait until it takes connections."""
        self._process = subprocess.Popen(
            [find_program(), "-c", self._config], stderr=subprocess.DEVNULL, env=environment()
        )
        deadline = time.monotonic() + _START_SECONDS
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"nats-server did not start with {self._config}")
            time.sleep(0.01)

    @property
    def pid(self) -> int:
        return self._process.pid

    def stop(self) -> None:
        """Kill the node."""
        self._process.kill()
        self._process.wait()


@contextlib.contextmanager
def node_in(folder: Path, extra: str = "") -> Iterator[Node]:
    """Run a node that keeps its data in a folder; `extra` is added to its configuration."""
    node = Node(folder, extra)
    try:
        yield node
    finally:
        node.stop()


async def empty_store(
    node: Node, data: Path | None = None, specs: Specs = KEPT, count: int = STREAMS
) -> JetStreamStore:
    """Return a store of `count` empty streams without replicas."""
    link = await Link.open(node.url)
    await empty_streams(link, count)
    await link.close()
    return await opened(node, data, specs)


async def opened(node: Node, data: Path | None = None, specs: Specs = KEPT) -> JetStreamStore:
    """Return a store on the existing streams."""
    return await JetStreamStore.open(node.url, specs, data=data, unsafe=True)


async def check_refusal(url: str, reason: str, **options: Any) -> None:
    """Check that a link cannot be opened for this reason, given the time that the node needs to say so."""
    for seconds in (0.5, 5.0, 50.0):
        with pytest.raises(CannotOpenStore) as refused:
            await Link.open(url, opening_seconds=seconds, **options)
        if reason in str(refused.value):
            return
    raise refused.value


async def empty_streams(link: Link, count: int = STREAMS) -> None:
    """Replace all streams by empty ones; deleting their files may take a moment."""
    names = (await Stream(link, "").ask("STREAM.NAMES", {}, Names)).streams or ()
    for name in names:
        await link.request(f"$JS.API.STREAM.DELETE.{name}")
    for number in range(count):
        await make_anew(Stream(link, name_of(number)), {})
    if count:
        await make_streams(link, count, 1)


async def make_anew(stream: Stream, change: Mapping[str, object]) -> None:
    """Replace a stream, if it exists, by an empty one with a changed configuration."""
    config = msgspec.json.encode({**stream.config(1), **change})
    await stream.link.request(f"$JS.API.STREAM.DELETE.{stream.name}")
    async with asyncio.timeout(_START_SECONDS):
        while b'"error"' in await stream.link.request(f"$JS.API.STREAM.CREATE.{stream.name}", config):  # noqa: ASYNC110  # there is no notification
            await asyncio.sleep(0.01)


class Names(StreamInfo, frozen=True):
    """The names of all streams, None for none."""

    streams: list[str] | None = None
