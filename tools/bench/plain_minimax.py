"""The minimax that tutorials teach, to measure against: a board object around a list, no pruning, no memory.

It is written the way such programs are: the game keeps its winner, looks for lines by slices of the list after each
move, lists the free cells with a comprehension, and the search undoes its moves.
"""

from __future__ import annotations


class PlainGame:
    """A 3x3 board as a list of nine strings."""

    def __init__(self) -> None:
        self.board = [" "] * 9
        self.winner: str | None = None

    def free_cells(self) -> list[int]:
        """Return the cells that nobody has taken."""
        return [cell for cell, mark in enumerate(self.board) if mark == " "]

    def count_free(self) -> int:
        """Return how many cells are free."""
        return self.board.count(" ")

    def move(self, cell: int, mark: str) -> None:
        """Take a cell and note a winner."""
        self.board[cell] = mark
        if self.completes_line(cell, mark):
            self.winner = mark

    def undo(self, cell: int) -> None:
        """Give a cell back."""
        self.board[cell] = " "
        self.winner = None

    def completes_line(self, cell: int, mark: str) -> bool:
        """Tell whether the row, the column or a diagonal of this cell is all of one mark."""
        row, column = cell // 3, cell % 3
        if all(taken == mark for taken in self.board[row * 3 : row * 3 + 3]):
            return True
        if all(taken == mark for taken in [self.board[column + 3 * k] for k in range(3)]):
            return True
        if cell % 2 == 0:
            if all(taken == mark for taken in [self.board[k] for k in (0, 4, 8)]):
                return True
            if all(taken == mark for taken in [self.board[k] for k in (2, 4, 6)]):
                return True
        return False


class PlainMinimax:
    """Looks at every line of play to its end; `nodes` counts the positions, the root's among them."""

    def __init__(self) -> None:
        self.game = PlainGame()
        self.nodes = 0

    def best(self, mark: str, player: str) -> dict[str, int]:
        """Return the best cell and its score for `player` when `mark` is to move: quick wins, slow losses."""
        self.nodes += 1
        other = "O" if mark == "X" else "X"
        if self.game.winner == other:
            score = self.game.count_free() + 1
            return {"cell": -1, "score": score if other == player else -score}
        if not self.game.count_free():
            return {"cell": -1, "score": 0}
        best = {"cell": -1, "score": -100 if mark == player else 100}
        for cell in self.game.free_cells():
            self.game.move(cell, mark)
            result = self.best(other, player)
            self.game.undo(cell)
            if (result["score"] > best["score"]) == (mark == player) and result["score"] != best["score"]:
                best = {"cell": cell, "score": result["score"]}
        return best


def plain_first_move() -> tuple[int, int]:
    """Return the best first cell of 3x3 and how many positions were visited to find it: 549,946."""
    search = PlainMinimax()
    return search.best("X", "X")["cell"], search.nodes
