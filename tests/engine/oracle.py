"""A second, deliberately naive engine to compare the real one with. The two share no code.

The board is a plain list, and every line of the board is scanned after each move.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Plan:
    """The rules of a game, as the oracle stores them."""

    rows: int
    columns: int
    line: int
    marks: str
    blocked: tuple[int, ...]
    misere: bool
    gravity: bool
    exact: bool = False
    opening: str | None = None

    def list_lines(self) -> list[tuple[list[int], list[int]]]:
        """Return each line's cells and the cells next to its ends, by walking from every cell in four directions."""
        lines = []
        for row in range(self.rows):
            for column in range(self.columns):
                for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                    places = [(row + down * step, column + right * step) for step in range(-1, self.line + 1)]
                    there = [0 <= r < self.rows and 0 <= c < self.columns for r, c in places]
                    cells = [r * self.columns + c for r, c in places]
                    if all(there[1:-1]):
                        beyond = [cells[end] for end in (0, -1) if there[end]]
                        lines.append((cells[1:-1], beyond))
        return lines

    def is_winnable(self) -> bool:
        """Return whether any line has no blocked cell."""
        return any(not set(line) & set(self.blocked) for line, _ in self.list_lines())

    def is_sensible(self) -> bool:
        """Return whether `exact` and `opening` fit the other rules."""
        if self.exact and self.gravity:
            return False
        if self.opening == "swap2":
            free = self.rows * self.columns - len(set(self.blocked))
            return len(self.marks) == 2 and self.line > 3 and not self.gravity and not self.misere and free > 5
        return self.opening is None or len(self.marks) == 2


@dataclass
class NaiveGame:
    """A mutable game: the board, the player to move, and the ending or None."""

    plan: Plan
    cells: list[str] = field(default_factory=list)
    moves: list[int] = field(default_factory=list)
    gone: list[tuple[int, str]] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)
    ending: tuple[str, str | None, tuple[int, ...]] | None = None

    def __post_init__(self) -> None:
        self.cells = ["."] * (self.plan.rows * self.plan.columns)
        for cell in self.plan.blocked:
            self.cells[cell] = "#"
        self._lines = self.plan.list_lines()
        self._queue = list(self.plan.marks)

    @property
    def turn(self) -> str | None:
        """The seat to act: the mark at the head of the queue, except in openings; None once the game is over."""
        if self.ending is not None:
            return None
        if self.plan.opening == "swap2" and self.taken in ([], ["more"]):
            first_acts = len(self.moves) < 3 or len(self.moves) == 5
            return self.plan.marks[0 if first_acts else 1]
        return self._queue[0]

    def list_options(self) -> list[str]:
        kind = (self.plan.opening or "", len(self.moves))
        due: list[str] | None = {("pie", 1): [], ("swap2", 3): [], ("swap2", 5): ["more"]}.get(kind)
        if self.ending is not None or self.taken != due:
            return []
        return [*self.plan.marks, "more"] if (self.plan.opening, due) == ("swap2", []) else [*self.plan.marks]

    def choose(self, take: str) -> None:
        self.taken.append(take)

    def list_legal_cells(self) -> list[int]:
        """Return every cell that would be accepted, found by trying them all."""
        return [cell for cell in range(len(self.cells)) if self.find_fault(cell) is None]

    def find_fault(self, cell: int) -> str | None:
        """Return the error code for playing `cell`, or None for a legal move."""
        if self.ending is not None:
            return "game_over"
        if self.list_options():
            return "choose_first"
        if cell < 0 or cell >= len(self.cells):
            return "off_board"
        if self.cells[cell] == "#":
            return "blocked"
        if self.cells[cell] != ".":
            return "occupied"
        below = range(cell + self.plan.columns, len(self.cells), self.plan.columns)
        if self.plan.gravity and any(self.cells[lower] == "." for lower in below):
            return "floating"
        return None

    def play(self, cell: int) -> None:
        """Put the mark to move on a legal cell and scan the whole board for an ending."""
        mark = self._queue[0]
        self.cells[cell] = mark
        self.moves.append(cell)
        completed = [line for line, beyond in self._lines if self._holds(mark, line, beyond)]
        if completed:
            others = [other for other in self.plan.marks if other != mark]
            winner = others[0] if self.plan.misere else mark
            self.ending = ("line", winner, tuple(sorted({place for line in completed for place in line})))
        elif "." not in self.cells:
            self.ending = ("full", None, ())
        self._queue.append(self._queue.pop(0))

    def _holds(self, mark: str, line: list[int], beyond: list[int]) -> bool:
        is_longer = any(self.cells[place] == mark for place in beyond)
        return all(self.cells[place] == mark for place in line) and not (self.plan.exact and is_longer)

    def can_pass_over(self, mark: str) -> bool:
        """Return whether `mark` may drop out: it still plays, the game is open, and two others remain."""
        return self.ending is None and mark in self._queue and len(self._queue) > 2

    def pass_over(self, mark: str) -> None:
        """Remove `mark` from the queue for good."""
        self._queue.remove(mark)
        self.gone.append((len(self.moves), mark))
