"""What a feature is: a part of the product that a server can do without."""

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
    """What the services of features are made with.

    Attributes:
        specs: Everything that the server stores.
        title: The title of the server's page, or "".
        pool: The worker processes that choose the bots' moves.
        check_device: Raises `Refused` unless the request's device may do irreversible things.
        note_seat: Makes the store remember a session's player as long as one with a seat.
        services: The services of the features before this one in the list.
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
        """Return the service of an earlier feature by its class; raises LookupError if the server does not have it."""
        found = find_service(self.services, kind)
        if found is None:
            raise LookupError(f"A feature needs {kind.__name__}, which is not in the list before it.")
        return found


@dataclass(frozen=True, kw_only=True)
class Feature:
    """A part of the product that a server can do without.

    Attributes:
        make: Returns the services that a server has; they have requests, topics, routes, jobs and lines of the status.
        tables: What the feature stores.
        orders: What the operator can order.
        commands: Commands that need no running server.
        options: The settings that only this feature reads.
    """

    make: Callable[[Parts], Iterable[Service]] = lambda parts: ()
    tables: Sequence[TableSpec[Any]] = ()
    orders: Sequence[type[Order]] = ()
    commands: Sequence[click.Command] = ()
    options: type[Options] | None = None
