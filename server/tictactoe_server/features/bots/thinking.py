"""The program of a worker process, which answers one question at a time.

The server starts this file by its path. The program imports only the engine, so that it is ready in a tenth of a
second. It reads questions, which are calls to functions in the engine, from standard input, and writes answers to
standard output. Each of them is a pickle after its length. The first answer has no question and shows that the worker
is ready.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import traceback
from functools import partial
from typing import Any, Final

from tictactoe_engine.search import Memory, analyse, best_cells

LENGTH_BYTES: Final = 4
SEARCHES: Final = (analyse, best_cells)  # functions that take a budget and a memory of earlier results
_LOWER_PRIORITY: Final = 10


def encode(content: object) -> bytes:
    pickled = pickle.dumps(content, pickle.HIGHEST_PROTOCOL)
    return len(pickled).to_bytes(LENGTH_BYTES, "big") + pickled


def main() -> None:
    """Answer questions at a low priority until the server ends. Ctrl-C is ignored; the server handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        os.nice(_LOWER_PRIORITY)
    answer: Any = True, None
    memory = Memory()
    while True:
        sys.stdout.buffer.write(encode(answer))
        sys.stdout.buffer.flush()
        length = int.from_bytes(sys.stdin.buffer.read(LENGTH_BYTES), "big")
        if not length:
            return
        question = sys.stdin.buffer.read(length)
        try:
            answer = True, result_of(pickle.loads(question), memory)
        except Exception:
            answer = False, traceback.format_exc()


def result_of(question: partial[Any], memory: Memory) -> Any:
    """Return the result of the call. A search also uses the results of earlier searches."""
    return question(memory=memory) if question.func in SEARCHES else question()


if __name__ == "__main__":
    main()
