"""The definition of a feature, an optional part of the server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import click

from tictactoe_server.admin.drain import Drain
from tictactoe_server.admin.orders.order import Order
from tictactoe_server.core.change import Call
from tictactoe_server.core.core import Service, ServiceKind, find_service
from tictactoe_server.core.session import Session
from tictactoe_server.features.bots.pool import ThinkingPool
from tictactoe_server.settings import Options, Settings
from tictactoe_server.storage.specs import Specs, TableSpec


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The parts of the server that features use to make their services.

    Attributes:
        specs: The specs of everything that the server stores.
        title: The title of the server's page, or "" for the default.
        pool: The pool of worker processes that choose the bots' moves.
        check_device: Raises `Refused` unless a request comes from a device that may take irreversible actions.
        note_seat: Makes the store remember a session's player for as long as players with a seat.
        services: The services of the features before this feature in `FEATURES`.
    """

    settings: Settings
    specs: Specs
    title: str
    drain: Drain
    pool: ThinkingPool
    check_device: Callable[[Call], Awaitable[None]]
    note_seat: Callable[[Session], None]
    services: list[Service] = field(default_factory=list)

    def service(self, kind: type[ServiceKind]) -> ServiceKind:
        """Return an earlier feature's service of the class `kind`; raises LookupError if there is none."""
        found = find_service(self.services, kind)
        if found is None:
            raise LookupError(f"A feature needs {kind.__name__}, which is not in the list before it.")
        return found


@dataclass(frozen=True, kw_only=True)
class Feature:
    """An optional part of the server.

    Attributes:
        make: Returns the feature's services, which handle requests and bring topics, HTTP routes, jobs and lines for
            the status.
        tables: The specs of the tables that the feature stores.
        orders: The orders that the operator can send to a running server.
        commands: The commands that need no running server.
        options: The settings that only this feature reads.
    """

    make: Callable[[Parts], Iterable[Service]] = lambda parts: ()
    tables: Sequence[TableSpec[Any]] = ()
    orders: Sequence[type[Order]] = ()
    commands: Sequence[click.Command] = ()
    options: type[Options] | None = None
