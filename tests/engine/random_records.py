"""Random games of every kind as records, for property tests: finished, running, resigned, with every tag."""

from random import Random

from hypothesis import strategies as st

from tests.engine.random_games import decide, rule_sets
from tictactoe_engine import PRESETS, Position, Rules
from tictactoe_engine.records import GameRecord, GameResult, MoveClock, SeatClock

CLOCK_MS = st.integers(1, 86_400_000)
CLOCKS = st.none() | st.builds(SeatClock, CLOCK_MS, CLOCK_MS.map(lambda ms: ms - 1)) | st.builds(MoveClock, CLOCK_MS)
PRINTABLE = st.characters(exclude_categories=["C", "Z"], include_characters=" ")
VALUES = st.text(PRINTABLE, min_size=1, max_size=20) | st.text('"\\ []{}.*', min_size=1, max_size=6)
COMMENTS = VALUES.map(lambda text: " ".join(text.replace("}", "").split())).filter(bool)
TAG_NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{1,9}", fullmatch=True).map(lambda name: f"{name}_")
DATES = st.dates().map(str) | st.datetimes(timezones=st.timezones()).map(
    lambda at: at.replace(microsecond=0, tzinfo=None).isoformat() + "Z"
)
LARGEST = st.sampled_from(
    [
        Rules(rows=32, columns=32, line=32),
        Rules(rows=32, columns=32, line=9, marks="XOABCD"),
        Rules(rows=32, columns=32, line=6, marks="ZYX", blocked=frozenset(range(0, 1024, 9)), gravity=True),
    ]
)
RULES = st.sampled_from(list(PRESETS.values())) | rule_sets() | LARGEST


@st.composite
def played_games(draw: st.DrawFn, rules: st.SearchStrategy[Rules] = RULES) -> Position:
    """Draw a game to its end or part of it, with some players passed over."""
    position = Position.start(draw(rules))
    length = draw(st.integers(0, position.rules.size) | st.just(position.rules.size))
    chance = Random(draw(st.integers(0, 2**32 - 1)))
    cells = list(position.legal_cells)
    chance.shuffle(cells)
    while True:
        if len(position.active_marks) > 2 and chance.random() < 0.1:
            position = position.pass_over(chance.choice(position.active_marks))
        if position.ply == length or position.outcome is not None:
            return position
        position = decide(position, chance.randrange(3))
        position = position.play(chance.choice(position.legal_cells) if position.rules.gravity else cells.pop())
        if position.outcome is not None:
            return position


@st.composite
def results_of(draw: st.DrawFn, position: Position) -> GameResult | None:
    """Draw a result that is possible at this position; None if the game may go on."""
    if position.outcome is not None:
        return GameResult(position.outcome.reason, position.outcome.winner)
    choices: list[GameResult | None] = [None, GameResult("agreed", None), GameResult("claimed", None)]
    choices.append(GameResult("forfeit", None))
    if len(position.active_marks) == 2:
        for winner in position.active_marks:
            choices += [GameResult(reason, winner) for reason in ("resigned", "timeout", "claimed", "forfeit")]
    return draw(st.sampled_from(choices))


@st.composite
def game_records(draw: st.DrawFn, rules: st.SearchStrategy[Rules] = RULES) -> GameRecord:
    position = draw(played_games(rules))
    named = draw(st.lists(st.sampled_from(position.rules.marks), unique=True))
    plies = sorted(draw(st.lists(st.integers(0, position.ply), max_size=4)))
    return GameRecord(
        rules=position.rules,
        moves=position.moves,
        result=draw(results_of(position)),
        players=tuple((mark, draw(VALUES)) for mark in named),
        event=draw(st.none() | st.just("") | VALUES),
        round=draw(st.none() | VALUES),
        date=draw(st.none() | DATES),
        room=draw(st.none() | VALUES),
        game=draw(st.none() | st.integers(1, 999_999_999)),
        clock=draw(CLOCKS),
        passed=position.passed,
        chosen=position.chosen,
        comments=tuple((ply, draw(COMMENTS)) for ply in plies),
        tags=tuple(draw(st.dictionaries(TAG_NAMES, VALUES | st.just(""), max_size=3)).items()),
    )
