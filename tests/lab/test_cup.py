"""A cup without processes: games and openings, the value of results, the file and the table."""

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.client.conftest import Program
from tictactoe_client.settings import Misuse
from tictactoe_engine import PRESETS, Position
from tictactoe_engine.records import GameRecord, GameResult, format_record
from tictactoe_lab.brain.serve import level_of
from tictactoe_lab.cup import running
from tictactoe_lab.cup.file import FAILED, CupFile, Terms, make_record
from tictactoe_lab.cup.plan import Entrant, Game, list_games, list_openings
from tictactoe_lab.cup.strength import LIMIT, measure_elo, measure_ratio
from tictactoe_lab.cup.table import Results, draw_table

ENTRANTS = tuple(Entrant(name, level_of(name)) for name in ("easy", "medium", "hard"))
TERMS = Terms(None, 50, 1)


@pytest.mark.parametrize(
    ("counts", "elo", "error"),
    [
        ((34, 54, 31 + 32, 64, 75), 55.58, 27.65),
        ((332, 433, 457 + 41, 333, 334), -8.64, 10.33),
        ((7895, 8757, 5485 + 200, 568, 9999), -21.04, 2.95),
        ((96, 111, 136), 40.70, 30.43),
    ],
)
def test_elo_and_its_error_match_fastchess(counts: tuple[int, ...], elo: float, error: float) -> None:
    """The values are in its tests, `app/tests/elo_test.cpp`, for pairs and for single games."""
    assert [*measure_elo(counts)] == pytest.approx([elo, error], abs=0.01)


@pytest.mark.parametrize(
    ("counts", "elo0", "elo1", "ratio"),
    [
        ((223, 9863, 20279 + 1000, 10037, 246), 0.5, 2.5, -3.07),
        ((871, 26175, 55003 + 980, 26678, 821), 0, 2, -4.98),
        ((21184, 40708, 21404), 0.5, 2.5, -1.57),
        ((57030, 106593, 57433), 0, 2, -2.59),
    ],
)
def test_likelihood_ratios_match_fastchess(counts: tuple[int, ...], elo0: float, elo1: float, ratio: float) -> None:
    """From `app/tests/sprt_test.cpp` of fastchess: logistic, by the method of fishtest."""
    assert measure_ratio(counts, elo0, elo1) == pytest.approx(ratio, abs=0.01)
    assert pytest.approx(2.94, abs=0.01) == LIMIT


COUNTS = st.lists(st.integers(1, 500), min_size=5, max_size=5)


@given(COUNTS, st.integers(-50, 50), st.integers(1, 50))
def test_a_ratio_grows_with_wins_and_is_negated_with_the_question(counts: list[int], elo0: int, more: int) -> None:
    ratio = measure_ratio(counts, elo0, elo0 + more)
    assert measure_ratio(counts, elo0 + more, elo0) == pytest.approx(-ratio, abs=1e-6)
    assert measure_ratio(counts[::-1], -elo0, -elo0 - more) == pytest.approx(ratio, abs=1e-6)
    assert measure_ratio([*counts[:4], counts[4] + 1], elo0, elo0 + more) > ratio


def test_elo_is_infinite_without_a_loss() -> None:
    assert measure_elo((0, 0, 0, 0, 7)) == (math.inf, math.inf)
    assert measure_elo((7, 0)) == (-math.inf, math.inf)
    assert measure_ratio((0, 0, 0, 0, 0), 0, 5) == 0


@pytest.mark.parametrize("many", [2, 3, 6])
def test_everybody_has_each_opening_with_both_marks_against_everybody(many: int) -> None:
    entrants = [Entrant(str(number)) for number in range(many)]
    games = [*list_games(entrants, list_openings(PRESETS["gomoku"], None, 1), 3)]
    assert len({game.id for game in games}) == len(games) == 3 * many * (many - 1)
    for round in ("1", "2", "3"):
        of_round = [game for game in games if game.id.partition(".")[0] == round]
        assert Counter(game.players for game in of_round) == Counter(itertools.permutations(entrants, 2))
        assert len({game.opening.moves for game in of_round}) == 1
        for one, other in zip(of_round[::2], of_round[1::2], strict=True):
            assert one.players == other.players[::-1]
            assert one.id.rpartition(".")[0] == other.id.rpartition(".")[0]


@pytest.mark.parametrize(
    ("rules", "plies", "moves"),
    [
        ("gomoku", None, 3),
        ("gomoku-standard", None, 3),
        ("gomoku-standard", 1, 3),
        ("classic", None, 2),
        ("connect-four", 5, 5),
        ("four-pie", 4, 1),
        ("gomoku", 0, 0),
    ],
)
def test_openings_have_the_requested_length_and_end_before_a_choice(rules: str, plies: int | None, moves: int) -> None:
    for opening in itertools.islice(list_openings(PRESETS[rules], plies, 1), 50):
        assert (opening.rules, opening.ply, opening.outcome) == (PRESETS[rules], moves, None)
        assert bool(opening.options) == (opening.rules.opening is not None)


