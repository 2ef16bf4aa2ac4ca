"""Describes a tournament for all clients: the viewer's possible actions, the changes, and the table. Pure.

In every function, `viewer` is the id of the player who reads the text, or "". The page's port of this module is
`web/events/tournaments.js`; test vectors keep the two equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

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
from tictactoe_protocol.plans import count_rounds, estimate_minutes, most_entrants
from tictactoe_protocol.terms import ClockTerms
from tictactoe_protocol.text import clean_text
from tictactoe_words.catalogue import say
from tictactoe_words.wording import format_duration, join_words

TIES: Final = ("direct", "wins", "sonneborn_berger", "buchholz_cut_1", "matches")
"""The tie-breaks whose names are in the catalogue."""
_WORDS: Final = {
    "kind": EVENT_KINDS,
    "status": EVENT_STATUSES,
    "is": (*ENTRANT_STATUSES, "expected"),
    "tie": TIES,
    "short": TIES,
}
"""The words with a translation, by subject. Words that only newer servers know are shown as they are."""
_FRACTIONS: Final = {0.25: "tournament quarter", 0.5: "tournament half", 0.75: "tournament three quarters"}


def list_deeds(state: EventState, viewer: str) -> tuple[str, ...]:
    """Return the names of the viewer's possible actions, in display order."""
    may, row = state.may or {}, row_of(state, viewer)
    own = may.get("" if row is None else row.status, ())
    return (*own, *may.get("organiser", ())) if viewer in state.head.organisers else own


def row_of(state: EventState, viewer: str) -> EventRow | None:
    """Return the viewer's row in the table, or None if there is none."""
    return next((row for row in state.table if row.player == viewer), None)


def is_over(state: EventState) -> bool:
    """Return whether the tournament was played to its end or closed."""
    return state.status in ("over", "void")


def own_board(state: EventState, viewer: str) -> EventPairing | None:
    """Return the pairing of the viewer's running game, or None if there is none."""
    return next((one for one in state.pairings if one.state == "open" and viewer in one.players.values()), None)


def describe_standing(state: EventState) -> str:
    """Return the progress of a tournament in a few words; at the end, the winner."""
    first = [clean_text(row.name) for row in state.table if row.place == 1 and row.points > 0]
    if state.status == "over" and first:
        return say("tournament won", n=len(first), names=join_words(first))
    if state.status != "running":
        return describe_word("status", state.status)
    return name_round(state)


def name_round(state: EventState) -> str:
    """Return the number of the current round, and of all rounds if it is known."""
    id = "tournament now of" if state.head.rounds else "tournament now"
    return say(id, round=state.round, rounds=state.head.rounds)


def describe_own(state: EventState, viewer: str) -> str:
    """Return a sentence about the viewer's current opponent, or else about their standing.

    It is "" if the viewer has not entered.
    """
    row, board = row_of(state, viewer), own_board(state, viewer)
    if row is None:
        return ""
    against = [] if board is None else [board.names.get(mark, id) for mark, id in board.players.items() if id != viewer]
    if against:
        return say("tournament against", name=clean_text(against[0]))
    if row.status != "in":
        known = row.status in ENTRANT_STATUSES
        paired = ", paired" if row.status == "away" and state.head.kind != "swiss" else ""
        return say(f"tournament you are {row.status}{paired}") if known else clean_text(row.status)
    id = "tournament you wait" if state.status == "open" else "tournament you stand"
    id = "tournament you came" if is_over(state) else id
    return say(id, name=clean_text(row.name), place=row.place, won=describe_won(row))


def describe_call(call: Call) -> str:
    """Return a sentence about a call to a game, with the mark, the opponent and the time left."""
    time, against = format_duration(call.due_ms), clean_text(call.against)
    return say("tournament call", mark=call.mark, against=against, room=call.room, time=time)


def list_scored(old: EventState, new: EventState) -> list[EventPairing]:
    """Return the pairings that were scored between two states of the same round."""
    known = {pairing.id for pairing in old.pairings if pairing.state == "scored"}
    return [pairing for pairing in new.pairings if pairing.state == "scored" and pairing.id not in known]


def announce_changes(old: EventState, new: EventState) -> list[str]:
    """Return the new results and entrants between two states of the same round: a line for each result, then the names.

    There is no line for entrants if there are none.
    """
    known = {row.player for row in old.table}
    told = [f"{describe_players(one)}: {describe_score(one)}" for one in list_scored(old, new)]
    names = ", ".join(clean_text(row.name) for row in new.table if row.player not in known)
    return [*told, say("tournament came", names=names)] if names else told


def describe_word(about: str, word: str) -> str:
    """Return a word from a message in the current language; a word that only newer servers know stays as it is.

    `about` is a key of `_WORDS`: ``kind`` or ``status`` of a tournament, ``is`` for the status of an entrant, ``tie``
    for a tie-break, ``short`` for a tie-break in a column title, or ``decided`` for the tie-break that decided.
    """
    return say(f"tournament {about} {word}") if word in _WORDS[about] else clean_text(word)


def format_points(points: float) -> str:
    """Return points, or the value of a tie-break, in figures.

    >>> format_points(2.5), format_points(0.5), format_points(3), format_points(0.75)
    ('2½', '½', '3', '¾')
    """
    whole, rest = divmod(points, 1)
    return f"{int(whole) or ''}{say(_FRACTIONS[rest])}" if rest in _FRACTIONS else f"{points:g}"


