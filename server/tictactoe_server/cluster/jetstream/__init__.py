"""The store of several servers: rooms, players and finished games in one JetStream of three NATS nodes.

This package alone knows NATS, and nothing here is imported by a server that keeps its data on its own disk.
"""

from tictactoe_server.cluster.jetstream.contents import StreamSource, StreamTarget
from tictactoe_server.cluster.jetstream.link import Link, Message
from tictactoe_server.cluster.jetstream.setup import make_stream, rights, stream_config
from tictactoe_server.cluster.jetstream.store import JetStreamStore

__all__ = [
    "JetStreamStore",
    "Link",
    "Message",
    "StreamSource",
    "StreamTarget",
    "make_stream",
    "rights",
    "stream_config",
]
