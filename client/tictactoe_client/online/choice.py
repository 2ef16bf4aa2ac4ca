"""What to play and how to get into a room of it: one value for each way in, so that it can be done again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tictactoe_client.online.client import Client
from tictactoe_client.online.room import Room
from tictactoe_engine import PRESETS, Rules
from tictactoe_protocol.requests import ClockFields


@dataclass(frozen=True, slots=True)
class Choice:
    """A way into a room.

    `way` is a quick match, a new room, a seat in the room `code`, or watching it. `analysis` and `chat` are those of a
    new room.
    """

    way: Literal["match", "create", "join", "watch"]
    rules: Rules = PRESETS["classic"]
    clock: ClockFields | None = None
    private: bool = False
    seat: str | None = None
    bots: tuple[str, ...] = ()
    code: str = ""
    analysis: Literal["closed", "open"] = "closed"
    chat: Literal["all", "players"] = "all"

    async def enter(self, client: Client) -> Room:
        """Go in; raises `Refused` and what else requests raise."""
        if self.way == "match":
            return await client.match(self.rules, clock=self.clock)
        if self.way == "create":
            return await client.create(
                self.rules,
                clock=self.clock,
                private=self.private,
                seat=self.seat,
                bots=self.bots,
                analysis=self.analysis,
                chat=self.chat,
            )
        if self.way == "join":
            return await client.join(self.code)
        return await client.watch(self.code)

    @property
    def again(self) -> Choice | None:
        """What "new opponent" means afterwards, or None for a watcher."""
        if self.way in ("match", "create"):
            return self
        return Choice("match") if self.way == "join" else None


def against_computer(
    level: str, rules: Rules = PRESETS["classic"], seat: str | None = None, clock: ClockFields | None = None
) -> Choice:
    """Return a game with the computer in all other seats."""
    return Choice("create", rules, clock, private=True, seat=seat, bots=(level,) * (len(rules.marks) - 1))
