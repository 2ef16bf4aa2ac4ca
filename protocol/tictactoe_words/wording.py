"""Describes parts of a state in words: rules, clocks, players, the turn. Pure. Names and other texts are cleaned.

In every function, `viewer` is the public id of the player who reads the text and whom it calls "you", or "".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tictactoe_engine import Rules, format_cell, has_single_keys
from tictactoe_protocol.pushes import GUEST, RESULT_REASONS, Result, RoomState, RoomSummary
from tictactoe_protocol.terms import ClockTerms, RulesState
from tictactoe_protocol.text import clean_text
from tictactoe_words.catalogue import say

LEVELS: Final = ("easy", "medium", "hard")
"""The levels of bots whose names are translated; a server may have other levels."""
_MOST_BLOCKED: Final = 4
_MANNERS: Final = ("analysis open", "chat players")
"""The options of rooms that are translated; newer servers may have other options."""


def seat_of(state: RoomState, viewer: str) -> str | None:
    """Return the viewer's mark, or None if the viewer is watching or has left."""
    for mark, seat in state.seats.items():
        if seat is not None and seat.player == viewer and not seat.left:
            return mark
    return None


def name_of(state: RoomState | RoomSummary, mark: str | None) -> str:
    """Return the name of the player with `mark`, or ``nobody`` for a free seat.

    If two players have the same name, the mark follows it.
    """
    seat = state.seats.get(mark) if mark is not None else None
    if seat is None:
        return say("nobody")
    name = clean_text(seat.name)
    same = sum(1 for other in state.seats.values() if other is not None and clean_text(other.name) == name)
    return say("name with mark", name=name, mark=mark) if same > 1 else name


def join_words(words: Sequence[str]) -> str:
    """Return words as a list in a sentence: ``A1, B2 and C3``."""
    return say("and", first=", ".join(words[:-1]), last=words[-1]) if len(words) > 1 else "".join(words)


def capitalize(text: str) -> str:
    """Return `text` with a capital letter, as for a title."""
    return f"{text[:1].upper()}{text[1:]}"


def count(number: int, noun: str) -> str:
    """Return a number with a noun: ``1 move``, ``0 moves``. `noun` is the singular in English."""
    return say(f"count {noun}", n=number)


def describe_rules(rules: RulesState | Rules) -> str:
    """Return the rules in a few words: ``6 by 7, 4 in a row, marks fall``."""
    value = rules if isinstance(rules, Rules) else rules.to_rules()
    parts = [
        say("rules size", rows=value.rows, columns=value.columns),
        say("rules line loses" if value.misere else "rules line", line=value.line),
    ]
    if len(value.marks) != 2:
        parts.append(say("rules players", n=len(value.marks)))
    if value.blocked:
        cells = " ".join(format_cell(cell, value) for cell in sorted(value.blocked))
        many = count(len(value.blocked), "cell")
        parts.append(say("rules blocked", cells=cells if len(value.blocked) <= _MOST_BLOCKED else many))
    if value.gravity:
        parts.append(say("rules gravity"))
    if value.exact:
        parts.append(say("rules exact"))
    if value.opening:
        parts.append(say(f"rules {value.opening}"))
    return ", ".join(parts)


def explain_rules(rules: RulesState | Rules) -> list[str]:
    """Return sentences that explain unusual rules: exact lines and openings."""
    told = [say("explain exact", line=rules.line)] if rules.exact else []
    return [*told, say(f"explain {rules.opening}")] if rules.opening else told


def describe_manners(room: RoomState | RoomSummary) -> list[str]:
    """Return the unusual options of a room in words: rated games with the host's rating, analysis, chat."""
    rated = [say("rated")] if room.rated else []
    if isinstance(room, RoomSummary) and room.host_rating:
        rated = [f"{say('rated')} {room.host_rating}{'?' if room.host_provisional else ''}"]
    chat = room.chat if isinstance(room, RoomState) else None
    found = ((f"{kind} {said}", said) for kind, said in (("analysis", room.analysis), ("chat", chat)) if said)
    return rated + [say(id) if id in _MANNERS else clean_text(said) for id, said in found]


