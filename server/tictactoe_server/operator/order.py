"""The base classes of orders, the parts of a server that orders use, and the execution of orders in a cluster.

Each kind of order is a class. Its fields are sent as JSON, its tag `command` is the name of its command, and its
docstring is the command's help. Each field is annotated with its type and with the click parameter that sets it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import msgspec
from msgspec import Struct

from tictactoe_server import OperatorError, clock
from tictactoe_server.core.core import Core, Service, ServiceKind
from tictactoe_server.core.pressure import Pressure
from tictactoe_server.core.remote import RemoteServers
from tictactoe_server.core.served_time import GRACE_SECONDS
from tictactoe_server.operator.bans import Bans
from tictactoe_server.operator.drain import Drain
from tictactoe_server.operator.maintenance import LoopLag
from tictactoe_server.operator.words import draw_table, show_count
from tictactoe_server.settings import COUNTS, count_of
from tictactoe_server.storage.store import StoreUnavailable
from tictactoe_server.transport.admission import Admission
from tictactoe_server.transport.rate_limit import used_of

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerParts:
    """The parts of a running server that orders and metrics use.

    Attributes:
        data: Where the server stores its data, as text for the operator.
        started_at: When the server started, in seconds of `clock.monotonic`.
    """

    address: str
    data: str
    core: Core
    admission: Admission
    pressure: Pressure
    lag: LoopLag
    bans: Bans
    drain: Drain
    services: Sequence[Service]
    started_at: float = field(default_factory=clock.monotonic)

    @property
    def elsewhere(self) -> RemoteServers:
        return self.core.rooms.elsewhere

    def service(self, kind: type[ServiceKind]) -> ServiceKind:
        """Return the service of this class. Raise `OrderRefused` if the server has no such service."""
        for service in self.services:
            if isinstance(service, kind):
                return service
        raise OrderRefused("This feature is not enabled on the server.")

    def limits(self) -> Mapping[str, tuple[float | None, float | None]]:
        """Return each limit by name, with its current use, which is that of the busiest player or address.

        The limit is None if there is no limit, and the use is None if it is unknown.
        """
        core, lists = self.core, self.core.indexes
        counting = self.admission, self.pressure, core.allowances, lists, lists.seats, *self.services
        now = {name: used for counter in counting for name, used in used_of(counter).items()} | {
            "connections": self.admission.connections,
            "rooms": core.indexes.count,
            "watchers-per-room": max((len(live.watchers) for live in core.rooms.by_code.values()), default=0),
        }
        return {name: (count_of(core.limits, name) or None, now.get(name)) for name in COUNTS}

    def limited(self) -> Counter[str]:
        return Counter({"pressure": self.pressure.shed}) + self.core.counters.limited + self.admission.refused

    def unready(self) -> str | None:
        """Return the reason why the server is not ready, or None if it is ready."""
        owed_since = self.core.store.owed_since()
        if not self.core.rooms.restored.is_set():
            return "starting"
        if self.drain.is_on:
            return "draining"
        if not self.elsewhere.cluster_status.has_joined:
            return "joining the cluster"
        if owed_since is not None and clock.monotonic() - owed_since > GRACE_SECONDS:
            return "the store does not respond"
        return None


class OrderRefused(OperatorError):
    """The order cannot be carried out."""


class NoAnswer(OrderRefused):
    """Another server in the cluster does not answer."""


class Order(Struct, frozen=True, tag_field="command", forbid_unknown_fields=True):
    """An order. `run` and `run_here` execute it and return a JSON-compatible answer; both may raise `OrderRefused`.

    Attributes:
        is_for_all: Whether every server in a cluster executes the order; see `run_everywhere`.
        outcome: The format of the answer's description, with the names of the answer's fields in braces.
        question: The format of the question to confirm before an irreversible order, with the names of the order's
            fields in braces; "" for none.
    """

    is_for_all: ClassVar[bool] = False
    question: ClassVar[str] = ""
    outcome: ClassVar[str] = ""

    async def run(self, server: ServerParts) -> Any:
        return await (run_everywhere(self, server) if self.is_for_all else self.run_here(server))

    async def run_here(self, server: ServerParts) -> Any:
        raise NotImplementedError

    def describe(self, answer: Any) -> str:
        return self.outcome.format_map({**answer, "connections": show_count(answer.get("connections"), "connection")})

    def answer_without_server(self) -> Any:
        """Return the answer if no server is running, or None if the order needs a running server."""
        return None


class Listing(Order, frozen=True):
    """An order whose answer is a list of rows.

    Attributes:
        columns: The fields that the command line shows as a table.
        nothing: The sentence shown if there are no rows.
    """

    columns: ClassVar[tuple[str, ...]]
    nothing: ClassVar[str]

    def describe(self, answer: list[Row]) -> str:
        if not answer:
            return self.nothing
        return draw_table((*self.columns, "server") if "server" in answer[0] else self.columns, answer)


def named(row: Row, name: str) -> Row:
    """Return a row with the name of its server; the name is "" without a cluster, and is then omitted."""
    return {**row, "server": name} if name else row


async def run_everywhere(order: Order, server: ServerParts) -> Any:
    """Execute an order on all servers in the cluster, and combine their answers.

    Lists of rows are concatenated. Of single rows, the first is returned, with the sum of all `connections`.

    Raises:
        OrderRefused: All servers refuse the order. If only some servers refuse, they are ignored.
        NoAnswer: A server does not answer.
    """
    names = server.elsewhere.cluster_status.names
    answers = await asyncio.gather(*(run_at(id, order, server) for id in names), return_exceptions=True)
    failed = [answer for answer in answers if isinstance(answer, BaseException)]
    grave = [error for error in failed if isinstance(error, NoAnswer) or not isinstance(error, OrderRefused)]
    if grave or len(failed) == len(answers):
        raise (grave or failed)[0]
    named_answers = zip(names.values(), answers, strict=True)
    given: list[tuple[str, Any]] = [(name, answer) for name, answer in named_answers if answer not in failed]
    if isinstance(given[0][1], dict):
        return {**given[0][1], "connections": sum(answer["connections"] for _, answer in given)}
    return [named(row, name) for name, rows in given for row in rows]


async def run_at(id: str, order: Order, server: ServerParts) -> Any:
    """Execute an order on the server with this id, and return the answer. May raise `OrderRefused` or `NoAnswer`."""
    names = server.elsewhere.cluster_status.names
    if id == next(iter(names)):
        return await order.run_here(server)
    try:
        return read_answer(await server.elsewhere.ask_order(id, msgspec.json.encode(order)))
    except StoreUnavailable:
        raise NoAnswer(f"Server {names.get(id, id)} does not respond.") from None


def read_answer(data: bytes) -> Any:
    """Decode the answer to an order. Raise `OrderRefused` for an error, and ValueError for invalid data."""
    found = msgspec.json.decode(data)
    if "error" in found:
        raise OrderRefused(found["error"])
    return found["answer"]
