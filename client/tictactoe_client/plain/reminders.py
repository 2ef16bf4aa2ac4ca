"""What plain mode says because time has passed: still waiting, little time left, a seat that may be claimed.

It does no waiting of its own: times are handed in, in seconds of the event loop's clock, and it says when it next has
something to say.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tictactoe_client.settings import Settings
from tictactoe_client.text.offers import absent_opponents, describe_claim
from tictactoe_client.text.wording import count, describe_seconds, has_moved_on, seat_of
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.requests import ClockTerms

LOW_SECONDS: Final = (30, 10)
"""At how many seconds left one's own clock is told; each once a game, with a clock for each move once a move."""

_START: Final = -1
"""Stands for the time for a first move, of which only the last seconds are told."""

_OFTEN: Final = (1, 2, 4)
_SELDOM: Final = 10
"""After how many times the first wait it is said that one still waits: 30 s, 1 min, 2 min; then every 5 min."""


class Reminders:
    """The reminders of one sitting for `viewer`."""

    def __init__(self, viewer: str, settings: Settings) -> None:
        self._viewer = viewer
        self._settings = settings
        self._since = 0.0
        self._speaks_at: float | None = None
        self._is_offline = False
        self._claims: dict[str, float] = {}
        self._claims_told: set[str] = set()
        self._clocks: dict[int, float] = {}
        self._clocks_told: set[int] = set()
        self._runs_out_at = 0.0

    @property
    def next_at(self) -> float | None:
        """When there is something to say, or None."""
        return min(self._moments(), default=None)

    def take(self, old: RoomState | None, state: RoomState, now: float, *, came_back: bool = False) -> None:
        """Take note of a state that has been told, and of the one before; `came_back` after a loss in between."""
        self._is_offline = False
        if old is None or came_back or has_moved_on(old, state):
            self._restart(state, now)
        absent = absent_opponents(state, self._viewer)
        self._claims_told = {mark for mark in self._claims_told if absent.get(mark) == 0}
        self._claims = {mark: now + ms / 1000 for mark, ms in absent.items() if mark not in self._claims_told}
        self._take_clock(old, state, now)

    def lose_connection(self, now: float) -> None:
        """Wait for the connection from now on."""
        self._is_offline = True
        self._since = now
        self._speaks_at = self._speak_next(0.0)

    def speak(self, state: RoomState, now: float) -> list[str]:
        """Return what is to be said by now, in the newest state."""
        return [*self._speak_of_clock(now), *self._speak_of_absence(state, now), *self._speak_of_waiting(now)]

    def _moments(self) -> Iterable[float]:
        if self._speaks_at is not None:
            yield self._speaks_at
        yield from self._clocks.values()
        if not self._is_offline:
            yield from self._claims.values()

    def _restart(self, state: RoomState, now: float) -> None:
        """Wait for another player from now on, while a seat is free; a game that runs is told move by move."""
        waits = state.status == "waiting" and seat_of(state, self._viewer) is not None
        self._since = now
        self._speaks_at = self._speak_next(0.0) if waits else None

    def _speak_next(self, waited: float) -> float | None:
        """Return when it is next time to say that one waits, the longer the more seldom."""
        unit = self._settings.waiting_line_seconds
        seldom = unit * _SELDOM
        due = next((unit * times for times in _OFTEN if unit * times > waited), seldom * (waited // seldom + 1))
        return None if self._settings.quiet else self._since + due

    def _take_clock(self, old: RoomState | None, state: RoomState, now: float) -> None:
        terms = state.time_control
        is_fresh = old is None or old.game != state.game
        if is_fresh or (terms is not None and terms.move_ms and old is not None and old.ply != state.ply):
            self._clocks_told = set()
        own, clock = seat_of(state, self._viewer), state.clock
        self._clocks = {}
        if clock is None or own is None or state.turn != own:
            return
        if isinstance(clock.start_ms, int):
            self._runs_out_at = now + clock.start_ms / 1000
            self._clocks = {_START: max(now, self._runs_out_at - LOW_SECONDS[-1])}
            return
        if clock.running != own:
            return
        left = clock.remaining_ms[own] / 1000
        self._runs_out_at = now + left
        allowed = _allowed_seconds(terms)
        for seconds in LOW_SECONDS:
            if seconds not in self._clocks_told and seconds < allowed:
                self._clocks[seconds] = now + left - seconds

    def _speak_of_clock(self, now: float) -> list[str]:
        due = {seconds for seconds, at in self._clocks.items() if at <= now}
        self._clocks_told |= due
        self._clocks = {seconds: at for seconds, at in self._clocks.items() if seconds not in due}
        left = round(self._runs_out_at - now)
        first = " for your first move" if _START in due else ""
        return [f"You have {count(left, 'second')} left{first}."] if due and left > 0 else []

    def _speak_of_absence(self, state: RoomState, now: float) -> list[str]:
        due = [mark for mark, at in self._claims.items() if at <= now]
        if not due or self._is_offline:
            return []
        self._claims_told.update(due)
        self._claims = {mark: at for mark, at in self._claims.items() if mark not in due}
        return [describe_claim(state, self._viewer, due)]

    def _speak_of_waiting(self, now: float) -> list[str]:
        if self._speaks_at is None or now < self._speaks_at:
            return []
        waited = now - self._since
        self._speaks_at = self._speak_next(waited)
        what = "without a connection" if self._is_offline else "waiting for another player"
        return [f"Still {what} after {describe_seconds(waited)}."]


def _allowed_seconds(terms: ClockTerms | None) -> float:
    """Return with how much a clock starts; below that much it is no news that time is short."""
    if terms is None:
        return float("inf")
    return (terms.move_ms or terms.initial_ms or 0) / 1000
