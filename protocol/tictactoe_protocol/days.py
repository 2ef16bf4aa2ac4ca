"""Games over days: the games that await a player's move, how the player hears of them, and conditional moves."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from tictactoe_protocol.terms import Count, PushFields, RequestFields, RulesState, ShortText

MAX_BRANCHES: Final = 10
MAX_PLIES: Final = 5
MINUTES_A_DAY: Final = 24 * 60
MAX_URL: Final = 512
"""The longest address of a webhook, in characters."""

Minute = Annotated[int, Meta(ge=0, le=MINUTES_A_DAY - 1)]
Branch = Annotated[tuple[Count, ...], Meta(min_length=1, max_length=MAX_PLIES)]


class Turn(Struct, frozen=True):
    """A game over days in which it is the recipient's turn.

    Attributes:
        since_ms: How long it has been the recipient's turn.
        left_ms: The time left for the move, with the reserve.
    """

    room: str
    rules: RulesState
    since_ms: int
    left_ms: int


class Turns(PushFields, frozen=True, tag="turns"):
    """The games over days that await the recipient's move, the longest wait first; sent whenever they change."""

    turns: tuple[Turn, ...]


class PushKeys(Struct, frozen=True, forbid_unknown_fields=True):
    """The keys of a browser that encrypt a push message, in base64url: its public key, and its secret."""

    p256dh: Annotated[str, Meta(min_length=1, max_length=128)]
    auth: Annotated[str, Meta(min_length=1, max_length=64)]


class PushSubscription(Struct, frozen=True, forbid_unknown_fields=True, rename={"expires": "expirationTime"}):
    """A browser's subscription to push messages, as its `PushSubscription.toJSON` returns it."""

    endpoint: Annotated[str, Meta(min_length=1, max_length=MAX_URL)]
    keys: PushKeys
    expires: float | None = None


class Notify(RequestFields, frozen=True, tag="notify"):
    """Chooses how the player hears of games that await a move. Fields that are left out stay as they are.

    Attributes:
        feed: Whether there is an Atom feed with a secret address; False revokes the address.
        webhook: The https address that gets each message; None for no webhook.
        push: The browser's subscription to push messages; None for none.
        quiet: The minutes of the day (UTC) when quiet hours begin and end; None for no quiet hours.
    """

    feed: bool | UnsetType = UNSET
    webhook: Annotated[str, Meta(min_length=1, max_length=MAX_URL)] | UnsetType | None = UNSET
    push: PushSubscription | UnsetType | None = UNSET
    quiet: tuple[Minute, Minute] | UnsetType | None = UNSET


class Plan(RequestFields, frozen=True, tag="plan"):
    """Stores moves that the server plays for the player as soon as they apply, or asks for the stored ones.

    Attributes:
        moves: Branches of cells, each from the next move of the game on, in turn of all players; an empty list deletes
            the plan. Left out to ask for it.
        player: The id of the player's guest who plans.
    """

    room: ShortText
    moves: Annotated[tuple[Branch, ...], Meta(max_length=MAX_BRANCHES)] | UnsetType = UNSET
    player: ShortText | UnsetType = UNSET


DayRequest = Notify | Plan
DayPush = Turns
