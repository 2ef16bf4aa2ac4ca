"""The computer as a process of its own, so that no thought holds up a cup or its end.

Started by its path, as ``bot.py LEVEL NODES SECONDS SEED``. Each position comes as a line, its pickle in
hexadecimal; the answer is a cell, or the number of the option in an opening.
"""

import pickle
import sys
import time
from random import Random

from tictactoe_engine.search import Budget
from tictactoe_engine.strategies import side_chooser_of, strategy_of


def main(level: str, nodes: str, seconds: str, seed: str) -> None:
    """Answer until nothing more can come; 0 nodes or seconds for any."""
    budget = Budget(int(nodes) or None, float(seconds) or None, time.monotonic)
    place, choose_side, random = strategy_of(level, budget), side_chooser_of(level, budget), Random(seed)
    for line in sys.stdin:
        position = pickle.loads(bytes.fromhex(line))
        side = choose_side(position, random) if position.options else None
        print(position.options.index(side) if side is not None else place(position, random), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
