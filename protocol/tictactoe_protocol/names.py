"""Requests and answers about claimed names and a player's devices.

See `docs/protocol/names.md`.
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import UNSET, Struct, UnsetType

from tictactoe_protocol.terms import RequestFields, ShortText

RESCUE_CODES: Final = 3
MAX_DEVICES: Final = 10
LINK_MS: Final = 5 * 60 * 1000
"""How long a code for another device is valid."""


class ClaimName(RequestFields, frozen=True, tag="claim_name"):
    """Claims a name for the player; the answer has codes that restore it."""

    name: str


class LinkDevice(RequestFields, frozen=True, tag="link"):
    """Asks for a code that admits another device as this player."""


class Devices(RequestFields, frozen=True, tag="devices"):
    """Asks for the player's devices."""


class Revoke(RequestFields, frozen=True, tag="revoke"):
    """Logs a device out, by its id in ``devices``."""

    device: ShortText


class Forget(RequestFields, frozen=True, tag="forget"):
    """Asks to be forgotten: name, devices and codes are deleted, and games stay under another name."""


class Export(RequestFields, frozen=True, tag="export"):
    """Asks for everything stored about the player, or for the games before the `game_id` in `before`."""

    before: ShortText | UnsetType = UNSET


DeviceNews = Literal["device_added", "device_refused"]
"""What a player is told on older devices: a device was added, or tried what a new one may not do."""

NameRequest = ClaimName | LinkDevice | Devices | Revoke | Forget | Export


class Device(Struct, frozen=True, omit_defaults=True):
    """A device of the player.

    Attributes:
        seen: The last day of use, UTC.
        current: Whether it is the asking device.
        client: The program that it last used.
        new: Whether it was added less than three days ago, and after the asking device.
    """

    id: str
    seen: str
    current: bool = False
    client: str | UnsetType = UNSET
    new: bool = False
