"""What runs inside a worker process: one question at a time in, its answer out.

The server starts this file as a program of its own, by its path: it needs the engine and nothing of the server, and so
is there in a tenth of a second. Questions come on standard input, answers go to standard output, each a pickle behind
its length; the first answer, to no question, tells that the worker is ready.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from queue import SimpleQueue
from random import Random
from typing import Any, BinaryIO, Final

from tictactoe_engine import Position, Rules
from tictactoe_engine.search import Analysis, Budget, Table, analyse, solve
from tictactoe_engine.strategies import Perfect

LENGTH_BYTES: Final = 4

_LOWER_PRIORITY: Final = 10


def choose_cell(position: Position, seed: int, seconds: float) -> int:
    """Return the best move to be found within about so many seconds."""
    return Perfect(_budget_of(seconds), varies=True)(position, Random(seed))


def analyse_position(position: Position, seconds: float) -> Analysis:
    """Return what the position and its moves are worth, after about so many seconds."""
    return analyse(position, _budget_of(seconds))


def solve_table(rules: Rules, seconds: float) -> Table:
    """Return the table of a small board; it takes some milliseconds, whatever `seconds` says."""
    return solve(rules)


def encode(content: object) -> bytes:
    """Return what goes through the pipe for a value."""
    pickled = pickle.dumps(content, pickle.HIGHEST_PROTOCOL)
    return len(pickled).to_bytes(LENGTH_BYTES, "big") + pickled


def main() -> None:
    """Answer questions until the server is gone, however it went; yield to people's moves, and leave Ctrl-C to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(AttributeError, OSError):  # no such thing on Windows
        os.nice(_LOWER_PRIORITY)
    questions: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(sys.stdin.buffer, questions), daemon=True).start()
    answer: Any = True, None
    while True:
        sys.stdout.buffer.write(encode(answer))
        sys.stdout.buffer.flush()
        question = questions.get()
        try:
            name, arguments = pickle.loads(question)
            answer = True, _QUESTIONS[name](*arguments)
        except Exception:
            answer = False, traceback.format_exc()


def _receive(pipe: BinaryIO, questions: SimpleQueue[bytes]) -> None:
    """Put what comes into the queue; end the process, in the middle of a thought too, when nothing more can come."""
    while head := pipe.read(LENGTH_BYTES):
        questions.put(pipe.read(int.from_bytes(head, "big")))
    os._exit(0)


def _budget_of(seconds: float) -> Budget:
    return Budget(seconds=seconds, clock=time.monotonic)


_QUESTIONS: Final = {question.__name__: question for question in (choose_cell, analyse_position, solve_table)}

if __name__ == "__main__":
    main()
