"""Checks of the rules, clocks, bots, rooms and players in requests. A failed check raises `Refused`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Final

from msgspec import UNSET, UnsetType

from tictactoe_engine import InvalidRules, Rules
from tictactoe_engine.strategies import Level
from tictactoe_protocol import BadName, ErrorCode, parse_name, parse_room_code, terms
from tictactoe_protocol.pushes import RoomState
from tictactoe_server.core.core import Core
from tictactoe_server.people.accounts import Accounts
from tictactoe_server.rooms.room import Refused
from tictactoe_server.transport.http_messages import HttpRequest

LEVELS: Final = {level.value: level for level in Level} | {"easy": Level.RANDOM, "medium": Level.RULES}
"""The bots' levels by the names that requests may use."""


async def find_player(core: Core, text: str) -> str:
    """Return the id of the player with the id or claimed name `text`, or `text` itself if there is no such player."""
    accounts = Accounts(core.store)
    if await accounts.load(text) is None:
        with suppress(BadName):
            claim = await accounts.find_claim(parse_name(text))
            if claim is not None and not core.presence.of_player(text):
                return claim.player
    return text


def chosen_rules(choice: terms.RulesChoice | UnsetType) -> Rules:
    """Return the requested rules, or raise `Refused` if they are invalid."""
    try:
        return terms.rules_of(choice)
    except InvalidRules as invalid:
        path = "rules" if isinstance(choice, str) or invalid.field is None else f"rules.{invalid.field}"
        raise Refused(ErrorCode(invalid.code), path=path, **invalid.data) from None


def check_clock(clock: terms.ClockFields | None, analysis: str = "closed") -> None:
    """Raise `Refused` if one of the clock's times is too long, or if a game over days should have open analysis."""
    if clock is not None and clock.counts_days and analysis == "open":
        raise Refused(ErrorCode.NOT_ALLOWED, "days analysis", path="analysis")
    for name, most_ms in (
        ("initial_ms", terms.MAX_CLOCK_MS),
        ("increment_ms", terms.MAX_MOVE_MS),
        ("move_ms", terms.MAX_MOVE_MS),
    ):
        ms = getattr(clock, name, UNSET)
        if ms is not UNSET and ms > most_ms:
            raise Refused(ErrorCode.BAD_CLOCK, path=f"clock.{name}", hours=most_ms // 3_600_000)
    for name, most in (("days", terms.MAX_DAYS), ("bank_days", terms.MAX_BANK_DAYS)):
        days = getattr(clock, name, UNSET)
        if days is not UNSET and days > most:
            raise Refused(ErrorCode.BAD_CLOCK, "days", path=f"clock.{name}", most=most)


def check_levels(names: Sequence[str], played: Collection[str]) -> None:
    """Raise `Refused` if a bot's level is unknown. No level is `played` on a server without bots."""
    if names and not played:
        raise Refused(ErrorCode.NOT_ALLOWED, "no bots", path="bots")
    for index, name in enumerate(names):
        if name not in LEVELS:
            raise Refused(ErrorCode.BAD_MESSAGE, "bot", path=f"bots[{index}]", bot=name, levels=list(LEVELS))


async def find_public(core: Core, request: HttpRequest, text: str) -> RoomState:
    """Return the newest public state of the room with code `text`, or raise `Refused` if it is missing or private."""
    live = core.rooms.find_here(text)
    if live is None or live.room.visibility != "public":
        core.allowances.check_page_misses(request.address)
    state = await core.rooms.load_state(parse_room_code(text))
    if state.visibility != "public":
        raise Refused(ErrorCode.NO_SUCH_ROOM, room=state.room)
    return core.names.public(state)
