"""Orders about events."""

from __future__ import annotations

from typing import Annotated, Final

import click

from tictactoe_server.admin.orders.order import Listing, Order, Row, ServerParts
from tictactoe_server.features.tournaments.service import Tournaments


class ListEvents(Listing, frozen=True, tag="events"):
    """List the events that are not over, also those that are not open to all."""

    columns = ("event", "title", "kind", "status", "round", "rounds", "players", "here")
    nothing = "No events."

    async def run_here(self, server: ServerParts) -> list[Row]:
        return await server.service(Tournaments).rows()


class EndEvent(Order, frozen=True, tag="end-event"):
    """End the event CODE: games that are on count for nobody, and its table stays as it is."""

    code: Annotated[str, click.Argument(["code"])]
    said = "Ended {event}, {title}."

    async def run_here(self, server: ServerParts) -> Row:
        return await server.service(Tournaments).end(self.code)


ORDERS: Final = (ListEvents, EndEvent)
