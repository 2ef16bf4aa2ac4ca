"""Walks through the full screen from the first page to the end of a game, by somebody who knows no keys.

Whoever walks reads the screen and presses only what it names at that moment.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

from tests.named_keys import named_keys
from tests.peer import Peer, play_out
from tests.tui.conftest import ScreenUser

PATIENCE_SECONDS = 20.0
_END = re.compile("You win|You lose|It's a draw")


class Walker:
    """Somebody before a screen in this process."""

    def __init__(self, user: ScreenUser) -> None:
        self._user = user

    @property
    def text(self) -> str:
        """What stands on the screen."""
        return self._user.text

    async def until(self, *words: str, that: Callable[[], object] = lambda: True) -> str:
        """Wait until the screen shows all these words, and `that` is so."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not (all(word in self.text for word in words) and that()):
                    await self._user.pilot.pause()
        except (TimeoutError, OSError):
            raise AssertionError(f"{words} not on the screen:\n{self.text}") from None
        return self.text

    async def press(self, key: str) -> None:
        """Press a key, when the screen names it; it has to."""
        try:
            await self.until(that=lambda: key in named_keys(self.text))
        except AssertionError:
            raise AssertionError(f"{key} is not named on the screen:\n{self.text}") from None
        await self._user.press(key)

    async def choose(self, title: str) -> None:
        """Go down a list to the line of this title."""
        chosen: list[str] = []
        while True:
            chosen = await self.until_chosen_other_than(chosen)
            if chosen[0].startswith(title):
                return
            await self.press("down")

    async def until_chosen_other_than(self, before: list[str]) -> list[str]:
        """Wait until one line is chosen, and not that of before; return it in a list."""
        await self.until(that=lambda: len(find_chosen(self.text)) == 1 and find_chosen(self.text) != before)
        return find_chosen(self.text)

    async def fill_in(self, text: str) -> None:
        """Type, and see it on the screen."""
        for letter in text:
            await self._user.press(letter)
        await self.until(text)

    async def place(self, digit: str) -> None:
        """Place a mark when it is our move."""
        await self.until("Your move")
        await self.press(digit)

    async def until_turn(self, moves: int) -> bool:
        """Wait until it is our move after so many moves, or the game is over; tell whether it goes on."""
        await self.until(
            that=lambda: _END.search(self.text) or ("Your move" in self.text and count_moves(self.text) == moves)
        )
        return _END.search(self.text) is None

    async def go_home_and_quit(self) -> None:
        await self.press("escape")
        await self.until("Playing as")
        await self.press("ctrl+q")


async def play_a_friend(ana: Walker, bo: Walker) -> None:
    """Let ana open a room, bo join by the code that she sees, and ana win."""
    await ana.until("Playing as  ana")
    await ana.choose("New room")
    await ana.press("enter")
    await ana.until("who takes the other seats")
    await ana.press("enter")
    await ana.until("Waiting for another player")
    code = re.search(r"Code   ([A-Z0-9]{6})", ana.text)
    assert code is not None, ana.text
    await bo.until("Playing as  bo")
    await bo.choose("Join with a code")
    await bo.fill_in(code[1])
    await bo.press("enter")
    await bo.until("It's ana's move.")
    for moves, digit in enumerate("15293"):
        walker = bo if moves % 2 else ana
        await walker.until_turn(moves)
        await walker.place(digit)
    await ana.until("You win. Row 1 is X X X.")
    await bo.until("You lose")
    await bo.go_home_and_quit()
    await ana.go_home_and_quit()


async def play_the_computer(ana: Walker) -> None:
    """Let ana play the computer at its easiest to whatever end."""
    await ana.until("Playing as  ana")
    await ana.choose("Play the computer")
    await ana.press("left")
    await ana.until("‹ easy ›" if "‹" in ana.text else "< easy >")
    await ana.press("enter")
    moves = 0
    while await ana.until_turn(moves):
        free = re.search(r"(?:[|│]|^ *[1-3] )[ \[┃]*([1-9])(?=[ \]┃]|$)", ana.text, re.MULTILINE)
        assert free is not None, ana.text
        await ana.place(free[1])
        moves += 2
    await ana.go_home_and_quit()


async def watch_others(wat: Walker, players: dict[str, Peer], code: str) -> None:
    """Let wat find the game of the others, look back, return, and see its end."""
    await play_out(players, code, [0, 4])
    await wat.until("Playing as  wat", "1 live")
    await wat.choose("Watch a game")
    await wat.press("enter")
    await wat.until(f"> {code}")
    await wat.press("enter")
    await wat.until("you watch", code, "It's ana's move.")
    await wat.press("left")
    await wat.until("Move 1 of ")
    await wat.press("end")
    await wat.until("It's ana's move.")
    await play_out(players, code, [1, 8, 2], first_ply=2)
    await wat.until("ana wins")
    await wat.press("escape")
    await wat.until("No public game is being played now.")
    await wat.go_home_and_quit()


def find_chosen(text: str) -> list[str]:
    """Return the titles of the lines that are marked as chosen: one, but while the screen is being painted."""
    return re.findall(r"^[ │|]+> (\S+(?: \S+)*)", text, re.MULTILINE)


def count_moves(text: str) -> int:
    """Return how many marks stand in the list of moves."""
    return len(re.findall(r"\b[XO] [A-C][1-3]\b", text))