def describe_reason(reason: str) -> str:
    """Return how a game ended, in words that follow ``wins`` or ``a draw``. An unknown reason is shown as it is."""
    return say(f"by {reason}") if reason in RESULT_REASONS else say("by other", reason=clean_text(reason))


def is_draw(result: Result) -> bool:
    """Return whether a result is a draw. Aborted games, forfeits and reasons that only newer servers know are not."""
    return result.winner is None and result.reason in RESULT_REASONS and result.reason not in ("aborted", "forfeit")


def describe_clock(clock: ClockTerms | None) -> str:
    """Return a clock in words: ``3+2`` (minutes, and seconds for each move), ``3 days a move``, or ``no clock``."""
    if clock is None:
        return say("clock none")
    if clock.counts_days:
        return say("clock days and bank" if clock.bank_days else "clock days", n=clock.days, bank=clock.bank_days)
    if clock.move_ms:
        return say("clock move", seconds=f"{clock.move_ms / 1000:g}")
    minutes, seconds = (clock.initial_ms or 0) / 60_000, (clock.increment_ms or 0) / 1000
    return say("clock seat", minutes=f"{minutes:g}", seconds=f"{seconds:g}")


def format_duration(milliseconds: int) -> str:
    """Return a duration as minutes and seconds, with hours if there are any, or as days and hours; rounded down.

    >>> format_duration(151_999), format_duration(3_600_000), format_duration(187_200_000)
    ('2:31', '1:00:00', '2 d 4 h')
    """
    minutes, seconds = divmod(max(milliseconds, 0) // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    if hours >= 24:
        return say("duration days", days=hours // 24, hours=hours % 24)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def describe_cell(cell: int, rules: Rules) -> str:
    """Return the name of a cell; on a 3x3 board, its place follows: ``A1, top left``."""
    name = format_cell(cell, rules)
    return say("cell with place", cell=name, place=say(f"place {cell}")) if has_single_keys(rules) else name


def describe_players(state: RoomState, viewer: str, *, with_own_name: bool = False) -> str:
    """Return sentences with the players and their marks: ``You are O. ana is X.``

    For a watcher, they are ``ana is X, bo is O.`` Names that a server has replaced by marks are left out.
    """
    own = seat_of(state, viewer)
    others = ", ".join(
        say("is", name=clean_text(seat.name), mark=mark)
        for mark, seat in state.seats.items()
        if seat and mark not in (own, seat.name)
    )
    if not any(state.seats.values()):
        return say("nobody sits")
    seat = None if own is None else state.seats[own]
    if seat is None:
        return f"{others}." if others else ""
    you = say("you are, by name" if with_own_name else "you are", mark=own, name=clean_text(seat.name))
    return f"{you} {others}." if others else you


def describe_level(level: str) -> str:
    """Return the name of a bot's level. An unknown level is shown as it is."""
    return say(f"level {level}") if level in (*LEVELS, GUEST) else clean_text(level)


def describe_tally(state: RoomState) -> str:
    """Return the score in a room: ``ana 1, bo 0, draws 2``."""
    seats = [seat for seat in state.seats.values() if seat]
    won = [say("score of", name=clean_text(seat.name), n=state.score.get(seat.player, 0)) for seat in seats]
    return ", ".join([*won, say("score draws", n=state.score.get("draws", 0))])


def describe_turn(state: RoomState, viewer: str) -> str:
    """Return a sentence about the player to move, or about why no player is to move."""
    if state.status == "waiting":
        return say("turn waiting", n=sum(seat is None for seat in state.seats.values()))
    if state.status == "over":
        return say("refused game_over")
    if state.turn is None:
        return clean_text(state.status)
    opening, name = state.opening or None, name_of(state, state.turn)
    whose = "yours" if state.turn == seat_of(state, viewer) else "of"
    if opening is None:
        return say("turn yours" if whose == "yours" else "refused not_your_turn", mark=state.turn, name=name)
    if opening.options:
        return say(f"turn choose {whose}", name=name)
    other = next((mark for mark in state.seats if mark != state.turn), None)
    whose += ", you" if whose == "of" and other is not None and other == seat_of(state, viewer) else ""
    return say(f"turn place {whose}", name=name, other=name_of(state, other), mark=opening.places, n=opening.left)
