"""How often a player of connect-four keeps the value of the game: `python -m tools.bench.critical -- COMMAND…`.

In critical positions at least one move keeps the value (a win, or a draw) and at least one loses it. The positions of
`critical.jsonl` come from random play: uniform moves from a seed, if the game is open, the mover cannot win at once,
and the solver of `tools/connect_four` calls the position critical. `--make` writes more.

The command reads JSON lines like `{"moves": "4435", "seconds": 1.0}`, the columns played so far from 1 to 7, and
answers each with a line like `{"column": 4}`. `--own perfect` asks our own player instead, `--serve perfect` makes our
player such a command.
"""

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import Any, Final

from tests.environment import environment
from tictactoe_engine.search import Budget
from tictactoe_engine.strategies import Strategy, strategy_of
from tools.connect_four.book import RULES, position_after, random_moves

POSITIONS: Final = Path(__file__).with_name("critical.jsonl")

Ask = Callable[[str], int]
"""Returns the next column for the columns played so far, from 1."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse_options(arguments)
    if options.make:
        plies = range(options.make[0], options.make[1] + 1)
        for line in critical_positions(options.solver, plies, options.each, options.seed):
            print(line, flush=True)
    elif options.serve:
        ask = own_player(options)
        for line in sys.stdin:
            print(json.dumps({"column": ask(json.loads(line)["moves"])}), flush=True)
    else:
        show(options.positions, own_player(options) if options.own else command_player(options))


def parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.bench.critical", description=__doc__)
    parser.add_argument("command", nargs="*", help="the player to judge, after --")
    parser.add_argument("--positions", type=Path, default=POSITIONS, help="JSON lines as --make writes them")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each move")
    parser.add_argument("--own", metavar="LEVEL", help="judge our own player of this level")
    parser.add_argument("--serve", metavar="LEVEL", help="be a command to judge")
    parser.add_argument("--nodes", type=int, help="limit our own player by nodes instead of seconds")
    parser.add_argument("--cpu", action="store_true", help="count its seconds on the processor, for a busy machine")
    parser.add_argument("--make", nargs=2, type=int, metavar="PLY", help="write critical positions from ply to ply")
    parser.add_argument("--solver", default="solver", help="the built solver of tools/connect_four")
    parser.add_argument("--each", type=int, default=6, help="how many positions of each ply to write")
    parser.add_argument("--seed", default="1")
    options = parser.parse_args(arguments)
    if not (options.command or options.own or options.serve or options.make):
        parser.error("say whom to judge: a command after --, or --own LEVEL")
    options.own = options.own or options.serve
    return options


def show(positions: Path, ask: Ask) -> None:
    """Print in how many positions the value was kept, by ply."""
    kept: dict[int, list[bool]] = defaultdict(list)
    slowest = 0.0
    for line in positions.read_text().splitlines():
        case = json.loads(line)
        started = perf_counter()
        column = ask(case["moves"])
        slowest = max(slowest, perf_counter() - started)
        values = case["values"]
        is_kept = values[column - 1] == max(value for value in values if value is not None)
        kept[len(case["moves"])].append(is_kept)
        print(f"… {case['moves']}: {column} {'kept' if is_kept else 'lost'}", file=sys.stderr, flush=True)
    print("  ply   kept")
    for ply, results in sorted(kept.items()):
        print(f"  {ply:3}  {sum(results):3} of {len(results)}")
    every = [is_kept for results in kept.values() for is_kept in results]
    print(f"  all  {sum(every):3} of {len(every)}   {sum(every) / len(every):.1%}   slowest {slowest:.2f} s")


def command_player(options: argparse.Namespace) -> Ask:
    """Return a player that asks the command over its standard input and output."""
    say = start(options.command)
    return lambda moves: int(json.loads(say(json.dumps({"moves": moves, "seconds": options.seconds})))["column"])


def start(command: Sequence[str]) -> Callable[[str], str]:
    """Start a program; return a function that sends it a line and returns its next line."""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
    program = subprocess.Popen(command, **pipes, env=environment())

    def say(line: str) -> str:
        if program.stdin is None or program.stdout is None:
            raise RuntimeError("The program has no standard input and output.")
        program.stdin.write(line + "\n")
        return str(program.stdout.readline())

    return say


def own_player(options: argparse.Namespace) -> Ask:
    """Return our own player, a new one for each position."""
    clock = process_time if options.cpu else perf_counter
    budget = Budget(options.nodes) if options.nodes else Budget(seconds=options.seconds, clock=clock)

    def ask(moves: str) -> int:
        strategy: Strategy = strategy_of(options.own, budget)
        return strategy(position_after(moves), Random(1)) % RULES.columns + 1

    return ask


def critical_positions(solver: str, plies: Sequence[int], each: int, seed: str) -> Iterator[str]:
    """Yield `each` critical positions of each ply as JSON lines."""
    judge = start([solver, "-m"])
    for ply in plies:
        rng, found = Random(f"{seed} {ply}"), set[str]()
        while len(found) < each:
            moves = random_moves(ply, rng)
            if moves is None or moves in found:
                continue
            _, _, _, _, *columns = judge(moves).split()
            values = [None if value == "x" else int(value) for value in columns]
            if len({value for value in values if value is not None}) > 1:
                found.add(moves)
                yield json.dumps({"moves": moves, "values": values})


if __name__ == "__main__":
    main()
