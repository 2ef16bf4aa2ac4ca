from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.server.cases import cases
from tests.server.events.authors import begun, better_wins, entered, new_event, play_on, play_round, run, tick
from tictactoe_engine import PRESETS
from tictactoe_protocol.events import EventLeave
from tictactoe_protocol.terms import ClockFields, RulesState
from tictactoe_server.features.tournaments.commands import EnterEvent, Score, apply
from tictactoe_server.features.tournaments.event import Event, Pairing, due_at
from tictactoe_server.features.tournaments.knock_out import GAMES, matches_of, rounds_of, terms_of, winner_of
from tictactoe_server.features.tournaments.table import rows


def winner(event: Event, round: int, match: int) -> str | None:
    return winner_of(event, [one for one in event.in_round(round) if one.match == match])


def match_of(event: Event) -> list[Pairing]:
    return [one for one in event.pairings if one.match == 1 and one.round == 1]


def play_match(*results: str, seed: int = 7) -> Event:
    """Return a knock-out of two after these results."""
    event = begun(2, "knock_out", seed=seed)
    for result in results:
        (one,) = event.open_pairings
        event = apply(event, "", Score(one.id, result), 0)
    return event


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6, 7, 8, 13, 32, 200])
def test_the_best_number_wins_and_the_best_numbers_are_free_first(players: int) -> None:
    event = begun(players, "knock_out")
    numbers = {one.player: number for number, one in enumerate(event.field)}
    event = play_on(event, lambda one: min(one.players, key=lambda mark: numbers[one.players[mark]]))
    assert (event.status, event.round) == ("over", (players - 1).bit_length())
    free = [numbers[player] for one in event.pairings if one.is_bye for player in one.players.values()]
    assert sorted(free) == list(range((1 << event.round) - players))
    assert {one.round for one in event.pairings if one.is_bye} <= {1}
    first, second, *others = rows(event)
    assert [numbers[first.player], numbers[second.player]] == [0, 1]
    assert (first.place, second.place) == (1, 2)
    assert Counter(one.round for one in event.pairings if not one.is_bye)[event.round] == 2
    assert all(row.place > 2 for row in others)


def test_players_eliminated_in_the_same_round_share_a_place() -> None:
    event = play_on(begun(8, "knock_out"), better_wins)
    assert [row.place for row in rows(event)] == [1, 2, 3, 3, 5, 5, 5, 5]
    assert rows(event)[0].tie == (("matches", 3, "2-0, 2-0, 2-0"),)
    event = play_round(begun(3, "knock_out"), better_wins)
    assert [(row.place, row.played) for row in rows(event)] == [(1, 0), (1, 2), (3, 2)]  # the first was free


def test_a_match_has_two_games_with_marks_swapped() -> None:
    one, other = match_of(play_match("X", "O"))
    assert [one.id, other.id] == ["r1-1", "r1-1-2"]
    assert list(one.players.values()) == list(other.players.values())[::-1]


@pytest.mark.parametrize(("results", "is_over"), cases("matches"))
def test_a_level_match_continues(results: str | list[str], is_over: bool) -> None:
    event = play_match(*results)
    assert (event.status == "over") == is_over
    assert len(event.open_pairings) == (not is_over)


def test_later_games_of_a_match_have_half_the_time_and_then_the_pie_rule() -> None:
    event = play_match(*["draw"] * GAMES)
    assert (event.status, rows(event)[0].tie[0][2]) == ("over", "3-3")
    assert rounds_of(event)[0][0].by == "draw"
    terms = [terms_of(event, one) for one in match_of(event)]
    full, half = ClockFields(initial_ms=60_000, increment_ms=1_000), ClockFields(initial_ms=30_000, increment_ms=500)
    assert [clock for _, clock in terms] == [full, full, half, half, half, half]
    assert [rules.opening for rules, _ in terms] == [None] * 4 + ["pie"] * 2
    assert all(rules.to_rules().opening in (None, "pie") for rules, _ in terms)


