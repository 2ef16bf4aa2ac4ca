"""The client with a record of its calls and processor time, for `tools.bench.client`.

Usage: python -m tools.bench.traced_client FOLDER [--calls] ARGUMENTS-OF-THE-CLIENT
SIGUSR1 begins a stretch, SIGUSR2 ends it and writes `FOLDER/NUMBER.json`: the processor time in between and, with
--calls, each call of ours in order, as the file and the name of the function, with the lines `SENT`, `HEARD` and
`SHOWN` when the socket's library sent and received, and when the terminal was written.
"""

import json
import signal
import sys
import threading
import time
from pathlib import Path
from types import CodeType, FrameType
from typing import Final

OURS: Final = ("tictactoe_client", "tictactoe_words", "tictactoe_protocol", "tictactoe_engine")
SENT, HEARD, SHOWN = "(sent)", "(heard)", "(shown)"

_MARKS: Final = {
    ("websockets/asyncio/connection.py", "send"): SENT,
    ("websockets/asyncio/connection.py", "data_received"): HEARD,
    ("textual/drivers/linux_driver.py", "write"): SHOWN,
}


class Trace:
    """The calls since the stretch began."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0
        self._calls: list[CodeType | str] = []
        self._seconds = 0.0
        self._kinds: dict[CodeType, CodeType | str | None] = {}

    def hear(self, frame: FrameType, event: str, _: object) -> None:
        """Record a call of ours, and the places that mark a stretch."""
        if event != "call":
            return
        code = frame.f_code
        try:
            kind = self._kinds[code]
        except KeyError:
            kind = self._kinds[code] = _kind_of(code)
        if kind is not None:
            self._calls.append(kind)

    def begin(self, *_: object) -> None:
        self._calls.clear()
        self._seconds = time.process_time()

    def end(self, *_: object) -> None:
        seconds = time.process_time() - self._seconds
        calls = [call if isinstance(call, str) else _name_of(call) for call in tuple(self._calls)]
        self._number += 1
        unfinished = self._folder / "unfinished"
        unfinished.write_text(json.dumps({"seconds": seconds, "calls": calls}))
        unfinished.rename(self._folder / f"{self._number}.json")


def _kind_of(code: CodeType) -> CodeType | str | None:
    for (file, name), mark in _MARKS.items():
        if code.co_filename.endswith(file) and code.co_name == name:
            return mark
    is_ours = any(f"/{package}/" in code.co_filename for package in OURS)
    is_function = not code.co_name.startswith("<") or code.co_name == "<lambda>"
    return code if is_ours and is_function and code.co_name != "__class__" else None


def _name_of(code: CodeType) -> str:
    path = Path(code.co_filename)
    package = next(part for part in path.parts if part in OURS)
    return f"{'/'.join(path.parts[len(path.parts) - path.parts[::-1].index(package) - 1 :])} {code.co_qualname}"


def main() -> int:
    folder, *arguments = sys.argv[1:]
    trace = Trace(Path(folder))
    signal.signal(signal.SIGUSR1, trace.begin)
    signal.signal(signal.SIGUSR2, trace.end)
    if arguments[:1] == ["--calls"]:
        del arguments[0]
        threading.setprofile(trace.hear)
        sys.setprofile(trace.hear)
    from tictactoe_client.cli.main import run

    return int(run(arguments))


if __name__ == "__main__":
    sys.exit(main())
