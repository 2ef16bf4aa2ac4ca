"""The record of a game as a value that is always valid, because its constructor checks everything.

Names and other texts contain only printable characters, so that programs can display them unescaped.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from tictactoe_engine.errors import GameError, IllegalMove, quote
from tictactoe_engine.position import Outcome, Position
from tictactoe_engine.records.faults import InvalidRecord, fault
from tictactoe_engine.rules import PRESETS, Rules

REASONS: Final = ("line", "full", "resigned", "timeout", "claimed", "agreed", "forfeit")
MAX_VALUE_LENGTH: Final = 255
MAX_COMMENT_LENGTH: Final = 4096
MAX_GAME_NUMBER: Final = 999_999_999
MAX_CLOCK_MS: Final = 24 * 60 * 60 * 1000
MAX_DAYS: Final = 99
RULE_TAGS: Final = ("Rules", "Rows", "Columns", "Line", "Marks", "Blocked", "Misere", "Gravity", "Exact", "Opening")
WORD_TAGS: Final = ("Event", "Round", "Date", "Room")
KNOWN_TAGS: Final = (*RULE_TAGS, *WORD_TAGS, "Game", "Clock", "Passed", "Result", "Reason")

CHOICE: Final = re.compile(r"(pie|swap2) ([A-Z]) ([A-Z]|more)", re.ASCII)
"""A comment that records a choice in an opening: the opening's rule, the mark that chose, and the chosen option."""

