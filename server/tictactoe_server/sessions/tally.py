"""What happened since the server started, as plain numbers."""

from __future__ import annotations

from collections import Counter


class Tally:
    """`refusals` by the error code, `limited` by the kind of the limit, `games` that ended by the reason.

    Adding to them costs next to nothing. `sent` are the bytes that went out to peers, which are counted where metrics
    are shown alone.
    """

    def __init__(self) -> None:
        self.refusals: Counter[str] = Counter()
        self.limited: Counter[str] = Counter()
        self.games: Counter[str] = Counter()
        self.sent = 0
