"""What runs inside a worker process: one position in, one answer out, nothing kept but the engine's own tables."""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import random
import signal
import threading
import time

from tictactoe_engine import Position
from tictactoe_engine.search import Analysis, Budget, analyse
from tictactoe_engine.strategies import Level, strategy_of

_LOWER_PRIORITY = 10


def prepare_worker() -> None:
    """Make this process a good servant: it yields to people's moves and ends with its server, never on Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(AttributeError, OSError):  # no such thing on Windows
        os.nice(_LOWER_PRIORITY)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def process_id() -> int:
    """Return this process's id: the first thing that a new worker is asked."""
    return os.getpid()


def choose_cell(position: Position, level: Level, seed: int, seconds: float) -> int:
    """Return the level's move within about so many seconds."""
    budget = Budget(seconds=seconds, clock=time.monotonic)
    return strategy_of(level, budget)(position, random.Random(seed))


def analyse_position(position: Position, seconds: float) -> Analysis:
    """Return what the position and its moves are worth, after about so many seconds."""
    return analyse(position, Budget(seconds=seconds, clock=time.monotonic))


def is_better_than_draw(position: Position, mark: str, seconds: float) -> bool:
    """Tell whether a mark, one of the last two in the game, expects more than a draw, after about so many seconds."""
    estimate = analyse(position, Budget(seconds=seconds, clock=time.monotonic)).value.estimate
    return estimate > 0 if position.turn == mark else estimate < 0


def _end_with_parent() -> None:
    """End this process when the server is gone, however it went."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(0)
