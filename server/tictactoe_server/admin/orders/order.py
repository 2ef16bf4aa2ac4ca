"""What all orders have in common: what they see of a server, and how one server asks the others of its cluster.

A class for an order has as fields what is sent as JSON, told apart by `command`. Beside the type of a field stands the
parameter of click that fills it on the command line, where the help is the docstring of the class.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import msgspec
from msgspec import Struct

from tictactoe_server import clock
from tictactoe_server.admin.backups import Backups
from tictactoe_server.admin.bans import Bans
from tictactoe_server.admin.chores import LoopLag
from tictactoe_server.admin.drain import Drain
from tictactoe_server.admin.orders.words import draw_table
from tictactoe_server.core.core import Core
from tictactoe_server.core.served_time import GRACE_SECONDS
from tictactoe_server.sessions.pressure import Pressure
from tictactoe_server.settings import COUNTS, count_of
from tictactoe_server.storage.store import StoreUnavailable
from tictactoe_server.transport.admission import Admission
from tictactoe_server.transport.rate_limit import used_of

if TYPE_CHECKING:
    from tictactoe_server.cluster.cluster import Cluster  # which needs the library for NATS

Row = dict[str, Any]
LimitsNow = Mapping[str, tuple[float | None, float | None]]
"""Each limit by its name: what it is, None for none; and how much there is now, None where that is no one figure."""


class RatingsKept(Protocol):
    """The operations on ratings that orders use; they raise `OrderRefused`."""

    async def judge(
        self, kind: str, reason: str, *, of: str = "", since: int = 0, into: str = "", undoes: int = 0
    ) -> Row:
        """Store a verdict, and return it."""

    async def verify(self) -> Row:
        """Return the `digest` of the current ratings, and the digest to which all `games` are `folded`."""

    async def export(self) -> tuple[Row, bytes]:
        """Return the number of `games` and their `digest`, and the content of an export."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerParts:
    """The parts of a running server that orders and figures read and act upon.

    `address` and `data` say where the server listens and what it keeps. `bots_waiting` returns how many thoughts of
    bots wait, `streams` has the limits of those. `list_events` returns the events that are not over, and `end_event`
    ends one by its code; it may raise `Refused`. `forget` forgets a player by the id, and returns what stands for
    them. `cluster` is None for a server on its own, and `backups` for one that makes none by itself.
    """

    address: str
    data: str
    core: Core
    admission: Admission
    pressure: Pressure
    bots_waiting: Callable[[], int]
    lag: LoopLag
    bans: Bans
    drain: Drain
    streams: object
    list_events: Callable[[], Awaitable[list[Row]]]
    end_event: Callable[[str], Awaitable[Row]]
    forget: Callable[[str], Awaitable[str]]
    ratings: RatingsKept
    cluster: Cluster | None = None
    backups: Backups | None = None
    started_at: float = field(default_factory=clock.monotonic)

    @property
    def names(self) -> Mapping[str, str]:
        """The names of the cluster's servers by id, this one first; {"": ""} without a cluster."""
        return {"": ""} if self.cluster is None else self.cluster.names

    def limits(self) -> LimitsNow:
        """Return each limit with its current use: the highest of any player or address."""
        core, lists = self.core, self.core.lists
        counting = self.admission, self.pressure, core.allowances, lists.owners, lists.seats, self.streams
        now = {name: used for one in counting for name, used in used_of(one).items()} | {
            "connections": self.admission.connections,
            "rooms": core.lists.count,
            "watchers-per-room": max((len(live.watchers) for live in core.registry.by_code.values()), default=0),
        }
        return {name: (count_of(core.limits, name) or None, now.get(name)) for name in COUNTS}

    def limited(self) -> Counter[str]:
        """Return how often each limit was hit."""
        return Counter({"pressure": self.pressure.shed}) + self.core.tally.limited + self.admission.refused

    def unready(self) -> str | None:
        """Return why the server is not ready, or None."""
        owed_since = self.core.store.owed_since()
        if not self.core.registry.restored.is_set():
            return "starting"
        if self.drain.is_on:
            return "draining"
        if self.cluster is not None and not self.cluster.members.is_in:
            return "not in the cluster yet"
        if owed_since is not None and clock.monotonic() - owed_since > GRACE_SECONDS:
            return "the store does not answer"
        return None


