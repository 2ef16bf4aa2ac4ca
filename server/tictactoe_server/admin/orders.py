"""What the operator may ask for over the control socket: one JSON object a line, told apart by `command`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from tictactoe_protocol import MAX_CHAT_LENGTH

Reason = Annotated[str, Meta(max_length=120)]
Seconds = Annotated[float, Meta(ge=0, le=10 * 365 * 86_400)]


class _Order(Struct, frozen=True, tag_field="command", forbid_unknown_fields=True):
    pass


class Status(_Order, frozen=True, tag="status"):
    """How the server is."""


class ListRooms(_Order, frozen=True, tag="rooms"):
    """All rooms, the private ones too."""


class ShowRoom(_Order, frozen=True, tag="room"):
    """One room, with its board and who is in it."""

    code: str


class ListPlayers(_Order, frozen=True, tag="players"):
    """Who is here."""


class ListConnections(_Order, frozen=True, tag="connections"):
    """From where, and for how long."""


class Kick(_Order, frozen=True, tag="kick"):
    """Close the connections of a player, by id or by name."""

    player: str
    reason: Reason = ""


class BanOrder(_Order, frozen=True, tag="ban"):
    """Let a player (by id, or by the name of one who is here), an address or a network in no more."""

    subject: str
    reason: Reason = ""
    seconds: Seconds | None = None


class Unban(_Order, frozen=True, tag="unban"):
    """Take a ban back."""

    subject: str


class ListBans(_Order, frozen=True, tag="bans"):
    """Who is banned."""


class CloseRoom(_Order, frozen=True, tag="close"):
    """End a room; its game is not kept."""

    code: str
    reason: Reason = ""


class Announce(_Order, frozen=True, tag="announce"):
    """Say something to everybody."""

    text: Annotated[str, Meta(min_length=1, max_length=MAX_CHAT_LENGTH)]


class DrainOrder(_Order, frozen=True, tag="drain"):
    """Begin no new games, and end when those that are on are over, or after so many seconds."""

    seconds: Seconds | None = None
    for_good: bool = False


class ListLimits(_Order, frozen=True, tag="limits"):
    """What the server puts up with, and what of that there is now."""


Order = (
    Status
    | ListRooms
    | ShowRoom
    | ListPlayers
    | ListConnections
    | Kick
    | BanOrder
    | Unban
    | ListBans
    | CloseRoom
    | Announce
    | DrainOrder
    | ListLimits
)
