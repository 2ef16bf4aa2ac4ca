from msgspec.structs import replace

from tests.client.states import ANA, BO, players, state
from tests.rows import each
from tictactoe_client.plain import reminders as plain
from tictactoe_client.settings import Settings
from tictactoe_engine import PRESETS
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.terms import ClockState, ClockTerms

WATCHER = "p-watcher"
BY_SEAT = ClockTerms(initial_ms=60_000, increment_ms=2_000)


class Reminders:
    """The reminders of a player who receives these states."""

    def __init__(self, viewer: str, settings: Settings, first: RoomState, now: float) -> None:
        self._reminders = plain.Reminders(viewer, settings)
        self._state: RoomState | None = None
        self._is_back = False
        self.take(first, now)

    @property
    def next_at(self) -> float | None:
        return self._reminders.next_at

    def take(self, state: RoomState, now: float) -> None:
        self._reminders.take(self._state, state, now, came_back=self._is_back)
        self._state, self._is_back = state, False

    def lose_connection(self, now: float) -> None:
        self._reminders.lose_connection(now)
        self._is_back = True

    def speak(self, now: float) -> list[str]:
        return self._reminders.speak(now)


def timed(moves: tuple[int, ...], left_ms: int, terms: ClockTerms = BY_SEAT, game: int = 1) -> RoomState:
    current = state(moves, game=game)
    clock = ClockState({"X": left_ms, "O": 60_000}, current.turn)
    return replace(current, clock=clock, time_control=terms)


def said(reminders: Reminders, until: float) -> list[tuple[float, str]]:
    """Return the reminders until then, each with its time."""
    lines: list[tuple[float, str]] = []
    while (at := reminders.next_at) is not None and at <= until:
        spoken = reminders.speak(at)
        assert spoken
        lines += [(at, line) for line in spoken]
    return lines


def test_short_own_time_is_announced_twice() -> None:
    reminders = Reminders(ANA, Settings(), timed((), 40_000), 100.0)
    assert said(reminders, 200.0) == [(110.0, "30 seconds left."), (130.0, "10 seconds left.")]


def test_short_time_is_announced_once_a_game_despite_increments() -> None:
    reminders = Reminders(ANA, Settings(quiet=True), timed((), 31_000), 0.0)
    assert said(reminders, 2.0) == [(1.0, "30 seconds left.")]
    reminders.take(timed((0,), 31_000), 2.0)
    reminders.take(timed((0, 1), 31_000), 3.0)
    assert said(reminders, 30.0) == [(24.0, "10 seconds left.")]
    reminders.take(timed((), 31_000, game=2), 40.0)
    assert said(reminders, 50.0) == [(41.0, "30 seconds left.")]


def test_the_time_for_a_first_move_is_announced_separately() -> None:
    def due(moves: tuple[int, ...], start_ms: int) -> RoomState:
        return replace(timed(moves, 60_000), clock=ClockState({"X": 60_000, "O": 60_000}, None, start_ms))

    reminders = Reminders(ANA, Settings(), due((), 30_000), 100.0)
    assert said(reminders, 125.0) == [(120.0, "10 seconds left for your first move.")]
    reminders.take(due((0,), 30_000), 125.0)
    assert reminders.next_at is None
    reminders.take(timed((0, 1), 31_000), 130.0)
    assert said(reminders, 132.0) == [(131.0, "30 seconds left.")]


def test_little_remaining_time_is_announced_on_return() -> None:
    reminders = Reminders(ANA, Settings(), timed((), 8_000), 0.0)
    assert reminders.speak(0.0) == ["8 seconds left."]
    assert reminders.next_at is None


def test_short_move_time_is_announced_for_each_move() -> None:
    terms = ClockTerms(move_ms=20_000)
    reminders = Reminders(ANA, Settings(quiet=True), timed((), 20_000, terms), 0.0)
    assert said(reminders, 15.0) == [(10.0, "10 seconds left.")]
    reminders.take(timed((0,), 20_000, terms), 15.0)
    reminders.take(timed((0, 1), 20_000, terms), 20.0)
    assert said(reminders, 35.0) == [(30.0, "10 seconds left.")]
    reminders.take(timed((0, 1, 2, 3), 10_000, ClockTerms(move_ms=10_000)), 50.0)
    assert said(reminders, 90.0) == []


def test_the_last_hour_of_a_clock_of_days_is_announced_for_each_move() -> None:
    terms, day, hour = ClockTerms(days=1), 24 * 3_600_000, 3_600_000
    reminders = Reminders(ANA, Settings(quiet=True), timed((), day, terms), 0.0)
    assert said(reminders, 86_400.0) == [(82_800.0, "60 minutes left."), (85_800.0, "10 minutes left.")]
    reminders.take(timed((0, 1), hour + 1_000, terms), 90_000.0)
    assert said(reminders, 90_100.0) == [(90_001.0, "60 minutes left.")]


def test_a_choice_in_an_opening_begins_a_new_time_as_a_move_does() -> None:
    clock, terms = ClockState({"X": 20_000, "O": 20_000}, "O"), ClockTerms(move_ms=20_000)
    due, chosen = (
        replace(state((5,), PRESETS["four-pie"], chosen=chosen), clock=clock, time_control=terms)
        for chosen in ((), ("O",))
    )
    reminders = Reminders(BO, Settings(quiet=True), due, 0.0)
    assert said(reminders, 15.0) == [(10.0, "10 seconds left.")]
    reminders.take(chosen, 15.0)
    assert said(reminders, 30.0) == [(25.0, "10 seconds left.")]


@each(
    ("viewer", "settings", "current"),
    [
        (BO, Settings(quiet=True), timed((), 31_000)),
        (WATCHER, Settings(quiet=True), timed((), 31_000)),
        (BO, Settings(), state()),
        (BO, Settings(quiet=True), state()),
        (WATCHER, Settings(), state()),
    ],
)
def test_an_opponents_time_is_not_announced(viewer: str, settings: Settings, current: RoomState) -> None:
    assert Reminders(viewer, settings, current, 0.0).next_at is None


def test_waiting_is_announced_every_thirty_seconds() -> None:
    alone = state(seats={**players(), "O": None})
    reminders = Reminders(ANA, Settings(), alone, 0.0)
    assert said(reminders, 100.0) == [
        (30.0, "Still waiting for another player after 0:30."),
        (60.0, "Still waiting for another player after 1:00."),
        (90.0, "Still waiting for another player after 1:30."),
    ]
    reminders.take(replace(alone, watchers=2), 101.0)
    assert reminders.next_at == 120.0
    reminders.take(state(), 102.0)
    assert reminders.next_at is None


def test_without_a_connection_it_is_the_connection_that_is_waited_for() -> None:
    reminders = Reminders(ANA, Settings(), state(seats={**players(), "O": None}), 0.0)
    reminders.lose_connection(2.0)
    assert said(reminders, 40.0) == [(32.0, "Still no connection after 0:30.")]
    reminders.take(state(), 41.0)
    assert reminders.next_at is None
