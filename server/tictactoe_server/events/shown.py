"""Broadcasts of events: a session that watches an event is sent its state, and then its changes, in batches.

Everybody sees the top of the table and their own row, and their own pairing first, as far as that fits.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from copy import copy
from typing import Any, Final

from msgspec import UNSET, Raw
from msgspec.structs import replace

from tictactoe_protocol import encode
from tictactoe_protocol.events import EventHead, EventPairing, EventRows, EventState
from tictactoe_server.events.attendance import Attendance
from tictactoe_server.events.event import Event, Pairing, due_at
from tictactoe_server.events.knock_out import rounds_of
from tictactoe_server.events.table import rows
from tictactoe_server.sessions.session import Session
from tictactoe_server.transport.frames import encode_frame
from tictactoe_server.watching.topics import Topic, list_of

TOP_ROWS: Final = 20
MAX_BYTES: Final = 8_000  # of a state
_ROWS_BYTES: Final = 5_000  # of that for the table
_NAMES_BYTES: Final = 1_500  # of that for the names that are expected
MOST_MATCHES: Final = 8  # of a round of a bracket
LOOK_SECONDS: Final = 1.0  # between two updates of an event's attendance and games
PLAYERS_A_SECOND: Final = 40  # with more players, updates are rarer
ROWS_A_SECOND: Final = 400  # of tables that are computed again
FEW_ROWS: Final = 50  # a table of this size is computed again for each new watcher
MAX_WATCHED: Final = 20  # the newest events that a connection watches
NOBODY_KNOWN: Final = Attendance()


class View:
    """The encoded rows of an event's table, in order, and the pairings of its current round."""

    def __init__(self, event: Event, attendance: Attendance = NOBODY_KNOWN) -> None:
        self.event = event
        self.attendance = attendance
        rounds = [matches for matches in rounds_of(event) if len(matches) <= MOST_MATCHES]
        self.bracket = encode(rounds) if rounds else b""
        self.rows = {row.player: encode(row) for row in rows(event)}
        self._in_round = event.in_round(event.round)
        self._top = list(self.rows)[:TOP_ROWS]
        self.pairings = {one.id: encode(pairing_of(event, one)) for one in self._in_round}

    def state_for(self, player: str, now: int) -> bytes:
        table = _fitting(self.rows, [player, *self._top], _ROWS_BYTES)
        size, event = sum(map(len, table.values())), self.event
        more, names = self._more(), event.expected
        if names:
            fitting = _fitting({name: encode(name) for name in names}, names, _NAMES_BYTES)
            more["expected"] = b"[%b]" % b",".join(fitting.values())
        size += sum(map(len, more.values()))
        pairings = _fitting(self.pairings, self._order_for(player), MAX_BYTES - size - 1_000)
        rows = list_of(row for id, row in self.rows.items() if id in table)
        head = head_of(event, self.attendance.present)
        told = self._told(now) | {"head": head, "table": rows, "pairings": list_of(pairings.values())}
        return encode_frame(encode(EventState(**told | {name: Raw(encoded) for name, encoded in more.items()})))

    def changes_since(
        self, before: View, player: str, now: int, rows: Collection[str], changed: Collection[str]
    ) -> bytes | None:
        """Return a frame with the changes that a player is shown, or None if they don't fit into a message."""
        shown = {player, *self._top}
        some = [self.rows[id] for id in self.rows if id in rows and id in shown]
        pairings = [self.pairings[id] for id in self._order_for(player) if id in changed]
        more = self._more(before)
        if sum(map(len, (*some, *pairings, *more.values()))) > MAX_BYTES - 1_000:
            return None
        told = self._told(now) | {"rows": list_of(some), "pairings": list_of(pairings)}
        told |= {"present": self.attendance.present} | {name: Raw(encoded) for name, encoded in more.items()}
        return encode_frame(encode(EventRows(**told)))

    def _more(self, before: View | None = None) -> dict[str, bytes]:
        """Return the other fields, encoded; the bracket only if it has changed since the view `before`."""
        more = {name: encode(value) for name, value in self.attendance.told.items()}
        if self.bracket and (before is None or before.bracket != self.bracket):
            more["bracket"] = self.bracket
        return more

    def _told(self, now: int) -> dict[str, Any]:
        known, due = {name: getattr(self.event, name) for name in ("seq", "status", "round")}, due_at(self.event)
        return known | {"event": self.event.code, "due_ms": None if due is None else max(0, due - now)}

    def _order_for(self, player: str) -> list[str]:
        ordered = sorted(self._in_round, key=lambda one: (player not in one.players.values(), one.state == "scored"))
        return [one.id for one in ordered]


def _fitting(encoded: dict[str, bytes], ids: Iterable[str], size: int) -> dict[str, bytes]:
    some = dict[str, bytes]()
    for id in ids:
        if id in encoded and id not in some:
            size -= len(encoded[id]) + 1
            if size < 0:
                break
            some[id] = encoded[id]
    return some


