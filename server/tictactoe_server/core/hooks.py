"""Extension points that features use to add to play. Each hook is a collection, which is empty without features."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from tictactoe_engine import Position, Rules
from tictactoe_engine.search import Analysis
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.events import EventState
from tictactoe_protocol.pushes import ChatLine, HeldSeat
from tictactoe_protocol.requests import NOT_OFFERED, Lobby, purpose_of
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.core.live_room import LiveRoom
from tictactoe_server.core.session import Session
from tictactoe_server.records.tables import Account
from tictactoe_server.rooms.room import CASUAL, Player, Refused
from tictactoe_server.rooms.view import RoomListing
from tictactoe_server.scheduler import Listeners
from tictactoe_server.transport.http_messages import HttpRequest, HttpResponse

Streaming = Callable[[HttpRequest, str, Callable[[], tuple[int, bool]], Callable[[], bytes]], HttpResponse]


class RoomPolicy:
    """Decides who may open and join rooms for a purpose. This base class, for casual games, allows everything.

    Attributes:
        purpose: The purpose of rooms that players open by request.
        presets: Names of the only presets for such games, if there are any.
        required: Fields of a request for a new room, each with the only value allowed.
    """

    purpose = CASUAL
    presets: Sequence[str] = ()
    required: Mapping[str, object] = {}

    async def check(
        self, rules: Rules, clock: ClockFields | None, player: Player, others: Collection[str] = (), *, room: str = ""
    ) -> None:
        """Raise `Refused` unless a player may play a game by these rules with each of the others.

        The result holds until the caller's next await.

        Args:
            others: Ids of the other players.
            room: Code of the room for the game, if it is open already; it does not count as another game.
        """

    async def skipped_opponents(self, player: str) -> Collection[str]:
        """Return the ids of players to exclude from a match with this player."""
        return ()

    def add_fields(self, listed: RoomListing) -> Mapping[str, Any]:
        """Return additional fields, by name, for a room's row in the list of public rooms."""
        return {}

    async def before_seat(self, live: LiveRoom) -> None:
        """Prepare a room before a player without a seat joins it."""

    def after_change(self, live: LiveRoom) -> None:
        """Follow a room that is new or loaded, or whose seats or result changed."""


class Hooks:
    """The collections that features add to when they are made.

    Attributes:
        policies: The policies, by name of the purpose. Stored rooms with another purpose are left in the store.
        welcome_fields: By name of a field in `welcome`, functions that return its value for an account, or UNSET.
        held_seats: Each returns a player's seats in rooms that are not in memory.
        mute_checks: Each takes two player ids and returns True if the first must not get chat from the second.
        match_checks: Each is awaited with two player ids and returns True if the two must not be matched.
        games_needed_from: Each returns the end time of the oldest game that must be kept (ms since 1970).
        analysts: Each returns the analysis of a position, or None if it takes too long. The first one is asked.
        oldest_backup_days: Each returns the age of the oldest backup of the data, in days.
        find_events: Each returns the state of a tournament by its code, and raises `Refused` unless it is open to all.
        streams: Each returns the response to a request for a stream with this code. The functions return the number of
            the newest state and whether it is the last, and the encoded state.
        on_lobby_request: Called with each answered request that begins or ends a subscription to the lobby.
        on_chat: Called with each line of chat and its room.
        bot_levels: The levels of the bots that play on this server.
        on_merge: Each is awaited with two player ids: the id that disappears, and the id it is merged into.
    """

    def __init__(self) -> None:
        self.policies = {CASUAL.name: RoomPolicy()}
        self.welcome_fields: dict[str, Callable[[Account], Awaitable[Any]]] = {}
        self.held_seats: list[Callable[[str], Iterable[HeldSeat]]] = []
        self.mute_checks: list[Callable[[str, str], bool]] = []
        self.match_checks: list[Callable[[str, str], Awaitable[bool]]] = []
        self.games_needed_from: list[Callable[[], Awaitable[float]]] = []
        self.analysts: list[Callable[[Position], Awaitable[Analysis | None]]] = []
        self.oldest_backup_days: list[Callable[[], int]] = []
        self.find_events: list[Callable[[HttpRequest, str], Awaitable[EventState]]] = []
        self.streams: list[Streaming] = []
        self.on_lobby_request = Listeners[[Session, Lobby]]()
        self.on_chat = Listeners[[LiveRoom, ChatLine]]()
        self.bot_levels: set[str] = set()
        self.on_merge: list[Callable[[str, str], Awaitable[None]]] = []

    def add_fields(self, listed: RoomListing) -> Mapping[str, Any]:
        """Return the fields from `RoomPolicy.add_fields`, or none if another server's room has an unknown purpose."""
        policy = self.policies.get(listed.room.purpose.name)
        return {} if policy is None else policy.add_fields(listed)

    def policy_for(self, request: Any) -> RoomPolicy:
        """Return the policy for the purpose in a request. Raise `Refused` if no feature provides the purpose."""
        policy = self.policies.get(name := purpose_of(request))
        if policy is None:
            raise Refused(ErrorCode.NOT_ALLOWED, NOT_OFFERED[name], path="rules")
        return policy
