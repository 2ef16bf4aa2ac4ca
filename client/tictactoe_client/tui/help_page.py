"""The keys: in a room those for its board, elsewhere what there is to do from home."""

from __future__ import annotations

from tictactoe_client.settings import ExitCode
from tictactoe_client.tui.page import Desk, Page, draw_frame
from tictactoe_client.tui.picture import Picture, wrap
from tictactoe_client.tui.room_help import list_room_help
from tictactoe_client.words.program import own_command
from tictactoe_protocol.pushes import RoomState


class HelpPage(Page):
    """What can be pressed and typed; `state` is that of the room one is in, if any."""

    max_height = 60

    def __init__(self, desk: Desk, state: RoomState | None) -> None:
        super().__init__(desk)
        self._state = state
        self._top = 0

    def press(self, key: str) -> None:
        """Any key goes back, but for those that scroll."""
        does = self.desk.keymap.does
        if does(key, "leave"):
            self.desk.quit(ExitCode.INTERRUPTED)
        elif does(key, "down") or does(key, "up"):
            self.scroll(1 if does(key, "down") else -1)
        else:
            self.desk.close_page()

    def scroll(self, lines: int) -> None:
        """Scroll."""
        self._top = max(0, self._top + lines)

    def draw(self, picture: Picture, status: tuple[str, str] | None) -> None:
        """Draw as much as there is room for."""
        hints = "any key goes back" if self.desk.settings.ascii else "↑↓ scroll  any other key goes back"
        draw_frame(picture, (("Help", "title"),), ("", ""), hints, ascii_only=self.desk.settings.ascii)
        lines = [part for line in self._lines() for part in wrap(line, picture.width - 6)]
        space = picture.height - 5
        self._top = min(self._top, max(0, len(lines) - space))
        for y, line in enumerate(lines[self._top : self._top + space], 2):
            picture.put(3, y, line)

    def _lines(self) -> list[str]:
        show = self.desk.keymap.show
        if self._state is not None:
            return list_room_help(self._state, self.desk.keymap, self.desk.settings)
        return [
            f"Everywhere: {show('help')} help, {show('redraw')} draw anew, {show('leave')} leave, {show('quit')} quit.",
            "",
            "At the board:",
            "  On 3x3 the digits 1-9 and the letters qwe/asd/zxc place at once, by their place.",
            "  On larger boards type the cell, such as h8, and Enter; Backspace edits, Esc clears.",
            f"  Arrows move the cursor, Enter or Space places. {show('chat')} talks to everybody in the room.",
            f"  {show('accept')} accepts what the other offers, {show('decline')} refuses it.",
            f"  Of an opponent who has been gone too long {show('claim')} claims the win, {show('claim_draw')} a draw.",
            "  The mouse places on 3x3; on larger boards a second click does.",
            "  (O) is the last move, <X> the deciding line, [ ] the cursor, x? a move on its way.",
            "",
            "Watching, and after the end:",
            "  Left and right step through the game, End returns to the present.",
            f"  {show('review')} shows what each move is worth to the player to move: +3 wins in 3 moves of all",
            "  players, -4 loses in 4, = is a draw, ~+ ~ ~- are guesses (good, even, bad), and * marks the best.",
            "  Up and down go from the best cell to the worst; a click, or :h8, points at one.",
            f"  {show('rematch')} asks for a rematch, {show('another')} for another opponent.",
            f"  {show('save')} saves the game in a file.",
            "",
            f"Another window, a script, a screen reader: {own_command('--help')}",
        ]
