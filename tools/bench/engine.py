"""The speed and strength of the engine: `python -m tools.bench.engine`.

Tables are printed to stdout, progress to stderr. `--part` selects a part. ``matches`` takes the longest: `perfect`
plays `--games` games against each opponent on each board at `--move-seconds` a move. In ``fairness`` `perfect` opens,
chooses a side and plays against itself, with `--nodes` a move instead of a time limit.
"""

import argparse
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from time import perf_counter

from tests.environment import environment
from tictactoe_engine import PRESETS, Position, Rules
from tictactoe_engine.search import Budget
from tictactoe_engine.strategies import Level, SideChooser, Strategy, side_chooser_of, strategy_of

PARTS = ("solve", "plays", "fairness", "matches")
MATCH_PRESETS = ("classic", "four", "gomoku", "connect-four")
FAIR_PRESETS = ("gomoku-standard", "gomoku")
PLAY_SECONDS = 1.0
MAX_REPLAYED_GAMES = 200

COLD_PROGRAM = """
import gc
from time import perf_counter
from tictactoe_engine import Position, Rules
from tictactoe_engine.search import Budget, best_cells
position, budget = Position.start(Rules({sides})), Budget()
gc.collect()
started = perf_counter()
best_cells(position, budget)
print(perf_counter() - started)
"""


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse_options(arguments)
    for part in options.part or PARTS:
        match part:
            case "solve":
                show_solving()
            case "plays":
                show_plays()
            case "fairness":
                show_fairness(options)
            case "matches":
                show_matches(options)


def parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.bench.engine", description=__doc__)
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be repeated")
    parser.add_argument("--games", type=int, default=10, help="games of each match, sides swapped after each")
    parser.add_argument("--move-seconds", type=float, default=1.0, help="time limit of `perfect` for a move")
    parser.add_argument("--nodes", type=int, default=1_500, help="of `perfect` for a move against itself")
    parser.add_argument("--preset", action="append", choices=MATCH_PRESETS, help="only matches on these boards")
    parser.add_argument("--opponent", action="append", choices=["rules", "random"], help="only against these")
    parser.add_argument("--seed", type=int, default=1, help="of the players' choices among equal moves")
    return parser.parse_args(arguments)


def time_cold(sides: str) -> float:
    """Return the seconds of a first answer in a fresh process, without imports."""
    program = [sys.executable, "-c", COLD_PROGRAM.format(sides=sides)]
    return float(subprocess.run(program, capture_output=True, text=True, check=True, env=environment()).stdout)


def show_solving() -> None:
    """Print how long a fresh process takes to solve boards: every first move is evaluated exactly."""
    print("\nSolved from the empty board, cold")
    for name, sides in (("4x4, line 4", "4, 4, 4"), ("3x4, line 3", "3, 4, 3")):
        progress(f"solving {name}")
        print(f"  {name:18} {statistics.median(time_cold(sides) for _ in range(3)):12.4f} s   (median of 3 processes)")


def show_plays() -> None:
    """Print the rate of `Position.play` in random games."""
    print("\nPlays a second")
    for name in ("classic", "gomoku"):
        progress(f"playing random games on {name}")
        print(f"  {name:18} {plays_a_second(PRESETS[name]):12,.0f}")


def plays_a_second(rules: Rules) -> float:
    """Return the moves a second over random games, drawn beforehand and replayed."""
    rng = Random(1)
    games = [random_moves(rules, rng) for _ in range(MAX_REPLAYED_GAMES)]
    start = Position.start(rules)
    plays, started = 0, perf_counter()
    while perf_counter() - started < PLAY_SECONDS:
        for moves in games[:20]:
            position = start
            for cell in moves:
                position = position.play(cell)
            plays += len(moves)
        games = games[20:] + games[:20]
    return plays / (perf_counter() - started)


def random_moves(rules: Rules, rng: Random) -> tuple[int, ...]:
    position = Position.start(rules)
    while position.outcome is None:
        position = position.play(rng.choice(position.legal_cells))
    return position.moves


