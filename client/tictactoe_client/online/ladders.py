"""The ladders of rated games, as `Client.ladders`."""

from __future__ import annotations

from typing import Final

from msgspec import UNSET

from tictactoe_client.online.part import Part, require, require_field
from tictactoe_engine import Rules
from tictactoe_protocol.pushes import PlayerProfile
from tictactoe_protocol.rated import LadderState, Profile, Ratings
from tictactoe_protocol.terms import choice_of

NO_LADDERS: Final = "refused not_allowed ladders off"
"""The sentence for a server that rates no games."""


class Ladders(Part):
    """The ladders of rated games; all methods raise `Refused` with ``unsupported`` if the server has none."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the rules that have a ladder; empty if the server rates no games."""
        return self._client.welcome.ladders

    async def ratings(self, rules: Rules | str, *, around: str | None = None, top: int | None = None) -> LadderState:
        """Return a ladder: its best `top` players, or the rows around a player."""
        require(self.names, NO_LADDERS)
        chosen = rules if isinstance(rules, str) else choice_of(rules)
        request = Ratings(rules=chosen, around=around or UNSET, top=top or UNSET)
        return require_field((await self._client._ask(request)).ladder)

    async def profile(self, player: str | None = None) -> PlayerProfile:
        """Return a player's ladders and newest rated games, by id or claimed name; by default our own."""
        require(self.names, NO_LADDERS)
        return require_field((await self._client._ask(Profile(player=player or self._client.player))).profile)
