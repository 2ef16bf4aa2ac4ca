"""Orders about the server as a whole: status, limits and draining."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated, Final

import click

from tictactoe_protocol import clean_text
from tictactoe_server import __version__, clock
from tictactoe_server.operator.order import Listing, Order, Row, ServerParts, run_at
from tictactoe_server.operator.words import Seconds, draw_table, show, show_duration, show_ready, time_option
from tictactoe_server.settings import COUNTS, Limits, count_of

_FIGURES: Final = ("unready", "players", "connections", "served", "moves", "elsewhere", "loop_lag_ms", "store_owes_ms")
"""The figures that the status of a cluster shows for each server."""


class Status(Order, frozen=True, tag="status"):
    """Show the status of the running server."""

    async def run(self, server: ServerParts) -> Row:
        """Return this server's status and, in a cluster, the `_FIGURES` of each server."""
        own, names = await self.run_here(server), server.elsewhere.cluster_status.names
        if not server.elsewhere.is_several:
            return own
        asked = (run_at(id, self, server) for id in list(names)[1:])
        answers, servers = await asyncio.gather(*asked, return_exceptions=True), []
        for name, found in zip(names.values(), [own, *answers], strict=True):
            status = {"unready": "it does not respond"} if isinstance(found, BaseException) else found
            servers.append({"server": name, **{figure: status.get(figure) for figure in _FIGURES}})
        return {**own, "server": servers[0]["server"], "cluster": servers}

    async def run_here(self, server: ServerParts) -> Row:
        """Return this server's status.

        In a cluster, it includes the numbers of rooms `served` here and of rooms known to be `elsewhere`.
        """
        owed_since, settings = server.core.store.owed_since(), server.core.settings
        keeping = "for good" if settings.keep_players_days is None else f"for {settings.keep_players_days} days"
        status = {
            "version": __version__,
            "pid": os.getpid(),
            "address": server.address,
            "data": server.data,
            "up_seconds": round(clock.monotonic() - server.started_at),
            "unready": server.unready(),
            "connections": server.admission.connections,
            "players": len(server.core.presence.ids),
            "rooms": server.core.indexes.by_status,
            "moves": server.core.rooms.moves,
            "refusals": server.core.counters.refusals.total(),
            "limited": server.limited().total(),
            "loop_lag_ms": round(server.lag.seconds * 1000, 1),
            "store_owes_ms": 0 if owed_since is None else round((clock.monotonic() - owed_since) * 1000),
            "bans": len(server.bans),
            "drain": _row_of_drain(server) if server.drain.is_on else None,
            "features": {name: line for service in server.services for name, line in service.status().items()},
            "people_may": f"chat {settings.chat}, lists show {settings.lobby}, absent players are kept {keeping}",
        }
        rooms = server.core.rooms
        counts = {"served": len(rooms.by_code), "elsewhere": rooms.elsewhere.count}
        return status | counts if rooms.elsewhere.is_several else status

    def describe(self, answer: Row) -> str:
        up, drain = show_duration(answer["up_seconds"]), answer["drain"]
        rows = {
            "server": f"tictactoe-server {answer['version']}, process {answer['pid']}, up {up}",
            "address": f"{answer['address']}, data: {answer['data']}",
            "ready": show_ready(answer["unready"]),
            "people": show({name: answer[name] for name in ("players", "connections", "bans")}),
            "rooms": show(answer["rooms"]),
            "moves": f"{answer['moves']}; {answer['refusals']} requests refused, {answer['limited']} by a limit",
            "load": f"event loop lag {answer['loop_lag_ms']} ms, store lag {answer['store_owes_ms']} ms",
            "drain": None if drain is None else DrainOrder().describe(drain),
            **answer["features"],
            "allows": answer["people_may"],
            "speed": answer.get("speed"),
        }
        lines = [f"{name:8} {clean_text(text)}" for name, text in rows.items() if text is not None]
        if "cluster" in answer:
            lines += ["", draw_table(("server", *_FIGURES), answer["cluster"])]
        return "\n".join(lines)


class DrainOrder(Order, frozen=True, tag="drain"):
    """Stop the server once all games in progress have ended. No new games begin, and all players are notified.

    To stop it at once instead, send SIGTERM or press Ctrl-C in its terminal.
    """

    seconds: Annotated[
        Seconds | None, time_option("deadline", "Stop after this time at the latest (30m, 2h). [default: no limit]")
    ] = None
    for_good: Annotated[
        bool,
        click.Option(["--for-good"], is_flag=True, help="Tell players that the server will not restart."),
    ] = False

    async def run_here(self, server: ServerParts) -> Row:
        """Drain only this server. In a cluster, its rooms move to the other servers."""
        await server.elsewhere.leave()
        server.drain.start(self.seconds, is_final=self.for_good)
        return _row_of_drain(server)

    def describe(self, answer: Row) -> str:
        count, left = answer["games"], answer["seconds_left"]
        if not count:
            return "No games are in progress: the server stops now."
        latest = "" if left is None else f", in {show_duration(left)} at the latest"
        games = "the game in progress has" if count == 1 else f"{count} games in progress have"
        return f"No new games begin. The server stops when {games} ended{latest}."


class ListLimits(Listing, frozen=True, tag="limits"):
    """List all limits and their current use. If no server is running, list the default limits."""

    columns = ("name", "limit", "now")
    nothing = "No limits."

    async def run_here(self, server: ServerParts) -> list[Row]:
        return [{"name": name, "limit": limit, "now": now} for name, (limit, now) in server.limits().items()]

    def answer_without_server(self) -> list[Row]:
        return [{"name": name, "limit": count_of(Limits(), name), "now": None} for name in COUNTS]


ORDERS: Final = (Status, DrainOrder, ListLimits)


def _row_of_drain(server: ServerParts) -> Row:
    left = server.drain.seconds_left
    return {
        "games": server.core.count_games(),
        "seconds_left": None if left is None else round(left),
        "for_good": server.drain.is_final,
    }
