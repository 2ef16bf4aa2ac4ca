"""Plays one whole game between the installed commands, as people would: a server, two clients and a watcher.

Usage: python .ci/play_a_game.py BIN DATA. The folder BIN has tictactoe-server and tictactoe-client; the server's data
folder is DATA. Standard library only.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

LINE_FOR_X = {"X": ["a1", "b1", "c1"], "O": ["a2", "b2"]}
PATIENCE_SECONDS = 60


class Client:
    """One running tictactoe-client in JSON mode."""

    def __init__(self, bin: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [bin / "tictactoe-client", *arguments, "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def until(self, **expected: Any) -> dict[str, Any]:
        """Return the next line that has these values."""
        assert self.process.stdout
        for line in self.process.stdout:
            message: dict[str, Any] = json.loads(line)
            if all(message.get(key) == value for key, value in expected.items()):
                return message
        raise SystemExit(f"the client ended before {expected} came")

    def send(self, **request: Any) -> None:
        """Write one request."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def finish(self) -> None:
        """End the input and expect a good end."""
        assert self.process.stdin
        self.process.stdin.close()
        self.until(type="closed", exit=0)
        if code := self.process.wait(PATIENCE_SECONDS):
            raise SystemExit(f"a client ended with {code}")


def play(bin: Path, url: str) -> None:
    """Play the game against a running server."""
    ana = Client(bin, "new", "--server", url, "--name", "ana")
    room = ana.until(type="room", status="waiting")["room"]
    bo = Client(bin, "join", room, "--server", url, "--name", "bo")
    players = {"X": ana, "O": bo}
    bo.until(type="room", status="playing")
    eve = Client(bin, "watch", f"{url}/{room}")
    for ply in range(5):
        mark = "XO"[ply % 2]
        players[mark].until(type="room", turn=mark, ply=ply)
        players[mark].send(type="move", at=LINE_FOR_X[mark][ply // 2])
    for client in (ana, bo, eve):
        last = client.until(type="room", status="over")
        assert last["result"] == {"winner": "X", "reason": "line", "line": [0, 1, 2]}, last
        assert last["seats"]["X"]["name"] == "ana", last
    for client in (ana, bo, eve):
        client.finish()


def main() -> None:
    """Start the server, play, stop it."""
    bin, data = Path(sys.argv[1]), sys.argv[2]
    server = subprocess.Popen(
        [bin / "tictactoe-server", "--host", "127.0.0.1", "--port", "0", "--data", data],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout
        ready = re.search(r"ws://\S+", server.stdout.readline())
        assert ready, "the server did not say where it listens"
        play(bin, ready[0])
    finally:
        server.send_signal(signal.SIGTERM)
        code = server.wait(PATIENCE_SECONDS)
    if code:
        raise SystemExit(f"the server ended with {code}")
    print("ana won, bo and the watcher saw it")


if __name__ == "__main__":
    main()
