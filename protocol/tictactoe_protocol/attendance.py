"""Who of a tournament is here, for whom one waits, how far games are, why one is first, the bracket: in words. Pure.

`age_ms` is how long ago a state came, as what it says of times counts from then. The page says the same in
`web/events/following.js` and `bracket.js`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from msgspec import UNSET

from tictactoe_protocol.catalogue import say
from tictactoe_protocol.events import EventMatch, EventPairing, EventState
from tictactoe_protocol.text import clean_text
from tictactoe_protocol.tournaments import (
    describe_players,
    describe_score,
    describe_word,
    format_points,
    is_over,
    tabulate,
)
from tictactoe_protocol.wording import format_duration, join_words

MOST_NAMED: Final = 6
MOST_ROUNDS: Final = 4
"""How many are named at once, and how many rounds of a bracket are drawn."""
_MOST_AWAITED: Final = 4
"""In how many games those are named who are to move."""
_ROUNDS: Final = ("final", "semifinals", "quarterfinals")
_LINES: Final = 3  # of a match in the first round that is drawn, with an empty one
_SCORE: Final = 4


def describe_progress(state: EventState, due_ms: int | None, age_ms: int = 0) -> list[str]:
    """Return how far it is and how many are here, then what waits so many ms before what is due."""
    head, status = state.head, describe_word("status", state.status)
    here = say("tournament here", n=head.players + head.expected, present=head.present)
    if not state.round:
        return [say("tournament not begun", status=status, here=here), *list_waits(state, due_ms, age_ms)]
    id = "tournament round of" if head.rounds else "tournament round"
    told = say(id, round=state.round, rounds=head.rounds, status=status, here=here)
    return [told, *list_waits(state, due_ms, age_ms)]


def list_waits(state: EventState, due_ms: int | None, age_ms: int = 0) -> list[str]:
    """Return for whom one waits, else when the next round begins; a sentence for each."""
    if waits := describe_waiting(state, age_ms):
        return [waits]
    is_between = state.round and due_ms is not None and not is_over(state)
    return [say("tournament next in", time=format_duration(due_ms or 0))] if is_between else []


def describe_waiting(state: EventState, age_ms: int = 0) -> str:
    """Return for whom one waits, by name: who is not here, once it has begun who is to move or away.

    Of many games only those are named who are away. Nothing where one waits for nobody.
    """
    if state.status == "open":
        count, missing = _list_missing(state, age_ms)
        return say("tournament waits for", names=missing) if count else ""
    playing = [] if is_over(state) else [one for one in state.pairings if one.state != "scored"]
    is_few = len(playing) <= _MOST_AWAITED
    names = [
        name_away(state, player, one.names.get(mark, player), age_ms)
        for one in playing
        for mark, player in one.players.items()
        if _is_away(state, player) or (is_few and _is_to_move(state, one, mark))
    ]
    told = [] if is_few else [say("tournament games on", n=len(playing), all=len(state.pairings))]
    if names:
        told.append(say("tournament waits for", names=name_some(names, len(names))))
    return " ".join(told)


def _list_missing(state: EventState, age_ms: int) -> tuple[int, str]:
    """Return how many are missing, and their names: those who are away in the order of the table, then the roster's."""
    away = [name_away(state, row.player, row.name, age_ms) for row in state.table if _is_away(state, row.player)]
    if state.status != "open":
        return len(away), name_some(away, len(away))
    count = state.head.expected + len(away)
    return count, name_some([*away, *map(clean_text, state.expected or ())], count)


def ask_to_begin(state: EventState, age_ms: int = 0) -> str:
    """Return whether to begin although some are missing, who are named; nothing where all are here."""
    n, names = _list_missing(state, age_ms)
    return say("tournament begin without", n=n, names=names) if n else ""


def name_away(state: EventState, player: str, name: str, age_ms: int = 0) -> str:
    """Return a name, with how long its player has been away."""
    if state.away is UNSET or player not in state.away:
        return clean_text(name)
    return say("tournament name away", name=clean_text(name), time=format_duration(state.away[player] + age_ms))


def name_some(names: Sequence[str], count: int) -> str:
    """Return the first names of so many, and how many more there are."""
    more = [say("tournament and more", n=count - MOST_NAMED)] if count > MOST_NAMED else []
    return join_words([*names[:MOST_NAMED], *more])


def tabulate_games(state: EventState, age_ms: int = 0) -> dict[str, tuple[str, str]]:
    """Return who plays whom and how far that is, or how it went, by the ids of the pairings of this round."""
    return {
        one.id: (describe_players(one), describe_game(state, one, age_ms) or describe_score(one))
        for one in state.pairings
    }


def tabulate_present(state: EventState, viewer: str, age_ms: int = 0) -> dict[str, tuple[str, ...]]:
    """Return the table, with who is away and for how long, and before it begins with those who are expected."""
    table = tabulate(state.table, viewer)
    for player, ms in ({} if state.away is UNSET else state.away).items():
        if player in table:
            place, name, *more = table[player]
            away = say("tournament gone", time=format_duration(ms + age_ms))
            table[player] = (place, f"{name} ({away})", *more)
    for name in () if state.expected is UNSET or state.status != "open" else state.expected:
        noted = f"{clean_text(name)} ({describe_word('is', 'expected')})"
        table[f" {name}"] = ("", noted, *[""] * (len(table[""]) - 2))
    return table


