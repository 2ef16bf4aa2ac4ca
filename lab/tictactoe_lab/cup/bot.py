"""The bot's program, run as a separate process so that its search can be killed at any time.

Runs as a script, ``bot.py LEVEL NODES SECONDS SEED``. It reads a position from each line, pickled and in hexadecimal,
and answers with a cell or, at a choice of an opening, the index of the option.
"""

import pickle
import sys
import time
from random import Random

from tictactoe_engine.search import Budget
from tictactoe_engine.strategies import side_chooser_of, strategy_of


def main(level: str, nodes: str, seconds: str, seed: str) -> None:
    """Answer each line until the end of the input; 0 nodes or 0 seconds means no limit."""
    budget = Budget(int(nodes) or None, float(seconds) or None, time.monotonic)
    place, choose_side, random = strategy_of(level, budget), side_chooser_of(level, budget), Random(seed)
    for line in sys.stdin:
        position = pickle.loads(bytes.fromhex(line))
        side = choose_side(position, random) if position.options else None
        print(position.options.index(side) if side is not None else place(position, random), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
