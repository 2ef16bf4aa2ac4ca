"""Where a connection stands, and what may come after it."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final


class Phase(Enum):
    """A connection is ACCEPTED until the handshake of TLS is done, then WAITING for a request or the rest of one.

    That is QUEUED until its turn comes, and ANSWERING while the response is made; one without an end is STREAMING as
    long as there are lines for it. A WebSocket is OPEN, and CLOSING once
    one side has begun to close it. ENDING: all is said, nothing is heard any more, the peer has a while to hang up.
    """

    ACCEPTED = auto()
    WAITING = auto()
    QUEUED = auto()
    ANSWERING = auto()
    STREAMING = auto()
    OPEN = auto()
    CLOSING = auto()
    ENDING = auto()
    GONE = auto()


FOLLOWING: Final = {
    Phase.ACCEPTED: {Phase.WAITING, Phase.GONE},
    Phase.WAITING: {Phase.QUEUED, Phase.ENDING, Phase.GONE},
    Phase.QUEUED: {Phase.WAITING, Phase.ANSWERING, Phase.OPEN, Phase.ENDING, Phase.GONE},
    Phase.ANSWERING: {Phase.WAITING, Phase.STREAMING, Phase.ENDING, Phase.GONE},
    Phase.STREAMING: {Phase.ENDING, Phase.GONE},
    Phase.OPEN: {Phase.CLOSING, Phase.GONE},
    Phase.CLOSING: {Phase.ENDING, Phase.GONE},
    Phase.ENDING: {Phase.GONE},
    Phase.GONE: {Phase.GONE},
}
