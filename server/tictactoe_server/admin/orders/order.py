"""What all orders have in common, and how one server asks the others of its cluster.

A class for an order has as fields what is sent as JSON, told apart by `command`. Beside the type of a field stands the
parameter of click that fills it on the command line, where the help is the docstring of the class.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import msgspec
from msgspec import Struct

from tictactoe_server.admin.orders.words import draw_table
from tictactoe_server.admin.parts import ServerParts
from tictactoe_server.storage.store import StoreUnavailable

Row = dict[str, Any]


class OrderRefused(Exception):
    """The order cannot be carried out; the message is a sentence for the operator."""


class NoAnswer(OrderRefused):
    """Another server of the cluster does not answer."""


class Order(Struct, frozen=True, tag_field="command", forbid_unknown_fields=True):
    """An order; `run` and `run_here` return what JSON can say, and raise `OrderRefused`.

    With `is_for_all` it is carried out by every server of a cluster: the answers are rows, or one row whose
    `connections` are added up.
    """

    is_for_all: ClassVar[bool] = False

    async def run(self, server: ServerParts) -> Any:
        """Carry the order out for the whole cluster, where there is one."""
        return await (run_everywhere(self, server) if self.is_for_all else self.run_here(server))

    async def run_here(self, server: ServerParts) -> Any:
        """Carry out what concerns this one server."""
        raise NotImplementedError

    def describe(self, answer: Any) -> str:
        """Return an answer in words."""
        raise NotImplementedError

    def answer_without_server(self) -> Any:
        """Return what is known where no server runs; None for nothing."""
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
    """Return a row with the name of its server, unless that is on its own."""
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
    """Return what one server answers for itself alone; raises `OrderRefused`, and `NoAnswer` where it is silent."""
    names = server.names
    if server.cluster is None or id == next(iter(names)):
        return await order.run_here(server)
    try:
        return read_answer(await server.cluster.ask_order(id, msgspec.json.encode(order)))
    except StoreUnavailable:
        raise NoAnswer(f"The server {names.get(id, id)} does not answer.") from None


def read_answer(data: bytes) -> Any:
    """Return what a server answers; raises `OrderRefused`, and `msgspec.DecodeError` for what is no answer."""
    found = msgspec.json.decode(data)
    if "error" in found:
        raise OrderRefused(found["error"])
    return found["answer"]
