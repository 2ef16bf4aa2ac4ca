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
    """Forget PLAYER for good. PLAYER is an id, the name of a connected player, or a claimed name.

    The player's name, devices and rescue codes are deleted. Games remain under another name, and bans remain, too.
    Existing backups have the name until they are deleted; if one is restored, the player is forgotten again.
    """

    player: Annotated[str, click.Argument(["player"])]
    said = "{player} is forgotten, and is {stand_in} in games that stay."
    question = "Forget {player}? The name, devices and rescue codes are deleted, and nothing brings them back."

    async def run_here(self, server: ServerParts) -> Row:
        id = self.player
        if not PLAYER_ID.fullmatch(id):
            claim = await Accounts(server.core.store).find_claim(id)
            id = await find_connected(id, server) if claim is None else claim.player
        return {"player": id, "stand_in": await server.service(Forgetting).forget(id)}


def _make(parts: Parts) -> Iterable[Service]:
    return [Forgetting(parts.specs, parts.check_device, parts.settings.keep_players_days)]


FEATURE: Final = Feature(make=_make, orders=(ForgetOrder,))
