"""The full screen, and where it begins: screens of the terminal library, which hear the server and draw what they know.

`app` is the program, `program` what its screens know of it, `page` what all are outside rooms, `room` the board;
nothing is imported before the first one opens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tictactoe_client.files.players import Role
    from tictactoe_client.input.ways import Choice
    from tictactoe_client.online.tournament import Tournament
    from tictactoe_client.session import Enter
    from tictactoe_engine.records import GameRecord


@dataclass(frozen=True, slots=True)
class FirstPage:
    """The first page; `limit` is how many finished games to list at most, None for all.

    `record` is what to replay without a server, first seen after `ply` moves, with the `note` on the status line;
    `enter` leads to the event whose page it is.
    """

    page: Literal["home", "watch", "history", "replay", "events", "event"] = "home"
    limit: int | None = None
    record: GameRecord | None = None
    ply: int = 0
    note: str = ""
    enter: Enter[Tournament] | None = None

    def role_for(self, first: Choice | None) -> Role:
        """Return who one is on the server: whoever only watches is nobody in particular."""
        if self.page == "history":
            return "reader"
        return "nobody" if self.page == "watch" or (first is not None and first.way == "watch") else "player"
