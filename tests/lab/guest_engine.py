"""A small engine that speaks the Gomocup protocol and plays the first free cell.

``guest_engine.py WAY [FILE]``: WAY is its behaviour at the second move; ``plays`` is the correct one. The lines that it
receives are written to FILE. If it hangs, it keeps FILE open instead; if ``deaf``, so does a child process.
"""

import os
import signal
import sys
import time
from collections.abc import Iterator

WAY = sys.argv[1] if len(sys.argv) > 1 else "plays"
FILE = sys.argv[2] if len(sys.argv) > 2 else os.devnull

FIRST_CHOICE = {"swaps": "SWAP", "more": "0,0 1,0"}.get(WAY, "0,0")


def say(text: str, end: str = "\n") -> None:
    sys.stdout.write(f"{text}{end}")
    sys.stdout.flush()


def hear() -> Iterator[str]:
    while line := sys.stdin.readline():
        if WAY == "plays":
            with open(FILE, "a") as heard:
                heard.write(line)
        yield line.strip()


def move(stones: set[tuple[int, int]], columns: int) -> None:
    first = next(
        (cell % columns, cell // columns) for cell in range(10_000) if divmod(cell, columns)[::-1] not in stones
    )
    match WAY if len(stones) > 1 or WAY == "odd" else "plays":
        case "silent" | "deaf":
            while True:
                time.sleep(60)
        case "dies":
            sys.exit("no more ideas")
        case "floods":
            while True:
                say("x" * 1000, "")
        case "chatters":
            while True:
                say("MESSAGE I am still thinking")
        case "off":
            say("15,3")
        case "taken":
            say("{},{}".format(*max(stones)))
        case "greedy":
            bytearray(4 << 30)
        case "refuses":
            say("ERROR this is too hard")
        case "odd":
            sys.stderr.write(f"{'y' * 99}\n" * 1000)
            say("DEBUG \x1b[31mred")
            say("MESSAGE here it comes\r\r{},{}".format(*first), "\r")
        case _:
            time.sleep(0.02)
            say("{},{}".format(*first))
    stones.add(first)


def main() -> None:
    columns, lines = 0, hear()
    stones: set[tuple[int, int]] = set()
    if WAY in ("deaf", "silent") and len(sys.argv) > 2:
        os.open(FILE, os.O_WRONLY | os.O_CREAT)  # which stays open for as long as this lives
    if WAY == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.fork() == 0:  # a child of its own, which holds the file open as well
            time.sleep(600)
            os._exit(0)
    for line in lines:
        word, _, rest = line.partition(" ")
        if word in ("START", "RECTSTART"):
            columns, stones = int(rest.split(",")[0]), set()
            say("OK")
        elif word == "RESTART":
            stones = set()
            say("UNKNOWN" if WAY == "odd" else "OK")
        elif word in ("BEGIN", "TURN"):
            if rest:
                x, _, y = rest.partition(",")
                stones.add((int(x), int(y)))
            move(stones, columns)
        elif word == "BOARD":
            while (stone := next(lines)) != "DONE":
                column, row, _ = map(int, stone.split(","))
                if (column, row) in stones:
                    sys.exit("this board was not empty")
                stones.add((column, row))
            move(stones, columns)
        elif word == "SWAP2BOARD":
            placed = list(iter(lambda: next(lines), "DONE"))
            say({0: "7,7 8,8 9,9", 3: FIRST_CHOICE, 5: "SWAP" if WAY == "swaps" else "0,1"}[len(placed)])
        elif word == "END":
            return


if __name__ == "__main__":
    main()
