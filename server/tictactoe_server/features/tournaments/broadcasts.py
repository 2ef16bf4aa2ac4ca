"""Broadcasts of tournaments: a session that watches one gets its state first, and then batches of changes.

A message has a limited size. Each player gets the top of the table, their own row, and as many pairings of the current
round as fit, their own pairing first.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, Final

from msgspec import UNSET, Raw
from msgspec.structs import replace

from tictactoe_protocol import encode
from tictactoe_protocol.events import EventHead, EventPairing, EventRows, EventState
from tictactoe_server.core.session import Session, Topic, list_of
from tictactoe_server.features.tournaments.attendance import Attendance
from tictactoe_server.features.tournaments.event import Event, Pairing, due_at, for_outsiders
from tictactoe_server.features.tournaments.knock_out import rounds_of
from tictactoe_server.features.tournaments.table import rows
from tictactoe_server.transport.connection import encode_push

TOP_ROWS: Final = 20  # rows of the table in every message
MAX_BYTES: Final = 8_000  # in a state message
_ROWS_BYTES: Final = 5_000  # of these, at most for the table
_NAMES_BYTES: Final = 1_500  # of these, at most for the names on the roster that are expected
MOST_MATCHES: Final = 8  # rounds of a bracket with more matches are left out
LOOK_SECONDS: Final = 1.0  # between updates of the attendance and the running games
PLAYERS_A_SECOND: Final = 40  # the interval grows with the number of players divided by this
ROWS_A_SECOND: Final = 400  # how many rows of tables are computed again in a second
FEW_ROWS: Final = 50  # tables up to this size are computed again for each new watcher
MAX_WATCHED: Final = 20  # how many tournaments a connection watches; the oldest are dropped
NOBODY_KNOWN: Final = Attendance()

Sight = tuple[str, bool]
"""What a group of watchers sees: the code of a tournament, and True if names and ids are hidden from the group."""


class View:
    """The encoded parts of a tournament's state. Messages to different players combine different parts.

    Attributes:
        stored: The event before names were hidden from outsiders.
        key: The wall key if the server hides names but not from these watchers, else "".
    """

    def __init__(
        self, event: Event, attendance: Attendance = NOBODY_KNOWN, *, is_for_outsiders: bool = False, key: str = ""
    ) -> None:
        self.stored, self.key = event, key
        self.event = event = for_outsiders(event) if is_for_outsiders else event
        self.attendance = attendance
        rounds = [matches for matches in rounds_of(event) if len(matches) <= MOST_MATCHES]
        self.bracket = encode(rounds) if rounds else b""
        self.may = encode(event.may)
        self.rows = {row.player: encode(row) for row in rows(event)}
        self._in_round = event.in_round(event.round)
        self._top = list(self.rows)[:TOP_ROWS]
        names = event.names
        self.pairings = {pairing.id: encode(pairing_of(pairing, names)) for pairing in self._in_round}

    def state_for(self, player: str, now: int) -> bytes:
        """Return a frame with the whole state, shortened for a player with this id; `now` is the served time in ms."""
        table = _fitting(self.rows, [player, *self._top], _ROWS_BYTES)
        size, event = sum(map(len, table.values())), self.event
        more, names = self._more(), event.expected
        if self.key:
            more["key"] = encode(self.key)
        if names:
            fitting = _fitting({name: encode(name) for name in names}, names, _NAMES_BYTES)
            more["expected"] = b"[%b]" % b",".join(fitting.values())
        size += sum(map(len, more.values()))
        pairings = _fitting(self.pairings, self._order_for(player), MAX_BYTES - size - 1_000)
        rows = list_of(row for id, row in self.rows.items() if id in table)
        head = head_of(event, self.attendance.present)
        told = self._told(now) | {"head": head, "table": rows, "pairings": list_of(pairings.values())}
        return encode_push(EventState(**told | {name: Raw(encoded) for name, encoded in more.items()}))

    def changes_since(
        self, before: View, player: str, now: int, rows: Collection[str], changed: Collection[str]
    ) -> bytes | None:
        """Return a frame with the changes for a player, or None if they are too large for a message.

        `rows` and `changed` are the ids of players and pairings that have changed since the view `before`.
        """
        shown = {player, *self._top}
        some = [self.rows[id] for id in self.rows if id in rows and id in shown]
        pairings = [self.pairings[id] for id in self._order_for(player) if id in changed]
        more = self._more(before)
        if sum(map(len, (*some, *pairings, *more.values()))) > MAX_BYTES - 1_000:
            return None
        told = self._told(now) | {"rows": list_of(some), "pairings": list_of(pairings)}
        told |= {"present": self.attendance.present} | {name: Raw(encoded) for name, encoded in more.items()}
        return encode_push(EventRows(**told))

    def _more(self, before: View | None = None) -> dict[str, bytes]:
        """Return the encoded attendance, and what differs from the view `before` of the bracket and `may`."""
        more = {name: encode(value) for name, value in self.attendance.message_fields.items()}
        if self.bracket and (before is None or before.bracket != self.bracket):
            more["bracket"] = self.bracket
        if before is None or before.may != self.may:
            more["may"] = self.may
        return more

    def _told(self, now: int) -> dict[str, Any]:
        known, due = {name: getattr(self.event, name) for name in ("seq", "status", "round")}, due_at(self.event)
        known["needed"] = self.event.needed or UNSET
        return known | {"event": self.event.code, "due_ms": None if due is None else max(0, due - now)}

    def _order_for(self, player: str) -> list[str]:
        ordered = sorted(self._in_round, key=lambda one: (player not in one.players.values(), one.state == "scored"))
        return [one.id for one in ordered]


def _fitting(encoded: dict[str, bytes], ids: Iterable[str], size: int) -> dict[str, bytes]:
    """Return the items of `encoded` with these ids, in this order, as far as they fit into `size` bytes."""
    some = dict[str, bytes]()
    for id in ids:
        if id in encoded and id not in some:
            size -= len(encoded[id]) + 1
            if size < 0:
                break
            some[id] = encoded[id]
    return some


@dataclass(slots=True)
class Watch:
    """How a session watches a tournament."""

    has_key: bool = False  # whether the session has shown the wall key
    sight: Sight | None = None  # of the latest message


class EventBroadcasts(Topic):
    """Sends tournaments to the sessions that watch them.

    Args:
        now: Returns the served time in ms.
        look: Returns the attendance of an event.
        hides_names: Whether to show numbers instead of names to sessions that neither take part nor have the wall key.
    """

    def __init__(
        self, now: Callable[[], int], look: Callable[[Event], Attendance], *, hides_names: bool = False
    ) -> None:
        super().__init__()
        self._now = now
        self._look = look
        self._hides_names = hides_names
        self._looked_at: dict[Sight, float] = {}
        self._watched: dict[Session, dict[str, Watch]] = {}
        self._views: dict[Sight, View] = {}
        self._changed: dict[Sight, Event] = {}

    def watch(self, session: Session, event: Event, *, has_key: bool = False) -> None:
        """Send a session the state of an event, and from now on its changes.

        A small tournament is sent in its present state. All its watchers first get the present attendance, so that
        later changes start from the same attendance. A large tournament is sent as it was last broadcast; the next
        broadcast contains the changes since then.
        """
        watched = self._watched.get(session, {})
        watch = watched.pop(event.code, None) or Watch()
        watch.has_key |= has_key
        self._watched[session] = dict([*watched.items(), (event.code, watch)][-MAX_WATCHED:])
        self.subscribe(session)
        sight = watch.sight = self._sight_of(session, event)
        view = self._views.get(sight)
        if view is None or (view.stored is not event and len(view.rows) <= FEW_ROWS):
            view = self._make(event, sight)
            self._views.setdefault(sight, view)
        elif len(view.rows) <= FEW_ROWS and not view.event.is_over:
            self._show_attendance(sight, view)
            view = self._views[sight]
        session.connection.push_frame(view.state_for(_id_of(session), self._now()))

    def unwatch(self, session: Session, code: str) -> None:
        self._watched.get(session, {}).pop(code, None)
        if not self._watched.get(session):
            self.unsubscribe(session)

    def unsubscribe(self, session: Session) -> None:
        super().unsubscribe(session)
        self._watched.pop(session, None)

    def note(self, event: Event) -> None:
        """Schedule the broadcast of a changed event, unless it has no watchers."""
        sights = (event.code, False), (event.code, True)
        if not self._views.keys().isdisjoint(sights):
            self._changed |= dict.fromkeys(sights, event)
            self.publish_later()

    async def run(self) -> None:
        """Broadcast the attendance and the running games of each watched tournament periodically, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            now = asyncio.get_running_loop().time()
            for sight, view in [*self._views.items()]:
                if self._looked_at.get(sight, 0) + len(view.rows) / PLAYERS_A_SECOND <= now:
                    self._looked_at[sight] = now
                    self._show_attendance(sight, view)
            self._looked_at = {sight: at for sight, at in self._looked_at.items() if sight in self._views}

    def _sight_of(self, session: Session, event: Event) -> Sight:
        if not self._hides_names or self._watched[session][event.code].has_key:
            return event.code, False
        return event.code, not event.has_part(_id_of(session))

    def _make(self, event: Event, sight: Sight) -> View:
        key = event.wall_key if self._hides_names and not sight[1] else ""
        return View(event, self._attendance(event, sight), is_for_outsiders=sight[1], key=key)

    def _attendance(self, event: Event, sight: Sight) -> Attendance:
        return self._look(event)._replace(away={}) if sight[1] else self._look(event)

    def _show_attendance(self, sight: Sight, before: View) -> None:
        if sight in self._changed:  # the next broadcast includes the attendance; new watchers know its newer `seq`
            return
        view = self._views[sight] = copy(before)
        view.attendance = self._attendance(before.stored, sight)
        if view.attendance.changing == before.attendance.changing:
            return
        frame = view.changes_since(before, "", self._now(), (), ())
        for session, codes in self._watched.items():
            watch = codes.get(sight[0])
            if frame is not None and watch is not None and watch.sight == sight:
                session.connection.push_frame(frame)

    def gather_seconds(self) -> float:
        """Return how long changes are gathered before a broadcast; this is longer for long tables."""
        rows = max((len(view.rows) for view in self._views.values()), default=0)
        return max(super().gather_seconds(), rows / ROWS_A_SECOND / max(1, len(self._changed)))

    def publish(self) -> None:
        """Send changes; large events take turns."""
        newest = {code: view.stored for (code, _), view in self._views.items()}
        newest |= {code: event for (code, _), event in self._changed.items()}
        watching = defaultdict[Sight, list[Session]](list)
        for session, codes in self._watched.items():
            for code in codes.keys() & newest.keys():
                watching[self._sight_of(session, newest[code])].append(session)
        self._views = {sight: view for sight, view in self._views.items() if sight in watching}
        changed = {sight: event for sight, event in self._changed.items() if sight in watching}
        large = [sight for sight, event in changed.items() if len(event.entrants) > FEW_ROWS]
        self._changed = {sight: changed[sight] for sight in large[1:]}
        for sight in [sight for sight in changed if sight not in self._changed]:
            view = self._make(changed[sight], sight)
            before = self._views.get(sight, view)
            self._views[sight] = view
            self._send(before, view, sight, watching[sight])
        if self._changed:
            self.publish_later()

    def _send(self, before: View, view: View, sight: Sight, sessions: list[Session]) -> None:
        """Send the changes between two views to sessions; sessions that get the same frame share one encoding.

        The whole state is sent instead after a new round or a change of the roster, if the changes are too large for
        a message, and to sessions whose latest message was for another sight.
        """
        is_all = before.event.round != view.event.round or before.rows.keys() != view.rows.keys()
        is_all |= before.event.expected != view.event.expected
        rows = _changed(before.rows, view.rows)
        pairings = _changed(before.pairings, view.pairings)
        frames, now = dict[tuple[str, bool], bytes](), self._now()
        for session in sessions:
            id, watch = _id_of(session), self._watched[session][sight[0]]
            is_whole = is_all or watch.sight != sight
            watch.sight = sight
            player = id if id in view.rows else ""
            if (player, is_whole) not in frames:
                frame = None if is_whole else view.changes_since(before, player, now, rows, pairings)
                frames[player, is_whole] = frame or view.state_for(player, now)
            session.connection.push_frame(frames[player, is_whole])