class Shown(Topic):
    """Sends events to the sessions that watch them; `now` returns the served time in ms."""

    def __init__(self, now: Callable[[], int], look: Callable[[Event], Attendance]) -> None:
        super().__init__()
        self._now = now
        self._look = look
        self._looked_at: dict[str, float] = {}
        self._watched: dict[Session, list[str]] = {}
        self._views: dict[str, View] = {}
        self._changed: dict[str, Event] = {}

    def watch(self, session: Session, event: Event) -> None:
        """Send a session the state of an event, and every change from now on.

        All watchers are sent the current attendance first, because later messages have only changes. A large event is
        sent as it was shown last; its changes since then follow.
        """
        view = self._views.get(event.code)
        if view is None or (view.event is not event and len(view.rows) <= FEW_ROWS):
            view = View(event, self._look(event))
            self._views.setdefault(event.code, view)
        elif len(view.rows) <= FEW_ROWS and not view.event.is_over:
            self._show_attendance(view)
            view = self._views[event.code]
        others = [code for code in self._watched.get(session, ()) if code != event.code]
        self._watched[session] = [*others, event.code][-MAX_WATCHED:]
        self.subscribe(session)
        session.connection.push_frame(view.state_for(_id_of(session), self._now()))

    def unwatch(self, session: Session, code: str) -> None:
        self._watched[session] = [one for one in self._watched.get(session, ()) if one != code]
        if not self._watched[session]:
            self.unsubscribe(session)

    def unsubscribe(self, session: Session) -> None:
        super().unsubscribe(session)
        self._watched.pop(session, None)

    def note(self, event: Event) -> None:
        if event.code in self._views:
            self._changed[event.code] = event
            self.tell_later()

    async def run(self) -> None:
        """Send the attendance and the progress of games of each event periodically, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            now = asyncio.get_running_loop().time()
            for code, view in [*self._views.items()]:
                if self._looked_at.get(code, 0) + len(view.rows) / PLAYERS_A_SECOND <= now:
                    self._looked_at[code] = now
                    self._show_attendance(view)
            self._looked_at = {code: at for code, at in self._looked_at.items() if code in self._views}

    def _show_attendance(self, before: View) -> None:
        view = self._views[before.event.code] = copy(before)
        view.attendance = self._look(before.event)
        if view.attendance.changing == before.attendance.changing:
            return
        frame = view.changes_since(before, "", self._now(), (), ())
        for session, codes in self._watched.items():
            if frame is not None and view.event.code in codes:
                session.connection.push_frame(frame)

    def gather_seconds(self) -> float:
        """Return how long changes are gathered: longer for long tables, which take a while to compute."""
        rows = max((len(view.rows) for view in self._views.values()), default=0)
        return max(super().gather_seconds(), rows / ROWS_A_SECOND / max(1, len(self._changed)))

    def tell(self) -> None:
        """Send changes; large events take turns."""
        watching = defaultdict[str, list[Session]](list)
        for session, codes in self._watched.items():
            for code in codes:
                watching[code].append(session)
        self._views = {code: view for code, view in self._views.items() if code in watching}
        changed = {code: event for code, event in self._changed.items() if code in watching}
        large = [code for code in changed if len(self._views[code].rows) > FEW_ROWS]
        self._changed = {code: changed[code] for code in large[1:]}
        for code in [code for code in changed if code not in self._changed]:
            before, view = self._views[code], View(changed[code], self._look(changed[code]))
            self._views[code] = view
            self._send(before, view, watching[code])
        if self._changed:
            self.tell_later()

    def _send(self, before: View, view: View, sessions: list[Session]) -> None:
        """Send the changes, encoded once for equal receivers; a new round or too many changes are sent as a state."""
        is_all = before.event.round != view.event.round or before.rows.keys() != view.rows.keys()
        rows = _changed(before.rows, view.rows)
        pairings = _changed(before.pairings, view.pairings)
        frames, now = dict[str, bytes](), self._now()
        for session in sessions:
            id = _id_of(session)
            player = id if id in view.rows else ""
            if player not in frames:
                frame = None if is_all else view.changes_since(before, player, now, rows, pairings)
                frames[player] = frame or view.state_for(player, now)
            session.connection.push_frame(frames[player])


def _changed(before: dict[str, bytes], after: dict[str, bytes]) -> set[str]:
    return {id for id, encoded in after.items() if before.get(id) != encoded}


def _id_of(session: Session) -> str:
    return "" if session.player is None else session.player.id


def head_of(event: Event, present: int) -> EventHead:
    """Return the terms of an event."""
    terms = {name: getattr(event, name) for name in EventHead.__struct_fields__ if hasattr(event, name)}
    terms |= {"rounds": event.all_rounds, "size": event.size or UNSET}
    terms["expected"] = len(event.expected) if event.takes_entrants else 0
    return EventHead(**terms, players=len(event.field), present=present)


def state_of(event: Event) -> EventState:
    """Return the whole state of an event for texts, without attendance and without the size limit of messages."""
    pairings = tuple(pairing_of(event, one) for one in event.in_round(event.round))
    return EventState(
        event.code,
        event.seq,
        event.status,
        event.round,
        None,
        head_of(event, 0),
        rows(event),
        pairings,
        expected=event.expected or UNSET,
        bracket=rounds_of(event) or UNSET,
    )


def with_attendance(state: EventState, attendance: Attendance) -> EventState:
    """Add the attendance and the progress of games."""
    return replace(state, head=replace(state.head, present=attendance.present), **attendance.told)


def pairing_of(event: Event, pairing: Pairing) -> EventPairing:
    """Return a pairing as messages contain it."""
    names = {mark: one.name for mark, id in pairing.players.items() if (one := event.entrant(id)) is not None}
    return EventPairing(**pairing.told, names=names, room=pairing.room or UNSET)
