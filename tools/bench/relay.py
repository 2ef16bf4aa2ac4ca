"""The yardstick for our server: a bare relay on the same library, without rules, JSON or disk.

Two connections on one path are a room; a text from either is sent to both.
"""

from collections import defaultdict

import uvloop
from websockets.asyncio.server import ServerConnection, broadcast, serve
from websockets.exceptions import ConnectionClosed

_rooms: defaultdict[str, set[ServerConnection]] = defaultdict(set)


async def relay(connection: ServerConnection) -> None:
    assert connection.request is not None
    room = _rooms[connection.request.path]
    room.add(connection)
    try:
        while True:
            broadcast(room, await connection.recv())
    except ConnectionClosed:
        room.discard(connection)


async def main() -> None:
    async with serve(relay, "127.0.0.1", 0, compression=None, max_size=16 * 1024) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        print(f"Listening on ws://127.0.0.1:{port}", flush=True)
        await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