def _changed(before: dict[str, bytes], after: dict[str, bytes]) -> set[str]:
    return {id for id, encoded in after.items() if before.get(id) != encoded}


def _id_of(session: Session) -> str:
    return "" if session.player is None else session.player.id


def head_of(event: Event, present: int) -> EventHead:
    """Return the terms of an event and its number of players, the part of a state that rarely changes."""
    terms = {name: getattr(event, name) for name in EventHead.__struct_fields__ if hasattr(event, name)}
    terms |= {"rounds": event.all_rounds, "size": event.size or UNSET}
    terms["expected"] = len(event.expected) if event.takes_entrants else 0
    return EventHead(**terms, players=len(event.field), present=present)


def state_of(event: Event, *, has_all_rounds: bool = False) -> EventState:
    """Return the whole state of an event, of any size, without the attendance and `due_ms`.

    It has the pairings of the current round, or of all rounds with `has_all_rounds`.
    """
    names, pairings = event.names, event.pairings if has_all_rounds else event.in_round(event.round)
    return EventState(
        event.code,
        event.seq,
        event.status,
        event.round,
        None,
        head_of(event, 0),
        rows(event),
        tuple(pairing_of(pairing, names) for pairing in pairings),
        needed=event.needed or UNSET,
        expected=event.expected or UNSET,
        bracket=rounds_of(event) or UNSET,
    )


def with_attendance(state: EventState, attendance: Attendance) -> EventState:
    """Return a state with the attendance and the progress of games added."""
    return replace(state, head=replace(state.head, present=attendance.present), **attendance.message_fields)


def pairing_of(pairing: Pairing, names: Mapping[str, str]) -> EventPairing:
    """Return a pairing in the form of messages; `names` has the names of all entrants by id."""
    own = {mark: names[id] for mark, id in pairing.players.items() if id in names}
    return EventPairing(**pairing.message_fields, names=own, room=pairing.room or UNSET)
