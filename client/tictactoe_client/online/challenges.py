"""Challenges between players, as `Client.challenges`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any

from msgspec import UNSET, structs

from tictactoe_client.online.errors import ClientError, ConnectionLost, Refused
from tictactoe_client.online.events import ChallengeEnded
from tictactoe_client.online.part import PartOwner, require_field
from tictactoe_client.online.room import GOODBYE_SECONDS, Room
from tictactoe_client.online.rooms import Rooms
from tictactoe_engine import PRESETS, Rules
from tictactoe_protocol import terms
from tictactoe_protocol.challenges import Answer, Block, Challenge, ChallengeOver, OpenChallenge
from tictactoe_protocol.pushes import Welcome
from tictactoe_protocol.terms import choice_of
from tictactoe_words.catalogue import say
from tictactoe_words.ladders import describe_challenge_end


class Challenges:
    """Challenges between players; all methods raise `Refused` with ``unsupported`` if the server lacks them.

    Attributes:
        open: The open challenges to us and from us, by id, the newest last.
        own: The name of the challenged player, or "", by id of each challenge that this client made or accepted.
    """

    def __init__(self, client: PartOwner, rooms: Rooms) -> None:
        self._client = client
        self.open: dict[str, OpenChallenge] = {
            challenge.challenge: challenge for challenge in client.welcome.challenges or ()
        }
        self.own: dict[str, str] = {}
        self._sent: tuple[OpenChallenge, str] | None = None  # our latest challenge, with the player's name
        self._rooms = rooms

    async def send(
        self,
        player: str,
        rules: Rules | str | None = None,
        *,
        clock: terms.ClockFields | None = None,
        rated: bool = False,
        side: str = "",
        name: str = "",
    ) -> str:
        """Challenge a player, by id or claimed name; return the id of the challenge.

        The event `ChallengeEnded` reports how the challenge ended; `meet` waits for it.

        Args:
            rules: Rules, or the name of a preset; by default classic.
            side: The mark that we play; by default drawn at random.
            name: The player's name, to show in messages.
        """
        chosen = (rules or "classic") if isinstance(rules, str | None) else choice_of(rules)
        rules_state = terms.RulesState.of(PRESETS[chosen] if isinstance(chosen, str) else chosen.to_rules())
        client = self._client
        about: dict[str, Any] = {"clock": clock, "rated": rated, "side": side or UNSET}
        us: dict[str, Any] = {"player": client.player, "name": client.name}
        own = OpenChallenge(challenge="", **us, to=player, rules=rules_state, expires_ms=0, **about)
        self._sent = own, name or player
        return require_field((await client.ask(Challenge(player=player, rules=chosen, **about))).challenge)

    async def answer(self, challenge: str, *, accept: bool) -> str | None:
        """Accept or decline a challenge, or withdraw our own; return the code of the accepted game's room, or None."""
        if accept:
            self.own.setdefault(challenge, "")
        return (await self._client.ask(Answer(challenge=challenge, accept=accept))).room or None

    async def meet(self, sent: Awaitable[str]) -> Room:
        """Send a challenge, wait until it or another of our challenges is accepted, and enter the room of that game.

        Raises `Refused` if our challenge ends otherwise. If the call is cancelled, the challenge is withdrawn.

        Args:
            sent: A call of `send`, which this method awaits.
        """
        async with self._client.messages() as messages:
            sending = asyncio.ensure_future(sent)
            try:
                own = await asyncio.shield(sending)
                async for message in messages:
                    end = message.event
                    if isinstance(end, ChallengeEnded) and (end.leads or end.over.challenge == own):
                        break
                else:
                    raise ConnectionLost(say("lost closed by us"))
            finally:
                with suppress(ClientError, TimeoutError):
                    async with asyncio.timeout(GOODBYE_SECONDS):
                        if (own := await sending) in self.open:
                            await self.answer(own, accept=False)
        if not end.leads:
            why = describe_challenge_end(end.over, end.challenge, self._client.player, end.name)
            raise Refused(end.over.how, why)
        return await self._rooms.join(end.over.room or "")

    async def block(
        self, player: str | None = None, *, on: bool = True, strangers: bool | None = None
    ) -> tuple[str, ...]:
        """Block a player, by id or claimed name, or unblock one; return the ids of all blocked players.

        Args:
            on: Whether to block the player; False unblocks.
            strangers: Whether to block challenges from people we have not played; None leaves this unchanged.
        """
        request = Block(player=player or UNSET, on=on, strangers=UNSET if strangers is None else strangers)
        blocks = (await self._client.ask(request)).blocks or ()
        for challenge in [challenge for challenge in self.open.values() if challenge.player in blocks]:
            del self.open[challenge.challenge]  # the server does not report its end
        return blocks

    def _take_id(self, challenge: str) -> None:
        """Record the id of the challenge just sent, at once: the server's next message may report its end."""
        if self._sent is not None:
            own, self.own[challenge] = self._sent
            self.open[challenge] = structs.replace(own, challenge=challenge)

    def _end(self, over: ChallengeOver) -> None:
        name = self.own.pop(over.challenge, None)
        if (challenge := self.open.pop(over.challenge, None)) is not None:
            leads = name is not None and bool(over.room)
            self._client._publish(ChallengeEnded(over, challenge, name or "", leads=leads))

    def _compare(self, before: Welcome, now: Welcome, rooms: set[str]) -> None:
        """End the challenges that the welcome after a reconnection no longer lists.

        If the welcome reports a new seat in a room outside our `rooms`, one of our challenges was accepted.
        """
        known = {seat.room for seat in before.rooms} | rooms
        seats = [seat.room for seat in now.rooms if seat.room not in known]
        open = {challenge.challenge: challenge for challenge in now.challenges or ()}
        for id in self.open.keys() - open.keys():
            room = seats.pop() if seats and id in self.own else UNSET
            self._end(ChallengeOver(id, "accepted" if room else "over", room))
        self.open |= open
