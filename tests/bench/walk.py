"""What a move passes: the calls of ours from its bytes to the last write, printed in their order with their files.

A server runs in this process, its two players in a thread; a move in the middle of a game is profiled with
`sys.setprofile`, from the bytes to the answer.
Usage: python -m tests.bench.walk [--disk]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

OURS = ("tictactoe_server", "tictactoe_protocol", "tictactoe_engine")
MOVES_BEFORE = 3


class Walk:
    """Notes the calls of ours while it is on."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            code = frame.f_code
            parts = Path(code.co_filename).parts
            package = next((name for name in OURS if name in parts), None)
            if package is not None:
                place = "/".join(parts[parts.index(package) :])
                self.calls.append((place, code.co_qualname if sys.version_info >= (3, 11) else code.co_name))


def ask(peer: ClientConnection, **message: Any) -> None:
    peer.send(json.dumps(message, separators=(",", ":")))


def hear(peer: ClientConnection, kind: str) -> dict[str, Any]:
    """Return the next message of a kind."""
    while True:
        message = json.loads(peer.recv(timeout=10))
        if message["type"] == kind:
            return dict(message)
        if message["type"] == "error":
            raise AssertionError(message["message"])


def play(url: str, before_move: Callable[[], None], after_move: Callable[[], None]) -> None:
    """Play some moves of a game of two, and tell before and after the last one."""
    with connect(url) as ana, connect(url) as bo:
        for name, peer in (("ana", ana), ("bo", bo)):
            ask(peer, type="hello", name=name, id="0")
            hear(peer, "welcome")
        ask(ana, type="create", id="1")
        room = hear(ana, "ok")["room"]
        ask(bo, type="join", room=room, id="1")
        for peer in (ana, bo):
            while hear(peer, "room")["status"] != "playing":
                pass
        for ply in range(MOVES_BEFORE + 1):
            if ply == MOVES_BEFORE:
                before_move()
            mover = (ana, bo)[ply % 2]
            ask(mover, type="move", room=room, cell=(0, 4, 8, 2)[ply], ply=ply, id=str(10 + ply))
            hear(mover, "ok")
            for peer in (ana, bo):
                hear(peer, "room")
        after_move()


async def walk(data: Path | None) -> list[tuple[str, str]]:
    """Return the calls of one move."""
    noted, loop = Walk(), asyncio.get_running_loop()

    def switch(hook: Walk | None) -> None:
        done = asyncio.run_coroutine_threadsafe(_set(hook), loop)
        done.result(10)

    async def _set(hook: Walk | None) -> None:
        loop.call_soon(sys.setprofile, hook)
        await asyncio.sleep(0)

    async with Server(Settings(host="127.0.0.1", port=0, data=data, announces=False)) as server:
        await asyncio.to_thread(play, server.url, lambda: switch(noted), lambda: switch(None))
    return noted.calls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--disk", action="store_true", help="with a database on disk, else in memory")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        calls = asyncio.run(walk(Path(folder) if options.disk else None))
    first = next(number for number, (_, name) in enumerate(calls) if name.endswith("data_received"))
    calls = calls[first:]
    for place, name in calls:
        print(f"{place:<52} {name}")
    print(f"{len(calls)} calls in {len({place for place, _ in calls})} files")


if __name__ == "__main__":
    main()
