"""The home of plain mode: who one is and where, a game that still waits, then whatever is typed, a line at a time."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from tictactoe_client.cli.run import run, run_alone
from tictactoe_client.earlier import find_left_behind
from tictactoe_client.online.client import Client
from tictactoe_client.session import Session
from tictactoe_client.settings import ExitCode, Settings
from tictactoe_client.streams.keyboard import standard_input
from tictactoe_client.streams.output import Output
from tictactoe_client.text.lobby import (
    describe_home_help,
    describe_self,
    describe_strange_word,
    list_words,
    offer_games,
)

_LEADING_AWAY: Final = frozenset({"play", "bot", "new", "join", "watch"})
"""What leads into a room, so that one wants to hear where one is afterwards."""
_FINAL: Final = frozenset(
    {ExitCode.HANGUP, ExitCode.INTERRUPTED, ExitCode.BROKEN_PIPE, ExitCode.TERMINATED, ExitCode.OUTPUT_FAILED}
)
"""How a command ends when the whole program is to end."""


class PlainHome:
    """The home of plain mode.

    Each line is run by `run_line` as if it had been typed behind the program's name. No connection is held while one
    thinks, and no room is opened that nobody asked for.
    """

    def __init__(self, settings: Settings, commands: Sequence[str], run_line: Callable[[Sequence[str]], int]) -> None:
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
            code = run_alone(self._settings, self._listen)
            if code != ExitCode.NORMAL:
                break
            if self._typed is not None:
                self._screen.note_typed()
            words = ["quit"] if self._typed is None else _split(self._typed) or [""]
            if words[0].lower() in ("quit", "q", "exit", "leave"):
                self._screen.print("Goodbye.")
                break
            code = self._do(words[0].lower(), words)
        return code

    def _arrive(self) -> int:
        """Say who one is on which server, the first time, what waits there, and what can be typed."""
        self._waiting = {}
        settings = replace(self._settings, local=False)
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

    async def _listen(self) -> int:
        """Wait for a line, which is then in `_typed`, None at the end."""
        self._typed = await standard_input().read_line()
        return ExitCode.NORMAL

    def _do(self, word: str, words: Sequence[str]) -> int:
        is_waited_for = bool(self._waiting)
        known = [*self._commands, *(["resume"] if is_waited_for else [])]
        if word in ("help", "h", "?"):
            self._screen.print(*describe_home_help(is_waited_for=is_waited_for))
        elif not word:
            self._screen.print(list_words(is_waited_for=is_waited_for))
        elif word == "resume" and not is_waited_for:
            self._screen.print("No game of yours waits.")
        elif word not in known:
            self._screen.print(describe_strange_word(words[0], [*known, "help", "quit"], is_waited_for=is_waited_for))
        else:
            if word == "resume":
                word, words = "join", ["join", *(words[1:] or [next(iter(self._waiting))])]
            code = self._run_line([word, *words[1:]])
            return self._arrive() if word in _LEADING_AWAY and code not in _FINAL else code
        return ExitCode.NORMAL


def _split(line: str) -> list[str]:
    """Return the words of a line as a shell would, in one piece each where quotes are left open."""
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()
