"""A tournament for every face: what may be done, what waits, what happened, its table, and all of that in words. Pure.

What `choices` and `happened` are for rooms. A new sentence is one row of a table here and its words in each language.
A *viewer* is the public id of whoever looks on, empty for nobody in particular. The page's port is
`web/events/tournaments.js`; vectors hold both to the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from tictactoe_protocol.catalogue import say
from tictactoe_protocol.events import (
    ENTRANT_STATUSES,
    EVENT_KINDS,
    EVENT_STATUSES,
    Call,
    EventPairing,
    EventRow,
    EventState,
    EventSummary,
)
from tictactoe_protocol.text import clean_text
from tictactoe_protocol.wording import format_duration

TIES: Final = ("direct", "wins", "sonneborn_berger", "buchholz_cut_1", "matches")
"""The tie-breaks that have words."""
_MOST_BOARDS: Final = 6
"""How many boards are named on which one still plays."""
_WORDS: Final = {
    "kind": EVENT_KINDS,
    "status": EVENT_STATUSES,
    "is": (*ENTRANT_STATUSES, "expected"),
    "tie": TIES,
    "short": TIES,
    "decided": TIES[:-1],
}
"""What has words of its own; a word of a newer server is shown as it came."""
_FRACTIONS: Final = {0.25: "tournament quarter", 0.5: "tournament half", 0.75: "tournament three quarters"}
_NOT_NOW: Final = "refused not_allowed event now"


# -- what may be done -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EventChoices:
    """What may be done now, in the order in which it is shown, and by the names of the others the id of why not."""

    deeds: tuple[str, ...]
    reasons: dict[str, str]


def event_choices(state: EventState, viewer: str, *, has_card: bool = False) -> EventChoices:
    """Return what the viewer may do; `has_card` where they hold a card of its roster, which lets them in late."""
    why = _list_reasons(state, viewer, has_card=has_card)
    return EventChoices(
        tuple(deed for deed, reason in why.items() if not reason),
        {deed: reason for deed, reason in why.items() if reason},
    )


def _list_reasons(state: EventState, viewer: str, *, has_card: bool) -> dict[str, str]:
    """Return by the name of each deed why it cannot be done, empty where it can."""
    status, row, head = state.status, row_of(state, viewer), state.head
    over = "refused event_begun over" if is_over(state) else ""
    is_late = state.round > head.late_until and not (has_card and head.entry == "roster")
    is_in = row is not None and row.status in ("in", "away")
    joins = over or ("why entered" if row is not None else "refused event_begun" if _is_on(state) and is_late else "")
    own = over or ("" if is_in else "refused not_entered")
    runs = "" if viewer in head.organisers else "refused not_organiser"
    still = runs or over
    is_scored = all(one.state == "scored" for one in state.pairings)
    games = [one for one in state.pairings if one.state != "scored" and len(one.players) > 1]
    decides = still or ("" if games else _NOT_NOW)
    roster = still or ("" if head.entry == "roster" else _NOT_NOW)
    is_next = status == "running" and is_scored and state.due_ms is not None
    return {
        "join": joins,
        "leave": own,
        "away": own or ("" if row is not None and row.status == "in" else "why away"),
        "ready": own or ("" if row is not None and row.status == "away" else "why not away"),
        "begin": still or ("" if status == "open" else _NOT_NOW),
        "next": still or ("" if is_next else _NOT_NOW),
        "pause": still or ("" if status == "running" else _NOT_NOW),
        "resume": still or ("" if status == "paused" else _NOT_NOW),
        "expel": still or ("" if state.table else _NOT_NOW),
        "forfeit": decides,
        "void": decides,
        "close": still,
        "add": roster,
        "cards": roster,
    }


def row_of(state: EventState, viewer: str) -> EventRow | None:
    """Return the viewer's row of the table, None where they are not in it."""
    return next((row for row in state.table if row.player == viewer), None)


def is_over(state: EventState) -> bool:
    """Tell whether nothing follows: it was played to its end, or has been closed."""
    return state.status in ("over", "void")


def _is_on(state: EventState) -> bool:
    return state.status in ("running", "paused")


# -- what waits -----------------------------------------------------------------------------------------------------


def list_waits(state: EventState, due_ms: int | None) -> list[str]:
    """Return for whom one waits, those of one board together, else when the next round begins; a sentence for each."""
    open_ones = (one for one in state.pairings if one.state != "scored" and len(one.players) > 1)
    boards = [" - ".join(map(clean_text, one.names.values())) for one in open_ones]
    if is_over(state) or not state.round:
        return []
    if boards:
        more = [say("tournament others", n=len(boards) - _MOST_BOARDS)] if len(boards) > _MOST_BOARDS else []
        return [say("tournament waits for", names=", ".join([*boards[:_MOST_BOARDS], *more]))]
    return [] if due_ms is None else [say("tournament next in", time=format_duration(due_ms))]


def describe_progress(state: EventState, due_ms: int | None) -> list[str]:
    """Return how far it is and how many are here, then what waits so many ms before what is due."""
    head, status = state.head, describe_word("status", state.status)
    here = say("tournament here", n=head.players + head.expected, present=head.present)
    if not state.round:
        return [say("tournament not begun", status=status, here=here)]
    id = "tournament round of" if head.rounds else "tournament round"
    told = say(id, round=state.round, rounds=head.rounds, status=status, here=here)
    return [told, *list_waits(state, due_ms)]


def describe_call(call: Call) -> str:
    """Return that one is to come to a board, which mark one has there, against whom, and by when."""
    time, against = format_duration(call.due_ms), clean_text(call.against)
    return say("tournament call", mark=call.mark, against=against, room=call.room, time=time)


