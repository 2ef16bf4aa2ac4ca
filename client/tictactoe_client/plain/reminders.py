"""What plain mode says because time has passed. It does no waiting of its own: times, in seconds, are handed in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeVar

from tictactoe_client.settings import Settings
from tictactoe_client.text.news import absent_opponents, describe_claim
from tictactoe_client.text.wording import count, describe_seconds, has_moved_on, seat_of
from tictactoe_protocol.pushes import RoomState

LOW_SECONDS: Final = (30, 10)
"""At how many seconds left one's own clock is told; each once a game, with a clock for each move once a move."""

_START: Final = -1
"""Stands for the time for a first move, of which only the last seconds are told."""
_OFTEN: Final = (1, 2, 4)
_SELDOM: Final = 10
"""After how many times the first wait it is said that one still waits: 30 s, 1 min, 2 min; then every 5 min."""
Key = TypeVar("Key", str, int)


class Reminders:
    """The reminders of one visit of `viewer`: what is due when, by the mark or the seconds that it is about."""

    def __init__(self, viewer: str, settings: Settings) -> None:
        self._viewer = viewer
        self._settings = settings
        self._since = 0.0
        self._waits_until: float | None = None
        self._is_offline = False
        self._claims: dict[str, float] = {}
        self._clocks: dict[int, float] = {}
        self._told: set[str | int] = set()
        self._runs_out_at = 0.0

    @property
    def next_at(self) -> float | None:
        """When there is something to say, or None."""
        waiting = () if self._waits_until is None else (self._waits_until,)
        claims = () if self._is_offline else self._claims.values()
        return min((*waiting, *self._clocks.values(), *claims), default=None)

    def take(self, old: RoomState | None, state: RoomState, now: float, *, came_back: bool = False) -> None:
        """Take note of a state that has been told, and of the one before; `came_back` after a loss in between."""
        self._is_offline = False
        if old is None or came_back or has_moved_on(old, state):
            waits = state.status == "waiting" and seat_of(state, self._viewer) is not None
            self._since, self._waits_until = now, self._find_next(now) if waits else None
        absent, terms = absent_opponents(state, self._viewer), state.time_control
        is_fresh = old is None or old.game != state.game
        if is_fresh or (terms is not None and terms.move_ms and old is not None and old.ply != state.ply):
            self._told = {mark for mark in self._told if isinstance(mark, str)}
        self._told = {key for key in self._told if isinstance(key, int) or absent.get(key) == 0}
        self._claims = {mark: now + ms / 1000 for mark, ms in absent.items() if mark not in self._told}
        self._clocks = dict(self._watch_clock(state, now))

    def lose_connection(self, now: float) -> None:
        """Wait for the connection from now on."""
        self._is_offline, self._since = True, now
        self._waits_until = self._find_next(now)

    def speak(self, state: RoomState, now: float) -> list[str]:
        """Return what is to be said by now, in the newest state."""
        told = []
        clocks, left = self._take_due(self._clocks, now), round(self._runs_out_at - now)
        if clocks and left > 0:
            told.append(f"You have {count(left, 'second')} left{' for your first move' if _START in clocks else ''}.")
        if not self._is_offline and (marks := self._take_due(self._claims, now)):
            told.append(describe_claim(state, marks))
        if self._waits_until is not None and now >= self._waits_until:
            what = "without a connection" if self._is_offline else "waiting for another player"
            told.append(f"Still {what} after {describe_seconds(now - self._since)}.")
            self._waits_until = self._find_next(now)
        return told

    def _take_due(self, moments: dict[Key, float], now: float) -> list[Key]:
        """Return what is due by now, each once."""
        due = [key for key, at in moments.items() if at <= now]
        for key in due:
            del moments[key]
        self._told.update(due)
        return due

    def _find_next(self, now: float) -> float | None:
        """Return when it is next time to say that one waits, the longer the more seldom."""
        waited, unit = now - self._since, self._settings.waiting_line_seconds
        seldom = unit * _SELDOM
        due = next((unit * times for times in _OFTEN if unit * times > waited), seldom * (waited // seldom + 1))
        return None if self._settings.quiet else self._since + due

    def _watch_clock(self, state: RoomState, now: float) -> Iterator[tuple[int, float]]:
        """Yield at how many seconds left one's own time is told, and when; not where that is all that one ever has."""
        own, clock, terms = seat_of(state, self._viewer), state.clock, state.time_control
        if clock is None or own is None or state.turn != own:
            return
        if isinstance(clock.start_ms, int):
            self._runs_out_at = now + clock.start_ms / 1000
            yield _START, max(now, self._runs_out_at - LOW_SECONDS[-1])
        elif clock.running == own:
            self._runs_out_at = now + clock.remaining_ms[own] / 1000
            allowed = None if terms is None else (terms.move_ms or terms.initial_ms or 0) / 1000
            for seconds in LOW_SECONDS:
                if seconds not in self._told and (allowed is None or seconds < allowed):
                    yield seconds, self._runs_out_at - seconds
