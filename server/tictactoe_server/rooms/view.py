"""The public views of a room: the state that is broadcast, the rows of lists, and the small board of the lobby.

A state contains the requests that each seat may make now; `play.py` accepts exactly these.

Lists and indexes read these views through `Listed`, whether the room is on this server or on another server.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Set
from functools import lru_cache
from typing import Any, Final

from msgspec import UNSET, Raw
from msgspec.structs import replace

from tictactoe_engine import Position, Rules
from tictactoe_protocol import ErrorCode, encode
from tictactoe_protocol.pushes import Happening, HeldSeat, LiveBoard, RoomState, RoomSummary, SeatState, opening_state
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.rooms.room import Refused, Room, clock_state, ply_before_last, rules_state


def state_of(room: Room, now: int, *, watchers: int, news: tuple[Happening, ...] = ()) -> RoomState:
    """Return the state that is sent to players and watchers; `now` is in ms of served time."""
    may = possible_requests(room, now)
    return _state(room, now, watchers, rules_state(room.rules), _seats_of(room, now), may, news)


def possible_requests(room: Room, now: int) -> dict[str, tuple[str, ...]]:
    """Return the names of the requests that each mark may make at `now` (ms of served time), in display order.

    Any other request of a seat is refused or changes nothing.
    """
    return {
        mark: () if seat is None or seat.left else (*_list_requests(room, mark, now), _name_leaving(room, seat.player))
        for mark, seat in room.seats.items()
    }


def _list_requests(room: Room, mark: str, now: int) -> list[str]:
    position, offers, terms, active = room.position, room.offers, room.terms, room.position.active_marks
    if room.result is not None:
        is_possible = terms.rematch and mark not in offers.rematch and not any(seat.left for seat in room.held_seats)
        return ["rematch"] * is_possible
    if room.status == "waiting" or mark not in active:
        return []
    others = active.replace(mark, "")
    is_duel, options = len(others) == 1, position.options
    gone = [other for other in others if terms.absence != "loses" and room.hold_left(other, now) == 0]
    is_settled = len(room.seats) == 2 and position.opening is None
    names = {
        "move": position.turn == mark and not options,
        "choose": position.turn == mark and options,
        "resign abort" if is_duel and room.is_beginning else "resign": True,
        "draw accept": is_duel and offers.draw not in (None, mark),
        "draw decline": is_duel and offers.draw is not None,
        "draw offer": is_duel and offers.draw != mark and position.ply >= terms.draw_from,
        "undo accept": offers.undo not in (None, mark),
        "undo decline": offers.undo is not None,
        "undo offer": offers.undo is None and terms.undo and is_settled and ply_before_last(position, mark) >= 0,
        "claim win": gone,
        "claim draw": len(gone) == len(others),
    }
    return [name for name, is_possible in names.items() if is_possible]


def _name_leaving(room: Room, player: str) -> str:
    """Return the name of `leave` with its cost. The player and the player's guests give up one after the other."""
    name = "leave"
    for mark in room.marks_of(player) if room.status == "playing" else ():
        active = room.position.active_marks
        if mark in active and len(active) == 2:
            return "leave abort" if room.is_beginning else "leave lose"
        if mark in active:
            name, room = "leave lose", replace(room, position=room.position.pass_over(mark))
    return name


