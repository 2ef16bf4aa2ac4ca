"""The public views of a room: the state that is broadcast, the rows of lists, and the small board of the lobby.

A state contains the requests that each seat may make now, and `play.py` accepts exactly these. It also contains the
events of the last change.

Lists and indexes read these views through `RoomListing`, whether the room is on this server or on another server.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence, Set
from functools import lru_cache
from typing import Any, Final

from msgspec import UNSET, Raw
from msgspec.structs import replace

from tictactoe_engine import Position, Rules
from tictactoe_protocol import encode
from tictactoe_protocol.guests import is_guest, owner_of
from tictactoe_protocol.pushes import Happening, HeldSeat, LiveBoard, RoomState, RoomSummary, SeatState, opening_fields
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.rooms.room import Room, clock_state, ply_before_last, rules_state


def state_of(room: Room, now: int, *, watchers: int, before: Room | None = None) -> RoomState:
    """Return the state that is sent to players and watchers.

    Args:
        now: The time in ms of served time.
        before: The room before its last change, to list the events of that change; None if it is unknown.
    """
    may = possible_requests(room, now)
    return _state(room, now, watchers, rules_state(room.rules), _seats_of(room, now), may, before)


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
    absent = [other for other in others if terms.absence != "loses" and room.hold_left(other, now) == 0]
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
        "claim win": absent,
        "claim draw": len(absent) == len(others),
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


def news_of(before: Room, after: Room) -> tuple[Happening, ...]:
    """Return the events of the change from `before` to `after`, in display order."""
    if after.seats is before.seats and after.offers is before.offers:  # most changes
        return tuple(_list_play(before, after))
    if after.game != before.game:
        return (Happening("began", game=after.game),)
    # In an opening, players may have exchanged their marks; all but a choice refer to the marks after that.
    has_opening = after.rules.opening is not None
    is_swap = has_opening and after.position.is_swapped and not before.position.is_swapped
    new_marks = dict(zip(after.seats, reversed(after.seats), strict=True)) if is_swap else {}
    arrivals, departures = ([], []) if after.seats is before.seats else _list_people(before, after, new_marks)
    offers = () if after.offers is before.offers else _list_offers(before, after, new_marks)
    return (*arrivals, *_list_play(before, after), *departures, *offers)


def _list_people(before: Room, after: Room, new_marks: dict[str, str]) -> tuple[list[Happening], list[Happening]]:
    """Return the events of players: the arrivals, listed before the events of the game, and the departures after."""
    arrivals, departures = list[Happening](), list[Happening]()
    for old_mark, was in before.seats.items():
        mark = new_marks.get(old_mark, old_mark)
        seat = after.seats[mark]
        if seat is not None and was is None:
            arrivals.append(Happening("joined", mark, name=seat.name))
        elif seat is not None and was is not None and not seat.left:
            if seat.name != was.name:
                arrivals.append(Happening("renamed", mark, name=seat.name, before=was.name))
            if seat.online != was.online:
                (arrivals if seat.online else departures).append(Happening("back" if seat.online else "dropped", mark))
        elif was is not None and not was.left:
            departures.append(Happening("left", mark, name=was.name))
    if before.status == "waiting" != after.status:
        arrivals.append(Happening("began", game=after.game))
    return arrivals, departures


def _list_play(before: Room, after: Room) -> list[Happening]:
    position, played, ply = after.position, len(before.position.moves), len(after.position.moves)
    news = [*after.happened]
    if ply < played:
        news.insert(0, Happening("taken back", before.offers.undo or UNSET, cells=before.position.moves[ply:]))
    elif ply > played:
        cell, mark = position.moves[-1], position.board[position.moves[-1]]
        by = UNSET if position.rules.opening is None else position.player_of(ply - 1)
        news.insert(0, Happening("moved", mark, cell=cell, by=UNSET if by == mark else by))
    if after.result is not None and before.result is None:
        news.append(Happening("ended", result=after.result))
    return news


def _list_offers(before: Room, after: Room, new_marks: dict[str, str]) -> Iterator[Happening]:
    """Yield the new offers, and the offers that ended without being accepted or replaced by the end of the game."""
    old, new, gained = before.offers, after.offers, len(after.position.moves) - len(before.position.moves)
    for kind, was, mark in () if after.result else (("draw", old.draw, new.draw), ("undo", old.undo, new.undo)):
        if mark == was or (kind == "undo" and gained < 0):
            continue
        if mark is not None:
            cells = after.position.moves[ply_before_last(after.position, mark) :] if kind == "undo" else UNSET
            yield Happening("offered", mark, kind=kind, cells=cells)
        elif ended := (new.ended or {}).get(kind):
            yield Happening(ended.how, ended.by, kind=kind)
        elif was is not None:
            why = "move" if gained > 0 else "taking back" if gained else UNSET
            yield Happening("lapsed", new_marks.get(was, was), why, kind=kind)
    for mark in after.seats:
        if (mark in old.rematch) != (mark in new.rematch):
            yield Happening("offered" if mark in new.rematch else "lapsed", mark, kind="rematch")


class StateEncoder:
    """Encodes the states of a room, with a cache for plain moves.

    A plain move changes only eight fields of the state: it ends neither the game nor an offer, and the room has no
    clock, opening or absent player. `_parts` is the text around these fields, from the beginning of a game or from the
    first of several plain moves.
    """

    def __init__(self, room: Room) -> None:
        self._rules = Raw(encode(rules_state(room.rules)))
        self._seats_of: object = None
        self._seats = Raw(b"")
        self._situation: Sequence[object] = ()  # what the possible requests depend on in the seats
        self._may: dict[object, str] = {}
        self._text = b""
        self._parts: list[str] = []
        self._shown: Room | None = None  # in the last state with these parts
        self._moves = ""
        self._watchers = 0

    def encode(self, room: Room, now: int, watchers: int, before: Room | None = None) -> bytes:
        """Return the result of `state_of` as JSON."""
        if before is None or room.result is not None:
            return self._encode_whole(room, now, watchers, before)
        position, old = room.position, before.position
        ply = len(position.moves)
        is_move = ply == len(old.moves) + 1 and room.offers is before.offers and room.seats is before.seats
        if not is_move and room.game == before.game:
            return self._encode_whole(room, now, watchers, before)
        if before is not self._shown or watchers != self._watchers:
            if room.clock is not None or room.gone_at or position.passed or position.rules.opening is not None:
                return self._encode_whole(room, now, watchers, before)
            self._begin_series(room, watchers)
        self._shown, turn = room, position.turn
        key = ply if ply < _PLIES else turn
        may = self._may.get(key) or self._list_may(key, room, now)
        if is_move:
            last = str(position.moves[-1])
            moves = self._moves = f"{self._moves},{last}" if ply > 1 else last
            news = f'[{{"type":"moved","mark":"{old.turn}","cell":{last}}}]'
        else:
            last, moves, news = "null", "", encode(news_of(before, room)).decode()
        to_seq, to_board, to_ply, to_turn, to_last, to_moves, to_may, to_news, rest = self._parts
        return (
            f"{to_seq}{room.seq}{to_board}{position.board}{to_ply}{ply}{to_turn}{turn}{to_last}{last}{to_moves}{moves}"
            f"{to_may}{may}{to_news}{news}{rest}"
        ).encode()

    def _encode_whole(self, room: Room, now: int, watchers: int, before: Room | None) -> bytes:
        if room.gone_at or room.position.passed:
            return encode(state_of(room, now, watchers=watchers, before=before))
        self._note_seats(room)
        position, offers = room.position, room.offers
        if room.result is not None:
            key: tuple[object, ...] = offers.rematch
        else:
            key = offers.draw, offers.undo, position.turn, min(len(position.moves), _PLIES), position.chosen
        may = self._may.get(key) or self._list_may(key, room, now)
        return encode(_state(room, now, watchers, self._rules, self._seats, Raw(may.encode()), before))

    def _list_may(self, key: object, room: Room, now: int) -> str:
        may = self._may[key] = encode(possible_requests(room, now)).decode()
        return may

    def _begin_series(self, room: Room, watchers: int) -> None:
        self._note_seats(room)
        self._text = self._text or _text_of(room, self._rules)
        text = self._text % (room.game, bytes(self._seats), watchers, encode(room.score))
        self._parts = text.decode().split(_PLACE)
        self._moves, self._watchers = encode(room.position.moves[:-1])[1:-1].decode(), watchers

    def _note_seats(self, room: Room) -> None:
        if room.seats is self._seats_of:
            return
        self._seats_of, self._seats = room.seats, Raw(encode(room.seats))
        situation = [
            seat and (seat.left, is_guest(seat.player) and room.mark_of(owner_of(seat.player)))
            for seat in room.seats.values()
        ]
        if situation != self._situation:
            self._situation = situation
            self._may = _cache_for(room.rules.marks, room.rules.opening, room.terms, *situation)


_PLACE: Final = "\1"  # a character that JSON never contains
_PLIES: Final = 8  # from here on, the possible requests depend on the turn and not on the number of moves


def _text_of(room: Room, rules: Raw) -> bytes:
    """Return a format string for the states after plain moves, with a `_PLACE` for each field that changes."""
    place, text, number = Raw(b"\1"), Raw(b"\2"), Raw(b"\3")
    changing: dict[str, Any] = {
        **dict.fromkeys(("seq", "ply", "last", "may", "news"), place),
        **dict.fromkeys(("board", "turn"), Raw(b'"\1"')),
        "moves": Raw(b"[\1]"),
        "game": number,
        "seats": text,
        "watchers": number,
        "score": text,
    }
    state = encode(replace(_state(room, 0, 0, rules, text, place, None), **changing))
    return state.replace(b"%", b"%%").replace(b"\2", b"%b").replace(b"\3", b"%d")


@lru_cache(maxsize=1024)
def _cache_for(*situation: object) -> dict[object, str]:
    """Return the cache of encoded possible requests for rooms whose seats, terms and rules are in this situation.

    `StateEncoder` chooses the keys: after a plain move the number of moves, or from `_PLIES` moves on the mark to move;
    after other changes all that the requests depend on besides the situation.
    """
    return {}


def _state(room: Room, now: int, watchers: int, rules: Any, seats: Any, may: Any, before: Room | None) -> RoomState:
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
        () if before is None else news_of(before, room),
        UNSET if room.analysis == "closed" else room.analysis,
        UNSET if room.chat == "all" else room.chat,
        game_id=room.game_id if is_over and room.kept_at else UNSET,
    )
    if position.rules.opening is not None:
        state = replace(state, **opening_fields(position, is_over=is_over))
    if not room.purpose.fields:
        return state
    return replace(state, **room.purpose.fields_of(RoomState))  # always replacing fields is slower


def _seats_of(room: Room, now: int) -> dict[str, SeatState | None]:
    passed = room.position.passed
    if not room.gone_at and not passed:
        return room.seats
    seats = dict(room.seats)
    for _, mark in passed:
        seats[mark] = replace(room.seat(mark), out=True)
    for mark, seat in seats.items():
        hold_ms = room.hold_left(mark, now)
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


class RoomListing(ABC):
    """A room that can be listed.

    Attributes:
        owner: Id of the player who opened the room, or "" if unknown or if limits ignore the room.
        source: The key of the owner's address in limits, or "".
        places: The number of seats for people; see `Room.places`.
        has_bots: Whether server bots have seats.
        is_for_bots: Whether server bots have all seats.
        entering: Ids of players who are about to take a seat or have a reserved seat.
        is_gone: Whether the room has been removed from all lists.
        is_opening: Whether the room is not stored yet.
    """

    __slots__ = ("entering", "has_bots", "is_for_bots", "owner", "places", "room", "source")

    knows_moves = True

    def __init__(self, room: Room, owner: str, source: str) -> None:
        is_organised = room.terms.is_organised
        self.room = room
        self.places = room.places
        self.owner = "" if is_organised else owner
        self.source = "" if is_organised else source
        self.has_bots = self.places < len(room.seats)
        self.is_for_bots = not self.places
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
