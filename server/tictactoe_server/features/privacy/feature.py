"""The feature that exports and erases players' data, and the operator's order to forget a player."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final

import click

from tictactoe_server.core.core import Service
from tictactoe_server.features.feature import Feature, Parts
from tictactoe_server.features.privacy.service import Forgetting
from tictactoe_server.operator.bans import PLAYER_ID
from tictactoe_server.operator.order import Order, Row, ServerParts
from tictactoe_server.operator.people import find_connected
from tictactoe_server.people.accounts import Accounts


class ForgetOrder(Order, frozen=True, tag="forget"):
    """Erase the personal data of a player. This cannot be undone.

    PLAYER is an id, the name of a connected player, or a claimed name. The name, the devices and the rescue codes are
    deleted. The player's games stay under another name; bans stay, too. Existing backups still contain the data; when
    one is restored, the player is forgotten again.
    """

    player: Annotated[str, click.Argument(["player"])]
    said = "Forgot {player}, who is now {stand_in} in stored games."
    question = "Forget {player}? The name, the devices and the rescue codes are deleted permanently."

    async def run_here(self, server: ServerParts) -> Row:
        id = self.player
        if not PLAYER_ID.fullmatch(id):
            claim = await Accounts(server.core.store).find_claim(id)
            id = await find_connected(id, server) if claim is None else claim.player
        return {"player": id, "stand_in": await server.service(Forgetting).forget(id)}


def _make(parts: Parts) -> Iterable[Service]:
    return [Forgetting(parts.specs, parts.check_device, parts.settings.keep_players_days)]


FEATURE: Final = Feature(make=_make, orders=(ForgetOrder,))
