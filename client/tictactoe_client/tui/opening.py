"""Where the full screen begins, and as whom: at home, at a list of games, or at a recorded game without any server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tictactoe_client.online.client import Choice
from tictactoe_client.session import Role
from tictactoe_engine.records import GameRecord

if TYPE_CHECKING:
    from tictactoe_client.tui.app import TicTacToe
    from tictactoe_client.tui.screen import ClientScreen


@dataclass(frozen=True, slots=True)
class Opening:
    """The first page; `limit` is how many finished games to list at most, None for all.

    `record` is what to replay, first seen after `ply` moves and with the `note` on the status line.
    """

    page: Literal["home", "watch", "history", "replay"] = "home"
    limit: int | None = None
    record: GameRecord | None = None
    ply: int = 0
    note: str = ""

    @property
    def connects(self) -> bool:
        """Whether a server is needed."""
        return self.record is None

    def role_for(self, first: Choice | None) -> Role:
        """Return who one is on the server: whoever only watches is nobody in particular."""
        if self.page == "history":
            return "reader"
        return "nobody" if self.page == "watch" or (first is not None and first.way == "watch") else "player"

    def lay_screens(self, desk: TicTacToe) -> list[ClientScreen]:
        """Return the screens to begin with; where home is not among them, going back ends the program."""
        if self.record is not None:
            from tictactoe_client.input.record import RecordedRoom
            from tictactoe_client.tui.room.screen import RoomScreen

            return [RoomScreen(desk, RecordedRoom(self.record), news=self.note, ply=self.ply)]
        if self.page == "history":
            from tictactoe_client.tui.history import HistoryScreen

            return [HistoryScreen(self.limit)]
        from tictactoe_client.tui.home import HomeScreen
        from tictactoe_client.tui.watch import WatchScreen

        return [HomeScreen(), WatchScreen()] if self.page == "watch" else [HomeScreen()]