def test_openings_repeat_only_after_all_others_and_depend_on_the_seed() -> None:
    openings = [*itertools.islice(list_openings(PRESETS["classic"], 1, 3), 18)]
    assert {*openings[:9]} == {*openings[9:]} == {Position.replay(PRESETS["classic"], [cell]) for cell in range(9)}
    assert openings == [*itertools.islice(list_openings(PRESETS["classic"], 1, 3), 18)]
    assert openings != [*itertools.islice(list_openings(PRESETS["classic"], 1, 4), 18)]


def test_openings_after_which_nothing_is_open_are_refused() -> None:
    with pytest.raises(Misuse, match="No game is still open after 9 random moves"):
        next(list_openings(PRESETS["classic"], 9, 1))


def record_of(game: Game, winner: str | None, why: str = "") -> GameRecord:
    names = [one.name for one in game.players]
    result = GameResult("agreed" if winner is None else "resigned", winner and "XO"[names.index(winner)])
    return make_record(game, TERMS, game.opening, result, why)


def games_of(rounds: int) -> list[Game]:
    return [*list_games(ENTRANTS, list_openings(PRESETS["connect-four"], None, 1), rounds)]


def test_the_table_has_points_pairs_and_who_failed_whatever_the_order() -> None:
    strength = {"hard": 2, "medium": 1, "easy": 0}
    records = []
    for game in games_of(2):
        one, other = sorted((entrant.name for entrant in game.players), key=strength.__getitem__)
        records.append(
            record_of(game, None if (game.id[0], one) == ("2", "easy") else other, "It fell." * (one == "easy"))
        )
    results, others = Results([one.name for one in ENTRANTS]), Results([one.name for one in ENTRANTS])
    for record in records:
        results.add(record)
    for record in sorted(records, key=lambda record: record.moves[::-1]):
        others.add(record)
    rows = results.list_rows()
    assert rows == others.list_rows()
    assert [(row.place, row.name, row.points, row.won, row.drawn, row.lost) for row in rows] == [
        (1, "hard", 7, 6, 2, 0),
        (2, "medium", 3, 2, 2, 4),
        (3, "easy", 2, 0, 4, 4),
    ]
    assert rows[0].against == {"medium": 4, "easy": 3}
    assert rows[0].elo == pytest.approx(338.04, abs=0.01)
    table = [*draw_table(rows, in_ascii=False)]
    assert [line.split()[:4] for line in table[1:]] == [
        ["1.", "hard", "7", "8"],
        ["2.", "medium", "3", "8"],
        ["3.", "easy", "2", "8"],
    ]
    assert [line.split()[-3:] for line in table[1:]] == [["-", "4", "3"], ["0", "-", "3"], ["1", "1", "-"]]
    assert len({len(line) for line in table}) == 1


def keep(path: Path, games: list[Game]) -> None:
    with closing(CupFile(str(path))) as file:
        file.resume(iter([]), TERMS)
        for game in games:
            file.append(record_of(game, "easy" if ENTRANTS[0] in game.players else None))


def test_a_cup_resumes_after_its_last_complete_record(tmp_path: Path) -> None:
    path, games = tmp_path / "cup.txt", games_of(1)
    keep(path, games[:4])
    whole = path.read_bytes()
    last = whole.rindex(b"[Rules")
    for end in (*range(last, len(whole), 7), len(whole) - 1):
        path.write_bytes(whole[:end])
        file = CupFile(str(path))
        records, due = file.resume(iter(games), TERMS)
        assert [record.round for record in records] == ["1.1.1", "1.1.2", "1.2.1"]
        assert [game.id for game in due] == ["1.2.2", "1.3.1", "1.3.2"]
        assert path.read_bytes() == whole[:end]
        file.append(record_of(games[3], "easy"))
        again = path.read_bytes()
        assert (again[:last], again.count(b"\n\n")) == (whole[:last], 8)
        file.close()


def test_resuming_finds_games_in_any_order(tmp_path: Path) -> None:
    games = games_of(2)
    keep(tmp_path / "cup.txt", [games[3], games[0], games[7]])
    with closing(CupFile(str(tmp_path / "cup.txt"))) as file:
        records, due = file.resume(iter(games), TERMS)
    assert len(records) == 3
    assert [game for game in games if game not in (games[0], games[3], games[7])] == [*due]


