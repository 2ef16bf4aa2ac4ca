"""The fold of ratings: properties for all logs and verdicts, and the closing of ladders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import NamedTuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rows import each
from tictactoe_protocol.rated import LadderClosing
from tictactoe_protocol.ratings.glicko import MS_A_PERIOD, play_rated, rest
from tictactoe_protocol.ratings.ladder import Ladder, Player, State, advance, fold, is_usable
from tictactoe_protocol.ratings.log import Entry, Judge, RatedGame, Verdict, list_verdicts

NAMES = "abcdefg"


class Log(NamedTuple):
    """Entries, and the games that they refer to."""

    entries: list[Entry]
    games: dict[str, RatedGame]

    def without(self, ids: Iterable[str]) -> Log:
        out = set(ids)
        left = (tuple(id for id in entry.games if id not in out) for entry in self.entries)
        return Log([Entry(games) for games in left if games], self.games)

    def fold(self) -> State:
        return fold(self.entries, self.games)


def newest(states: Iterable[State], entries: Sequence[Entry], games: Mapping[str, RatedGame]) -> State:
    """Return the newest usable state, or the empty one."""
    usable = (state for state in states if is_usable(state, entries, games))
    return max(usable, key=lambda state: state.entries, default=State())


def fold_on(
    entries: Sequence[Entry], games: Mapping[str, RatedGame], states: Iterable[State] = (), until: int | None = None
) -> State:
    """Fold the first `until` entries, continuing from the newest usable state, with all verdicts, like a server."""
    end = len(entries) if until is None else until
    start = newest((state for state in states if state.entries <= end), entries, games)
    return advance(start, entries[start.entries : end], games, list_verdicts(entries))


def game(number: int, players: str, score: float, rules: str = "four") -> RatedGame:
    """Return a game that ended a day after the one before."""
    return RatedGame(f"{number:04}", 86_400_000 * (number + 1), rules, (players[0], players[1]), score)


def verdict(seq: int, kind: str, **told: str | int) -> Entry:
    return Entry(
        verdict=msgspec.convert({"seq": seq, "at": 0, "by": "ana", "kind": kind, "reason": "", **told}, Verdict)
    )


@st.composite
def logs(draw: st.DrawFn, verdicts: int = 0) -> Log:
    """Return logs of two ladders with up to `verdicts` verdicts in between."""
    chance = Random(draw(st.integers(0, 10**6)))
    games = []
    for number in range(draw(st.integers(5, 30))):
        players, score, rules = chance.sample(NAMES, 2), chance.choice((1, 0.5, 0)), chance.choice(("four", "connect"))
        games.append(game(number, "".join(players), score, rules))
    cuts = [0, *sorted(chance.sample(range(1, len(games)), 3)), len(games)]
    entries = [Entry(tuple(one.id for one in games[start:end])) for start, end in pairwise(cuts)]
    for seq in range(draw(st.integers(0, verdicts))):
        told: dict[str, dict[str, str | int]] = {
            "void game": {"of": chance.choice(games).id},
            "void player": {"of": chance.choice(NAMES), "since": chance.choice(games).at},
            "merge": {"of": chance.choice(NAMES), "into": chance.choice(NAMES)},
            "undo": {"undoes": chance.randrange(seq + 1)},
        }
        kind = chance.choice([*told])
        entries.insert(chance.randint(0, len(entries)), verdict(seq, kind, **told[kind]))
    return Log(entries, {one.id: one for one in games})


@given(logs(verdicts=4), st.data())
def test_a_fold_from_any_snapshot_equals_the_whole_fold(log: Log, data: st.DataObject) -> None:
    states: list[State] = []
    for end in range(len(log.entries) + 1):
        kept = [msgspec.json.decode(msgspec.json.encode(state), type=State) for state in states]
        before = msgspec.json.encode(kept)
        until = data.draw(st.integers(0, end))
        again = fold_on(log.entries[:end], log.games, data.draw(st.permutations(kept)), until)
        assert again == fold_on(log.entries[:end], log.games, until=until)
        assert again.entries == until
        assert msgspec.json.encode(kept) == before, "a state is not changed by what is folded on from it"
        states.append(again)


@given(logs(), st.integers(0, 29))
def test_a_verdict_needs_only_the_games_since_the_newest_snapshot_before_it(log: Log, number: int) -> None:
    id = [*log.games][number % len(log.games)]
    states = [fold_on(log.entries, log.games, until=count) for count in range(len(log.entries) + 1)]
    place = next(place for place, entry in enumerate(log.entries) if id in entry.games)
    assert newest(states, log.entries, log.games) == states[-1]
    void = [*log.entries, verdict(1, "void game", of=id)]
    assert newest(states, void, log.games) == states[place]
    since = {id: log.games[id] for entry in log.entries[place:] for id in entry.games}
    assert fold_on(void, since, states) == fold(void, log.games)
    assert fold_on(log.entries, {}, states) == states[-1]


@given(logs(), st.sampled_from(NAMES), st.integers(0, 29))
def test_voiding_a_player_equals_a_log_without_the_players_games(log: Log, player: str, number: int) -> None:
    since = [*log.games.values()][number % len(log.games)].at
    own = [one.id for one in log.games.values() if player in one.players and one.at >= since]
    void = [*log.entries, verdict(1, "void player", of=player, since=since)]
    assert fold(void, log.games).digest == log.without(own).fold().digest
    assert fold([*void, verdict(2, "undo", undoes=1)], log.games).digest == log.fold().digest
    undone_twice = [*void, verdict(2, "undo", undoes=1), verdict(3, "undo", undoes=2)]
    assert fold(undone_twice, log.games).digest == fold(void, log.games).digest


@given(logs(), st.integers(0, 29))
def test_voiding_a_game_equals_a_log_without_the_game(log: Log, number: int) -> None:
    id = [*log.games][number % len(log.games)]
    void = [verdict(1, "void game", of=id), *log.entries]
    assert fold(void, log.games).digest == log.without([id]).fold().digest
    assert fold([*void, verdict(2, "undo", undoes=1)], log.games).digest == log.fold().digest


@given(logs())
def test_merged_players_are_one_player(log: Log) -> None:
    one = {"a": "c", "b": "c"}
    renamed = {
        id: msgspec.structs.replace(played, players=tuple(one.get(name, name) for name in played.players))
        for id, played in log.games.items()
    }
    met = [id for id, played in renamed.items() if len({*played.players}) < len(played.players)]
    merged = [*log.entries, verdict(1, "merge", of="a", into="b"), verdict(2, "merge", of="b", into="c")]
    assert fold(merged, log.games).digest == Log(log.entries, renamed).without(met).fold().digest
    circle = [*merged, verdict(3, "merge", of="c", into="a")]
    assert fold(circle, log.games).digest == fold(merged, log.games).digest


@given(logs(verdicts=4), st.sampled_from(NAMES), st.integers(0, 29))
def test_forgetting_a_player_keeps_the_digest(log: Log, player: str, number: int) -> None:
    """The new name sorts differently, and the fold continues from a snapshot."""

    def rename(id: str) -> str:
        return "forgotten" if id == player else id

    games = {id: msgspec.structs.replace(one, players=tuple(map(rename, one.players))) for id, one in log.games.items()}
    entries = [
        Entry(
            entry.games,
            entry.verdict
            and msgspec.structs.replace(entry.verdict, of=rename(entry.verdict.of), into=rename(entry.verdict.into)),
        )
        for entry in log.entries
    ]
    state = fold_on(entries, games, until=number % (len(entries) + 1))
    kept = msgspec.json.decode(msgspec.json.encode(state), type=State)
    assert fold(entries, games).digest == fold_on(entries, games, [kept]).digest == log.fold().digest
    for undone in (entry.verdict for entry in log.entries if entry.verdict is not None):
        more = verdict(9, "undo", undoes=undone.seq)
        assert fold([*entries, more], games).digest == fold([*log.entries, more], log.games).digest


def test_voiding_a_player_voids_the_games_of_merged_players() -> None:
    orders = [verdict(1, "merge", of="a", into="b"), verdict(2, "void player", of="b", since=0)]
    assert Judge(list_verdicts(orders)).judge(game(0, "ac", 1)) is None


def test_of_two_verdicts_on_a_player_the_earlier_since_counts() -> None:
    orders = [verdict(1, "void player", of="a", since=5), verdict(2, "void player", of="a", since=9)]
    judge, played = Judge(list_verdicts(orders)), game(0, "ab", 1)
    ended = (msgspec.structs.replace(played, at=at) for at in (4, 5))
    assert [judge.judge(one) is None for one in ended] == [False, True]


def test_the_first_move_does_not_affect_the_ratings_of_the_first_game() -> None:
    one, other = Ladder(), Ladder()
    one.add(game(0, "ab", 1))
    other.add(game(0, "ba", 0))
    assert one.players == other.players
    assert one.advantage.edge == -other.advantage.edge > 0


def test_a_log_has_this_digest_on_every_machine() -> None:
    """The games are generated from whole numbers, because random numbers may differ between machines."""
    games, number = [], 1
    for place in range(2_000):
        number = number * 1_103_515_245 % 2**31
        first = number >> 16
        players = NAMES[first % len(NAMES)] + NAMES[(first + 1 + first % 3) % len(NAMES)]
        games.append(game(place, players, (first >> 6) % 3 / 2, f"rules {place % 2}"))
    entries = [Entry(tuple(one.id for one in games[start : start + 100])) for start in range(0, 2_000, 100)]
    state = fold(entries, {one.id: one for one in games})
    assert state.digest == "f93de94992e73e7329709ab48950d503c4a3f8208efc9fb6b2eba06f0a0340ea"


def test_a_players_record_counts_results_opponents_and_past_ratings() -> None:
    ladder = Ladder()
    for number, (players, score) in enumerate((("ab", 1), ("ca", 0.5), ("ba", 1), ("bc", 0))):
        ladder.add(game(number, players, score))
    ana = ladder.players["a"]
    assert (ana.wins, ana.draws, ana.losses, ana.games) == (1, 1, 1, 3)
    assert (ana.opponents, ana.ratings[0], ana.at) == (("b", "c"), 1500, 3 * 86_400_000)
    assert ana.trend == ana.number.rating - 1500 < 0
    assert ladder.players["c"].draws == 1
    before = []
    for number in range(4, 16):
        before.append(ladder.players["a"].number.rating)
        ladder.add(game(number, "ab", 1))
    assert ladder.players["a"].ratings == tuple(before[-10:]), "a trend goes over ten games"


def test_the_expected_score_includes_the_advantage_of_the_first_move() -> None:
    ladder = Ladder()
    for number in range(30):
        ladder.add(game(number, "ab" if number % 2 else "ba", 1))
    first, second = ladder.expected(game(30, "xy", 1))
    assert first > 0.7, "the first move is worth something"
    assert first + second == pytest.approx(1)


def test_a_late_game_does_not_turn_time_back() -> None:
    ladder = Ladder()
    ladder.add(game(5, "ab", 1))
    before = ladder.players["a"]
    ladder.add(game(2, "ac", 1))
    assert ladder.players["a"].at == before.at
    assert ladder.players["a"].number.deviation < before.number.deviation
    later = before.number_at(before.at + int(10 * MS_A_PERIOD)).deviation
    assert later > before.number.deviation == before.number_at(0).deviation
    assert Player().number_at(1).deviation == 350


def test_deviations_grow_in_all_periods_before_the_one_of_the_game() -> None:
    ladder, periods = Ladder(), 30
    for number in range(40):
        ladder.add(game(number, "ab", number % 2))
    ana, bo, advantage = ladder.players["a"], ladder.players["b"], ladder.advantage
    at = ana.at + round(periods * MS_A_PERIOD)
    ladder.add(RatedGame("late", at, "four", ("a", "b"), 1))
    first, second = (rest(own.number, periods - 1) for own in (ana, bo))
    assert first.deviation > ana.number.deviation + 10
    assert ladder.players["a"].number == pytest.approx(play_rated(first, second, 1, advantage.odds, 1))
    assert ladder.players["b"].number == pytest.approx(play_rated(second, first, 0, 1 / advantage.odds, 1))


def test_a_ladder_of_draws_closes_with_its_figure() -> None:
    chance, ladder = Random(4), Ladder()
    for number in range(199):
        ladder.add(game(number, "".join(chance.sample(f"{NAMES}hij", 2)), 0.5))
    assert ladder.closing is None
    ladder.add(game(199, "ab", 0.5))
    assert ladder.closing == LadderClosing("undecided", 0, 200)
    for number in range(200, 250):
        assert ladder.closing is not None
        ladder.add(game(number, "ab" if number % 2 else "ba", 1))
    assert ladder.closing is None


@each(("score", "sign"), [(1, 1), (0, -1)])
def test_a_one_sided_ladder_closes_with_the_reason(score: float, sign: int) -> None:
    chance, ladder = Random(5), Ladder()
    for number in range(100):
        assert ladder.closing is None
        ladder.add(game(number, "".join(chance.sample(NAMES, 2)), score))
    assert ladder.closing is not None
    assert (ladder.closing.reason, ladder.closing.of) == ("advantage", 100)
    assert ladder.closing.figure * sign > 250


@each(
    "entry",
    [
        {},
        {"games": ["a"] * 501},
        {"games": ["a"], "verdict": {"seq": 1, "at": 0, "by": "", "kind": "undo", "reason": ""}},
    ],
)
def test_an_entry_has_games_or_one_verdict(entry: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError, match="500 games"):
        msgspec.convert(entry, Entry)


def test_a_missing_game_raises_key_error() -> None:
    with pytest.raises(KeyError, match="lost"):
        fold([Entry(("lost",))], {})
