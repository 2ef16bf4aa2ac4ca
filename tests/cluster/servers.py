"""A cluster: nodes, the streams on them, and servers that share them; each process can be ended and restarted."""

import asyncio
import contextlib
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from tests.authority import Authority
from tests.cluster.cables import Cable
from tests.cluster.nodes import Nodes
from tests.cluster.tied import tied
from tests.environment import environment
from tests.faults.harness import COMMAND, Harness

INIT_SECONDS = 120.0


class CannotFound(Exception):
    """The streams could not be created."""


async def found(nodes: Nodes, replicas: int, command: Sequence[str] = COMMAND, streams: int | None = None) -> str:
    """Create the streams like an operator, and return the command's output.

    Raises `CannotFound`.
    """
    options = ("--replicas", str(replicas), *(() if streams is None else ("--streams", str(streams))), *trusting(nodes))
    process = await asyncio.create_subprocess_exec(
        *tied(*command, "cluster", "init", "--store", nodes.admin_url, *options),
        stdout=PIPE,
        stderr=STDOUT,
        env=environment(),
    )
    async with asyncio.timeout(INIT_SECONDS):
        said, _ = await process.communicate()
    if process.returncode:
        raise CannotFound(f"cluster init ended with {process.returncode}: {said.decode()}")
    return said.decode()


def trusting(nodes: Nodes) -> tuple[str, ...]:
    return () if nodes.authority is None else ("--store-ca", str(nodes.authority.ca))


class Cluster:
    """Several servers on three nodes, or on one; use it with ``async with``.

    Args:
        is_proxied: Put a cable between every two nodes, `nodes.cables`, and between each server and node,
            `cables[server][node]`.
        has_small_disk: See `Nodes`.
        options: Command-line options of every server.
        streams: Number of streams for the rooms; None for the default of `init`.
    """

    def __init__(
        self,
        folder: Path,
        *options: str,
        servers: int = 2,
        nodes: int = 3,
        streams: int | None = 4,
        authority: Authority | None = None,
        is_proxied: bool = False,
        has_small_disk: bool = False,
        command: Sequence[str] = COMMAND,
    ) -> None:
        self.nodes = Nodes(
            folder / "nodes", nodes, authority=authority, is_proxied=is_proxied, has_small_disk=has_small_disk
        )
        self.servers: list[Harness] = []
        self.cables: list[list[Cable]] = []
        self.rights = ""
        self._folder = folder
        self._options = options
        self._command = tuple(command)
        self._counts = servers, nodes
        self._streams = streams
        self._is_proxied = is_proxied
        self._stack = contextlib.AsyncExitStack()

    async def __aenter__(self) -> Self:
        servers, replicas = self._counts
        try:
            await self._stack.enter_async_context(self.nodes)
            self.rights = await found(self.nodes, replicas, self._command, self._streams)
            safety = () if replicas > 1 else ("--store-unsafe",)
            for number in range(servers):
                url, cables = await self.nodes.cabled() if self._is_proxied else (self.nodes.url, [])
                self.cables.append(cables)
                options = ("--store", url, *trusting(self.nodes), *safety, *self._options)
                server = Harness(self._folder / f"s{number}", *options, command=tied(*self._command))
                self.servers.append(server)
                await self._stack.enter_async_context(server)
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()
