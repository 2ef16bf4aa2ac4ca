"""A worker with a bad habit, run as ``odd_worker.py HABIT FILE``. Most habits end once the file exists."""

import pickle
import runpy
import sys
from pathlib import Path

import tictactoe_server

THINKING = runpy.run_path(str(Path(tictactoe_server.__file__).with_name("features") / "bots" / "thinking.py"))


def main(habit: str, mark: Path) -> None:
    is_first, asked = not mark.exists(), 0
    mark.touch()
    if is_first and habit == "dies on start":
        sys.exit("no memory left")
    if is_first and habit == "hangs on start":
        hang()
    if is_first and habit == "babbles on start":
        print("Good evening!" * 10_000, flush=True)
    if habit.endswith("on start") or (habit.endswith("on a question") and not is_first):
        THINKING["main"]()
    say(True, None)
    while head := sys.stdin.buffer.read(THINKING["LENGTH_BYTES"]):
        call = pickle.loads(sys.stdin.buffer.read(int.from_bytes(head, "big")))
        match habit:
            case "dies on a question":
                sys.exit("lost the thread")
            case "hangs on a question":
                hang()
            case "fails":
                say(False, f"Traceback of {call.func.__name__}")
            case "counts":
                say(True, (asked,))
            case "tells its time":
                say(True, (call.args[-1].seconds,))
        asked += 1


def hang() -> None:
    while sys.stdin.buffer.read(1):
        pass
    sys.exit()


def say(is_found: bool, answer: object) -> None:
    sys.stdout.buffer.write(THINKING["encode"]((is_found, answer)))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
