"""Knock-out tournaments: the bracket, and the games of its matches.

Players are numbered by lot, or in the order of the roster. The first round pairs the lowest number with the highest,
the second lowest with the second highest, and so on. If the number of players is not a power of two, the lowest numbers
have byes.

A match has two games, and the players swap marks in between. While the score is level, two games at half the time
follow, then two games that begin with the pie rule, unless the rules have an opening of their own. If all six games
leave the score level, or both players are absent, the player with the lower number advances.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from msgspec import UNSET

from tictactoe_protocol.events import EventMatch
from tictactoe_protocol.terms import ClockFields, RulesState
from tictactoe_server.features.tournaments.event import Event, Pairing, pair_up

GAMES: Final = 6  # at most in a match
_SHORTER, _PIE = 3, 5  # numbers of the first game at half the time, and of the first with the pie rule
_LEAST_MS: Final = {"initial_ms": 10_000, "increment_ms": 0, "move_ms": 2_000}  # halving stops at these values


def pair_round(event: Event, round: int) -> tuple[Pairing, ...]:
    """Return the first game of each match in a round; in round 1, also the byes."""
    if round == 1:
        players = dict(enumerate((entrant.player for entrant in event.field), 1))
        going_on = [players.get(number, "") for number in bracket(1 << (len(players) - 1).bit_length())]
    else:
        going_on = [winner_of(event, games) or "" for games in matches_of(event.in_round(round - 1))]
    return pair_up(round, zip(going_on[::2], going_on[1::2], strict=True), event.marks)


def bracket(size: int) -> list[int]:
    """Return the players' numbers from the top of the bracket to its bottom; `size` is a power of two.

    Numbers 1 and 2 can meet only in the final.

    >>> bracket(8)
    [1, 8, 4, 5, 2, 7, 3, 6]
    """
    order = [1]
    while len(order) < size:
        order = [number for one in order for number in (one, 2 * len(order) + 1 - one)]
    return order


def more_games(event: Event) -> tuple[Pairing, ...]:
    """Return the next game of each undecided match without a game in progress."""
    first, second = tuple(event.marks)
    more = []
    for games in matches_of(event.in_round(event.round)):
        if winner_of(event, games) is None and all(game.state == "scored" for game in games):
            last, number = games[-1], games[-1].number + 1
            swapped = {first: last.players[second], second: last.players[first]}
            more.append(Pairing(f"r{last.round}-{last.match}-{number}", last.round, swapped, last.match, number))
    return tuple(more)


def matches_of(pairings: Iterable[Pairing]) -> Collection[list[Pairing]]:
    """Return the games grouped by match, in order of the matches' first games."""
    matches: dict[tuple[int, int], list[Pairing]] = {}
    for pairing in pairings:
        matches.setdefault((pairing.round, pairing.match), []).append(pairing)
    return matches.values()


def winner_of(event: Event, games: Sequence[Pairing]) -> str | None:
    """Return the id of the player who wins a match with these games, or None while the match is undecided."""
    players = [*games[0].players.values()]
    if len(players) == 1:
        return players[0]
    if len(games) % 2 or any(game.state != "scored" for game in games):
        return None
    ahead = sum(game.result_for(players[0]) - game.result_for(players[1]) for game in games)
    if ahead:
        return players[0] if ahead > 0 else players[1]
    if len(games) < GAMES and any(game.result != "none" for game in games[-2:]):
        return None
    return next(entrant.player for entrant in event.field if entrant.player in players)


def rounds_of(event: Event) -> tuple[tuple[EventMatch, ...], ...]:
    """Return the matches of all rounds, including future ones.

    The result is empty before the first round, and for tournaments that are not knock-outs.
    """
    if event.kind != "knock_out" or not event.round:
        return ()
    rounds, names = list[tuple[EventMatch, ...]](), {entrant.player: entrant.name for entrant in event.field}
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
    points = tuple(sum(game.result_for(player) for game in games) / 2 for player in players)
    winner, is_level = winner_of(event, games), len(players) > 1 and points[0] == points[1]
    by = "draw" if winner is not None and is_level else None
    return EventMatch(players, tuple(names[player] for player in players), points, winner, by)


def terms_of(event: Event, pairing: Pairing) -> tuple[RulesState, ClockFields]:
    """Return the rules and the clock of a game. Later games of a match have a shorter clock or the pie rule."""
    rules, clock = event.rules, event.clock
    if pairing.number >= _SHORTER and not clock.counts_days:
        terms = {name: value for name in _LEAST_MS if (value := getattr(clock, name)) is not UNSET}
        clock = ClockFields(**{name: min(value, max(value // 2, _LEAST_MS[name])) for name, value in terms.items()})
    if pairing.number >= _PIE and rules.opening is None:
        rules = RulesState.of(dataclasses.replace(rules.to_rules(), opening="pie"))
    return rules, clock