def show_fairness(options: argparse.Namespace) -> None:
    """Print the results of `perfect` against itself: by mark, and by opener."""
    print(f"\nPerfect against itself at {options.nodes:,} nodes a move, {options.games} games each")
    print(f"  {'':24} {'X':>4} {'O':>4}   {'opener':>6} {'other':>6}   {'drawn':>5}   plies")
    for preset in FAIR_PRESETS:
        budget = Budget(nodes=options.nodes)
        move, choose_side = strategy_of(Level.PERFECT, budget), side_chooser_of(Level.PERFECT, budget)
        ends, winners = Counter[str | None](), Counter[str]()
        plies, rng = [], Random(options.seed)
        for game in range(options.games):
            position = play_opened(PRESETS[preset], move, choose_side, rng)
            winner = position.outcome.winner if position.outcome else None
            ends[winner] += 1
            if winner:
                winners["opener" if position.is_swapped == (winner == "O") else "other"] += 1
            plies.append(position.ply)
            chosen = " ".join(position.chosen)
            progress(f"{preset} {game + 1}: {position.moves[:5]} {chosen}: {winner or 'drawn'} in {position.ply}")
        sides = f"{ends['X']:4} {ends['O']:4}   {winners['opener']:6} {winners['other']:6}   {ends[None]:5}"
        print(f"  {preset:24} {sides}   {min(plies)} to {max(plies)}", flush=True)


def play_opened(rules: Rules, move: Strategy, choose_side: SideChooser, rng: Random) -> Position:
    """Return the end of a player's game against itself."""
    position = Position.start(rules)
    while position.outcome is None:
        if position.options:
            position = position.choose(choose_side(position, rng))
        else:
            position = position.play(move(position, rng))
    return position


@dataclass
class Match:
    """The results of a match for `perfect`, by its side; `seconds` are the times of its moves."""

    results: dict[bool, Counter[str]] = field(default_factory=lambda: {True: Counter(), False: Counter()})
    seconds: list[float] = field(default_factory=list)

    def row(self, name: str) -> str:
        """Return the match as a row of the table."""
        total = self.results[True] + self.results[False]
        sides = "  ".join(three_counts(counts) for counts in (total, self.results[True], self.results[False]))
        share = total["win"] / max(1, total.total())
        return f"  {name:24} {sides}   {share:6.0%}   {max(self.seconds, default=0.0):8.3f}"


def three_counts(counts: Counter[str]) -> str:
    return f"{counts['win']:3}/{counts['draw']:3}/{counts['loss']:3}"


def show_matches(options: argparse.Namespace) -> None:
    """Print the table of matches of `perfect` against the others."""
    print(f"\nMatches of perfect at {options.move_seconds:g} s a move, {options.games} games each: win/draw/loss")
    print(f"  {'':24} {'all':>11}  {'as first':>11}  {'as second':>11}   {'won':>6}   slowest move, s")
    for preset in options.preset or MATCH_PRESETS:
        for opponent in options.opponent or ("rules", "random"):
            name = f"{preset} v {opponent}"
            progress(name)
            match = play_match(PRESETS[preset], opponent, options)
            print(match.row(name), flush=True)


def play_match(rules: Rules, opponent: str, options: argparse.Namespace) -> Match:
    """Play the games of a match, with the sides swapped after each."""
    rng = Random(options.seed)
    match = Match()
    budget = Budget(seconds=options.move_seconds, clock=perf_counter)
    perfect, other = strategy_of(Level.PERFECT, budget), strategy_of(opponent, budget)
    for game in range(options.games):
        is_first = game % 2 == 0
        position = play_game(rules, (timed(perfect, match.seconds), other), rng, is_first=is_first)
        winner = position.outcome.winner if position.outcome else None
        own_mark = rules.marks[0 if is_first else 1]
        result = "draw" if winner is None else "win" if winner == own_mark else "loss"
        match.results[is_first][result] += 1
        progress(f"  game {game + 1} of {options.games}: {result} in {position.ply} plies")
    return match


def play_game(rules: Rules, players: tuple[Strategy, Strategy], rng: Random, *, is_first: bool) -> Position:
    """Return the end of a game; the first of `players` moves first if `is_first`."""
    position = Position.start(rules)
    turn = 0 if is_first else 1
    while position.outcome is None:
        position = position.play(players[turn](position, rng))
        turn = 1 - turn
    return position


def timed(choose: Strategy, seconds: list[float]) -> Strategy:
    """Return the strategy with a stopwatch that adds each move's time to `seconds`."""

    def choose_timed(position: Position, rng: Random) -> int:
        started = perf_counter()
        cell = choose(position, rng)
        seconds.append(perf_counter() - started)
        return cell

    return choose_timed


def progress(note: str) -> None:
    print(f"… {note}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