_TAG_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{1,63}", re.ASCII)
_DATE: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:T([01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?(?:Z|[+-](?:0[0-9]|1[0-4]):[0-5][0-9]))?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class GameResult:
    """How a game ended.

    Attributes:
        reason: One of `REASONS`.
        winner: The winner's mark, or None for a draw or a forfeit without a winner.
    """

    reason: str
    winner: str | None

    @property
    def nobody_wins(self) -> bool:
        """Whether the game was forfeited without a winner, which is not a draw."""
        return self.reason == "forfeit" and self.winner is None


@dataclass(frozen=True, slots=True)
class SeatClock:
    """The time of each seat for the whole game, with an increment for each of its moves."""

    initial_ms: int
    increment_ms: int


@dataclass(frozen=True, slots=True)
class MoveClock:
    """The time for each move."""

    move_ms: int


@dataclass(frozen=True, slots=True)
class DayClock:
    """The days for each move, and the reserve of each player in days."""

    days: int
    bank_days: int


Clock = SeatClock | MoveClock | DayClock


class Walk:
    """Plays a recorded game move by move, and makes its choices and passes over its marks when they are due.

    Attributes:
        position: The position reached so far.
        round: The number of the next move's round, from 1. A round ends when the mark to move next does not come later
            in the turn order than the mark that moved last.
        opens_round: Whether the next move is the first one in its round.
    """

    __slots__ = ("_chosen", "_passed", "_passed_count", "opens_round", "position", "round")

    def __init__(self, rules: Rules, passed: Sequence[tuple[int, str]], chosen: Sequence[str] = ()) -> None:
        self.position = Position.start(rules)
        self.round = 1
        self.opens_round = True
        self._passed = passed
        self._passed_count = 0
        self._chosen = chosen
        self._pass_over()

    def play(self, cell: int) -> None:
        """Play the next move, then pass over the marks and make the choice that are due after it.

        Raises `IllegalMove` if the move is illegal, or `InvalidRecord` if a passed mark or a choice is.
        """
        mover = self.position.mover
        self.position = self.position.play(cell)
        self._pass_over()
        self._choose()
        self.opens_round = self.position.outcome is None and self.position.mover <= mover
        self.round += self.opens_round

    def finish(self) -> None:
        """Raise `InvalidRecord` if passed marks or choices are left that were not due by the last move."""
        if self._passed_count < len(self._passed):
            ply, mark = self._passed[self._passed_count]
            late = fault("passed late", mark=quote(mark), ply=quote(ply), moves=self.position.ply)
            raise InvalidRecord(late, f"passed[{self._passed_count}]")
        count = len(self.position.chosen)
        if count < len(self._chosen):
            take = quote(self._chosen[count])
            raise InvalidRecord(fault("chosen late", take=take, moves=self.position.ply), f"chosen[{count}]")

    def _choose(self) -> None:
        count = len(self.position.chosen)
        if count >= len(self._chosen) or not self.position.options:
            return
        try:
            self.position = self.position.choose(self._chosen[count])
        except IllegalMove as illegal:
            raise InvalidRecord(illegal, f"chosen[{count}]") from None

    def _pass_over(self) -> None:
        while self._passed_count < len(self._passed):
            ply, mark = self._passed[self._passed_count]
            if ply > self.position.ply:
                return
            part = f"passed[{self._passed_count}]"
            if ply < self.position.ply:
                raise InvalidRecord(fault("passed order", mark=quote(mark), ply=quote(ply)), part)
            try:
                self.position = self.position.pass_over(mark)
            except ValueError as error:
                raise InvalidRecord(fault("passed", mark=quote(mark), ply=ply, error=error), part) from None
            self._passed_count += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRecord:
    """The record of a game. The constructor plays the moves and raises `InvalidRecord` if the game is impossible.

    Attributes:
        result: How the game ended, or None if it is still running.
        players: The mark and the name of each player, in turn order.
        event: The title of the tournament or other occasion.
        round: The round of the tournament or other occasion.
        date: An ISO 8601 date, or a date and time with an offset from UTC.
        passed: As in `Position`.
        chosen: As in `Position`.
        comments: The number of moves before each comment, and its text with white space reduced to single spaces.
        tags: The name and the value of every other tag.
        position: The position after the last move.

    >>> GameRecord(moves=(4, 0)).position.board
    'O...X....'
    """

    rules: Rules = PRESETS["classic"]
    moves: tuple[int, ...] = ()
    result: GameResult | None = None
    players: tuple[tuple[str, str], ...] = ()
    event: str | None = None
    round: str | None = None
    date: str | None = None
    room: str | None = None
    game: int | None = None
    clock: Clock | None = None
    passed: tuple[tuple[int, str], ...] = ()
    chosen: tuple[str, ...] = ()
    comments: tuple[tuple[int, str], ...] = ()
    tags: tuple[tuple[str, str], ...] = ()
    position: Position = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "players", _checked_players(self.players, self.rules.marks))
        if self.date is not None:
            _check_date(self.date)
        if self.room is not None:
            _check_text(self.room, "room", least=1)
        _check_text(self.event or "", "event")
        _check_text(self.round or "", "round")
        if self.game is not None and not 1 <= self.game <= MAX_GAME_NUMBER:
            raise InvalidRecord(fault("value", value=quote(self.game), example="1"), "game")
        _check_clock(self.clock)
        _check_tags(self.tags)
        walk = Walk(self.rules, self.passed, self.chosen)
        for index, cell in enumerate(self.moves):
            try:
                walk.play(cell)
            except IllegalMove as illegal:
                raise InvalidRecord(illegal, f"moves[{index}]") from None
        walk.finish()
        object.__setattr__(self, "position", walk.position)
        _check_result(self.result, walk.position)
        object.__setattr__(self, "comments", _checked_comments(self.comments, len(self.moves)))
        for index, (_, text) in enumerate(self.comments if self.rules.opening is not None else ()):
            if CHOICE.fullmatch(text):
                raise InvalidRecord(fault("comment choice"), f"comments[{index}]")

    def positions(self) -> Iterator[Position]:
        """Yield the position before the first move, then the position after each move and the choice following it."""
        return map(self.position.at, range(len(self.moves) + 1))


