"""What lies in the stream, read past the servers: the moves of every game, at the end and as they came."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator

from nats.aio.msg import Msg
from nats.errors import Error
from nats.js import JetStreamContext

from tests.cluster.nodes import Nodes
from tests.server.tables import decode_game, decode_room
from tools.soak.fleet import Games

Key = tuple[str, int]
PATIENCE_SECONDS = 5.0
ATTEMPTS = 3


async def read_games(nodes: Nodes) -> Games:
    """Return the moves of every finished game, and of those that are on."""
    documents = await _read_documents(nodes)
    games = _finished_in(documents)
    for room in (decode_room(document) for kind, document in documents if kind == "room"):
        if room.result is None:
            games[room.code, room.game].append(room.position.moves)
    return games


async def read_finished(nodes: Nodes) -> Games:
    """Return the moves of every finished game."""
    return _finished_in(await _read_documents(nodes))


def _finished_in(documents: list[tuple[str, bytes]]) -> Games:
    games: Games = defaultdict(list)
    for game in (decode_game(document) for kind, document in documents if kind == "game"):
        games[game.room, game.game].append(game.moves)
    return games


async def _read_documents(nodes: Nodes) -> list[tuple[str, bytes]]:
    """Return all that is stored, each with the first word of its key; nodes that have just elected may fail once."""
    for _ in range(ATTEMPTS - 1):
        with contextlib.suppress(TimeoutError, Error):
            return await _read_all(nodes)
    return await _read_all(nodes)


async def _read_all(nodes: Nodes) -> list[tuple[str, bytes]]:
    """Read until there is something for each room and game that the leader knows.

    What is written while the others are read is behind where the reading would end otherwise, and a node that has just
    come back takes what it has for all there is.
    """
    found = dict[str, bytes]()
    async with nodes.connected() as client:
        jetstream = client.jetstream()
        for stream in await nodes.streams():
            subscription = await jetstream.subscribe(f"$KV.{stream}.>", stream=stream, ordered_consumer=True)
            missing = await _subjects(jetstream, stream)
            while missing:
                message = await subscription.next_msg(timeout=PATIENCE_SECONDS)
                found[message.subject] = message.data
                if message.metadata.num_pending == 0:
                    missing = await _subjects(jetstream, stream) - found.keys()
    return [(subject.split(".")[2], document) for subject, document in found.items() if document]


async def _subjects(jetstream: JetStreamContext, stream: str) -> set[str]:
    """Return the keys of all rooms and games of a stream."""
    found = set[str]()
    for kind in ("room", "game"):
        state = (await jetstream.stream_info(stream, subjects_filter=f"$KV.{stream}.{kind}.>")).state
        found |= (state.subjects or {}).keys()
    return found


class Witness:
    """Looks on while rooms are stored: a move that another one replaces is a `fork`, a sentence.

    A node that comes to lead sends what it applies then, also what the one before it has sent: that is older by its
    sequence, and told apart by it.
    """

    def __init__(self) -> None:
        self.forks: list[str] = []
        self.seen = 0
        self._seen: dict[Key, tuple[int, tuple[int, ...]]] = {}

    @contextlib.asynccontextmanager
    async def looking_on(self, nodes: Nodes) -> AsyncIterator[None]:
        """Look at every room that is stored meanwhile, from whichever node is there."""
        async with nodes.connected(is_lasting=True) as client:
            await client.subscribe("ev.*.room.*", cb=self._see)
            await client.flush()
            yield

    def note(self, room: str, game: int, sequence: int, moves: tuple[int, ...]) -> None:
        """Take notice of the moves that lie behind a sequence; none is ever taken back in these games."""
        last, before = self._seen.get((room, game), (0, ()))
        if sequence > last:
            self._seen[room, game] = sequence, moves
        if sequence >= last and moves[: len(before)] != before:
            self.forks.append(f"game {game} of {room} had {before} ({last}) and has {moves} ({sequence})")

    async def _see(self, message: Msg) -> None:
        if message.data:
            room = decode_room(message.data)
            self.note(room.code, room.game, int((message.headers or {})["Nats-Sequence"]), room.position.moves)
            self.seen += 1
