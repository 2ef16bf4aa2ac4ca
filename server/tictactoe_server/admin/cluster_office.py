"""The operator's orders where there are several servers: what concerns all of them is done, and asked, at all."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import msgspec
import structlog

from tictactoe_server.admin import orders
from tictactoe_server.admin.bans import BadSubject, parse_subject
from tictactoe_server.admin.control import OrderRefused
from tictactoe_server.admin.office import Answer, Office, code_of, only_one
from tictactoe_server.admin.orders import Order
from tictactoe_server.cluster.cluster import Cluster
from tictactoe_server.storage.store import StoreUnavailable

log: Final = structlog.get_logger(__name__)

_FIGURES: Final = ("unready", "connections", "players", "served", "moves", "loop_lag_ms", "store_owes_ms", "elsewhere")
_decode: Final = msgspec.json.Decoder(Order).decode


class ClusterOffice:
    """Carries orders out at this server's `office` and, for the others, asks theirs. See `Office` for the errors.

    Rows of what several servers say name theirs as ``server``. To drain is for one server alone: its rooms move.
    """

    def __init__(self, office: Office, cluster: Cluster) -> None:
        self._office = office
        self._cluster = cluster
        cluster.on_order = self._answer

    async def carry_out(self, order: Order) -> Answer:
        """Carry an order out and return its answer."""
        match order:
            case orders.Status():
                return await self._status()
            case orders.ListRooms() | orders.ListPlayers() | orders.ListConnections():
                return await self._rows(order)
            case orders.ShowRoom() | orders.CloseRoom():
                return await self._at_its_server(order)
            case orders.Kick():
                return await self._kick(order)
            case orders.BanOrder():
                return await self._office.carry_out(
                    msgspec.structs.replace(order, subject=await self._subject(order.subject))
                )
            case orders.Unban():
                return await self._office.carry_out(orders.Unban(await self._subject(order.subject)))
            case orders.Announce():
                answers = [answer for _, answer in await self._all(order)]
                return {**answers[0], "connections": sum(answer["connections"] for answer in answers)}
            case orders.DrainOrder():
                await self._cluster.leave()
                return await self._office.carry_out(order)
            case _:
                return await self._office.carry_out(order)

    # -- what all say -------------------------------------------------------------------------------------------

    async def _status(self) -> Answer:
        """Return how this server is, and in a few figures how each of the cluster is."""
        members, own = self._cluster.members, await self._own_status()
        others = list(members.others)
        found = await asyncio.gather(
            *(self._ask(other.sender, orders.Status()) for other in others), return_exceptions=True
        )
        servers = [{"server": members.name, **{name: own[name] for name in _FIGURES}}]
        for other, status in zip(others, found, strict=True):
            silent = {"unready": "it does not answer"}
            figures = silent if isinstance(status, BaseException) else status
            servers.append({"server": other.name, **{name: figures.get(name) for name in _FIGURES}})
        return {**own, "server": members.name, "house": servers}

    async def _own_status(self) -> dict[str, Any]:
        """Return how this server is; `served` rooms are its own, and so many it knows `elsewhere`."""
        answer = await self._office.carry_out(orders.Status())
        assert isinstance(answer, dict)
        served = len(list(self._office.site.registry.rooms))
        return {**answer, "served": served, "elsewhere": self._office.site.registry.elsewhere.count}

    async def _rows(self, order: Order) -> list[dict[str, Any]]:
        """Return the rows of all servers."""
        return [{**row, "server": name} for name, rows in await self._all(order) for row in rows]

    async def _all(self, order: Order) -> list[tuple[str, Any]]:
        """Return what this server and then each of the others says, with their names, but for those who refuse.

        Raises what this server says where it refuses and all others do.
        """
        others = list(self._cluster.members.others)
        answers = await asyncio.gather(
            self._office.carry_out(order), *(self._ask(other.sender, order) for other in others), return_exceptions=True
        )
        said = []
        for name, answer in zip((self._cluster.members.name, *(other.name for other in others)), answers, strict=True):
            if isinstance(answer, StoreUnavailable):
                raise OrderRefused(f"The server {name} does not answer.")
            if isinstance(answer, BaseException) and not isinstance(answer, OrderRefused):
                raise answer
            if not isinstance(answer, OrderRefused):
                said.append((name, answer))
        if not said and isinstance(answers[0], OrderRefused):
            raise answers[0]
        return said

    # -- what one of them does ----------------------------------------------------------------------------------

    async def _at_its_server(self, order: orders.ShowRoom | orders.CloseRoom) -> Answer:
        """Have the server that serves a room carry an order out."""
        server, members = self._cluster.server_of(code_of(order.code)), self._cluster.members
        is_here = server == members.id
        answer = await (self._office.carry_out(order) if is_here else self._ask(server, order))
        assert isinstance(answer, dict)
        return {**answer, "server": members.name_of(server)}

    async def _kick(self, order: orders.Kick) -> Answer:
        """Close the connections of a player at whichever servers they are."""
        id = await self._player(order.player)
        answers = await self._all(msgspec.structs.replace(order, player=id))
        return {"player": id, "connections": sum(answer["connections"] for _, answer in answers)}

    async def _subject(self, text: str) -> str:
        """Return what a ban is of: a network, or the id of a player, also by the name of one who is here."""
        try:
            return parse_subject(text)
        except BadSubject:
            return await self._player(text)

    async def _player(self, text: str) -> str:
        """Return the id of one who is here, by id or by name; raises `OrderRefused`."""
        rows = await self._rows(orders.ListPlayers())
        ids = list(dict.fromkeys(row["player"] for row in rows if text in (row["player"], row["name"])))
        return only_one(text, ids)

    # -- between the servers ------------------------------------------------------------------------------------

    async def _ask(self, id: str, order: Order) -> Any:
        """Return the answer of another server; raises `OrderRefused`, and `StoreUnavailable` for none."""
        found = msgspec.json.decode(await self._cluster.ask_order(id, msgspec.json.encode(order)))
        if "error" in found:
            raise OrderRefused(found["error"])
        return found["answer"]

    async def _answer(self, message: bytes) -> bytes:
        """Return the answer to an order of another server, about this one alone."""
        try:
            order = _decode(message)
            is_status = isinstance(order, orders.Status)
            answer = await (self._own_status() if is_status else self._office.carry_out(order))
            return msgspec.json.encode({"answer": answer})
        except (OrderRefused, msgspec.DecodeError, StoreUnavailable) as error:
            return msgspec.json.encode({"error": str(error)})
