"""The home prompt of plain mode: shows our name, the server and our waiting games, then carries out typed lines."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from tictactoe_client.cli.run import Work, ask_line, carry_out, connected
from tictactoe_client.input.ways import Choice, next_turn
from tictactoe_client.settings import ExitCode, Settings
from tictactoe_client.streams.output import Output
from tictactoe_client.text.language import means, plain
from tictactoe_client.text.lobby import describe_home_help, describe_others, list_words, offer_games
from tictactoe_client.text.talk import describe_turns, list_greeting
from tictactoe_client.text.wording import describe_connection, describe_unknown
from tictactoe_protocol import clean_text
from tictactoe_words.catalogue import say
from tictactoe_words.commands import FURTHER_HOME, HOME, Command, word_of

_ENTERING: Final = frozenset({"play", "bot", "local", "new", "join", "watch"})
"""The commands that enter a room; after them, the home prompt greets the person again."""
_NAMED: Final = tuple(command.id.removeprefix("home ") for command in (*HOME, *FURTHER_HOME))
"""The commands that have a name in every language; the first one resumes a game."""


class PlainHome:
    """The home prompt of plain mode.

    `begin` starts each typed line as if it followed the program's name on a command line. There is no connection while
    the prompt waits for a line.
    """

    def __init__(
        self, settings: Settings, commands: Sequence[str], begin: Callable[[Sequence[str]], int | tuple[Settings, Work]]
    ) -> None:
        self._settings = settings
        self._commands = commands
        self._begin = begin
        self._screen = Output(prompts=True)
        self._next: Choice | None = None
        self._waiting: dict[str, int | None] = {}
        self._name = ""

    async def run(self) -> int:
        await self._arrive()
        while (line := await ask_line(self._screen)) is not None:
            words = _split(line) or [""]
            if means(words[0], "quit", "q", "leave"):
                self._screen.print(say("goodbye"))
                break
            await self._do(next((id for id in _NAMED if means(words[0], id)), plain(words[0])), words)
        return ExitCode.NORMAL

    @property
    def _offered(self) -> Sequence[Command]:
        return HOME if self._waiting else HOME[1:]

    @property
    def _hint(self) -> str:
        return list_words([*(command.typed[0] for command in self._offered), word_of("help")])

    async def _arrive(self) -> None:
        """Connect briefly, and print our name if it is new, the games that wait for us, and the words to type."""
        self._waiting = {}
        there = replace(self._settings, local=False, debug=False)
        await carry_out(there, self._greet(there))
        self._screen.print(self._hint)

    async def _greet(self, there: Settings) -> int:
        is_first = not self._name
        async with connected(there, is_chatty=is_first, role="player", resumes=self._settings.name is None) as (
            client,
            _,
        ):
            self._waiting = {seat.room: client.rooms.held_ms(seat.room) for seat in client.welcome.rooms}
            if client.name != self._name:
                self._name = client.name
                connected_in = describe_connection(client.latency_seconds)
                self._screen.print(say("hello you are", connected=connected_in, name=clean_text(client.name)))
                self._screen.print(*list_greeting(client.welcome))
            self._next = next_turn(client)
            for turn in client.turns:
                self._waiting.pop(turn.room, None)
            if self._next is not None:
                self._screen.print(describe_turns(client.turns))
            others = describe_others(await client.rooms.lobby(on=False))
            self._screen.print(*([others] if others else []), *offer_games([*self._waiting.items()]))
        return ExitCode.NORMAL

    async def _do(self, word: str, words: Sequence[str]) -> None:
        names = _NAMED if self._waiting else _NAMED[1:]
        if self._next is not None and means(words[0], "next"):
            word, words = "join", ["join", self._next.code]
        if means(word, "help"):
            self._screen.print(*describe_home_help([*self._offered, *FURTHER_HOME]))
        elif not word:
            self._screen.print(self._hint)
        elif word == "resume" and not self._waiting:
            self._screen.print(say("no game waits"))
        elif word not in (*self._commands, *names):
            known_words = [
                *(word for word in self._commands if word not in _NAMED),
                *map(word_of, (*names, "help", "quit")),
            ]
            self._screen.print(describe_unknown(words[0], self._hint, known_words))
        else:
            if word == "resume":
                word, words = "join", ["join", *(words[1:] or [next(iter(self._waiting))])]
            begun = self._begin([word, *words[1:]])
            if not isinstance(begun, int):
                await carry_out(*begun)
            if word in _ENTERING:
                await self._arrive()


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()