@pytest.mark.parametrize("preset", [name for name, rules in PRESETS.items() if len(rules.marks) == 2])
def test_each_game_of_two_has_rules_for_the_last_games(preset: str) -> None:
    event = begun(2, "knock_out", rules=preset)
    (first,) = event.pairings
    last = Pairing("r1-1-6", 1, first.players, number=6)
    rules = terms_of(event, last)[0].to_rules()
    assert rules.opening == (PRESETS[preset].opening or "pie")
    assert terms_of(event, first)[0] == RulesState.of(PRESETS[preset])


@pytest.mark.parametrize(
    ("clock", "shorter"),
    [
        (ClockFields(initial_ms=15_000, increment_ms=1), ClockFields(initial_ms=10_000, increment_ms=0)),
        (ClockFields(initial_ms=5_000, increment_ms=0), ClockFields(initial_ms=5_000, increment_ms=0)),
        (ClockFields(move_ms=20_000), ClockFields(move_ms=10_000)),
        (ClockFields(move_ms=3_000), ClockFields(move_ms=2_000)),
    ],
)
def test_a_clock_is_shortened_as_far_as_one_can_play(clock: ClockFields, shorter: ClockFields) -> None:
    event = begun(2, "knock_out")
    event = replace(event, clock=clock)
    assert terms_of(event, Pairing("r1-1-3", 1, {}, number=3))[1] == shorter


def test_a_leaving_player_forfeits_the_match() -> None:
    event = begun(4, "knock_out")
    (one, other) = event.open_pairings
    event = apply(event, one.players["X"], EventLeave(event=""), 0)
    assert winner(event, 1, one.match) == one.players["O"]
    assert [pairing.by for pairing in event.pairings if pairing.match == one.match] == ["forfeit", "forfeit"]
    assert event.open_pairings == [event.pairing(other.id)]


def test_a_roster_is_seeded_as_its_names_stand() -> None:
    names = ("Zoe", "Yan", "Xia", "Wim")
    event = new_event("knock_out", entry="roster", roster=names)
    for name in reversed(names):
        event = apply(event, name.lower(), EnterEvent("", ticket=event.ticket_of(name)), 0)
    event = tick(run(event, "begin"), 0)
    assert [tuple(one.players.values()) for one in event.pairings] == [("zoe", "wim"), ("yan", "xia")]


@given(st.integers(2, 20), st.lists(st.sampled_from(["X", "O", "draw", "none"]), min_size=1, max_size=30))
def test_one_player_is_left_and_of_a_level_match_the_smaller_number(players: int, results: list[str]) -> None:
    event = play_on(begun(players, "knock_out"), lambda one: results[(3 * one.match + one.number) % len(results)])
    numbers = [one.player for one in event.field]
    for games in matches_of(event.pairings):
        halves = {player: sum(one.result_for(player) for one in games) for player in games[0].players.values()}
        best = [player for player, got in halves.items() if got == max(halves.values())]
        assert winner_of(event, games) == min(best, key=numbers.index)
    assert (event.status, due_at(event)) == ("over", None)
    places = Counter(row.place for row in rows(event))
    assert places[1] == places[2] == 1
    lost = [one for one in event.field if winner(event, event.round, 1) != one.player]
    assert len(lost) == players - 1
    assert all(len([one for one in event.pairings if one.round == round]) > 0 for round in range(1, event.round + 1))


def test_the_bracket_has_all_rounds_including_undecided_ones() -> None:
    event = begun(6, "knock_out")
    first = rounds_of(event)[0]
    numbers = [one.player for one in event.field]
    assert [match.players for match in first] == [
        (numbers[0],),
        (numbers[3], numbers[4]),
        (numbers[1],),
        (numbers[2], numbers[5]),
    ]
    assert [match.goes_on for match in first] == [numbers[0], None, numbers[1], None]
    assert [match.players for match in rounds_of(event)[1]] == [(numbers[0], None), (numbers[1], None)]
    assert rounds_of(event)[2][0].players == (None, None)
    event = play_on(event, better_wins)
    (last,) = rounds_of(event)[2]
    assert dict(zip(last.players, last.points, strict=True)) == {"p1": 2, "p3": 0}
    assert last.goes_on == "p1"
    assert rounds_of(entered(6, "knock_out")) == ()
