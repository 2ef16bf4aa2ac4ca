"""A terminal's screen as an SVG picture that looks the same everywhere.

Lines, blocks and braille are drawn as shapes and letters are placed one by one, so the result does not depend on the
font. The module is pure: cells in, text out; the picture loads nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 9, 20
"""The size of a cell in the picture's units."""

MARGIN: Final = 14
BAR: Final = 30
"""The margin around the screen, and the height of the window's title bar."""

_FONT: Final = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"

_LEFT, _RIGHT, _UP, _DOWN = range(4)

_LINES: Final = {
    "─": "1100", "│": "0011", "┌": "0101", "┐": "1001", "└": "0110", "┘": "1010", "├": "0111", "┤": "1011",
    "┬": "1101", "┴": "1110", "┼": "1111", "╴": "1000", "╶": "0100", "╵": "0010", "╷": "0001",
    "╭": "0101", "╮": "1001", "╰": "0110", "╯": "1010",
    "━": "2200", "┃": "0022", "┏": "0202", "┓": "2002", "┗": "0220", "┛": "2020", "┣": "0222", "┫": "2022",
    "┳": "2202", "┻": "2220", "╋": "2222", "╸": "2000", "╺": "0200", "╹": "0020", "╻": "0002",
    "═": "3300", "║": "0033", "╔": "0303", "╗": "3003", "╚": "0330", "╝": "3030",
    "╠": "0333", "╣": "3033", "╦": "3303", "╩": "3330", "╬": "3333",
    "┿": "2211", "╂": "1122", "┝": "0211", "┥": "2011", "┠": "0122", "┨": "1022", "┯": "2201", "┷": "2210",
}  # fmt: skip
"""The thickness of the line from the middle to the left, right, above and below: 0 none, 1 thin, 2 thick, 3 double."""

_RULES: Final = "─━═"
"""Characters that are joined to one line when repeated."""

_BLOCKS: Final = {
    "█": (0, 0, 8, 8), "▀": (0, 0, 8, 4), "▄": (0, 4, 8, 8), "▌": (0, 0, 4, 8), "▐": (4, 0, 8, 8),
    "▁": (0, 7, 8, 8), "▂": (0, 6, 8, 8), "▃": (0, 5, 8, 8), "▅": (0, 3, 8, 8), "▆": (0, 2, 8, 8), "▇": (0, 1, 8, 8),
    "▏": (0, 0, 1, 8), "▎": (0, 0, 2, 8), "▍": (0, 0, 3, 8), "▋": (0, 0, 5, 8), "▊": (0, 0, 6, 8), "▉": (0, 0, 7, 8),
    "▔": (0, 0, 8, 1), "▕": (7, 0, 8, 8),
    "▘": (0, 0, 4, 4), "▝": (4, 0, 8, 4), "▖": (0, 4, 4, 8), "▗": (4, 4, 8, 8),
}  # fmt: skip
"""The part of the cell that a block fills, in eighths: left, upper, right, lower."""

_QUARTERS: Final = {"▙": "▌▗", "▛": "▌▝", "▜": "▐▘", "▟": "▐▖", "▚": "▘▗", "▞": "▝▖"}
"""Blocks that consist of others."""

_SHADES: Final = {"░": 0.25, "▒": 0.5, "▓": 0.75}

_SLOPES: Final = {"╱": (True,), "╲": (False,), "╳": (True, False)}
"""Diagonals: whether they rise to the right."""

_BOLD: Final = ' font-weight="700"'
_ITALIC: Final = ' font-style="italic"'

_BRAILLE: Final = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3))
"""The column and the row of each dot, by its bit."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One character of a screen with its colours, as in ``#aabbcc``."""

    text: str
    ink: str
    ground: str
    bold: bool = False
    italic: bool = False
    underlined: bool = False


def draw_screen(rows: Sequence[Sequence[Cell]], ground: str, *, title: str) -> str:
    """Return a window with this screen as SVG; `ground` is the colour around the cells."""
    columns = max(map(len, rows), default=0)
    width, height = columns * WIDTH + 2 * MARGIN, len(rows) * HEIGHT + BAR + MARGIN
    frame = _mix(ground, "#808080", 0.35)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' role="img" aria-label="{escape(title, {chr(34): "&quot;"})}">',
        f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="9" fill="{ground}" stroke="{frame}"/>',
        *(f'<circle cx="{18 + 17 * dot}" cy="15" r="5" fill="{frame}"/>' for dot in range(3)),
        f'<g font-family="{_FONT}" font-size="15" text-anchor="middle" transform="translate({MARGIN} {BAR})">',
    ]
    for y, row in enumerate(rows):
        parts += _grounds(row, y, ground)
    for y, row in enumerate(rows):
        parts += _draw_row(row, y * HEIGHT)
    return "\n".join([*parts, "</g>", "</svg>", ""])


