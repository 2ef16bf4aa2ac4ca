"""Make the network of connect-four: `python -m tools.connect_four.network < FITTED`.

Samples come from the solver, which writes on its way what it has found of positions that a search may end at. Some
thousand positions that are asked of it give millions:

    python -m tools.connect_four.book ask --all-plies 0 | shuf -n 10000 | ./solver 27 -s samples > answers
    gcc -O3 -march=native -ffast-math -o network tools/connect_four/network.c -lm
    ./network samples | python -m tools.connect_four.network
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tictactoe_engine.search import network

FILE: Final = Path(network.__file__).with_name("connect_four.net")


def main(arguments: Sequence[str] | None = None) -> None:
    """Compress what `network.c` has fitted."""
    parser = argparse.ArgumentParser(prog="python -m tools.connect_four.network", description=__doc__)
    parser.add_argument("--file", type=Path, default=FILE)
    options = parser.parse_args(arguments)
    content = zlib.compress(sys.stdin.buffer.read(), 9)
    network.judge_of(content)
    options.file.write_bytes(content)
    print(f"{options.file.name}: {len(content):,} bytes")


if __name__ == "__main__":
    main()
