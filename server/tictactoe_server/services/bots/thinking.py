"""What runs inside a worker process: one question at a time in, its answer out.

The server starts this file as a program of its own, by its path: it needs the engine and nothing of the server, and so
is there in a tenth of a second. Questions, which are calls of the engine, come on standard input, answers go to
standard output, each a pickle behind its length; the first answer, to no question, tells that the worker is ready.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import threading
import traceback
from functools import partial
from queue import SimpleQueue
from typing import Any, BinaryIO, Final

from tictactoe_engine.search import Memory, analyse, best_cells

LENGTH_BYTES: Final = 4
SEARCHES: Final = (analyse, best_cells)  # they go on with what earlier ones have proven, within a budget

IDLE: Final = "idle"
"""With this word behind the program it gets what nobody else wants of the processor."""

_LOWER_PRIORITY: Final = 10
_LOWEST_PRIORITY: Final = 19


def encode(content: object) -> bytes:
    """Return what goes through the pipe for a value."""
    pickled = pickle.dumps(content, pickle.HIGHEST_PROTOCOL)
    return len(pickled).to_bytes(LENGTH_BYTES, "big") + pickled


def main() -> None:
    """Answer questions until the server is gone, however it went; yield to people's moves, and leave Ctrl-C to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(AttributeError, OSError):  # no such thing on Windows
        os.nice(_LOWEST_PRIORITY if IDLE in sys.argv else _LOWER_PRIORITY)
        if IDLE in sys.argv and sys.platform == "linux":
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    questions: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(sys.stdin.buffer, questions), daemon=True).start()
    answer: Any = True, None
    memory = Memory()
    while True:
        sys.stdout.buffer.write(encode(answer))
        sys.stdout.buffer.flush()
        question = questions.get()
        try:
            answer = True, result_of(pickle.loads(question), memory)
        except Exception:
            answer = False, traceback.format_exc()


def result_of(question: partial[Any], memory: Memory) -> Any:
    """Return what the call returns; a search goes on with what earlier ones have proven."""
    return question(memory=memory) if question.func in SEARCHES else question()


def _receive(pipe: BinaryIO, questions: SimpleQueue[bytes]) -> None:
    """Put what comes into the queue; end the process, in the middle of a thought too, when nothing more can come."""
    while head := pipe.read(LENGTH_BYTES):
        questions.put(pipe.read(int.from_bytes(head, "big")))
    os._exit(0)


if __name__ == "__main__":
    main()
