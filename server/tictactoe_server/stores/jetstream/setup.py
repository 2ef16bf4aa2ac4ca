"""The stream itself: how it has to be, how it is made, and what a user of it has to be allowed."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from tictactoe_server.stores.jetstream.link import Link, LinkError
from tictactoe_server.stores.jetstream.stream import (
    DELETE_SUBJECT,
    FEED,
    INFO_SUBJECT,
    PREFIX,
    READ_MANY_SUBJECT,
    READ_SUBJECT,
    STREAM,
    StreamInfo,
)
from tictactoe_server.stores.store import CannotOpenStore

REPLICAS: Final = 3
_CREATE_SUBJECT: Final = f"$JS.API.STREAM.CREATE.{STREAM}"
_REPUBLISH: Final = {"src": f"{PREFIX}>", "dest": f"{FEED}>"}
_NEEDED: Final[dict[str, object]] = {
    "subjects": [f"{PREFIX}>"],
    "max_msgs_per_subject": 1,
    "discard": "new",
    "max_age": 0,
    "allow_msg_ttl": True,
    "allow_atomic": True,
    "allow_direct": True,
}


def stream_config(replicas: int = REPLICAS) -> dict[str, Any]:
    """Return how the stream has to be, as JetStream's requests say it.

    >>> stream_config(1)["num_replicas"]
    1
    """
    return {"name": STREAM, "storage": "file", "num_replicas": replicas, "republish": _REPUBLISH, **_NEEDED}


def rights() -> dict[str, list[str]]:
    """Return what the user that the servers are has to be allowed: the subjects to publish and to subscribe to."""
    own = ["house.>", "_INBOX.>"]
    reading = [INFO_SUBJECT, READ_SUBJECT, READ_MANY_SUBJECT, DELETE_SUBJECT]
    return {"publish": [f"{PREFIX}>", *reading, *own], "subscribe": [f"{FEED}>", *own]}


async def make_stream(link: Link, replicas: int = REPLICAS) -> None:
    """Make the stream, on so many nodes; one that is like it already stays. Raises `CannotOpenStore`."""
    try:
        answer = msgspec.json.decode(
            await link.request(_CREATE_SUBJECT, msgspec.json.encode(stream_config(replicas))), type=StreamInfo
        )
    except (LinkError, msgspec.MsgspecError) as error:
        raise CannotOpenStore(f"The stream {STREAM} could not be made: {error}") from error
    if answer.error is not None:
        raise CannotOpenStore(f"The stream {STREAM} could not be made: {answer.error.description}.")


def faults_of(info: StreamInfo) -> list[str]:
    """Return in sentences what makes a stream useless for the rooms, whatever the operator accepts."""
    config = info.config
    faults = [
        f"{name} is {getattr(config, name)!r} and has to be {value!r}."
        for name, value in _NEEDED.items()
        if getattr(config, name) != value
    ]
    republish = config.republish or {}
    if any(republish.get(name) != value for name, value in _REPUBLISH.items()) or republish.get("headers_only"):
        faults.append(f"republish has to be from {_REPUBLISH['src']} to {_REPUBLISH['dest']}, with the documents.")
    return faults


def risks_of(info: StreamInfo) -> list[str]:
    """Return in sentences why a stream may lose what it has acknowledged."""
    config = info.config
    risks = []
    if config.storage != "file":
        risks.append("It is kept in memory: it is gone when the nodes are.")
    if config.num_replicas < REPLICAS:
        kept = "on one node" if config.num_replicas == 1 else f"on {config.num_replicas} nodes"
        risks.append(f"It is kept {kept} alone, and {REPLICAS} are needed to survive the loss of one.")
    if config.persist_mode == "async":
        risks.append("persist_mode is async: it acknowledges before anything is on a disk.")
    return risks
