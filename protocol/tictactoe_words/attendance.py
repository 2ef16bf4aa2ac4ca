"""Describes a running tournament: its present players, the progress of its games, its ranking and its bracket. Pure.

In every function, `age_ms` is the time since the state arrived. It is added to durations of absence and taken off
running clocks. The page's ports of this module are `web/events/following.js` and `bracket.js`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from msgspec import UNSET

from tictactoe_protocol.events import EventMatch, EventPairing, EventState
from tictactoe_protocol.text import clean_text
from tictactoe_words.catalogue import say
from tictactoe_words.tournaments import (
    describe_players,
    describe_score,
    describe_word,
    format_points,
    is_over,
    name_round,
    tabulate,
)
from tictactoe_words.wording import format_duration, join_words

MOST_NAMED: Final = 6
MOST_ROUNDS: Final = 4
"""The largest number of rounds that are drawn in a bracket."""
_MOST_AWAITED: Final = 4
"""Up to this number of running games, their players to move are named."""
_ROUNDS: Final = ("final", "semifinals", "quarterfinals")
_LINES: Final = 3  # for each match in the first drawn round; the third may say how the match was decided
_SCORE: Final = 4


def describe_progress(state: EventState, due_ms: int | None, age_ms: int = 0) -> list[str]:
    """Return sentences about the round and the players present, and what `list_waits` returns.

    `due_ms` is the time until the next round, or None if no round is due.
    """
    head, status = state.head, describe_word("status", state.status)
    here = say("tournament here", n=head.players + head.expected, present=head.present)
    now = name_round(state) if state.round else say("tournament not begun")
    told = say("tournament progress", round=now, status=status, here=here)
    return [told, *list_waits(state, due_ms, age_ms)]


def list_waits(state: EventState, due_ms: int | None, age_ms: int = 0) -> list[str]:
    """Return a sentence about what the tournament waits for, otherwise about the start of the next round, if it is due.

    The list is empty if there is nothing to say.
    """
    if waits := describe_waiting(state, age_ms):
        return [waits]
    is_between = state.round and due_ms is not None and not is_over(state)
    return [say("tournament next in", time=format_duration(due_ms or 0))] if is_between else []


def describe_waiting(state: EventState, age_ms: int = 0) -> str:
    """Return a sentence about the players that the tournament waits for, or "".

    Before the start, these are the missing players. Later they are the absent players and, if only a few games are
    running, the players to move. If the tournament is paused because all were absent, the sentence says how many
    players must be present for it to go on.
    """
    if state.needed:
        return say("tournament deserted", n=state.needed)
    if state.status == "open":
        count, missing = _list_missing(state, age_ms)
        return say("tournament waits for", names=missing) if count else ""
    playing = [] if is_over(state) else [pairing for pairing in state.pairings if pairing.state != "scored"]
    is_few = len(playing) <= _MOST_AWAITED
    names = [
        name_away(state, player, one.names.get(mark, player), age_ms)
        for one in playing
        for mark, player in one.players.items()
        if player in (state.away or {}) or (is_few and _is_to_move(state, one, mark))
    ]
    told = [] if is_few else [say("tournament games on", n=len(playing), all=len(state.pairings))]
    if names:
        told.append(say("tournament waits for", names=name_some(names, len(names))))
    return " ".join(told)


def _list_missing(state: EventState, age_ms: int) -> tuple[int, str]:
    """Return the number and the names of the missing players: absent entrants by rank, then people in the roster."""
    away = [name_away(state, row.player, row.name, age_ms) for row in state.table if row.player in (state.away or {})]
    if state.status != "open":
        return len(away), name_some(away, len(away))
    count = state.head.expected + len(away)
    return count, name_some([*away, *map(clean_text, state.expected or ())], count)


def ask_to_begin(state: EventState, age_ms: int = 0) -> str:
    """Return the question whether to begin without the missing players, or "" if all are present."""
    n, names = _list_missing(state, age_ms)
    if not n:
        return ""
    shuts = say("tournament begin shuts") if state.head.expected and not state.head.late_until else ""
    return f"{shuts} {say('tournament begin without', n=n, names=names)}".strip()


def name_away(state: EventState, player: str, name: str, age_ms: int = 0) -> str:
    """Return `name`, followed by the duration of the player's absence if they are absent."""
    away_ms = (state.away or {}).get(player)
    if away_ms is None:
        return clean_text(name)
    away = say("tournament gone", time=format_duration(away_ms + age_ms))
    return say("name with mark", name=clean_text(name), mark=away)


def name_some(names: Sequence[str], count: int) -> str:
    """Return the first of `names` as a list in a sentence, and how many of the `count` people are not named."""
    more = [say("tournament and more", n=count - MOST_NAMED)] if count > MOST_NAMED else []
    return join_words([*names[:MOST_NAMED], *more])


def tabulate_games(state: EventState, age_ms: int = 0) -> dict[str, tuple[str, str]]:
    """Return the players, and the progress or score, of each pairing in this round, by the pairing's id."""
    return {
        pairing.id: (describe_players(pairing), describe_game(state, pairing, age_ms) or describe_score(pairing))
        for pairing in state.pairings
    }


def tabulate_present(state: EventState, viewer: str, age_ms: int = 0) -> dict[str, tuple[str, ...]]:
    """Return the table of `tabulate` with notes about absent players.

    Before the start, it also has the people in the roster who have not entered yet.
    """
    table = tabulate(state.table, viewer)
    for player, ms in (state.away or {}).items():
        if player in table:
            place, name, *more = table[player]
            away = say("tournament gone", time=format_duration(ms + age_ms))
            table[player] = (place, f"{name} ({away})", *more)
    for name in (state.expected or ()) if state.status == "open" else ():
        noted = f"{clean_text(name)} ({describe_word('is', 'expected')})"
        table[f" {name}"] = ("", noted, *[""] * (len(table[""]) - 2))
    return table


