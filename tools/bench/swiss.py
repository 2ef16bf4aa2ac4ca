"""The time to pair the rounds of a Swiss: `python -m tools.bench.swiss --players 200 --rounds 12`."""

import argparse
from collections.abc import Sequence
from random import Random
from statistics import median
from time import perf_counter, process_time

from tests.server.events.authors import Decide, entered, play_round, run
from tictactoe_server.features.tournaments.commands import apply, pair_next
from tictactoe_server.features.tournaments.event import due_at
from tictactoe_server.features.tournaments.table import rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Play tournaments with random results, and print the seconds of pairing and table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--players", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--draws", type=float, default=0.2, help="how many games are drawn, 0 to 1")
    parser.add_argument("--tournaments", type=int, default=5)
    options = parser.parse_args(arguments)
    paired, used, tables = [], [], []
    for seed in range(options.tournaments):
        event = run(entered(options.players, "swiss", rounds=options.rounds, seed=seed), "begin")
        while (due := due_at(event)) is not None:
            begun, begun_cpu = perf_counter(), process_time()
            round = pair_next(event)
            paired.append(perf_counter() - begun)
            used.append(process_time() - begun_cpu)
            event = apply(event, "", round, due)
            event = play_round(event, by_chance(Random(f"{seed} {event.round}"), options.draws), due)
        begun = perf_counter()
        rows(event)
        tables.append(perf_counter() - begun)
    for name, taken in (("pairing", paired), ("of it, processor", used), ("table", tables)):
        print(f"{name:18} median {median(taken):.3f}  longest {max(taken):.3f}  of {len(taken)}")


def by_chance(chance: Random, draws: float) -> Decide:
    """Return a function that decides games at random, with this share of draws."""
    return lambda one: "draw" if chance.random() < draws else chance.choice("XO")


if __name__ == "__main__":
    main()
