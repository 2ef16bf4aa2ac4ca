"""The home of plain mode: who one is and where, a game that still waits, then whatever is typed, a line at a time.

Each line is run as if it had been typed behind the program's name, with the options that the program was started with.
No connection is held while one thinks, and no room is opened that nobody asked for.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from tictactoe_client.cli.run import run, run_alone
from tictactoe_client.history import find_left_behind
from tictactoe_client.online.client import Client
from tictactoe_client.session import Session
from tictactoe_client.settings import ExitCode, Settings
from tictactoe_client.streams.keyboard import Keyboard
from tictactoe_client.streams.output import Output
from tictactoe_client.text.lobby import (
    describe_home_help,
    describe_self,
    describe_unknown,
    list_words,
    offer_games,
)

_LEADING_AWAY: Final = frozenset({"play", "bot", "new", "join", "watch"})
"""What leads into a room, so that one wants to hear where one is afterwards."""
_GOING: Final = frozenset({"quit", "q", "exit", "leave"})
_HELP: Final = frozenset({"help", "h", "?"})
_FINAL: Final = frozenset(
    {ExitCode.HANGUP, ExitCode.INTERRUPTED, ExitCode.BROKEN_PIPE, ExitCode.TERMINATED, ExitCode.OUTPUT_FAILED}
)
"""How a command ends when the whole program is to end."""

RunLine = Callable[[Sequence[str]], int]


def stay_home(settings: Settings, commands: Sequence[str], run_line: RunLine) -> int:
    """Do what is typed until the person or the input has had enough, and return the exit code.

    `commands` are those that `run_line` runs, each with the words behind it.
    """
    return PlainHome(settings, commands, run_line).run()


class PlainHome:
    """The first page of plain mode, with what it knows of games that wait."""

    def __init__(self, settings: Settings, commands: Sequence[str], run_line: RunLine) -> None:
        self._settings = settings
        self._commands = commands
        self._run_line = run_line
        self._screen = Output(prompts=True)
        self._waiting: dict[str, int | None] = {}
        self._typed: str | None = None
        self._name = ""

    def run(self) -> int:
        """Say where one is, and do what is typed; return the exit code."""
        code = self._arrive()
        while code not in _FINAL:
            self._screen.prompt()
            code = self._listen()
            if code != ExitCode.NORMAL:
                return code
            if self._typed is not None:
                self._screen.note_typed()
            words = None if self._typed is None else _split(self._typed)
            if words is None or (words and words[0].lower() in _GOING):
                self._screen.print("Goodbye.")
                return ExitCode.NORMAL
            code = self._do(words)
        return code

    def _arrive(self) -> int:
        """Say who one is on which server, the first time, what waits there, and what can be typed."""
        self._waiting = {}
        settings = replace(self._settings, debug=False, local=False)
        code = run(settings, None, self._greet, is_chatty=not self._name, role="player", tells_left_behind=False)
        if code not in _FINAL:
            self._screen.print(list_words(is_waited_for=bool(self._waiting)))
        return code

    async def _greet(self, client: Client, session: Session) -> int:
        found = await find_left_behind(session)
        self._waiting = found.waiting | {seat.room: client.held_ms(seat.room) for seat in client.welcome.rooms}
        if client.name != self._name:
            self._name = client.name
            self._screen.print(describe_self(client.name, client.latency_seconds))
        self._screen.print(*found.losses, *offer_games([*self._waiting.items()]))
        return ExitCode.NORMAL

    def _listen(self) -> int:
        """Wait for a line, which is then in `_typed`; return the exit code where a signal came instead."""

        async def read() -> int:
            self._typed = await Keyboard().read_line()
            return ExitCode.NORMAL

        return run_alone(replace(self._settings, debug=False), read)

    def _do(self, words: Sequence[str]) -> int:
        """Do what the words ask for, and return how that ended."""
        is_waited_for = bool(self._waiting)
        word = words[0].lower() if words else ""
        if word in _HELP:
            self._screen.print(*describe_home_help(is_waited_for=is_waited_for))
        elif not word:
            self._screen.print(list_words(is_waited_for=is_waited_for))
        elif word == "resume" and is_waited_for:
            return self._go(["join", *(words[1:] or [next(iter(self._waiting))])])
        elif word == "resume":
            self._screen.print("No game of yours waits.")
        elif word not in self._commands:
            known = (*self._commands, *(("resume",) if is_waited_for else ()), "help", "quit")
            self._screen.print(describe_unknown(words[0], known, is_waited_for=is_waited_for))
        else:
            return self._go([word, *words[1:]])
        return ExitCode.NORMAL

    def _go(self, words: Sequence[str]) -> int:
        """Run a command, and say where one is again when it led into a room."""
        code = self._run_line(words)
        return self._arrive() if words[0] in _LEADING_AWAY and code not in _FINAL else code


def _split(line: str) -> list[str]:
    """Return the words of a line as a shell would, in one piece each where quotes are left open."""
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()