def describe_game(state: EventState, pairing: EventPairing, age_ms: int = 0) -> str:
    """Return how far a game is: moves, whose turn it is, the clocks, who is away. Nothing where that is not known."""
    game = None if state.games is UNSET else state.games.get(pairing.id)
    if game is None or pairing.state == "scored":
        return ""
    told = [say("tournament moves", n=game.ply)]
    if game.turn in pairing.names:
        told.append(say("page to move", name=clean_text(pairing.names[game.turn])))
    if game.clock is not UNSET:
        left = game.clock.remaining_ms
        passed = {mark: age_ms if mark == game.clock.running else 0 for mark in left}
        told.append(" - ".join(format_duration(max(0, left[mark] - passed[mark])) for mark in pairing.players))
    sides = ((player, pairing.names.get(mark, player)) for mark, player in pairing.players.items())
    away = [name_away(state, *side, age_ms) for side in sides if _is_away(state, side[0])]
    return ", ".join([*told, *([join_words(away)] if away else [])])


def list_notes(state: EventState) -> list[str]:
    """Return the sentences that stand below a table, none where it speaks for itself.

    Why who is first is that, of how many games a match is, and who of the roster never came.
    """
    told = [describe_decision(state)]
    if state.head.kind == "knock_out":
        told = [] if is_over(state) else [say("tournament match")]
    if state.round and state.expected and not state.head.expected:
        names = [*map(clean_text, state.expected)]
        told.append(say("tournament never came", names=name_some(names, len(names))))
    return [*filter(None, told)]


def describe_decision(state: EventState) -> str:
    """Return why the first is before the second where both have as many points, or at the end is not; else nothing."""
    if len(state.table) < 2:
        return ""
    one, two = state.table[:2]
    if one.points != two.points:
        return ""
    if one.place == two.place:
        first = [clean_text(row.name) for row in state.table if row.place == one.place]
        is_told = state.status == "over" and one.points
        return say("tournament level", names=name_some(first, len(first))) if is_told else ""
    theirs = {name: value for name, value, _ in two.tie}
    name, mine = next(((name, value) for name, value, _ in one.tie if theirs.get(name) != value), ("", 0.0))
    tie = describe_word("decided", name)
    values = {"mine": format_points(mine), "theirs": format_points(theirs.get(name, 0))}
    return say("tournament before", name=clean_text(one.name), other=clean_text(two.name), tie=tie, **values)


def list_bracket(rounds: Sequence[Sequence[EventMatch]], all_rounds: int) -> list[str]:
    """Return a bracket to be read aloud, a line for each round: ``Final: ana 1½ - cy ½.``"""
    return [
        f"{title}: {'; '.join(_describe_match(match) for match in matches)}."
        for title, matches in zip(name_rounds(len(rounds), all_rounds), rounds, strict=True)
    ]


def draw_bracket(
    rounds: Sequence[Sequence[EventMatch]], all_rounds: int, width: int, fill: Callable[[str, int], str]
) -> list[str]:
    """Return the last rounds of a bracket side by side, in lines of at most so many columns.

    ``*`` is behind who goes on. `fill` returns a text in just so many columns.
    """
    shown = [*rounds[-MOST_ROUNDS:]]
    column = min((width + 3) // max(1, len(shown)) - 3, 24)
    titles = "   ".join(fill(title, column) for title in [*name_rounds(len(rounds), all_rounds)][-len(shown) :])
    lines = [[" " * column for _ in shown] for _ in range(_LINES * len(shown[0]) - 1)]
    gaps = [["   "] * len(shown) for _ in lines]
    for at, matches in enumerate(shown):
        tops = [_LINES * 2**at * number + (_LINES * 2**at) // 2 - 1 for number in range(len(matches))]
        for top, match in zip(tops, matches, strict=True):
            for line, side in enumerate(_sides(match)):
                lines[top + line][at] = fill(side[0], column - _SCORE) + f"{side[1]:>{_SCORE}}"
        for one, other in [*pairwise(tops)][::2]:
            for line in range(one + 1, other + 1):
                gaps[line][at] = " │ "
            gaps[one + 1][at], gaps[other][at] = " ┐ ", " ┘ "
    rows = (
        "".join(part for parts in zip(*row, strict=True) for part in parts) for row in zip(lines, gaps, strict=True)
    )
    return [titles.rstrip(), *(row.rstrip() for row in rows)]


def _is_to_move(state: EventState, pairing: EventPairing, mark: str) -> bool:
    """Tell whether it is the turn of a mark, or not said whose it is."""
    game = (state.games or {}).get(pairing.id)
    return game is None or game.turn in (mark, None)


def _is_away(state: EventState, player: str) -> bool:
    return state.away is not UNSET and player in state.away


def name_rounds(count: int, all_rounds: int) -> Iterator[str]:
    """Yield what the last rounds of a knock-out are called."""
    for left in reversed(range(count)):
        yield (
            say(f"tournament {_ROUNDS[left]}")
            if left < len(_ROUNDS)
            else say("tournament now", round=all_rounds - left)
        )


def _sides(match: EventMatch) -> Iterator[tuple[str, str]]:
    """Yield a name and its points, with ``*`` for who goes on; ``-`` for whom is not known."""
    for number, (player, name) in enumerate(zip(match.players, match.names, strict=True)):
        score = format_points(match.points[number]) if len(match.points) > 1 else ""
        yield clean_text(name or "-"), score + ("*" if player and player == match.goes_on else "")
    if len(match.players) == 1:
        yield f"({say('tournament bye')})", ""


def _describe_match(match: EventMatch) -> str:
    return " - ".join(" ".join(filter(None, side)) for side in _sides(match))
