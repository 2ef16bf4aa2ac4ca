"""The parts of messages: constrained values, rules, clocks, and the base classes of requests and pushes."""

from __future__ import annotations

import difflib
from functools import lru_cache
from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import force_setattr

from tictactoe_engine import PRESETS, InvalidRules, Rules
from tictactoe_protocol.codes import MAX_ID_LENGTH

MAX_INTEGER = 2**31 - 1
MAX_CLOCK_MS = 24 * 60 * 60 * 1000
MAX_MOVE_MS = 3 * 60 * 60 * 1000
"""The longest time for a seat, and the longest time for a move or increment."""
MAX_DAYS: Final = 14
MAX_BANK_DAYS: Final = 30
DAY_MS: Final = 24 * 60 * 60 * 1000

CLOCK_WORDS: Final = "A clock has initial_ms and increment_ms, or move_ms alone, or days and bank_days"

RequestId = Annotated[str, Meta(min_length=1, max_length=MAX_ID_LENGTH)]
ShortText = Annotated[str, Meta(min_length=1, max_length=64)]
Word = Annotated[str, Meta(max_length=64)]
Integer = Annotated[int, Meta(ge=-MAX_INTEGER, le=MAX_INTEGER)]
Count = Annotated[int, Meta(ge=0, le=MAX_INTEGER)]
OfferAction = Literal["offer", "accept", "decline"]


class RulesFields(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Rules spelled out in a request. Missing fields are as in ``classic``. `to_rules` checks them."""

    rows: Integer = 3
    columns: Integer = 3
    line: Integer = 3
    marks: Word = "XO"
    blocked: Annotated[tuple[Integer, ...], Meta(max_length=1024)] = ()
    misere: bool = False
    gravity: bool = False
    exact: bool = False
    opening: Word | None = None

    @classmethod
    def of(cls, rules: Rules) -> RulesFields:
        return cls(**spell_out(rules))

    def to_rules(self) -> Rules:
        return Rules(**{name: getattr(self, name) for name in _TERMS})


def spell_out(rules: Rules) -> dict[str, Any]:
    """Return the fields of `rules` in messages, by name; `blocked` is ascending."""
    return {name: getattr(rules, name) for name in _TERMS} | {"blocked": tuple(sorted(rules.blocked))}


_TERMS: Final = RulesFields.__struct_fields__

RulesChoice = Word | RulesFields


def rules_of(choice: RulesChoice | UnsetType) -> Rules:
    """Return the rules that a request chooses, by default ``classic``; raises `InvalidRules`."""
    if choice is UNSET:
        return PRESETS["classic"]
    if isinstance(choice, RulesFields):
        return choice.to_rules()
    if choice in PRESETS:
        return PRESETS[choice]
    close = difflib.get_close_matches(choice, PRESETS, 1)
    hint = {"why": "close", "close": close[0]} if close else {"why": "unknown", "presets": list(PRESETS)}
    advice = f'Did you mean "{close[0]}"?' if close else f"Presets: {', '.join(PRESETS)}."
    message = f'There are no rules named "{choice}". {advice}'
    raise InvalidRules("bad_rules", message, "rules", {**hint, "name": choice})


def choice_of(rules: Rules) -> str | RulesFields:
    """Return `rules` as the choice in a request: the name of their preset, or all fields if they have none."""
    return rules.preset or RulesFields.of(rules)


class ClockTerms(Struct, frozen=True):
    """The terms of a clock: a time for each seat with an increment for each move, a time for each move, or days.

    Attributes:
        initial_ms: The time for each seat.
        increment_ms: The increment for each move.
        move_ms: The time for each move, instead of the other two.
        days: The number of days for each move, instead of all of these.
        bank_days: With `days`, the reserve of each player, which pays for the part of a move beyond `days`; 0 if it is
            left out.
    """

    initial_ms: Annotated[int, Meta(ge=1, le=MAX_INTEGER)] | UnsetType = UNSET
    increment_ms: Annotated[int, Meta(ge=0, le=MAX_INTEGER)] | UnsetType = UNSET
    move_ms: Annotated[int, Meta(ge=1, le=MAX_INTEGER)] | UnsetType = UNSET
    days: Annotated[int, Meta(ge=1, le=MAX_INTEGER)] | UnsetType = UNSET
    bank_days: Annotated[int, Meta(ge=0, le=MAX_INTEGER)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.days is not UNSET and self.bank_days is UNSET:
            force_setattr(self, "bank_days", 0)
        chosen = {name for name in self.__struct_fields__ if getattr(self, name) is not UNSET}
        if chosen not in ({"initial_ms", "increment_ms"}, {"move_ms"}, {"days", "bank_days"}):
            raise ValueError(CLOCK_WORDS)

    @property
    def counts_days(self) -> bool:
        """Whether the clock counts days, for games whose players need not be connected at the same time."""
        return self.days is not UNSET

    @property
    def full_ms(self) -> int:
        """The time of a seat when the game begins; with a clock of days, for its next move."""
        if self.days is not UNSET:
            return (self.days + (self.bank_days or 0)) * DAY_MS
        return self.move_ms or self.initial_ms or 0


class ClockState(Struct, frozen=True):
    """The clock of a game at the time of sending.

    Attributes:
        remaining_ms: The time left, by mark.
        running: The mark whose clock is running, or None.
        start_ms: The time left for a player's first move; left out if no first move is due.
    """

    remaining_ms: dict[str, int]
    running: str | None
    start_ms: int | UnsetType = UNSET


class ClockFields(ClockTerms, frozen=True, forbid_unknown_fields=True):
    """The clock that a request chooses; see `ClockTerms`."""


class RequestFields(
    Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", kw_only=True, gc=False, omit_defaults=True
):
    """The base class of requests. The reply to a request with an `id` has the same `id`."""

    id: RequestId | UnsetType = UNSET


class RulesState(Struct, frozen=True, omit_defaults=True):
    """The rules in a push.

    Attributes:
        preset: The name of the rules, or None if they have no name.
        blocked: The blocked cells, ascending.
        exact: Left out if false.
        opening: Left out if the rules have no opening.
    """

    preset: str | None
    rows: int
    columns: int
    line: int
    marks: str
    blocked: tuple[int, ...]
    misere: bool
    gravity: bool
    exact: bool = False
    opening: str | None = None

    @classmethod
    def of(cls, rules: Rules) -> RulesState:
        return cls(rules.preset, **spell_out(rules))

    def to_rules(self) -> Rules:
        """Return the cached `Rules` with these fields; raises `InvalidRules` if they are invalid."""
        return _rules_of(self)


@lru_cache(maxsize=256)
def _rules_of(state: RulesState) -> Rules:
    return _PRESETS.get(state) or Rules(**{name: getattr(state, name) for name in _TERMS})


_PRESETS: Final = {RulesState.of(rules): rules for rules in PRESETS.values()}


class PushFields(Struct, frozen=True, tag_field="type"):
    """The base class of messages from the server."""