def describe_game(state: EventState, pairing: EventPairing, age_ms: int = 0) -> str:
    """Return the progress of a game: its moves, turn, clocks and absent players; "" if it is unknown."""
    game = (state.games or {}).get(pairing.id)
    if game is None or pairing.state == "scored":
        return ""
    told = [say("count move", n=game.ply)]
    if game.turn in pairing.names:
        told.append(say("page to move", name=clean_text(pairing.names[game.turn])))
    if game.clock is not UNSET:
        left = game.clock.remaining_ms
        passed = {mark: age_ms if mark == game.clock.running else 0 for mark in left}
        told.append(" - ".join(format_duration(max(0, left[mark] - passed[mark])) for mark in pairing.players))
    sides = ((player, pairing.names.get(mark, player)) for mark, player in pairing.players.items())
    away = [name_away(state, *side, age_ms) for side in sides if side[0] in (state.away or {})]
    return ", ".join([*told, *([join_words(away)] if away else [])])


def list_notes(state: EventState) -> list[str]:
    """Return the sentences below a table.

    They say which tie-break decided or, in a knock-out, how a match works; and who in the roster never came.
    """
    told = [describe_decision(state)]
    if state.head.kind == "knock_out":
        told = [] if is_over(state) else [say("tournament match")]
    if state.round and state.expected and not state.head.expected:
        names = [*map(clean_text, state.expected)]
        told.append(say("tournament never came", names=name_some(names, len(names))))
    return [*filter(None, told)]


def describe_decision(state: EventState) -> str:
    """Return why the first player is ahead of the second if both have the same points, or "".

    At the end of the tournament, it may instead say that they share the first place.
    """
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
    tie = describe_word("tie", name)
    values = {"mine": format_points(mine), "theirs": format_points(theirs.get(name, 0))}
    return say("tournament before", name=clean_text(one.name), other=clean_text(two.name), tie=tie, **values)


def list_bracket(rounds: Sequence[Sequence[EventMatch]], all_rounds: int) -> list[str]:
    """Return a bracket as text with a line for each round: ``Final: ana 1½ - cy ½.``"""
    return [
        f"{title}: {'; '.join(_describe_match(match) for match in matches)}."
        for title, matches in zip(name_rounds(len(rounds), all_rounds), rounds, strict=True)
    ]


def draw_bracket(
    rounds: Sequence[Sequence[EventMatch]], all_rounds: int, width: int, fill: Callable[[str, int], str]
) -> list[str]:
    """Return the lines of a drawing of a bracket: its last rounds side by side, with ``*`` for winners.

    Args:
        rounds: The matches in each round of the state.
        all_rounds: The total number of rounds in the tournament.
        width: The largest width of a line in columns.
        fill: Cuts or pads a text to a number of columns.
    """
    shown = [*rounds[-MOST_ROUNDS:]]
    column = min((width + 3) // max(1, len(shown)) - 3, 24)
    titles = "   ".join(fill(title, column) for title in [*name_rounds(len(rounds), all_rounds)][-len(shown) :])
    lines = [[" " * column for _ in shown] for _ in range(_LINES * len(shown[0]))]
    gaps = [["   "] * len(shown) for _ in lines]
    for at, matches in enumerate(shown):
        tops = [_LINES * 2**at * number + (_LINES * 2**at) // 2 - 1 for number in range(len(matches))]
        for top, match in zip(tops, matches, strict=True):
            for line, side in enumerate(_sides(match)):
                lines[top + line][at] = fill(side[0], column - _SCORE) + f"{side[1]:>{_SCORE}}"
            if match.by == "draw":
                lines[top + _LINES - 1][at] = fill(say("tournament by draw"), column)
        for one, other in [*pairwise(tops)][::2]:
            for line in range(one + 1, other + 1):
                gaps[line][at] = " │ "
            gaps[one + 1][at], gaps[other][at] = " ┐ ", " ┘ "
    rows = (
        "".join(part for parts in zip(*row, strict=True) for part in parts) for row in zip(lines, gaps, strict=True)
    )
    drawn = [titles.rstrip(), *(row.rstrip() for row in rows)]
    return drawn if drawn[-1] else drawn[:-1]


def _is_to_move(state: EventState, pairing: EventPairing, mark: str) -> bool:
    game = (state.games or {}).get(pairing.id)
    return game is None or game.turn in (mark, None)


def name_rounds(count: int, all_rounds: int) -> Iterator[str]:
    """Yield the names of the last `count` rounds in a knock-out with `all_rounds` rounds."""
    for left in reversed(range(count)):
        id = f"tournament {_ROUNDS[left]}" if left < len(_ROUNDS) else "tournament now"
        yield say(id, round=all_rounds - left)


def _sides(match: EventMatch) -> Iterator[tuple[str, str]]:
    """Yield the name of each player in a match, ``-`` if unknown, and their points, with ``*`` for the winner."""
    for number, (player, name) in enumerate(zip(match.players, match.names, strict=True)):
        score = format_points(match.points[number]) if len(match.points) > 1 else ""
        yield clean_text(name or "-"), score + ("*" if player and player == match.goes_on else "")
    if len(match.players) == 1:
        yield f"({say('tournament bye')})", ""


def _describe_match(match: EventMatch) -> str:
    told = " - ".join(" ".join(filter(None, side)) for side in _sides(match))
    return f"{told}, {say('tournament by draw')}" if match.by == "draw" else told
