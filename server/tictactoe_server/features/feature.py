"""The definition of a feature, an optional part of the server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import click

from tictactoe_server.core.core import Core, Service
from tictactoe_server.core.remote import RemoteServers
from tictactoe_server.operator.drain import Drain
from tictactoe_server.operator.order import Order, ServerParts
from tictactoe_server.play.names import Names
from tictactoe_server.settings import Options, Settings
from tictactoe_server.storage.specs import Specs, Storage, TableSpec


@dataclass(frozen=True, kw_only=True)
class Node:
    """What a server needs to join a cluster.

    Attributes:
        url: The server's WebSocket URL on this machine.
        monotonic_ns: The clock for games and rate limits.
        answer_order: Carries out an operator's order from another server, and returns the reply.
    """

    settings: Settings
    store: Storage
    port: int
    url: str
    drain: Drain
    monotonic_ns: Callable[[], int]
    answer_order: Callable[[bytes], Awaitable[bytes]]


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The parts of the server that features use to make their services.

    Attributes:
        title: The title of the server's page, or "" for the default.
        server: Returns the parts of the whole server; available once all services have been made.
    """

    core: Core
    settings: Settings
    specs: Specs
    title: str
    drain: Drain
    names: Names
    server: Callable[[], ServerParts]


@dataclass(frozen=True, kw_only=True)
class Feature:
    """An optional part of the server.

    Attributes:
        make: Returns the feature's services, which handle requests and bring HTTP routes, jobs, gauges and lines for
            the status.
        connect: Returns the connection to other servers, if the settings require one; called before `make`.
        open_store: Opens the store that replaces the data folder, if the settings require one; otherwise returns None.
        advise: Returns advice for the operator of a server whose data folder is damaged, or "".
        tables: The specs of the tables that the feature stores.
        orders: The orders that the operator can send to a running server.
        commands: The commands that need no running server.
        options: The settings that only this feature reads.
    """

    make: Callable[[Parts], Iterable[Service]] = lambda parts: ()
    connect: Callable[[Node], RemoteServers | None] = lambda node: None
    open_store: Callable[[Settings, Specs], Awaitable[Storage] | None] = lambda settings, specs: None
    advise: Callable[[Settings], str] = lambda settings: ""
    tables: Sequence[TableSpec[Any]] = ()
    orders: Sequence[type[Order]] = ()
    commands: Sequence[click.Command] = ()
    options: type[Options] | None = None
