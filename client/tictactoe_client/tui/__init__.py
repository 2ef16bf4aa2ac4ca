"""The full-screen client: Textual screens that follow the server's events.

`app` is the program, `program` its base class as the screens see it, `page` the base of all screens but the room's, and
`room` the screen with the board. These modules are imported only when the full screen starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tictactoe_client.files.players import Role
    from tictactoe_client.input.ways import Choice, EventWay
    from tictactoe_engine.records import GameRecord


@dataclass(frozen=True, slots=True)
class FirstPage:
    """The page to open first.

    Attributes:
        limit: The maximum number of finished games to list; None for all.
        record: The game to replay without a server, starting after `ply` moves.
        note: The first text on the status line of the replay.
        enter: How to enter or watch the tournament of the event page.
    """

    page: Literal["home", "watch", "history", "replay", "events", "event"] = "home"
    limit: int | None = None
    record: GameRecord | None = None
    ply: int = 0
    note: str = ""
    enter: EventWay | None = None

    def role_for(self, first: Choice | None) -> Role:
        """Return what kind of player this run is on the server; see `Role`."""
        if self.page == "history":
            return "reader"
        return "nobody" if self.page == "watch" or (first is not None and first.way == "watch") else "player"
