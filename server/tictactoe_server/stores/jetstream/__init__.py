"""The store of several servers: rooms, players and finished games in one JetStream of three NATS nodes.

This package alone knows NATS, and nothing here is imported by a server that keeps its data on its own disk.
"""

from tictactoe_server.stores.jetstream.contents import StreamSource, StreamTarget
from tictactoe_server.stores.jetstream.feed import Feed, Follower
from tictactoe_server.stores.jetstream.inspection import Report, inspect
from tictactoe_server.stores.jetstream.link import (
    Answered,
    Disconnected,
    Link,
    LinkError,
    Message,
    NoResponders,
    TimedOut,
    hidden,
)
from tictactoe_server.stores.jetstream.setup import make_stream, rights, stream_config
from tictactoe_server.stores.jetstream.store import JetStreamStore

__all__ = [
    "Answered",
    "Disconnected",
    "Feed",
    "Follower",
    "JetStreamStore",
    "Link",
    "LinkError",
    "Message",
    "NoResponders",
    "Report",
    "StreamSource",
    "StreamTarget",
    "TimedOut",
    "hidden",
    "inspect",
    "make_stream",
    "rights",
    "stream_config",
]
