"""Names that last, and devices on which one is the same player: what is asked of them, and what the server answers.

See `docs/protocol/names.md`.
"""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from tictactoe_protocol.terms import GameId, RequestFields

RESCUE_CODES: Final = 3
MAX_DEVICES: Final = 10
LINK_MS: Final = 5 * 60 * 1000
"""For how long a code lets another device in."""

SecretCode = Annotated[str, Meta(min_length=1, max_length=64)]


class ClaimName(RequestFields, frozen=True, tag="claim_name"):
    """Claims a name for the player, who has it from then on; the answer has codes that bring it back."""

    name: str


class LinkDevice(RequestFields, frozen=True, tag="link"):
    """Asks for a code with which another device says hello as this player."""


class Devices(RequestFields, frozen=True, tag="devices"):
    """Asks for the devices on which one is this player."""


class Revoke(RequestFields, frozen=True, tag="revoke"):
    """Lets a device be this player no more, by the id that ``devices`` gave."""

    device: SecretCode


class Forget(RequestFields, frozen=True, tag="forget"):
    """Asks to be forgotten: name, devices and codes go for good, and games stay under another name."""


class Export(RequestFields, frozen=True, tag="export"):
    """Asks for all that is kept of the player: the tables and the newest games, or the games before one of them."""

    before: GameId | UnsetType = UNSET


NameRequest = ClaimName | LinkDevice | Devices | Revoke | Forget | Export


class Device(Struct, frozen=True, omit_defaults=True):
    """A device of the player: with which program it said hello, the day on which it was last here (UTC).

    `current` is the one that asks.
    """

    id: str
    seen: str
    current: bool = False
    client: str | UnsetType = UNSET