class StateEncoder:
    """Encodes the states of a room, caching the fields that moves do not change.

    In a game without a clock, an opening or absent players, a move changes only eight fields of the state. `_parts`
    caches the text around these fields until another field changes.
    """

    def __init__(self, room: Room) -> None:
        self._rules = Raw(encode(rules_state(room.rules)))
        self._seats_of: object = None
        self._seats = Raw(b"")
        self._owners: tuple[object, ...] = ()  # the marks of each seat's player
        self._before: Room | None = None
        self._watchers_before = 0
        self._may: dict[object, str] = {}
        self._text = b""
        self._parts: list[str] = []

    def encode(self, room: Room, now: int, watchers: int, news: tuple[Happening, ...] = ()) -> bytes:
        """Return the result of `state_of` as JSON."""
        before, position = self._before, room.position
        if room.gone_at or position.passed:
            return encode(state_of(room, now, watchers=watchers, news=news))
        if (
            before is None
            or room.seats is not before.seats
            or room.score is not before.score
            or room.offers is not before.offers
            or room.result is not before.result
            or room.game != before.game
            or watchers != self._watchers_before
        ):
            self._cache_parts(room, watchers)
        moves = position.moves
        key = position.turn, min(len(moves), _PLIES), position.chosen
        may = self._may.get(key)
        if may is None:
            may = self._may[key] = encode(possible_requests(room, now)).decode()
        if not self._parts:
            return encode(_state(room, now, watchers, self._rules, self._seats, Raw(may.encode()), news))
        to_seq, to_board, to_ply, to_turn, to_last, to_moves, to_may, to_news, rest = self._parts
        turn = f'"{position.turn}"' if room.result is None else "null"
        last = moves[-1] if moves else "null"
        return (
            f"{to_seq}{room.seq}{to_board}{position.board}{to_ply}{len(moves)}{to_turn}{turn}{to_last}{last}"
            f"{to_moves}{encode(moves).decode()}{to_may}{may}{to_news}{encode(news).decode()}{rest}"
        ).encode()

    def _cache_parts(self, room: Room, watchers: int) -> None:
        """Cache what depends on anything but the moves."""
        self._before, self._watchers_before = room, watchers
        if room.seats is not self._seats_of:
            self._seats, self._seats_of = Raw(encode(room.seats)), room.seats
            self._owners = tuple(seat and (*room.marks_of(seat.player), seat.left) for seat in room.seats.values())
        rules, offers = room.rules, room.offers
        offered = offers.draw, offers.undo, offers.rematch
        self._may = _cache_for(rules.marks, rules.opening, room.terms, room.status, self._owners, offered)
        self._parts = []
        if room.clock is None and rules.opening is None and None not in self._owners:
            self._text = self._text or _text_of(room, self._rules)
            text = self._text % (
                b'"playing"' if room.result is None else b'"over"',
                room.game,
                bytes(self._seats),
                encode(room.result),
                encode(room.offers),
                watchers,
                encode(room.score),
                b',"game_id":"%b"' % room.game_id.encode() if room.result is not None and room.kept_at else b"",
            )
            self._parts = text.decode().split(_PLACE)


_PLACE: Final = "\1"  # a character that JSON never contains
_MOVING: Final = ("seq", "ply", "turn", "last", "moves", "may", "news")  # and ``board``: the fields that moves change
_PLIES: Final = 8  # from here on, the possible requests depend on the turn and not on the number of moves


@lru_cache(maxsize=1024)
def _cache_for(*situation: object) -> dict[object, str]:
    """Return a cache of encoded requests for all rooms in a situation, by turn, number of moves and choices."""
    return {}


def _text_of(room: Room, rules: Raw) -> bytes:
    """Return a format string for a room's states, with a `_PLACE` for each field that moves change.

    The last format field is for the id of the game. It is left empty until the game is over and stored.
    """
    place, text, number = Raw(_PLACE.encode()), Raw(b"\2"), Raw(b"\3")
    of_each: dict[str, Any] = dict.fromkeys(_MOVING, place) | {"board": Raw(b'"%b"' % _PLACE.encode())}
    of_most = dict.fromkeys(("status", "result", "offers", "score"), text) | dict.fromkeys(("game", "watchers"), number)
    state = encode(replace(_state(room, 0, 0, rules, text, place, ()), **of_each, **of_most, game_id=UNSET))
    return state[:-1].replace(b"%", b"%%").replace(b"\2", b"%b").replace(b"\3", b"%d") + b"%b}"


def _state(
    room: Room, now: int, watchers: int, rules: Any, seats: Any, may: Any, news: tuple[Happening, ...]
) -> RoomState:
    position, moves = room.position, room.position.moves
    is_over, is_waiting = room.result is not None, None in room.seats.values()
    state = RoomState(
        room.code,
        room.seq,
        "over" if is_over else "waiting" if is_waiting else "playing",
        room.visibility,
        room.game,
        rules,
        position.board,
        len(moves),
        None if is_over or is_waiting else position.turn,
        moves[-1] if moves else None,
        seats,
        room.result,
        room.offers,
        None if room.clock is None else clock_state(room, now),
        watchers,
        room.score,
        room.clock,
        moves,
        may,
        news,
        UNSET if room.analysis == "closed" else room.analysis,
        UNSET if room.chat == "all" else room.chat,
        UNSET if room.rules.opening is None or is_over else opening_state(position),
        position.chosen or UNSET,
    )
    more = room.purpose.fields_of(RoomState) if room.purpose.fields else {}
    if is_over and room.kept_at:
        more["game_id"] = room.game_id
    return replace(state, **more) if more else state  # always passing keyword arguments is slower


