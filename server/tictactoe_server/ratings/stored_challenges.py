"""The stored form of a challenge, and the table of challenges."""

from __future__ import annotations

from typing import Final, TypeVar

import msgspec

from tictactoe_protocol.challenges import OpenChallenge
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.storage.specs import Persons, TableSpec

KEPT_MS: Final = 60_000  # lifetime of a finished challenge, for servers that missed its end

Row = TypeVar("Row", bound=OpenChallenge)


class StoredChallenge(OpenChallenge, frozen=True, kw_only=True):
    """A challenge as it is stored.

    Attributes:
        until: Deadline in ms of served time, first of the answer, then of the room.
        is_hidden: Whether the challenged player has blocked the challenger and must not see the challenge.
        how: The end of the challenge, or "" while it is open.
        by: Id of the player who answered, or "".
        answer: Id of the answer that won the compare-and-set, so that a repeated write is recognised.
        room: Code of the room, once it is open.
    """

    clock: ClockFields | None
    until: int
    is_hidden: bool = False
    how: str = ""
    by: str = ""
    answer: str = ""
    room: str = ""

    @property
    def people(self) -> set[str]:
        return {self.player, self.to}

    @property
    def audience(self) -> set[str]:
        """The ids of the players who are told about the challenge."""
        return {self.player} if self.is_hidden else self.people

    @property
    def made_at(self) -> int:
        """When it was made, or an earlier time once it is answered (ms of served time)."""
        return self.until - self.expires_ms

    @property
    def is_open(self) -> bool:
        return not self.how

    @property
    def is_over(self) -> bool:
        """Whether it has ended; an accepted challenge ends when its room is open."""
        return bool(self.room) or self.how not in ("", "accepted")

    @property
    def stage(self) -> int:
        """0 while it is open, 1 while an accepted challenge has no room yet, 2 when it is over."""
        return 2 if self.is_over else 0 if self.is_open else 1

    def row(self, kind: type[Row], now: int) -> Row:
        """Return what players are sent at a moment of served time (ms)."""
        fields = {name: getattr(self, name) for name in OpenChallenge.__struct_fields__}
        return kind(**fields | {"expires_ms": max(0, self.until - now)})


CHALLENGES: Final[TableSpec[StoredChallenge]] = TableSpec(
    *("challenges", "challenge", msgspec.json.encode, msgspec.json.Decoder(StoredChallenge).decode),
    key_of=lambda challenge: challenge.challenge,
    persons=Persons(
        lambda challenge: challenge.people,
        shown=lambda challenge: msgspec.to_builtins(challenge.row(OpenChallenge, challenge.made_at)),
        owner=lambda challenge: challenge.player,
    ),
    lifetime_seconds=lambda challenge: (KEPT_MS + (0 if challenge.is_over else challenge.expires_ms)) // 1000,
)
"""By id, until a minute after the end."""
