"""What one person has in hand at a board: what only the screen knows, until it is sent.

The page's keys change it, its deeds read it, and the view draws it. Pure.
"""

from __future__ import annotations

from typing import Final, Literal

from tictactoe_client.tui.editor import LineEditor
from tictactoe_engine import FREE
from tictactoe_protocol.pushes import RoomState

_MOST_HEARD: Final = 200
"""How many lines wait to be seen; of more the oldest are dropped."""


QUIET_SECONDS: Final = 0.4
"""For how long after the answer to a question no key places."""


class Hand:
    """The cursor, what is being typed and to whom, what is being asked, and what is on its way.

    `pending` is a move that is sent, by its cell and mark; `errand` says what is done meanwhile to get elsewhere.
    `heard` is what was said since the last key, of which the first `told` lines are in sight, and `returned` that the
    connection is back; `unsaid` is what could not be said, and `keys` counts the keys.
    """

    def __init__(self) -> None:
        self.mode: Literal["board", "chat", "command"] = "board"
        self.line = LineEditor()
        self.ahead = LineEditor(limit=8)
        self.cursor: int | None = None
        self.pending: tuple[int, str] | None = None
        self.confirming: Literal["resign", "leave", "quit", "another"] | None = None
        self.errand: str | None = None
        self.shows_code = True
        self.heard: list[str] = []
        self.told = 0
        self.returned = ""
        self.unsaid = ""
        self.keys = 0
        self.quiet_until = 0.0

    def hear(self, line: str) -> None:
        """Take something that was said."""
        dropped = max(0, len(self.heard) + 1 - _MOST_HEARD)
        self.heard, self.told = [*self.heard[dropped:], line], max(0, self.told - dropped)

    def note_key(self) -> None:
        """Take note of a key: what was in sight before it has been seen, and what was not has its turn."""
        self.keys, self.heard, self.told = self.keys + 1, self.heard[self.told :], 0

    def answered(self, now: float) -> None:
        """Take note that a key has answered a question: what is typed on is not meant for the board."""
        self.quiet_until = now + QUIET_SECONDS

    def is_quiet(self, now: float) -> bool:
        """Tell whether a question was answered a moment ago, so that no key may place."""
        return now < self.quiet_until

    def begin_chat(self) -> None:
        """Open the line for saying something, with what could not be said before."""
        self.mode = "chat"
        self.line.text, self.unsaid = self.unsaid, ""

    def follow(self, state: RoomState) -> None:
        """Let go of what a newer state has settled: a move that arrived, a cursor beyond the board."""
        if self.pending is not None and (state.board[self.pending[0]] != FREE or state.status != "playing"):
            self.pending = None
        if self.cursor is not None and self.cursor >= len(state.board):
            self.cursor = None

    def move_cursor(self, step: tuple[int, int], state: RoomState) -> None:
        """Move the cursor by rows and columns; the first time it shows on the last move, else in the centre."""
        rows, columns = state.rules.rows, state.rules.columns
        if self.cursor is None:
            self.cursor = state.last if state.last is not None else (rows // 2) * columns + columns // 2
            return
        row, column = divmod(self.cursor, columns)
        row = min(max(row + step[0], 0), rows - 1)
        column = min(max(column + step[1], 0), columns - 1)
        self.cursor = row * columns + column
