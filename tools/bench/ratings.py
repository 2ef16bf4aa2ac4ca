"""The time to fold a log of rated games: `python -m tools.bench.ratings --games 100000 --players 2000`."""

import argparse
from collections.abc import Sequence
from random import Random
from statistics import median
from time import process_time

from tictactoe_protocol.ratings.ladder import State, fold
from tictactoe_protocol.ratings.log import Entry, RatedGame


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--games", type=int, default=100_000)
    parser.add_argument("--players", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    games = by_chance(Random(1), options.games, options.players)
    ids = [*games]
    entries = [Entry(tuple(ids[start : start + 500])) for start in range(0, len(ids), 500)]
    folded, digested, state = [], [], State()
    for _ in range(options.rounds):
        begun = process_time()
        state = fold(entries, games)
        folded.append(process_time() - begun)
        begun = process_time()
        digest = state.digest
        digested.append(process_time() - begun)
    for name, taken in (("fold", folded), ("digest", digested)):
        print(f"{name:8} median {median(taken):.3f}  longest {max(taken):.3f}  of {len(taken)}")
    print(digest)


def by_chance(chance: Random, games: int, players: int) -> dict[str, RatedGame]:
    """Return random games of a ladder by id, one a minute."""
    names = [f"player-{number}" for number in range(players)]
    found = {}
    for number in range(games):
        first, second = chance.sample(names, 2)
        score = chance.choice((1, 0.5, 0))
        found[f"game-{number}"] = RatedGame(f"game-{number}", 60_000 * (number + 1), "rules", (first, second), score)
    return found


if __name__ == "__main__":
    main()
