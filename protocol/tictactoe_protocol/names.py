"""The requests and replies for claimed names and a player's devices.

See `docs/reference/protocol/names.md`.
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import UNSET, Struct, UnsetType

from tictactoe_protocol.terms import RequestFields, ShortText

RESCUE_CODES: Final = 3
MAX_DEVICES: Final = 10
LINK_MS: Final = 5 * 60 * 1000
"""The time during which a code for adding a device is valid."""


class ClaimName(RequestFields, frozen=True, tag="claim_name"):
    """Claims a name for the player. The reply contains rescue codes, which restore the name."""

    name: str


class LinkDevice(RequestFields, frozen=True, tag="link"):
    """Asks for a code that connects another device as this player."""


class Devices(RequestFields, frozen=True, tag="devices"):
    """Asks for the list of the player's devices."""


class Revoke(RequestFields, frozen=True, tag="revoke"):
    """Logs a device out. `device` is its id in the list of devices."""

    device: ShortText


class Forget(RequestFields, frozen=True, tag="forget"):
    """Deletes the player's name, devices and codes. Their games remain under another name."""


class Export(RequestFields, frozen=True, tag="export"):
    """Asks for all stored data about the player, or with `before`, a `game_id`, for the games before that game."""

    before: ShortText | UnsetType = UNSET


DeviceNews = Literal["device_added", "device_refused"]
"""What a player's older devices are notified of: a device was added, or tried something that new devices may not do."""

NameRequest = ClaimName | LinkDevice | Devices | Revoke | Forget | Export


class Device(Struct, frozen=True, omit_defaults=True):
    """A device of the player.

    Attributes:
        seen: The day of its last use, UTC.
        current: Whether it is the device that sent the request.
        client: The program that it used last, browsers in the language of `Hello`.
        new: Whether it was added less than three days ago, and after the device that sent the request.
    """

    id: str
    seen: str
    current: bool = False
    client: str | UnsetType = UNSET
    new: bool = False