def _seats_of(room: Room, now: int) -> dict[str, SeatState | None]:
    passed = room.position.passed
    if not room.gone_at and not passed:
        return room.seats
    seats = dict(room.seats)
    for _, mark in passed:
        seats[mark] = replace(room.seat(mark), out=True)
    for mark, seat in seats.items():
        hold_ms = None if seat is None else room.hold_left(mark, now)
        if seat is not None and hold_ms is not None:
            seats[mark] = replace(seat, hold_ms=hold_ms)
    return seats


GameKind = tuple[Rules, ClockFields | None, str]
"""The choices that must be equal for a match: rules, clock, and the name of the room's purpose."""


def kind_of(room: Room) -> GameKind:
    """Return the kind of game in a room."""
    return room.rules, room.clock, room.purpose.name


def live_board(position: Position, **about: Any) -> LiveBoard:
    """Return a position as a small board for the lobby; `about` contains the other fields of `LiveBoard`."""
    rules = position.rules
    about |= {"board": position.board, "ply": position.ply, "last": position.last}
    return LiveBoard(preset=rules.preset, rows=rules.rows, columns=rules.columns, **about)


class Listed(ABC):
    """A room that can be listed.

    Attributes:
        owner: Id of the player who opened the room, or "" if unknown or if limits ignore the room.
        source: The key of the owner's address in limits, or "".
        has_bots: Whether server bots have seats.
        is_for_bots: Whether server bots have all seats.
        entering: Ids of players who are about to take a seat or have a reserved seat.
        is_gone: Whether the room has been removed from all lists.
        is_opening: Whether the room is not stored yet.
        has_player: Whether a player is connected.
    """

    __slots__ = ("entering", "has_bots", "is_for_bots", "owner", "room", "source")

    knows_moves = True

    def __init__(self, room: Room, owner: str, source: str) -> None:
        is_organised, places = room.terms.is_organised, room.places
        self.room = room
        self.owner = "" if is_organised else owner
        self.source = "" if is_organised else source
        self.has_bots = places < len(room.seats)
        self.is_for_bots = not places
        self.entering: Set[str] = frozenset()

    @property
    @abstractmethod
    def is_gone(self) -> bool: ...

    @property
    @abstractmethod
    def is_opening(self) -> bool: ...

    @property
    @abstractmethod
    def has_player(self) -> bool: ...

    @property
    @abstractmethod
    def watcher_count(self) -> int: ...

    @property
    def player_ids(self) -> Set[str]:
        """The ids of the players who have a seat or are about to take a seat."""
        return self.entering | {seat.player for seat in self.room.held_seats}

    @property
    def is_alive(self) -> bool:
        """Whether a player or, in a game between bots, a watcher is connected. True for every organised room."""
        return self.has_player or self.room.terms.is_organised or (self.is_for_bots and self.watcher_count > 0)

    @property
    def ply(self) -> int:
        return self.room.position.ply

    def state(self, now: int) -> RoomState:
        return state_of(self.room, now, watchers=self.watcher_count)

    def summary(self, now: int) -> RoomSummary:
        """Return the room's row in the list of public rooms."""
        room = self.room
        return RoomSummary(
            room.code,
            room.status,
            rules_state(room.rules),
            room.clock,
            _seats_of(room, now),
            self.ply,
            self.watcher_count,
            max(0, now - room.opened_at),
            UNSET if room.analysis == "closed" else room.analysis,
            **room.purpose.fields_of(RoomSummary),
        )

    def board(self, now: int) -> LiveBoard:
        room, position = self.room, self.room.position
        return live_board(
            position,
            room=room.code,
            game=room.game,
            turn=position.turn if room.status == "playing" else None,
            names=room.names,
            result=UNSET if room.result is None else room.result,
            clock=clock_state(room, now) or UNSET,
        )

    def held_seat(self, player: str) -> HeldSeat | None:
        """Return the player's seat, or None if the player has no seat or the game is over."""
        room = self.room
        mark, turn = room.mark_of(player), room.position.turn if room.status == "playing" else None
        if mark is None or room.status == "over":
            return None
        return HeldSeat(room.code, mark, rules_state(room.rules), room.names, turn if self.knows_moves else UNSET)


def moved_error(code: str, url: str) -> Refused:
    """Return the refusal of a request for a room on another server."""
    return Refused(ErrorCode.MOVED, url=url, room=code, at=url)