def describe_players(pairing: EventPairing) -> str:
    """Return the names and marks of the players in a pairing: ``ana (X) - bo (O)``."""
    named = [say("name with mark", name=clean_text(name), mark=mark) for mark, name in pairing.names.items()]
    return " - ".join(named) if len(named) > 1 else clean_text(next(iter(pairing.names.values()), "?"))


def won_by(row: EventRow) -> float:
    """Return the number of matches won in a knock-out, or the points in other tournaments."""
    return next((value for name, value, _ in row.tie if name == "matches"), row.points)


def describe_won(row: EventRow) -> str:
    """Return the number of matches won, or the points, with a label: ``matches won: 2``."""
    is_matches = any(name == "matches" for name, _, _ in row.tie)
    return say("tournament count matches" if is_matches else "tournament count points", n=format_points(won_by(row)))


def describe_score(pairing: EventPairing) -> str:
    """Return the score of a pairing, ``1-0``, followed by ``forfeit`` or the like if no game decided it.

    Before the pairing is scored, return the room of the running game, or that the game is due.
    """
    if pairing.by == "bye" or len(pairing.players) < 2:
        return say("tournament bye")
    if pairing.state != "scored":
        if pairing.room:
            return say("tournament plays", room=pairing.room)
        return say("tournament due") if pairing.state == "due" else ""
    scores = (0.5 if pairing.result == "draw" else float(pairing.result == mark) for mark in pairing.players)
    points = "-".join(map(format_points, scores))
    return f"{points} {say(f'tournament by {pairing.by}')}" if pairing.by in ("forfeit", "organiser") else points


def describe_tie(name: str, value: float, told: str) -> str:
    """Return the value of a tie-break with its sum, ``2½ = 2+½``, or the value alone if the sum says the same."""
    shown, told = format_points(value), clean_text(told).replace("½", say("tournament half"))
    if name == "matches":
        return f"{shown} ({told})"
    return f"{shown} = {told}" if value and told != shown else shown


def describe_name(row: EventRow, viewer: str) -> str:
    """Return the name in a row with notes: ``Robo (computer, away)``."""
    notes = [say("tournament is bot")] if row.bot else [say("tournament is you")] if row.player == viewer else []
    notes += [describe_word("is", row.status)] if row.status != "in" else []
    return f"{clean_text(row.name)} ({', '.join(notes)})" if notes else clean_text(row.name)


def tabulate(rows: Iterable[EventRow], viewer: str) -> dict[str, tuple[str, ...]]:
    """Return the rows of the table by player id; the first row, under "", has the column titles."""
    shown = list(rows)
    ties = list(dict.fromkeys(name for row in shown for name, _, _ in row.tie))
    won = say("column points")
    if "matches" in ties:  # a knock-out counts matches won instead of points
        won = describe_word("short", ties.pop(ties.index("matches")))
    short = (describe_word("short", name) for name in ties)
    table = {"": ("", say("column players"), won, say("column games"), *short)}
    for row in shown:
        own: Mapping[str, tuple[float, str]] = {name: (value, told) for name, value, told in row.tie}
        sums = (describe_tie(name, *own[name]) if name in own else "" for name in ties)
        points, played = format_points(won_by(row)), str(row.played)
        table[row.player] = (f"{row.place}.", describe_name(row, viewer), points, played, *sums)
    return table


def tabulate_pairings(state: EventState) -> dict[str, tuple[str, str]]:
    """Return the players and the score of each pairing in this round, by the pairing's id."""
    return {pairing.id: (describe_players(pairing), describe_score(pairing)) for pairing in state.pairings}


def list_events(events: Iterable[EventSummary]) -> dict[str, tuple[str, ...]]:
    """Return the rows of the list of tournaments by code; the first row, under "", has the column titles."""
    columns = ("event", "title", "kind", "status", "round", "players")
    table = {"": tuple(say(f"column {id}") for id in columns)}
    for event in events:
        words = describe_word("kind", event.kind), describe_word("status", event.status)
        table[event.event] = event.event, clean_text(event.title), *words, str(event.round or "-"), str(event.players)
    return table


def describe_plan(
    kind: str, players: int, cells: int, clock: ClockTerms, break_ms: int, *, double: bool = False, rounds: int = 0
) -> str:
    """Return a sentence with the number of players, the rounds and the duration.

    It says so if there are too many players; for fewer than two players it is "".
    """
    if players < 2:
        return ""
    if players > most_entrants(kind):
        return say("tournament plan full", players=players, most=most_entrants(kind))
    all_rounds = count_rounds(kind, players, double=double, rounds=rounds)
    minutes = estimate_minutes(kind, all_rounds, cells, clock, break_ms)
    hours = (minutes + 30) // 60
    time = say("tournament plan hours", n=hours) if hours > 1 else say("tournament plan minutes", n=minutes)
    return say(
        "tournament plan",
        players=say("rules players", n=players),
        rounds=say("tournament plan rounds", n=all_rounds),
        time=time,
    )


def describe_head(head: EventHead) -> str:
    """Return the sentence of `describe_plan` for a tournament that has not begun."""
    players, cells = max(head.players + head.expected, head.size or 0), head.rules.rows * head.rules.columns
    return describe_plan(head.kind, players, cells, head.clock, head.break_ms, double=head.double, rounds=head.rounds)