def _check_result(result: GameResult | None, position: Position) -> None:
    outcome, marks = position.outcome, position.active_marks
    if result is None:
        if outcome is not None:
            raise InvalidRecord(_contradiction(outcome), "result")
        return
    if result.reason not in REASONS:
        raise InvalidRecord(fault("value", value=quote(result.reason), example=", ".join(REASONS)), "reason")
    if result.winner is not None and result.winner not in tuple(position.rules.marks):
        raise InvalidRecord(_unknown_mark(result.winner, position.rules.marks), "result")
    if outcome is not None:
        if (result.winner, result.reason) != (outcome.winner, outcome.reason):
            raise InvalidRecord(_contradiction(outcome), "reason" if result.winner == outcome.winner else "result")
        return
    if result.reason in ("line", "full"):
        raise InvalidRecord(fault("board"), "reason")
    if result.reason in (("resigned", "timeout") if result.winner is None else ("agreed",)):
        raise InvalidRecord(fault("mismatch"), "result")
    if result.winner is not None and (result.winner not in marks or len(marks) > 2):
        raise InvalidRecord(fault("not last", mark=result.winner), "result")


def _contradiction(outcome: Outcome) -> GameError:
    return fault("won" if outcome.winner else "drawn", mark=outcome.winner, reason=outcome.reason)


def _unknown_mark(mark: str, marks: str) -> GameError:
    return fault("no mark", mark=quote(mark), marks=", ".join(marks))


def _checked_players(players: tuple[tuple[str, str], ...], marks: str) -> tuple[tuple[str, str], ...]:
    names = dict(players)
    for mark, name in players:
        if mark not in tuple(marks):
            raise InvalidRecord(_unknown_mark(mark, marks), f"players[{mark}]")
        _check_text(name, f"players[{mark}]", least=1)
    if len(names) < len(players):
        raise InvalidRecord(fault("two players"), "players")
    return tuple((mark, names[mark]) for mark in marks if mark in names)


def _check_date(date: str) -> None:
    if not _DATE.fullmatch(date):
        raise InvalidRecord(fault("value", value=quote(date), example="2030-12-31, 2030-12-31T18:05:00Z"), "date")
    year, month, day = map(int, date[:10].split("-"))
    if not 1 <= month <= 12 or not 1 <= day <= calendar.monthrange(year, month)[1]:
        raise InvalidRecord(fault("day", day=date[:10]), "date")


def _check_clock(clock: Clock | None) -> None:
    match clock:
        case SeatClock(initial_ms, increment_ms):
            fits = 1 <= initial_ms <= MAX_CLOCK_MS and 0 <= increment_ms <= MAX_CLOCK_MS
        case MoveClock(move_ms):
            fits = 1 <= move_ms <= MAX_CLOCK_MS
        case DayClock(days, bank_days):
            fits = 1 <= days <= MAX_DAYS and 0 <= bank_days <= MAX_DAYS
        case None:
            return
    if not fits:
        raise InvalidRecord(fault("clock time"), "clock")


def _check_tags(tags: tuple[tuple[str, str], ...]) -> None:
    known = {name.lower(): name for name in KNOWN_TAGS}
    seen: set[str] = set()
    for name, value in tags:
        part = f"tags[{name}]"
        if not _TAG_NAME.fullmatch(name):
            raise InvalidRecord(fault("value", value=quote(name), example="Event"), part)
        if name.lower() in known:
            raise InvalidRecord(fault("tag spelling", tag=name, known=known[name.lower()]), part)
        if name in seen:
            raise InvalidRecord(fault("tag twice", tag=name), part)
        seen.add(name)
        _check_text(value, part)


def _checked_comments(comments: tuple[tuple[int, str], ...], moves: int) -> tuple[tuple[int, str], ...]:
    checked = []
    last = 0
    for index, (ply, raw) in enumerate(comments):
        part, text = f"comments[{index}]", " ".join(raw.split())
        if not last <= ply <= moves:
            raise InvalidRecord(fault("comment place", ply=quote(ply), moves=moves), part)
        if "}" in text:
            raise InvalidRecord(fault("no place", character="}"), part)
        _check_text(text, part, least=1, most=MAX_COMMENT_LENGTH)
        checked.append((ply, text))
        last = ply
    return tuple(checked)


def _check_text(text: str, part: str, *, least: int = 0, most: int = MAX_VALUE_LENGTH) -> None:
    if len(text) < least:
        raise InvalidRecord(fault("empty"), part)
    if len(text) > most:
        raise InvalidRecord(fault("long", most=most), part)
    for character in text:
        if not character.isprintable():
            raise InvalidRecord(fault("unprintable", number=f"{ord(character):04X}"), part)