def _draw_row(row: Sequence[Cell], y: float) -> Iterator[str]:
    """Yield the contents of a row: neighbours of equal colour or style joined."""
    shapes: dict[str, list[str]] = {}
    texts: dict[str, list[tuple[float, str]]] = {}
    for column, cell in enumerate(row):
        x = column * WIDTH
        if cell.text in _RULES:
            if column and _goes_on(row[column - 1], cell):
                continue
            width = (
                next((end for end in range(column + 1, len(row)) if not _goes_on(cell, row[end])), len(row)) - column
            )
            shapes.setdefault(cell.ink, []).extend(_strokes(_LINES[cell.text], x, y, width * WIDTH))
            continue
        if cell.text in _SHADES:
            yield _rectangle(x, y, WIDTH, HEIGHT, _mix(cell.ground, cell.ink, _SHADES[cell.text]))
        elif shape := "".join(_shape_of(cell.text, x, y)):
            shapes.setdefault(cell.ink, []).append(shape)
        elif cell.text.strip():
            look = f' fill="{cell.ink}"{_BOLD * cell.bold}{_ITALIC * cell.italic}'
            texts.setdefault(look, []).append((x + WIDTH / 2, cell.text[0]))
        if cell.underlined:
            shapes.setdefault(cell.ink, []).append(_path(x, y + HEIGHT * 0.86, x + WIDTH, y + HEIGHT * 0.92))
    for ink, parts in shapes.items():
        yield f'<path fill="{ink}" d="{"".join(parts)}"/>'
    for look, letters in texts.items():
        places = " ".join(f"{x:g}" for x, _ in letters)
        text = escape("".join(letter for _, letter in letters))
        yield f'<text y="{y + HEIGHT * 0.73:g}" x="{places}"{look}>{text}</text>'


def _grounds(row: Sequence[Cell], y: int, ground: str) -> Iterator[str]:
    """Yield the backgrounds of a row, equal neighbours joined, without the window's own."""
    start = 0
    for x in range(1, len(row) + 1):
        if x == len(row) or row[x].ground != row[start].ground:
            if row[start].ground != ground:
                yield _rectangle(start * WIDTH, y * HEIGHT, (x - start) * WIDTH, HEIGHT, row[start].ground)
            start = x


def _shape_of(text: str, x: float, y: float) -> Iterator[str]:
    """Yield the path of a character that is drawn as a shape; nothing for a letter."""
    if text in _LINES:
        yield from _strokes(_LINES[text], x, y)
    elif text in _BLOCKS or text in _QUARTERS:
        for part in _QUARTERS.get(text, text):
            left, upper, right, lower = _BLOCKS[part]
            across, down = WIDTH / 8, HEIGHT / 8
            yield _path(x + left * across, y + upper * down, x + right * across, y + lower * down)
    elif len(text) == 1 and 0x2800 < ord(text) <= 0x28FF:
        for bit, (column, row) in enumerate(_BRAILLE):
            if (ord(text) - 0x2800) >> bit & 1:
                yield _dot(x + WIDTH * (column + 0.5) / 2, y + HEIGHT * (row + 0.5) / 4)
    elif text in _SLOPES:
        for rises in _SLOPES[text]:
            top, bottom = (x + WIDTH, x) if rises else (x, x + WIDTH)
            yield f"M{top - 0.8:g} {y:g}h1.6L{bottom + 0.8:g} {y + HEIGHT:g}h-1.6z"


def _dot(x: float, y: float, radius: float = 1.6) -> str:
    return f"M{x - radius:g} {y:g}a{radius} {radius} 0 1 0 {2 * radius:g} 0a{radius} {radius} 0 1 0 {-2 * radius:g} 0"


def _goes_on(one: Cell, other: Cell) -> bool:
    """Return whether two neighbouring cells belong to the same line."""
    return (one.text, one.ink) == (other.text, other.ink)


def _strokes(ways: str, x: float, y: float, width: float = WIDTH) -> Iterator[str]:
    """Yield the lines from the middle of a cell to its sides, as rectangles of a path."""
    middle_x, middle_y = x + width / 2, y + HEIGHT / 2
    for way, kind in enumerate(ways):
        if kind == "0":
            continue
        half = 1.25 if kind == "2" else 0.6
        reach = 2.1 if "3" in ways else half
        for aside in (-1.5, 1.5) if kind == "3" else (0,):
            if way in (_LEFT, _RIGHT):
                start, end = (x, middle_x + reach) if way == _LEFT else (middle_x - reach, x + width)
                yield _path(start, middle_y + aside - half, end, middle_y + aside + half)
            else:
                start, end = (y, middle_y + reach) if way == _UP else (middle_y - reach, y + HEIGHT)
                yield _path(middle_x + aside - half, start, middle_x + aside + half, end)


def _path(left: float, upper: float, right: float, lower: float) -> str:
    return f"M{left:g} {upper:g}H{right:g}V{lower:g}H{left:g}z"


def _rectangle(x: float, y: float, width: float, height: float, fill: str) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}"/>'


def _mix(one: str, other: str, share: float) -> str:
    """Return a mixture of two colours."""
    pairs = ((int(one[place : place + 2], 16), int(other[place : place + 2], 16)) for place in (1, 3, 5))
    return "#" + "".join(f"{round(first + (second - first) * share):02x}" for first, second in pairs)
