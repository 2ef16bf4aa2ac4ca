"""Swiss: the rules of every round, compared with all possible pairings of few players, and as properties of many."""

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.server.events.authors import begun, better_wins, entered, opened, play_on, play_round, run, tick
from tictactoe_protocol.events import EventLeave, EventReady
from tictactoe_server.features.tournaments.commands import EnterEvent, Score, apply, pair_next
from tictactoe_server.features.tournaments.event import Event, due_at
from tictactoe_server.features.tournaments.swiss import Player, costs_of, pair, players_of
from tictactoe_server.features.tournaments.table import rows

RESULTS = st.sampled_from(["X", "O", "draw"])


def every_matching(vertices: Sequence[int], costs: dict[int, dict[int, int]]) -> Iterator[list[tuple[int, int]]]:
    if not vertices:
        yield []
        return
    one, *others = vertices
    for other in others:
        if other in costs[one]:
            rest = [vertex for vertex in others if vertex != other]
            for pairs in every_matching(rest, costs):
                yield [(one, other), *pairs]


def weigh(pairs: Sequence[tuple[Player, Player | None]], players: Sequence[Player]) -> tuple[int, int, int, int]:
    """Return the defects of a round, the worst first, by the rules of a Swiss."""
    bad = apart = unwanted = off = 0
    for one, other in pairs:
        if other is None:
            apart += (one.halves - players[-1].halves) ** 2
            off += len(players) - 1 - players.index(one)
            continue
        apart += (one.halves - other.halves) ** 2
        ways = [(marks_after(one, mine), marks_after(other, theirs)) for mine, theirs in (("X", "O"), ("O", "X"))]
        bad += not any(is_fair(first) and is_fair(second) for first, second in ways)
        unwanted += min(sum(map(cost_of, way)) for way in ways) % 100
        if one.halves == other.halves:
            level = [player for player in players if player.halves == one.halves]
            off += abs(level.index(other) - level.index(one) - len(level) // 2)
    return bad, apart, unwanted, off


def marks_after(player: Player, mark: str) -> str:
    return player.marks + mark


def is_fair(marks: str) -> bool:
    """Return whether no mark came three times in a row, and the counts of the marks differ by at most two."""
    return marks[-3:] not in ("XXX", "OOO") and abs(marks.count("X") - marks.count("O")) <= 2


def cost_of(marks: str) -> int:
    """Return the cost of the last mark; 100 if it is forbidden."""
    if not is_fair(marks):
        return 100
    before, last = marks[:-1], marks[-1]
    more = before.count(last) - (len(before) - before.count(last))
    return 2 * max(0, more) + (before[-1:] == last)


@st.composite
def played(draw: st.DrawFn, most: int) -> Event:
    """Draw a Swiss after some rounds, with players who come late, pause and leave."""
    players = draw(st.integers(2, most))
    event = run(entered(players, "swiss", rounds=draw(st.integers(1, 9)), late_until=3), "begin")
    results = draw(st.lists(RESULTS, min_size=1, max_size=40))
    left = draw(st.lists(st.tuples(st.integers(1, players), st.sampled_from(["leave", "pause", "back"])), max_size=6))
    for round in range(draw(st.integers(0, 9))):
        due = due_at(event)
        if due is None:
            break
        event = tick(event, due)
        event = play_round(event, lambda one, round=round: results[(one.match * 7 + round) % len(results)], due)  # type: ignore[misc]
        if left and not event.is_over:
            number, what = left.pop()
            command = EventLeave(event="") if what == "leave" else EventReady(event="", on=what == "back")
            one = event.entrant(f"p{number}")
            if one is not None and not one.is_gone:
                event = apply(event, one.player, command, due)
        if event.takes_entrants:
            event = apply(event, f"late{round}", EnterEvent(f"Late {round}"), due)
    return event


@given(played(8))
def test_no_pairing_of_up_to_eight_is_better(event: Event) -> None:
    players = players_of(event, "in")[:8]
    costs = costs_of(players, "XO")
    every = [
        [(players[one], players[other] if other < len(players) else None) for one, other in pairs]
        for pairs in every_matching(list(costs), costs)
    ]
    found = pair(players, "XO")
    assert bool(found) == bool(every)
    if every:
        assert weigh(found, players) == min(weigh(pairs, players) for pairs in every)


def check_rules(event: Event) -> None:
    """Check the rules that hold for every round of a Swiss."""
    games = [frozenset(one.players.values()) for one in event.pairings if not one.is_bye]
    assert len(set(games)) == len(games)
    for one in event.field:
        had = event.pairings_of(one.player)
        assert len({pairing.round for pairing in had}) == len(had)
        given = [pairing for pairing in had if pairing.winner == one.player and pairing.by != "game"]
        assert not any(pairing.is_bye for pairing in given[1:])
    for round in range(1, event.round + 1):
        assert sum(one.is_bye for one in event.in_round(round)) <= 1


@given(st.integers(10, 90), st.integers(0, 9), st.lists(RESULTS, min_size=5, max_size=60))
@settings(max_examples=10, deadline=None)
def test_tournaments_repeat_no_pairing_and_balance_marks(players: int, rounds: int, results: list[str]) -> None:
    terms = {"rounds": min(rounds, players // 2)} if rounds else {}
    event = play_on(begun(players, "swiss", **terms), lambda one: results[(one.match * 5 + one.round) % len(results)])
    assert (event.status, event.round) == ("over", event.all_rounds)
    check_rules(event)
    for one in event.field:
        had = "".join(pairing.mark_of(one.player) or "" for pairing in event.pairings_of(one.player) if pairing.game_id)
        assert all(is_fair(had[:end]) for end in range(len(had) + 1)), had
    assert all(len(event.in_round(round)) == (players + 1) // 2 for round in range(1, event.round + 1))
    assert sum(row.points for row in rows(event)) == event.round * ((players + 1) // 2)


@given(played(40))
def test_pairing_rules_hold_with_late_pausing_and_leaving_players(event: Event) -> None:
    check_rules(event)


@pytest.mark.parametrize(("players", "rounds"), [(2, 1), (3, 3), (4, 3), (8, 3), (9, 4), (33, 6), (200, 8)])
def test_there_are_as_many_rounds_as_it_takes_to_leave_one_unbeaten(players: int, rounds: int) -> None:
    event = begun(players, "swiss")
    assert event.all_rounds == rounds


def test_a_pausing_player_is_not_paired() -> None:
    event = apply(play_round(begun(6, "swiss"), better_wins), "p1", EventReady(event="", on=False), 0)
    event = tick(event, due_at(event) or 0)
    assert all("p1" not in one.players.values() for one in event.in_round(2))
    event = apply(event, "p1", EventReady(event="", on=True), 0)
    event = tick(play_round(event, better_wins), 10**9)
    assert any("p1" in one.players.values() for one in event.in_round(3))


def test_a_swiss_whose_players_pause_waits_for_two_of_them() -> None:
    event = run(entered(4, "swiss"), "begin")
    for number in (1, 2, 3):
        event = apply(event, f"p{number}", EventReady(event="", on=False), 0)
    assert due_at(event) is None
    assert tick(event, 10**9) is event
    event = apply(event, "p1", EventReady(event="", on=True), 0)
    assert {*event.in_round(1)} == set()
    assert len(tick(event, 0).in_round(1)) == 1


def test_a_pausing_player_is_paired_if_all_others_have_met() -> None:
    event = play_round(begun(4, "swiss"), better_wins)
    away = event.pairings[0].players.values()
    for player in away:
        event = apply(event, player, EventReady(event="", on=False), 0)
    event = tick(event, due_at(event) or 0)
    assert event.round == 2
    assert all(len(set(away) & set(one.players.values())) == 1 for one in event.in_round(2))


def test_a_late_entrant_plays_from_the_next_round_without_points() -> None:
    event = begun(6, "swiss", late_until=1)
    event = apply(event, "late", EnterEvent("Late"), 0)
    assert not event.pairings_of("late")
    event = tick(play_round(event, better_wins), 10**9)
    assert event.pairings_of("late")
    assert not event.takes_entrants
    event = begun(6, "swiss", rounds=2, late_until=9)
    assert event.takes_entrants
    assert not tick(play_round(event, better_wins), 10**9).takes_entrants  # it is the last


def test_a_swiss_ends_when_every_round_would_repeat_a_pair() -> None:
    event = play_on(begun(4, "swiss", rounds=9), better_wins)
    assert (event.status, event.round) == ("over", 3)


def test_a_round_that_was_paired_for_others_is_not_taken() -> None:
    event = run(entered(4, "swiss"), "begin")
    paired = pair_next(event)
    left = apply(event, "p1", EventLeave(event=""), 0)
    assert apply(left, "", paired, 0) is left
    after = apply(event, "", paired, 0)
    assert after.round == 1
    assert apply(after, "", paired, 0) is after
    played = play_round(after, better_wins)
    assert apply(played, "", paired, due_at(played) or 0) is played


def test_a_round_with_one_game_open_does_not_end() -> None:
    event = opened(begun(4, "swiss"))
    one, other = event.open_pairings
    event = apply(event, "", Score(one.id, "X"), 0)
    assert due_at(event) is None
    assert due_at(apply(event, "", Score(other.id, "draw"), 7)) == 5_007
