"""Shows a picture, and repaints only the cells that differ from the one before.

The library sends a line that has changed from the left edge of its widget, so the board is cut into narrow tiles.
"""

from __future__ import annotations

from itertools import groupby

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tictactoe_client.tui.picture import Cell, Picture
from tictactoe_client.tui.themes import Theme

_NOWHERE = Region(0, 0, 0, 0)
_TILE = 8
_MOST_TILES = 5
"""Over the board; one above it, one beside it and one below it come to them."""
_CLOSE_ENOUGH = 8
"""Changes in a line that are no further apart go out as one."""


class Tile(Widget, inherit_bindings=False):
    """A part of the canvas: a line is sent from the left edge of the tile in which it has changed."""

    DEFAULT_CSS = "Tile { position: absolute; display: none; background: transparent; }"

    def __init__(self, canvas: Canvas) -> None:
        super().__init__()
        self.place = _NOWHERE
        self._canvas = canvas

    def lie(self, place: Region) -> None:
        """Lie here on the canvas."""
        if place != self.place:
            self.place = place
            self.styles.offset = place.x, place.y
            self.styles.width, self.styles.height = place.width, place.height
            self.display = bool(place)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return the part of one line that lies here."""
        return self._canvas.line(self.place.y + y, self.place.x, self.place.right)


class Canvas(Widget, can_focus=True, inherit_bindings=False):
    """Shows pictures and passes on what is typed and clicked."""

    DEFAULT_CSS = "Canvas { width: 100%; height: 100%; background: transparent; }"

    class Pressed(Message):
        """A key went down; `name` is the character, or the key's name for others."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    class Pasted(Message):
        """Text was pasted."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Clicked(Message):
        """The mouse was clicked on a cell of the screen."""

        def __init__(self, x: int, y: int) -> None:
            super().__init__()
            self.x = x
            self.y = y

    class Scrolled(Message):
        """The wheel was turned, by so many lines."""

        def __init__(self, lines: int) -> None:
            super().__init__()
            self.lines = lines

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._picture = Picture(0, 0)
        self._theme = theme
        self._styles: dict[str, Style] = {}
        self._board = _NOWHERE
        self._tiles: list[Tile] = []

    @property
    def picture(self) -> Picture:
        """What is shown."""
        return self._picture

    def use_theme(self, theme: Theme) -> None:
        """Paint everything anew in other colours."""
        self._theme = theme
        self._styles.clear()
        for tile in (self, *self._tiles):
            tile.refresh()

    def show(self, picture: Picture, board: Region = _NOWHERE) -> None:
        """Show another picture, with a board here; of the same size and shape, only what differs is painted."""
        before, self._picture = self._picture, picture
        if not board or (before.width, before.height, self._board) != (picture.width, picture.height, board):
            self._board = board
            self._lay_tiles()
            self.refresh()
            return
        for y, (old, new) in enumerate(zip(before.rows, picture.rows, strict=True)):
            if old != new:
                self._paint([Region(start, y, end - start, 1) for start, end in find_changes(old, new)])

    def _paint(self, changed: list[Region]) -> None:
        """Let the tiles that show parts of a line paint them anew, as one: each would be sent from the tile's edge."""
        for tile in self._tiles:
            if parts := [part for one in changed if (part := tile.place.intersection(one))]:
                tile.refresh(Region.from_union(parts).translate(-tile.place.offset))

    def _lay_tiles(self) -> None:
        """Lay one tile above the board, one beside it, one below it, and the others in columns over it."""
        width, height, board = self._picture.width, self._picture.height, self._board
        places: list[Region] = []
        if board:
            across = max(_TILE, -(-board.width // _MOST_TILES))
            columns = [(x, min(across, board.right - x)) for x in range(board.x, board.right, across)]
            places = [
                Region(0, 0, width, board.y),
                Region(board.right, board.y, width - board.right, board.height),
                Region(0, board.bottom, width, height - board.bottom),
                *(Region(x, board.y, wide, board.height) for x, wide in columns),
            ]
        new = [Tile(self) for _ in places[len(self._tiles) :]]
        self._tiles += new
        for number, tile in enumerate(self._tiles):
            tile.lie(places[number] if number < len(places) else _NOWHERE)
        if new:
            self.mount(*new)

    def line(self, y: int, start: int, end: int) -> Strip:
        """Return a part of one line as segments of one style each; every segment has one, also without colour.

        Blanks go with what stands before them where that looks the same.
        """
        if y >= self._picture.height:
            return Strip([Segment(" " * (end - start), self._style(""))])
        cells = self._picture.rows[y][start:end]
        parts: list[tuple[str, str]] = []
        for role, group in groupby(cells, key=lambda cell: cell[1]):
            text = "".join(character for character, _ in group)
            if not text.strip(" "):
                before = parts[-1][1] if parts else ""
                role = before if self._is_blank_alike(role, before) else role
            elif parts and not parts[-1][0].strip(" ") and self._is_blank_alike(parts[-1][1], role):
                parts[-1] = (parts[-1][0], role)
            if parts and parts[-1][1] == role:
                parts[-1] = (parts[-1][0] + text, role)
            else:
                parts.append((text, role))
        return Strip([Segment(text, self._style(role)) for text, role in parts], len(cells))

    def render_line(self, y: int) -> Strip:
        """Return a whole line, which is seen where no tile lies."""
        return self.line(y, 0, self.size.width)

    def _is_blank_alike(self, role: str, other: str) -> bool:
        """Tell whether a blank looks the same in both roles."""
        one, two = self._style(role), self._style(other)
        return one.bgcolor == two.bgcolor and not (one.reverse or two.reverse or one.underline or two.underline)

    def _style(self, role: str) -> Style:
        style = self._styles.get(role)
        if style is None:
            definition = self._theme.get(role, self._theme.get("", ""))
            style = self._styles[role] = Style.parse(definition) if definition else Style()
        return style

    async def _on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        character = event.character
        is_text = character is not None and len(character) == 1 and character.isprintable() and "alt+" not in event.key
        self.post_message(self.Pressed(character if is_text and character and character != " " else event.key))

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        self.post_message(self.Pasted(event.text))

    def on_click(self, event: events.Click) -> None:
        """Pass a click on."""
        self.post_message(self.Clicked(event.screen_x, event.screen_y))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Pass the wheel on."""
        event.stop()
        self.post_message(self.Scrolled(1))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Pass the wheel on."""
        event.stop()
        self.post_message(self.Scrolled(-1))


def find_changes(old: list[Cell], new: list[Cell]) -> list[tuple[int, int]]:
    """Return the stretches (start, end) in which two rows differ, close ones joined, wide characters whole."""
    found: list[tuple[int, int]] = []
    for x, (before, after) in enumerate(zip(old, new, strict=True)):
        if before == after:
            continue
        start = x - 1 if x and (not after[0] or not before[0]) else x
        end = x + 2 if x + 1 < len(new) and (not new[x + 1][0] or not old[x + 1][0]) else x + 1
        if found and start - found[-1][1] <= _CLOSE_ENOUGH:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found
