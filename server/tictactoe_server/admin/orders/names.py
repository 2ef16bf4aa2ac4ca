"""Orders about names that last: who has claimed which, and help for those who have lost what proves who they are."""

from __future__ import annotations

from typing import Annotated, Any, Final

import click
import structlog
from msgspec.structs import replace

from tictactoe_protocol import CloseCode
from tictactoe_server.admin.orders.order import Listing, Order, OrderRefused, Row, ServerParts, run_everywhere
from tictactoe_server.people.accounts import Accounts
from tictactoe_server.records.changes import change
from tictactoe_server.records.tables import Account, Claim

log: Final = structlog.get_logger(__name__)


class ListNames(Listing, frozen=True, tag="names"):
    """List the names that players have claimed."""

    columns = ("name", "player", "devices", "codes_left")
    nothing = "Nobody has claimed a name."

    async def run_here(self, server: ServerParts) -> list[Row]:
        kept, rows = Accounts(server.core.store), {}
        async for some in kept.claims.load_all():
            for claim in [stored.value for stored in some if isinstance(stored.value, Claim)]:
                account = await kept.load(claim.player)
                if account is not None and not claim.is_free:
                    left = {"devices": len(account.devices), "codes_left": len(account.codes)}
                    rows[claim.name] = {"name": claim.name, "player": claim.player, **left}
        return sorted(rows.values(), key=lambda row: row["name"])


class Release(Order, frozen=True, tag="release"):
    """Let anybody claim NAME again; who has it stays the same player, without it."""

    name: Annotated[str, click.Argument(["name"])]
    said = "{name} is free; {player} had it."

    async def run_here(self, server: ServerParts) -> Row:
        kept = Accounts(server.core.store)
        account = await _find_account(kept, self.name)
        await kept.release(account)
        id = account.player.id
        await change(kept.accounts, id, lambda old: old and replace(old, claimed="", codes=(), former=()))
        log.info("name released", name=account.claimed, player=id)
        return {"name": account.claimed, "player": id}


class Merge(Order, frozen=True, tag="merge"):
    """Let the devices of PLAYER, an id, be those of the player who has claimed NAME."""

    player: Annotated[str, click.Argument(["player"])]
    name: Annotated[str, click.Argument(["name"])]
    said = "{player} is {name} from now on."

    async def run(self, server: ServerParts) -> Any:
        kept = Accounts(server.core.store)
        into, old = await _find_account(kept, self.name), await kept.load(self.player)
        if old is not None and old.claimed:
            raise OrderRefused(f"{self.player} has claimed {old.claimed}: release it first, or merge the other way.")
        await server.core.registry.restored.wait()
        if seats := server.core.lists.held_seats(self.player):
            raise OrderRefused(f"{self.player} still plays in {', '.join(seat.room for seat in seats)}.")
        if not await kept.merge(self.player, into):
            raise OrderRefused(f"There is no player {self.player}.")
        log.info("players merged", player=self.player, into=into.player.id, name=into.claimed)
        server.core.merged(self.player, into.player.id)
        return await run_everywhere(self, server)

    async def run_here(self, server: ServerParts) -> Row:
        """Let those who are here come back, as whom they are now."""
        sessions = server.core.presence.of_player(self.player)
        for session in sessions:
            session.connection.close(CloseCode.SERVICE_RESTART, "merged")
        return {"player": self.player, "name": self.name, "connections": len(sessions)}


ORDERS: Final = (ListNames, Release, Merge)


async def _find_account(kept: Accounts, name: str) -> Account:
    """Return the account of the player who has claimed a name; raises `OrderRefused`."""
    claim = await kept.find_claim(name)
    account = claim and await kept.load(claim.player)
    if not account:
        raise OrderRefused(f"Nobody has claimed {name}. Names that are claimed: tictactoe-server names")
    return account