@pytest.mark.parametrize("change", ["players", "rules", "terms", "opening", "rounds", "text", "bytes", "record"])
def test_a_foreign_file_is_refused_and_not_changed(tmp_path: Path, change: str) -> None:
    path, games, terms = tmp_path / "cup.txt", games_of(1), TERMS
    keep(path, games)
    match change:
        case "players":
            games = [game._replace(players=(Entrant("bo"), game.players[1])) for game in games]
        case "rules":
            games = [game._replace(opening=Position.start(PRESETS["four"])) for game in games]
        case "terms":
            terms = Terms(1.0, None, 1)
        case "opening":
            games = [*list_games(ENTRANTS, list_openings(PRESETS["connect-four"], None, 2), 1)]
        case "rounds":
            games = games[:4]
        case "text":
            path.write_text("Dear diary,\n\ntoday I was at the zoo.\n\n")
        case "bytes":
            path.write_bytes(bytes(range(256)))
        case "record":
            path.write_text(format_record(GameRecord()))
    before = path.read_bytes()
    with closing(CupFile(str(path))) as file, pytest.raises(Misuse, match="contains other things than games"):
        file.resume(iter(games), terms)
    assert path.read_bytes() == before


def test_two_cups_do_not_write_to_one_file(tmp_path: Path) -> None:
    with closing(CupFile(str(tmp_path / "cup.txt"))) as file:
        with pytest.raises(Misuse, match=r"Another cup is writing to .*cup\.txt"):
            CupFile(str(tmp_path / "cup.txt"))
        assert file.resume(iter(()), TERMS)[0] == []


@pytest.fixture
def file(tmp_path: Path) -> Iterator[CupFile]:
    with closing(CupFile(str(tmp_path / "cup.txt"))) as file:
        yield file


@pytest.mark.parametrize("rules", ["four-pie", "gomoku-standard"])
async def test_bots_play_any_rules_for_two_to_the_end(file: CupFile, rules: str) -> None:
    """The winner is the player of the winning mark after all choices."""
    records: list[GameRecord] = []
    _, games = file.resume(list_games(ENTRANTS, list_openings(PRESETS[rules], None, 1), 1), TERMS)

    def count(record: GameRecord) -> bool:
        records.append(record)
        return True

    await running.run(games, TERMS, file, count, 2)
    assert len(records) == 6
    assert {record.result.reason for record in records if record.result} <= {"line", "full"}
    assert not any(FAILED in dict(record.tags) for record in records)
    again, due = file.resume(list_games(ENTRANTS, list_openings(PRESETS[rules], None, 1), 1), TERMS)
    assert again == records
    assert [*due] == []


async def test_no_game_is_begun_or_kept_after_enough_were_played(file: CupFile) -> None:
    records: list[GameRecord] = []
    _, games = file.resume(list_games(ENTRANTS[:2], list_openings(PRESETS["classic"], None, 1), 50), TERMS)

    def count(record: GameRecord) -> bool:
        records.append(record)
        return len(records) < 3

    await running.run(games, TERMS, file, count, 2)
    again, _ = file.resume(list_games(ENTRANTS[:2], list_openings(PRESETS["classic"], None, 1), 50), TERMS)
    assert again == records
    assert len(records) == 3


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("--bot medium", "A cup needs at least two players: give --bot LEVEL or --brain COMMAND for each."),
        ("--bot medium --bot hrd", "'hrd' is not one of 'easy', 'medium'"),
        ("--bot medium --brain no-such-engine", "There is no program no-such-engine, or it cannot be run."),
        ("--bot medium --brain '", "There is no program ', or it cannot be run."),
        ("--bot medium --brain cat --rules classic", "Engines cannot play this game."),
        ("--bot medium --bot hard --rules three-players", "Games of a cup have two players: choose other rules."),
        ("--bot medium --brain cat --nodes 10", "--nodes is for bots only"),
        ("--bot medium --bot hard --nodes 10 --move-seconds 1", "--nodes is for bots only"),
        ("--bot medium --bot hard --sprt 5", "5 is not two differences with the smaller one first, such as 0,10."),
        ("--bot medium --bot hard --sprt 5,1", "5,1 is not two differences"),
        ("--bot easy --bot medium --bot hard --sprt 0,5", "--sprt needs exactly two players."),
        ("--bot medium --bot hard --rounds 0", "0 is too small: 1 or more."),
        ("--bot medium --bot hard --move-seconds 0", "0.0 is out of range: 0.01 to 3600."),
        ("--bot medium --bot hard --move-seconds nan", "nan is out of range: 0.01 to 3600."),
        ("--bot easy --bot hard --rules classic --openings 9", "No game is still open after 9 random moves"),
        ("--bot easy --bot hard --out /dev/full", "/dev/full contains other things than games of this cup."),
        ("--bot easy --bot hard --out /no/such/folder/x", "/no/such/folder/x cannot be written"),
    ],
)
def test_invalid_cup_options_are_refused_before_a_game(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told in program.complaint("cup", *arguments.split(" "))
    assert [*tmp_path.iterdir()] == []