# -- what happened --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EventNews:
    """What is new in a state: whether it is another round or status, which pairings were scored, who came."""

    is_other: bool
    scored: tuple[EventPairing, ...] = ()
    came: tuple[EventRow, ...] = ()


def event_happened(old: EventState | None, new: EventState) -> EventNews:
    """Return what happened between two states; to one who comes now, with `old` None, all of it is another."""
    if old is None or (old.status, old.round) != (new.status, new.round):
        return EventNews(is_other=True)
    scored, known = {one.id for one in old.pairings if one.state == "scored"}, {row.player for row in old.table}
    return EventNews(
        is_other=False,
        scored=tuple(one for one in new.pairings if one.state == "scored" and one.id not in scored),
        came=tuple(row for row in new.table if row.player not in known),
    )


def announce_event(news: EventNews) -> list[str]:
    """Return what happened in words, but for another round, of which everything is new."""
    names = ", ".join(clean_text(row.name) for row in news.came)
    told = [f"{describe_players(one)}: {describe_score(one)}" for one in news.scored]
    return [*told, say("tournament came", names=names)] if names else told


# -- tables and their words -----------------------------------------------------------------------------------------


def describe_word(about: str, word: str) -> str:
    """Return a word of the wire in the language that is spoken; one of a newer server as it came.

    `about` is what it is a word for: ``kind``, ``status``, ``is`` of a row, ``tie``, or ``short`` for a tie in a head.
    """
    return say(f"tournament {about} {word}") if word in _WORDS[about] else clean_text(word)


def format_points(points: float) -> str:
    """Return points or a tie-break as tables have them.

    >>> format_points(2.5), format_points(0.5), format_points(3), format_points(0.75)
    ('2½', '½', '3', '¾')
    """
    whole, rest = divmod(points, 1)
    return f"{int(whole) or ''}{say(_FRACTIONS[rest])}" if rest in _FRACTIONS else f"{points:g}"


def describe_players(pairing: EventPairing) -> str:
    """Return who plays what: ``ana (X) - bo (O)``."""
    named = [say("name with mark", name=clean_text(name), mark=mark) for mark, name in pairing.names.items()]
    return " - ".join(named) if len(named) > 1 else clean_text(next(iter(pairing.names.values()), "?"))


def won_by(row: EventRow) -> float:
    """Return what a table counts: the matches won of a knock-out, else points."""
    return next((value for name, value, _ in row.tie if name == "matches"), row.points)


def score_of(result: str | None, mark: str) -> float:
    """Return the points that a side has of a pairing that is scored."""
    return 0.5 if result == "draw" else float(result == mark)


def describe_score(pairing: EventPairing) -> str:
    """Return how it went: ``1-0``, and what decided that where it was no game; or where it is."""
    if pairing.by == "bye" or len(pairing.players) < 2:
        return say("tournament bye")
    if pairing.state != "scored":
        return say("tournament plays", room=pairing.room) if pairing.room else say("tournament due")
    points = "-".join(format_points(score_of(pairing.result, mark)) for mark in pairing.players)
    return f"{points} {say(f'tournament by {pairing.by}')}" if pairing.by in ("forfeit", "organiser") else points


def describe_tie(name: str, value: float, told: str) -> str:
    """Return a tie-break with the sum that made it, where that says more: ``2½ = 2+½``."""
    shown, told = format_points(value), clean_text(told).replace("½", say("tournament half"))
    if name == "matches":
        return f"{shown} ({told})"
    return f"{shown} = {told}" if value and told != shown else shown


def describe_name(row: EventRow, viewer: str) -> str:
    """Return a name with what is special about its row: ``Robo (computer, away)``."""
    notes = [say("tournament is bot")] if row.bot else [say("tournament is you")] if row.player == viewer else []
    notes += [describe_word("is", row.status)] if row.status != "in" else []
    return f"{clean_text(row.name)} ({', '.join(notes)})" if notes else clean_text(row.name)


def tabulate(rows: Iterable[EventRow], viewer: str) -> dict[str, tuple[str, ...]]:
    """Return the table by the ids of its players below the titles of its columns, each tie-break with its sum."""
    shown = list(rows)
    ties = list(dict.fromkeys(name for row in shown for name, _, _ in row.tie))
    won = say("tournament points")
    if "matches" in ties:  # that is what a knock-out counts
        won = describe_word("short", ties.pop(ties.index("matches")))
    short = (describe_word("short", name) for name in ties)
    table = {"": ("", say("column players"), won, say("tournament played"), *short)}
    for row in shown:
        own: Mapping[str, tuple[float, str]] = {name: (value, told) for name, value, told in row.tie}
        sums = (describe_tie(name, *own[name]) if name in own else "" for name in ties)
        points, played = format_points(won_by(row)), str(row.played)
        table[row.player] = (f"{row.place}.", describe_name(row, viewer), points, played, *sums)
    return table


def tabulate_pairings(state: EventState) -> dict[str, tuple[str, str]]:
    """Return who plays whom and how that went, by the ids of the pairings of this round."""
    return {one.id: (describe_players(one), describe_score(one)) for one in state.pairings}


def list_events(events: Iterable[EventSummary]) -> dict[str, tuple[str, ...]]:
    """Return what a list says of events by their codes, below the titles of its columns."""
    columns = ("event", "title", "kind", "status", "round", "players")
    table = {"": tuple(say(f"tournament column {id}") for id in columns)}
    for one in events:
        words = describe_word("kind", one.kind), describe_word("status", one.status)
        table[one.event] = one.event, clean_text(one.title), *words, str(one.round or "-"), str(one.players)
    return table
