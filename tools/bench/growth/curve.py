"""A curve: what things cost at several sizes, printed row by row as they are measured, and how fast they grow."""

from __future__ import annotations

import math
from collections.abc import Sequence

_WIDTH = 15


class Curve:
    """The rows of one part; `fitted` are the columns whose exponent is of interest, a missing figure is None."""

    def __init__(self, title: str, size: str, columns: Sequence[str], fitted: Sequence[str] = ()) -> None:
        self.title = title
        self._size = size
        self._columns = columns
        self._fitted = fitted
        self._rows: list[tuple[int, Sequence[float | None]]] = []
        print(f"\n{title}\n{size:>10}" + "".join(f"{column:>{_WIDTH}}" for column in columns), flush=True)

    def add(self, size: int, *figures: float | None, remark: str = "") -> None:
        """Print a row and keep it."""
        self._rows.append((size, figures))
        cells = "".join(f"{'-' if figure is None else render_figure(figure):>{_WIDTH}}" for figure in figures)
        print(f"{size:>10,}{cells}   {remark}".rstrip(), flush=True)

    def end(self) -> None:
        """Print the exponents: 0 is flat, 1 is linear, 2 grows with the square."""
        for column in self._fitted:
            place = self._columns.index(column)
            points = [(size, figures[place]) for size, figures in self._rows]
            exponent = fit_exponent([(size, figure) for size, figure in points if figure is not None])
            told = "too few points" if exponent is None else f"n^{exponent:.2f}"
            print(f"{'':>10} {column} grows as {told}", flush=True)


def fit_exponent(points: Sequence[tuple[float, float]]) -> float | None:
    """Return the slope of the least squares line through the logarithms, or None for fewer than two points.

    >>> round(fit_exponent([(10, 300), (20, 1200), (40, 4800)]), 6)
    2.0
    """
    logs = [(math.log(size), math.log(figure)) for size, figure in points if size > 0 and figure > 0]
    if len({x for x, _ in logs}) < 2:
        return None
    mean_x = sum(x for x, _ in logs) / len(logs)
    mean_y = sum(y for _, y in logs) / len(logs)
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)


def render_figure(figure: float) -> str:
    """Return a figure with three digits that count.

    >>> render_figure(0.01234), render_figure(12.34), render_figure(12345)
    ('0.0123', '12.3', '12,345')
    """
    if figure == 0 or abs(figure) >= 100:
        return f"{figure:,.0f}"
    return f"{figure:.{max(0, 2 - math.floor(math.log10(abs(figure))))}f}"