class OrderRefused(Exception):
    """The order cannot be carried out; the message is a sentence for the operator."""


class NoAnswer(OrderRefused):
    """Another server of the cluster does not answer."""


class Order(Struct, frozen=True, tag_field="command", forbid_unknown_fields=True):
    """An order; `run` and `run_here` return what JSON can say, and raise `OrderRefused`.

    With `is_for_all` it is carried out by every server of a cluster: the answers are rows, or one row whose
    `connections` are added up. `said` is an answer in words, with the names of its fields in braces.
    """

    is_for_all: ClassVar[bool] = False
    said: ClassVar[str] = ""

    async def run(self, server: ServerParts) -> Any:
        """Execute the order for the whole cluster, if there is one."""
        return await (run_everywhere(self, server) if self.is_for_all else self.run_here(server))

    async def run_here(self, server: ServerParts) -> Any:
        """Execute the order at this server."""
        raise NotImplementedError

    def describe(self, answer: Any) -> str:
        count = answer.get("connections")
        connections = f"{count} connection{'' if count == 1 else 's'}"
        return self.said.format_map({**answer, "connections": connections})

    def answer_without_server(self) -> Any:
        """Return the answer that needs no running server, or None."""
        return None


class Listing(Order, frozen=True):
    """An order whose answer is rows, shown as a table of these columns, or as a sentence where there are none."""

    columns: ClassVar[tuple[str, ...]]
    nothing: ClassVar[str]

    def describe(self, answer: list[Row]) -> str:
        if not answer:
            return self.nothing
        return draw_table((*self.columns, "server") if "server" in answer[0] else self.columns, answer)


def named(row: Row, name: str) -> Row:
    """Return a row with its server's name, if there is a cluster."""
    return {**row, "server": name} if name else row


async def run_everywhere(order: Order, server: ServerParts) -> Any:
    """Return what this server and then each of the others answers as one answer, but for those who refuse.

    Raises `OrderRefused` where all refuse, as this server does, and where one does not answer.
    """
    names = server.names
    answers = await asyncio.gather(*(run_at(id, order, server) for id in names), return_exceptions=True)
    failed = [answer for answer in answers if isinstance(answer, BaseException)]
    grave = [one for one in failed if isinstance(one, NoAnswer) or not isinstance(one, OrderRefused)]
    if grave or len(failed) == len(answers):
        raise (grave or failed)[0]
    said: list[tuple[str, Any]] = [one for one in zip(names.values(), answers, strict=True) if one[1] not in failed]
    if isinstance(said[0][1], dict):
        return {**said[0][1], "connections": sum(answer["connections"] for _, answer in said)}
    return [named(row, name) for name, rows in said for row in rows]


async def run_at(id: str, order: Order, server: ServerParts) -> Any:
    """Return one server's own answer; raises `OrderRefused`, and `NoAnswer` if it does not answer."""
    names = server.names
    if server.cluster is None or id == next(iter(names)):
        return await order.run_here(server)
    try:
        return read_answer(await server.cluster.ask_order(id, msgspec.json.encode(order)))
    except StoreUnavailable:
        raise NoAnswer(f"The server {names.get(id, id)} does not answer.") from None


def read_answer(data: bytes) -> Any:
    """Decode an answer; raises `OrderRefused`, and `msgspec.DecodeError` for anything else."""
    found = msgspec.json.decode(data)
    if "error" in found:
        raise OrderRefused(found["error"])
    return found["answer"]
