"""A recorded game, move by move; it needs no server, and stays when one goes away."""

from __future__ import annotations

from tictactoe_client.tui.page import Desk, Page
from tictactoe_client.tui.picture import Picture
from tictactoe_client.tui.replay_view import ReplayView
from tictactoe_client.tui.save_line import SaveLine
from tictactoe_engine.records import GameRecord


class ReplayPage(Page):
    """One game, first seen when `ply` moves lie on the board, and with a note until the first key."""

    needs_server = False

    def __init__(self, desk: Desk, record: GameRecord, ply: int = 0, note: str = "") -> None:
        super().__init__(desk)
        self._record = record
        self._view = ReplayView(desk, record, ply)
        self._saving = SaveLine(desk)
        self._note = note

    @property
    def window_title(self) -> str:
        """Say what this is."""
        return "replay: tictactoe"

    def wanted_size(self, width: int, height: int) -> tuple[int, int]:
        """Return what the board and what stands beside it can use."""
        return self._view.wanted_size(width, height)

    def press(self, key: str) -> None:
        """Take a key: for what is being typed, else to go somewhere in the game."""
        does, self._note = self.desk.keymap.does, ""
        if self._saving.press(key) or self._press_number(key):
            return
        if does(key, "back"):
            self.desk.close_page()
        elif does(key, "save"):
            self._saving.save(self._record)
        elif does(key, "review"):
            self.desk.say("What moves are worth is shown in a room, while one watches and after the end.")
        elif does(key, "help"):
            self.open_help()
        else:
            self._press_way(key)

    def paste(self, text: str) -> None:
        """Pasted text belongs to a file's name."""
        self._saving.paste(text)

    def click(self, x: int, y: int) -> None:
        """A click on a mark goes to the move that put it there."""
        cell = self._view.cell_at(x, y)
        if cell is not None and cell in self._record.moves:
            self._view.go(self._record.moves.index(cell) + 1)

    def scroll(self, lines: int) -> None:
        """The wheel steps."""
        self._view.go(self._view.ply + lines)

    def _press_way(self, key: str) -> None:
        """Go back or on, to the start or the end, or look at another part of a large board."""
        does, view = self.desk.keymap.does, self._view
        if does(key, "left") or does(key, "right"):
            view.go(view.ply + (1 if does(key, "right") else -1))
        elif does(key, "home") or does(key, "end"):
            view.go(len(self._record.moves) if does(key, "end") else 0)
        elif does(key, "up") or does(key, "down"):
            view.scroll(1 if does(key, "down") else -1, 0)
        elif does(key, "aside_left") or does(key, "aside_right"):
            view.scroll(0, 1 if does(key, "aside_right") else -1)

    def _press_number(self, key: str) -> bool:
        """Take one more digit of a move's number, or what ends it; tell whether it was that."""
        ahead = self._view.ahead
        if key.isascii() and key.isdigit():
            ahead.press(key)
        elif not ahead.text:
            return False
        elif key == "enter":
            self._go_to(int(ahead.clear()))
        elif self.desk.keymap.does(key, "back"):
            ahead.clear()
        elif key == "backspace":
            ahead.press(key)
        else:
            ahead.clear()
            return False
        return True

    def _go_to(self, ply: int) -> None:
        if ply > len(self._record.moves):
            self.desk.say(f"There is no move {ply}: 0 to {len(self._record.moves)}.")
        else:
            self._view.go(ply)

    def draw(self, picture: Picture, status: tuple[str, str] | None) -> None:
        """Draw the game at the moment that is looked at."""
        show = self.desk.keymap.show
        arrows = self.desk.keymap.show_pair("left", "right", ascii_only=self.desk.settings.ascii)
        back = "back" if len(self.desk.pages) > 1 else "leave"
        hints = (
            f"{arrows} step  {show('home')}/{show('end')}  {show('back')} {back}  {show('save')} save  "
            f"12 Enter go to a move  {show('help')} help"
        )
        note = (self._note, "warn") if self._note else None
        self._view.draw(picture, status or note, self._saving.text or hints)
