"""Make the network of connect-four: `python -m tools.connect_four.network < FITTED`.

The solver writes samples: the values of possible last positions of a search. Some thousand positions give
millions of samples, of plies 8 and 9 and, from random play, of later plies:

    python -m tools.connect_four.book ask --all-plies 0 | shuf -n 10000 | ./solver 27 -s samples > answers
    python -m tools.connect_four.network --ask 13000 | ./solver 24 -s samples > answers
    gcc -O3 -march=native -ffast-math -o network tools/connect_four/network.c -lm
    ./network samples | python -m tools.connect_four.network

The present network was fitted to 2.6 million samples: 1.2 million from 7,000 positions of plies 8 and 9, which were
also added to the book, 1.3 million from 9,500 positions of random play after 9 to 13 plies, and 0.15 million from
random play that avoids immediate losses.
"""

import argparse
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Final

from tictactoe_engine.search import network
from tools.connect_four.book import random_moves

FILE: Final = Path(network.__file__).with_name("connect_four.net")


def main(arguments: Sequence[str] | None = None) -> None:
    """Compress the weights from `network.c`, or write positions for the solver."""
    parser = argparse.ArgumentParser(prog="python -m tools.connect_four.network", description=__doc__)
    parser.add_argument("--file", type=Path, default=FILE)
    parser.add_argument("--ask", type=int, metavar="GAMES", help="write positions of so many random games instead")
    options = parser.parse_args(arguments)
    if options.ask:
        rng = Random(1)
        for _ in range(options.ask):
            moves = random_moves(rng.randrange(9, 14), rng)
            if moves is not None:
                print(moves)
        return
    content = zlib.compress(sys.stdin.buffer.read(), 9)
    network.judge_of(content)
    options.file.write_bytes(content)
    print(f"{options.file.name}: {len(content):,} bytes")


if __name__ == "__main__":
    main()
