"""What one can choose on the home page, and what is chosen of it; pure but for the list of rooms, which time ages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from tictactoe_client.online.address import Address
from tictactoe_client.online.choice import Choice
from tictactoe_client.online.client import Client
from tictactoe_client.tui.editor import LineEditor
from tictactoe_client.tui.room_list import RoomList, short_rules
from tictactoe_engine import PRESETS, Rules
from tictactoe_protocol.pushes import HeldSeat, RulesState

LEVELS: Final = ("easy", "medium", "hard")
GAMES: Final = tuple(PRESETS)
Kind = Literal["resume", "match", "bot", "new", "join", "watch", "history", "return", "game", "room"]

CHANGING: Final[tuple[Kind, ...]] = ("match", "bot", "game")
"""Lines that have a choice of their own."""


@dataclass(frozen=True, slots=True)
class Item:
    """One line that can be chosen; `code` is a room's where the line stands for one."""

    kind: Kind
    title: str
    note: str = ""
    code: str = ""


class HomeMenu:
    """The lines of the page; `code` and `name` are what is being typed, `name` None while it is not.

    `held` are the seats that an earlier run left behind, as long as they were not taken up again.
    `full` is the code of a room that could not be joined and may be watched, None while that is not asked.

    `before` is the server that one may go back to, if any. With `is_alone` nobody else can come: what needs somebody is
    left out.
    """

    def __init__(self) -> None:
        self.rooms = RoomList()
        self.code = LineEditor()
        self.name: LineEditor | None = None
        self.full: str | None = None
        self.held: tuple[HeldSeat, ...] = ()
        self.before: Address | None = None
        self.is_alone = False
        self._chosen: tuple[Kind, str] = ("match", "")
        self._game = 0
        self._level = 1

    @property
    def rules(self) -> Rules:
        """The game to be played, with whoever comes and with the computer."""
        return PRESETS[GAMES[self._game]]

    @property
    def game(self) -> str:
        """The game's name, for the classic one its board: everybody knows that one by sight."""
        return "3x3" if GAMES[self._game] == "classic" else GAMES[self._game]

    @property
    def level(self) -> str:
        """How well the computer is to play."""
        return LEVELS[self._level]

    def items(self, client: Client | None) -> list[Item]:
        """Return all lines, those for seats left behind first and those for rooms last."""
        if self.is_alone:
            return self._items_alone()
        live = len(self.rooms.playing())
        kept = "your seat is kept: you are"
        return [
            *(Item("resume", f"Resume {seat.room}", f"{kept} {seat.seat}", seat.room) for seat in self.held),
            Item("match", "Quick match", self._describe_match()),
            Item("bot", "Play the computer"),
            Item("new", "New room", "choose the board, invite a friend"),
            Item("join", "Join with a code"),
            Item("watch", "Watch a game", f"{live} live"),
            Item("history", "Your games", "the finished ones, move by move"),
            *self._items_back(),
            *(Item("room", room.room, "", room.room) for room in self.rooms.waiting(client.player if client else None)),
        ]

    def _items_alone(self) -> list[Item]:
        return [
            Item("bot", "Play the computer"),
            Item("game", "The game", describe_game(self.rules)),
            Item("new", "New room", "any board, against the computer"),
            Item("join", "Join with a code"),
            Item("history", "Your games", "those of this run, move by move"),
            *self._items_back(),
        ]

    def _items_back(self) -> list[Item]:
        return [Item("return", "Back to", self.before.url)] if self.before is not None else []

    def chosen(self, client: Client | None) -> Item:
        """Return the chosen line, the first one where that is gone."""
        items = self.items(client)
        return next((item for item in items if (item.kind, item.code) == self._chosen), items[0])

    def choose(self, kind: Kind, code: str = "") -> None:
        """Choose a line."""
        self._chosen = (kind, code)

    def choose_by_letter(self, letter: str, client: Client) -> None:
        """Choose the next of the lines whose titles begin with this letter, but for rooms."""
        items, here = self.items(client), self.chosen(client)
        start = items.index(here) + 1
        for item in (*items[start:], *items[:start]):
            if item.kind != "room" and item.title[0].lower() == letter.lower():
                self.choose(item.kind, item.code)
                return

    def move(self, by: int, client: Client | None) -> None:
        """Choose the line so many further down, round and round."""
        keys = [(item.kind, item.code) for item in self.items(client)]
        here = keys.index(self._chosen) if self._chosen in keys else 0
        self._chosen = keys[(here + by) % len(keys)]

    def change(self, kind: Kind, by: int) -> None:
        """Change what a line of this kind has a choice of."""
        if kind in ("match", "game"):
            self._game = (self._game + by) % len(GAMES)
        elif kind == "bot":
            self._level = (self._level + by) % len(LEVELS)

    def play_again(self, choice: Choice) -> None:
        """Set level and game as in a game against the computer that was chosen elsewhere, where home has them."""
        if choice.bots and choice.bots[0] in LEVELS and choice.rules.preset in GAMES:
            self._level, self._game = LEVELS.index(choice.bots[0]), GAMES.index(choice.rules.preset)
            self.choose("bot")

    def _describe_match(self) -> str:
        rules = describe_game(self.rules)
        return f"anyone, {rules}" if rules else "anyone"


def describe_game(rules: Rules) -> str:
    """Return a game's board in very few words, nothing for the classic one: its board is its name."""
    return "" if rules == PRESETS["classic"] else short_rules(RulesState.of(rules))
