"""The feature "tournaments", and the operator's orders about tournaments and organisers."""

from __future__ import annotations

from typing import Annotated, Final

import click
import structlog

from tictactoe_server.features.feature import Feature
from tictactoe_server.features.tournaments.event_store import EVENTS, ORGANISERS
from tictactoe_server.features.tournaments.service import Tournaments
from tictactoe_server.operator.order import Listing, Order, Row, ServerParts
from tictactoe_server.operator.people import find_connected
from tictactoe_server.people.accounts import Accounts
from tictactoe_server.records.changes import change

log: Final = structlog.get_logger(__name__)


class ListEvents(Listing, frozen=True, tag="events"):
    """List all unfinished tournaments, whoever may enter them."""

    columns = ("event", "title", "kind", "status", "round", "rounds", "players", "here")
    nothing = "No tournaments."

    async def run_here(self, server: ServerParts) -> list[Row]:
        return await server.service(Tournaments).rows()


class EndEvent(Order, frozen=True, tag="end-event"):
    """End the tournament CODE. Games in progress do not count, and the table keeps its present order."""

    code: Annotated[str, click.Argument(["code"])]
    outcome = "Ended tournament {event}, {title}."

    async def run_here(self, server: ServerParts) -> Row:
        return await server.service(Tournaments).end(self.code)


class AllowOrganiser(Order, frozen=True, tag="organiser"):
    """Allow PLAYER to open tournaments.

    This permission is required on a server with --lobby marks, such as a school's. It includes the player's other
    devices. PLAYER is an id, or the name of a connected player.
    """

    player: Annotated[str, click.Argument(["player"])]
    off: Annotated[bool, click.Option(["--off"], is_flag=True, help="Withdraw the permission.")] = False
    outcome = "{player} {may} open tournaments. The player must reload the page."

    async def run_here(self, server: ServerParts) -> Row:
        store, id = server.core.store, self.player
        if not await Accounts(store).devices_of(id):
            id = await find_connected(id, server)
        await change(store.table(ORGANISERS), id, lambda old: None if self.off else id)
        log.info("organiser permission changed", player=id, on=not self.off)
        return {"player": id, "on": not self.off}

    def describe(self, answer: Row) -> str:
        return super().describe({**answer, "may": "may" if answer["on"] else "may no longer"})


FEATURE: Final = Feature(
    make=lambda parts: [Tournaments(parts.drain, parts.note_seat)],
    tables=(EVENTS, ORGANISERS),
    orders=(ListEvents, EndEvent, AllowOrganiser),
)
