"""An event in words, safe to print: what it is, the table with its sums, who plays whom, who is waited for. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tictactoe_client.text.lobby import short_rules
from tictactoe_protocol import clean_text
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.events import (
    ENTRANT_STATUSES,
    EVENT_KINDS,
    EVENT_STATUSES,
    Call,
    EventHead,
    EventPairing,
    EventRow,
    EventState,
    EventSummary,
)
from tictactoe_protocol.wording import describe_clock, format_duration

_MOST_BOARDS: Final = 6
"""How many boards are named on which one still plays."""
_FRACTIONS: Final = {0.25: "tournament quarter", 0.5: "tournament half", 0.75: "tournament three quarters"}
_TIES: Final = ("direct", "wins", "sonneborn_berger", "buchholz_cut_1", "matches")
_KNOWN: Final = frozenset((*EVENT_KINDS, *EVENT_STATUSES, *ENTRANT_STATUSES, *_TIES))


def describe_terms(head: EventHead) -> str:
    """Return what is played: ``Swiss, 3x3, 3+2``."""
    return ", ".join((_name(head.kind), short_rules(head.rules), describe_clock(head.clock)))


def describe_progress(state: EventState, due_ms: int | None) -> list[str]:
    """Return how far it is, then for whom one waits, those of one board together, else when the next round begins."""
    here = say("tournament here", n=state.head.players, present=state.head.present)
    id = "tournament round of" if state.head.rounds else "tournament round"
    if not state.round:
        return [say("tournament not begun", status=_name(state.status), here=here)]
    told = [say(id, round=state.round, rounds=state.head.rounds, status=_name(state.status), here=here)]
    open_ones = (one for one in state.pairings if one.state != "scored" and len(one.players) > 1)
    boards = [" - ".join(map(clean_text, one.names.values())) for one in open_ones]
    if state.status in ("over", "void"):
        return told
    if boards:
        more = [say("tournament others", n=len(boards) - _MOST_BOARDS)] if len(boards) > _MOST_BOARDS else []
        return [*told, say("tournament waits for", names=", ".join([*boards[:_MOST_BOARDS], *more]))]
    return told if due_ms is None else [*told, say("tournament next in", time=format_duration(due_ms))]


def describe_players(pairing: EventPairing) -> str:
    """Return who plays what: ``ana (X) - bo (O)``."""
    named = [say("name with mark", name=clean_text(name), mark=mark) for mark, name in pairing.names.items()]
    return " - ".join(named) if len(named) > 1 else clean_text(next(iter(pairing.names.values()), "?"))


def describe_score(pairing: EventPairing) -> str:
    """Return how it went: ``1-0``, and what decided that where it was no game; or where it is."""
    if pairing.by == "bye" or len(pairing.players) < 2:
        return say("tournament bye")
    if pairing.state != "scored":
        return say("tournament plays", room=pairing.room) if pairing.room else say("tournament due")
    halves = {"draw": format_points(0.5), "none": "0"}
    points = [halves.get(pairing.result or "", "1" if mark == pairing.result else "0") for mark in pairing.players]
    by = say(f"tournament by {pairing.by}") if pairing.by in ("forfeit", "organiser") else ""
    return f"{'-'.join(points)} {by}".rstrip()


def format_points(points: float) -> str:
    """Return points as tables have them.

    >>> format_points(2.5), format_points(0.5), format_points(3), format_points(0.75)
    ('2½', '½', '3', '¾')
    """
    whole, rest = divmod(points, 1)
    return f"{int(whole) or ''}{say(_FRACTIONS[rest])}" if rest in _FRACTIONS else f"{points:g}"


def tabulate(rows: Iterable[EventRow], viewer: str) -> dict[str, tuple[str, ...]]:
    """Return the table by the ids of its players below the titles of its columns, each tie-break with its sum."""
    shown = list(rows)
    ties = list(dict.fromkeys(name for row in shown for name, _, _ in row.tie))
    titles = ("", say("column players"), say("tournament points"), say("tournament played"), *map(_name, ties))
    table = {"": titles}
    for row in shown:
        own = {name: (value, told) for name, value, told in row.tie}
        sums = (_describe_tie(name, *own[name]) if name in own else "" for name in ties)
        points, played = format_points(row.points), str(row.played)
        table[row.player] = (f"{row.place}.", _describe_name(row, viewer), points, played, *sums)
    return table


def tabulate_pairings(state: EventState) -> dict[str, tuple[str, str]]:
    """Return who plays whom and how that went, by the ids of the pairings of this round."""
    return {one.id: (describe_players(one), describe_score(one)) for one in state.pairings}


def list_events(events: Iterable[EventSummary]) -> dict[str, tuple[str, ...]]:
    """Return what a list says of events by their codes, below the titles of its columns."""
    ids = ("event", "title", "kind", "status", "round", "players")
    table = {"": tuple(say(f"tournament column {id}") for id in ids)}
    for one in events:
        kind, status, players = _name(one.kind), _name(one.status), str(one.players)
        table[one.event] = one.event, clean_text(one.title), kind, status, str(one.round or "-"), players
    return table


def describe_call(call: Call) -> str:
    """Return that one is to come to a board, which mark one has there, against whom, and by when."""
    time, against = format_duration(call.due_ms), clean_text(call.against)
    return say("tournament call", mark=call.mark, against=against, room=call.room, time=time)


def _describe_name(row: EventRow, viewer: str) -> str:
    notes = [say("tournament bot")] if row.bot else [say("tournament you")] if row.player == viewer else []
    notes += [_name(row.status)] if row.status != "in" else []
    return f"{clean_text(row.name)} ({', '.join(notes)})" if notes else clean_text(row.name)


def _name(word: str) -> str:
    """Return a word of the wire in the language that is spoken; one of a newer server as it came."""
    return say(f"tournament {word}") if word in _KNOWN else clean_text(word)


def _describe_tie(name: str, value: float, told: str) -> str:
    shown = format_points(value)
    told = told.replace("½", say("tournament half"))
    if name == "matches":
        return f"{shown} ({told})"
    return f"{shown} = {told}" if value and told != shown else shown
