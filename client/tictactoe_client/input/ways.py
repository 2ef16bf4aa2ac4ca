"""Ways to enter a room (create, join, watch, ...) or an event, as values that can be kept and used again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

from msgspec.structs import asdict

from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import ClientError, Refused
from tictactoe_client.online.room import Room
from tictactoe_client.online.tournament import Tournament
from tictactoe_engine import PRESETS, Rules
from tictactoe_protocol import ErrorCode, terms
from tictactoe_words.ladders import describe_challenge

Way = Literal["match", "create", "join", "watch", "challenge", "accept"]


@dataclass(frozen=True, slots=True)
class Choice:
    """A way to enter a room.

    Attributes:
        code: The code of the room, or for ``accept`` the id of the challenge.
        guests: The names of other people at this keyboard.
        player: The challenged player, by id or claimed name.
        name: The challenged player's name to show.
    """

    way: Way
    rules: Rules = PRESETS["classic"]
    clock: terms.ClockFields | None = None
    private: bool = False
    seat: str | None = None
    bots: tuple[str, ...] = ()
    code: str = ""
    analysis: Literal["closed", "open"] = "closed"
    chat: Literal["all", "players"] = "all"
    guests: tuple[str, ...] = ()
    rated: bool = False
    player: str = ""
    name: str = ""

    @classmethod
    def like(cls, room: Room, way: Way, **other: Any) -> Choice:
        """Return a way with the rules and clock of `room`, and `other` attributes."""
        state, control = room.state, room.state.time_control
        clock = None if control is None else terms.ClockFields(**asdict(control))
        return cls(way, state.rules.to_rules(), clock, **({"rated": bool(state.rated)} | other))

    async def ask(self, client: Client, tell: Callable[[str], object] = lambda text: None) -> str:
        who: dict[str, Any] = {"side": self.seat or "", "name": self.name}
        id = await client.challenges.send(self.player, self.rules, clock=self.clock, rated=self.rated, **who)
        if (own := client.challenges.open.get(id)) is not None:  # otherwise the challenge has already ended
            tell(describe_challenge(own, client.player, client.challenges.own[id]))
        return id

    async def enter(self, client: Client, tell: Callable[[str], object] = lambda text: None) -> Room:
        if self.way == "challenge":
            return await client.challenges.meet(self.ask(client, tell))
        if self.way == "accept":
            return await client.rooms.join(await client.challenges.answer(self.code, accept=True) or "")
        if self.way in ("join", "watch"):
            return await (client.rooms.join if self.way == "join" else client.rooms.watch)(self.code)
        if self.way == "match":
            return await client.rooms.match(self.rules, clock=self.clock, rated=self.rated)
        terms = ("clock", "private", "seat", "bots", "analysis", "chat", "rated", "guests")
        return await client.rooms.create(self.rules, **{name: getattr(self, name) for name in terms})

    async def enter_any(self, client: Client, tell: Callable[[str], object] = lambda text: None) -> Room | Tournament:
        """Enter the room; if there is none with this code, watch the event with this code."""
        try:
            return await self.enter(client, tell)
        except Refused as refused:
            if refused.code == ErrorCode.NO_SUCH_ROOM:
                with suppress(Refused):
                    return await client.tournaments.watch(self.code)
            raise

    def again(self, room: Room) -> Choice | None:
        """Return how to find a new opponent after entering `room` this way; None for a watcher or in an event."""
        if self.way in ("match", "create"):
            return self
        return None if room.is_watching or room.state.event else Choice.like(room, "match")


@dataclass(frozen=True, slots=True)
class EventWay:
    """A way to enter an event, with a ticket or a name, or only to watch it.

    Attributes:
        here: Whether to take over a card that is in use on another device.
    """

    event: str
    ticket: str = ""
    name: str = ""
    watches: bool = False
    here: bool = False

    async def __call__(self, client: Client) -> Tournament:
        if self.watches:
            return await client.tournaments.watch(self.event)
        return await client.tournaments.join(self.event, ticket=self.ticket, name=self.name, here=self.here)

    def instead(self, error: ClientError) -> EventWay | None:
        """Return the way that takes over the card if `error` says that another device uses it; otherwise None."""
        is_in_use = isinstance(error, Refused) and error.data.get("why") == "event card"
        return replace(self, here=True) if is_in_use and not self.here else None


def next_turn(client: Client | None, room: str = "") -> Choice | None:
    """Return how to enter the next game over days that awaits our move, after the game in `room`; or None."""
    codes = [turn.room for turn in client.turns] if client is not None else []
    at = codes.index(room) if room in codes else -1
    others = codes[at + 1 :] + codes[: max(0, at)]
    return Choice("join", code=others[0]) if others else None


def together(rules: Rules, guests: Sequence[str], clock: terms.ClockFields | None = None) -> Choice:
    return Choice("create", rules, clock, private=True, seat=rules.marks[0], guests=tuple(guests))


def against_computer(
    level: str, rules: Rules = PRESETS["classic"], seat: str | None = None, clock: terms.ClockFields | None = None
) -> Choice:
    return Choice("create", rules, clock, private=True, seat=seat, bots=(level,) * (len(rules.marks) - 1))
