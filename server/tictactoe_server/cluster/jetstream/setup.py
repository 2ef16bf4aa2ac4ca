"""The stream itself: how it has to be, and how it is made."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import structlog

from tictactoe_server.cluster import hidden
from tictactoe_server.cluster.jetstream.link import Link
from tictactoe_server.cluster.jetstream.stream import FEED, PREFIX, STREAM, Stream, StreamError, StreamInfo
from tictactoe_server.cluster.jetstream.tables import TIME
from tictactoe_server.storage.store import CannotOpenStore, StoreUnavailable

REPLICAS: Final = 3
_CREATE_SUBJECT: Final = f"$JS.API.STREAM.CREATE.{STREAM}"
_NO_STREAM: Final = 10059
_PAUSE_SECONDS: Final = 0.25
_NEEDED: Final[dict[str, object]] = {
    "subjects": [f"{PREFIX}>"],
    "max_msgs_per_subject": 1,
    "discard": "new",
    "max_age": 0,
    "allow_msg_ttl": True,
    "allow_atomic": True,
    "allow_direct": True,
    "republish": {"src": f"{PREFIX}>", "dest": f"{FEED}>"},
}

log: Final = structlog.get_logger(__name__)


def stream_config(replicas: int = REPLICAS) -> dict[str, Any]:
    """Return how the stream has to be, as JetStream's requests say it.

    >>> stream_config(1)["num_replicas"]
    1
    """
    return {"name": STREAM, "storage": "file", "num_replicas": replicas, **_NEEDED}


async def make_stream(link: Link, replicas: int = REPLICAS) -> None:
    """Make the stream, on so many nodes; one that is like it already stays. Raises `CannotOpenStore`."""
    try:
        await Stream(link).ask(_CREATE_SUBJECT, stream_config(replicas), StreamInfo)
    except StoreUnavailable as error:
        reason = f"{error.description}." if isinstance(error, StreamError) else str(error)
        raise CannotOpenStore(f"The stream {STREAM} could not be made: {reason}") from error


async def find_stream(stream: Stream, urls: str, patience_seconds: float, *, unsafe: bool) -> StreamInfo:
    """Return what the stream's leader says, for whom it waits.

    Raises `CannotOpenStore` where the stream is not as the rooms need it, or is at risk and that is not accepted.
    """
    reason = "it does not answer"
    try:
        async with asyncio.timeout(patience_seconds):
            while True:
                try:
                    info = await stream.info()
                    await stream.newest(TIME)  # a stream may have its leader again before it can be read
                    break
                except StreamError as error:
                    if error.code == _NO_STREAM:
                        raise CannotOpenStore(
                            f"There is no stream {STREAM} in {hidden(urls)}. To make it: tictactoe-server cluster init."
                        ) from None
                    reason = error.description
                except StoreUnavailable as unavailable:
                    reason = str(unavailable).rstrip(".")
                await asyncio.sleep(_PAUSE_SECONDS)
    except TimeoutError:
        raise CannotOpenStore(f"Cannot use the stream {STREAM} in {hidden(urls)}: {reason}.") from None
    if faults := faults_of(info):
        raise CannotOpenStore(f"The stream {STREAM} cannot keep the rooms: {' '.join(faults)}")
    risks = risks_of(info)
    if risks and not unsafe:
        raise CannotOpenStore(
            f"The stream {STREAM} may lose what it has acknowledged. {' '.join(risks)} "
            "To use it all the same: --store-unsafe."
        )
    for risk in risks:
        log.warning("the store may lose what it has acknowledged", reason=risk)
    return info


def faults_of(info: StreamInfo) -> list[str]:
    """Return in sentences what makes a stream useless for the rooms, whatever the operator accepts."""
    found = {name: info.config.get(name, False if needed is True else None) for name, needed in _NEEDED.items()}
    return [
        f"{name} is {found[name]!r} and has to be {needed!r}."
        for name, needed in _NEEDED.items()
        if found[name] != needed
    ]


def risks_of(info: StreamInfo) -> list[str]:
    """Return in sentences why a stream may lose what it has acknowledged."""
    risks, replicas = [], info.config.get("num_replicas", 1)
    if info.config.get("storage") != "file":
        risks.append("It is kept in memory: it is gone when the nodes are.")
    if replicas < REPLICAS:
        kept = "on one node" if replicas == 1 else f"on {replicas} nodes"
        risks.append(f"It is kept {kept} alone, and {REPLICAS} are needed to survive the loss of one.")
    if info.config.get("persist_mode") == "async":
        risks.append("persist_mode is async: it acknowledges before anything is on a disk.")
    return risks
