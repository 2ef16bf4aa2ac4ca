"""Whom one does not want to hear in a room: for oneself alone, and nobody is told. Pure.

Somebody is known by the public id where the server says whose words they are, and so stays muted under another name.
"""

from __future__ import annotations

from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import ChatLine, RoomState


class Muted:
    """Those who are not heard by `viewer`."""

    def __init__(self, viewer: str) -> None:
        self._viewer = viewer
        self._muted: dict[str, str] = {}
        self._heard: dict[str, str] = {}

    def hears(self, line: ChatLine) -> bool:
        """Tell whether a line is to be shown, and remember whose it is."""
        self._heard[_key(line.from_)] = line.player or line.from_
        return line.player not in self._muted if line.player else line.from_ not in self._muted.values()

    def mute(self, name: str, state: RoomState) -> str:
        """Hear no more of whoever has this name, at the table or among those who have spoken; return what to say."""
        who, known = self._find(name, state)
        if who is None:
            return f"Nobody here is called {clean_text(name)}."
        if who == self._viewer:
            return "That is you."
        self._muted[who] = known
        return f"{known} is muted. To hear them again: unmute {known}"

    def unmute(self, name: str) -> str:
        """Hear somebody again; return what to say."""
        for who, known in self._muted.items():
            if _key(known) == _key(name):
                del self._muted[who]
                return f"{known} is heard again."
        return f"{clean_text(name)} is not muted."

    def describe(self) -> str:
        """Return who is muted."""
        return f"Muted: {', '.join(self._muted.values())}." if self._muted else "Nobody is muted. Type mute and a name."

    def _find(self, name: str, state: RoomState) -> tuple[str | None, str]:
        for seat in state.seats.values():
            if seat is not None and _key(seat.name) == _key(name):
                return seat.player, clean_text(seat.name)
        return self._heard.get(_key(name)), clean_text(name)


def _key(name: str) -> str:
    return name.strip().casefold()
