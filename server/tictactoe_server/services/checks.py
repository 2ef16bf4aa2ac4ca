"""What somebody asks a game to be like: rules, clock, bots. What cannot be is refused."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from tictactoe_engine import InvalidRules, Rules
from tictactoe_protocol import ErrorCode, rules_of
from tictactoe_protocol.terms import MAX_CLOCK_MS, MAX_MOVE_MS, ClockFields, RulesChoice
from tictactoe_server.rooms import Refused
from tictactoe_server.services.bots.pool import LEVELS
from tictactoe_server.sessions.session import Session


def chosen_rules(choice: RulesChoice | UnsetType) -> Rules:
    """Return the rules that somebody asks for; raises `Refused`."""
    try:
        return rules_of(choice)
    except InvalidRules as invalid:
        path = "rules" if isinstance(choice, str) or invalid.field is None else f"rules.{invalid.field}"
        raise Refused(ErrorCode(invalid.code), path=path, **invalid.data) from None


def check_clock(clock: ClockFields | None) -> None:
    """Refuse a clock with more time than a game may take."""
    for name, most_ms in (("initial_ms", MAX_CLOCK_MS), ("increment_ms", MAX_MOVE_MS), ("move_ms", MAX_MOVE_MS)):
        ms = getattr(clock, name, UNSET)
        if ms is not UNSET and ms > most_ms:
            raise Refused(ErrorCode.BAD_CLOCK, path=f"clock.{name}", hours=most_ms // 3_600_000)


def check_knows(session: Session, opening: str | None) -> None:
    """Refuse a seat to a program that has not said to know openings, where there is one: it could not play."""
    if opening is not None and "opening" not in session.features:
        raise Refused(ErrorCode.FEATURE_REQUIRED, path="features", opening=opening)


def check_levels(names: Sequence[str]) -> None:
    """Refuse bots where one is of no level."""
    for index, name in enumerate(names):
        if name not in LEVELS:
            raise Refused(ErrorCode.BAD_MESSAGE, "bot", path=f"bots[{index}]", bot=name, levels=list(LEVELS))
