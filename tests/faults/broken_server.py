"""A server that is broken on purpose, as a process with the options of the real one that the harness gives.

Usage: python -m tests.faults.broken_server --port N --data DIR (--crash POINT --save N | --early)
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from tests.faults.crash_points import CRASH_POINTS, CrashingRooms, Fuse, lay
from tests.faults.early_store import early
from tests.limits import uncounted
from tictactoe_server.cli.log import set_up_logging
from tictactoe_server.records.tables import ROOMS, open_folder
from tictactoe_server.server import Server, kept_by
from tictactoe_server.settings import Settings
from tictactoe_server.storage.specs import Storage

COMMAND = (sys.executable, "-c", "from tests.faults.broken_server import main; main()")


async def serve(options: argparse.Namespace) -> None:
    """Serve until killed."""
    inner = open_folder(options.data, kept_by())
    if options.early:
        store: Storage = early(inner)
    else:
        fuse = Fuse(options.crash, options.save)
        lay(fuse)
        inner.tables[ROOMS.name] = CrashingRooms(inner, fuse)
        store = inner
    async with Server(Settings(host=options.host, port=options.port), store, uncounted()) as server:
        print(f"Listening on {server.url}", flush=True)
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--crash", choices=CRASH_POINTS, help="where to die")
    parser.add_argument("--save", type=int, default=1, help="with which save of a room")
    parser.add_argument("--limit", action="append", help="taken and left alone: nothing is counted here")
    parser.add_argument("--early", action="store_true", help="acknowledge saves before they are kept")
    options = parser.parse_args()
    set_up_logging("text", "info")
    asyncio.run(serve(options))


if __name__ == "__main__":
    main()
