"""Knock-out tournaments.

A match has two games with marks swapped; if it is level, two games at half the time, then two games that begin with the
pie rule unless the game has its own opening. If all are level, or both players are absent, the smaller number advances.
Numbers are drawn by lot or follow the roster. The first round pairs the best with the last, and the best have byes if
the number of players is no power of two.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from msgspec import UNSET

from tictactoe_protocol.events import EventMatch
from tictactoe_protocol.terms import ClockFields, RulesState
from tictactoe_server.features.tournaments.event import Event, Pairing, pair_up

GAMES: Final = 6
_SHORTER, _PIE = 3, 5  # the numbers of the first games with less time and with the pie rule
_LEAST_MS: Final = {"initial_ms": 10_000, "increment_ms": 0, "move_ms": 2_000}  # no clock is made shorter


def pair_round(event: Event, round: int) -> tuple[Pairing, ...]:
    """Return the first games of a round's matches, and the byes of the first round."""
    if round == 1:
        players = dict(enumerate((one.player for one in event.field), 1))
        going_on = [players.get(number, "") for number in bracket(1 << (len(players) - 1).bit_length())]
    else:
        going_on = [winner_of(event, games) or "" for games in matches_of(event.in_round(round - 1))]
    return pair_up(round, zip(going_on[::2], going_on[1::2], strict=True), event.marks)


def bracket(size: int) -> list[int]:
    """Return the numbers from 1 in the order of the tree: the best two meet in the final.

    >>> bracket(8)
    [1, 8, 4, 5, 2, 7, 3, 6]
    """
    order = [1]
    while len(order) < size:
        order = [number for one in order for number in (one, 2 * len(order) + 1 - one)]
    return order


def more_games(event: Event) -> tuple[Pairing, ...]:
    """Return the next game of each undecided match that has none in progress."""
    first, second = tuple(event.marks)
    more = []
    for games in matches_of(event.in_round(event.round)):
        if winner_of(event, games) is None and all(one.state == "scored" for one in games):
            last, number = games[-1], games[-1].number + 1
            swapped = {first: last.players[second], second: last.players[first]}
            more.append(Pairing(f"r{last.round}-{last.match}-{number}", last.round, swapped, last.match, number))
    return tuple(more)


def matches_of(pairings: Iterable[Pairing]) -> Collection[list[Pairing]]:
    """Group games by match, in the order of rounds and matches."""
    matches: dict[tuple[int, int], list[Pairing]] = {}
    for one in pairings:
        matches.setdefault((one.round, one.match), []).append(one)
    return matches.values()


def winner_of(event: Event, games: Sequence[Pairing]) -> str | None:
    """Return the winner of a match, or None while it is undecided."""
    players = [*games[0].players.values()]
    if len(players) == 1:
        return players[0]
    if len(games) % 2 or any(one.state != "scored" for one in games):
        return None
    ahead = sum(one.result_for(players[0]) - one.result_for(players[1]) for one in games)
    if ahead:
        return players[0] if ahead > 0 else players[1]
    if len(games) < GAMES and any(one.result != "none" for one in games[-2:]):
        return None
    return next(one.player for one in event.field if one.player in players)


def rounds_of(event: Event) -> tuple[tuple[EventMatch, ...], ...]:
    """Return the bracket, including future rounds; empty before the first round and for other kinds of events."""
    if event.kind != "knock_out" or not event.round:
        return ()
    rounds, names = list[tuple[EventMatch, ...]](), {one.player: one.name for one in event.field}
    for round in range(1, event.all_rounds + 1):
        if matches := matches_of(event.in_round(round)):
            rounds.append(tuple(_match_of(event, games, names) for games in matches))
        else:
            ahead = [one.goes_on for one in rounds[-1]]
            pairs = zip(ahead[::2], ahead[1::2], strict=True)
            rounds.append(tuple(EventMatch(pair, tuple(names.get(one or "") for one in pair)) for pair in pairs))
    return tuple(rounds)


def _match_of(event: Event, games: Sequence[Pairing], names: Mapping[str, str]) -> EventMatch:
    players = tuple(games[0].players.values())
    points = tuple(sum(one.result_for(player) for one in games) / 2 for player in players)
    winner, is_level = winner_of(event, games), len(players) > 1 and points[0] == points[1]
    by = "draw" if winner is not None and is_level else None
    return EventMatch(players, tuple(names[one] for one in players), points, winner, by)


def terms_of(event: Event, pairing: Pairing) -> tuple[RulesState, ClockFields]:
    """Return a game's rules and clock, which differ in a match's later games."""
    rules, clock = event.rules, event.clock
    if pairing.number >= _SHORTER:
        terms = {name: value for name in _LEAST_MS if (value := getattr(clock, name)) is not UNSET}
        clock = ClockFields(**{name: min(value, max(value // 2, _LEAST_MS[name])) for name, value in terms.items()})
    if pairing.number >= _PIE and rules.opening is None:
        rules = RulesState.of(dataclasses.replace(rules.to_rules(), opening="pie"))
    return rules, clock
