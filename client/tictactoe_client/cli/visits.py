"""What the commands at a server do: the ways into a room, the public rooms, a check; and the home of plain mode."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from tictactoe_client.cli.run import print_failure, run, run_alone
from tictactoe_client.earlier import find_left_behind
from tictactoe_client.input.rule_options import (
    RuleOptions,
    check_bots,
    choose_seat,
    parse_clock,
    parse_room_argument,
    parse_rules,
    parse_seat,
)
from tictactoe_client.json.game import JsonGame, pass_through, print_connected
from tictactoe_client.online.address import Address, parse_house
from tictactoe_client.online.client import Choice, Client, against_computer
from tictactoe_client.online.errors import BadAddress
from tictactoe_client.online.version import PROTOCOL_VERSIONS, client_version, format_versions
from tictactoe_client.plain.game import PlainGame
from tictactoe_client.session import Session
from tictactoe_client.settings import ExitCode, Settings
from tictactoe_client.streams.keyboard import Keyboard
from tictactoe_client.streams.output import Output, is_terminal, print_error, print_own
from tictactoe_client.text.help import own_command
from tictactoe_client.text.lobby import (
    describe_home_help,
    describe_self,
    describe_unknown,
    list_rooms,
    list_words,
    offer_games,
)
from tictactoe_protocol import BadRoomCode, clean_text, parse_room_code
from tictactoe_protocol.pushes import RoomSummary

_PINGS: Final = 3
_LEADING_AWAY: Final = frozenset({"play", "bot", "new", "join", "watch"})
"""What leads into a room, so that one wants to hear where one is afterwards."""
_GOING: Final = frozenset({"quit", "q", "exit", "leave"})
_HELP: Final = frozenset({"help", "h", "?"})
_FINAL: Final = frozenset(
    {ExitCode.HANGUP, ExitCode.INTERRUPTED, ExitCode.BROKEN_PIPE, ExitCode.TERMINATED, ExitCode.OUTPUT_FAILED}
)
"""How a command ends when the whole program is to end."""


def play_anyone(settings: Settings, rules: str | None, clock: str | None) -> int:
    """Play a quick match."""
    return _visit(settings, None, Choice("match", parse_rules(RuleOptions(rules=rules)), parse_clock(clock)))


def open_room(settings: Settings, *, clock: str | None, seat: str | None, bots: tuple[str, ...], **wish: Any) -> int:
    """Open a room; the `wish` is what rules and a `Choice` are made of, as typed."""
    rules = parse_rules(RuleOptions(**{name: wish.pop(name) for name in RuleOptions.__dataclass_fields__}))
    choice = Choice("create", rules, parse_clock(clock), seat=parse_seat(seat, rules), bots=bots, **wish)
    check_bots(bots, rules)
    return _visit(settings, None, choice)


def play_computer(settings: Settings, level: str, first: str, rules: str | None, clock: str | None) -> int:
    """Play the computer, at the server that was named, else at one of this machine, started where none runs."""
    chosen = parse_rules(RuleOptions(rules=rules))
    choice = against_computer(level, chosen, choose_seat(first, chosen), parse_clock(clock))
    return _visit(settings if settings.server is not None else replace(settings, local=True), None, choice)


def join(settings: Settings, room: Sequence[str]) -> int:
    """Join the room of a code or a link, back to the seat there that an earlier run left behind, if any."""
    code, address = parse_room_argument(" ".join(room))
    return _visit(settings, address, Choice("join", code=code))


def _visit(settings: Settings, address: Address | None, choice: Choice) -> int:
    """Enter a room and stay, in the chosen mode: as the player of an earlier run, or watching as nobody."""
    if settings.mode == "screen":
        from tictactoe_client.tui.app import run_screen

        return run_screen(settings, address, choice)

    async def work(client: Client, session: Session) -> int:
        keyboard = Keyboard()
        if settings.mode == "json":
            return await JsonGame(client, settings, keyboard, session).run(choice.enter)
        output = Output(prompts=is_terminal(0, 1))
        return await PlainGame(client, settings, keyboard, output, session).run(choice.enter)

    room = choice.code if choice.way == "join" else None
    return run(settings, address, work, room=room, role="nobody" if choice.way == "watch" else "player")


def watch(settings: Settings, room: Sequence[str]) -> int:
    """Watch the game of a code or a link, else one that a person chooses; with nobody to ask, list them: 2."""
    if room:
        code, address = parse_room_argument(" ".join(room))
        return _visit(settings, address, Choice("watch", code=code))
    if settings.mode == "screen":
        from tictactoe_client.tui.app import Opening, run_screen

        return run_screen(settings, None, opening=Opening("watch"))

    async def work(client: Client, _: Session) -> int:
        if settings.mode == "json":
            await pass_through(client, client.rooms)
            return _demand_a_code(client, in_json=True)
        screen = Output(prompts=is_terminal(0, 1))
        games = [room for room in await client.rooms() if room.status == "playing"]
        screen.print(*(list_rooms(games, numbered=True) or ["No public game is being played now."]))
        if not (settings.asks and is_terminal(0)):
            return _demand_a_code(client)
        if not games:
            return ExitCode.NORMAL
        try:
            code = await _ask_for_game(games, Keyboard(), screen)
        except asyncio.CancelledError:
            screen.print("Goodbye.")
            raise
        if code is None:
            return ExitCode.NORMAL
        return await PlainGame(client, settings, Keyboard(), screen).run(Choice("watch", code=code).enter)

    return run(settings, None, work)


def show_rooms(settings: Settings) -> int:
    """Print the public rooms."""

    async def work(client: Client, _: Session) -> int:
        if settings.mode == "json":
            await pass_through(client, client.rooms)
        else:
            rooms = await client.rooms()
            Output().print(*list_rooms(rooms))
            if not rooms and not settings.quiet:
                print_error(f"No public room is open. Open one: {own_command('new', server=client.address)}")
        return ExitCode.NORMAL

    return run(settings, None, work, is_chatty=False)


async def _ask_for_game(games: list[RoomSummary], keyboard: Keyboard, screen: Output) -> str | None:
    """Return the code of the chosen game, or None where the person would rather go."""
    screen.print("Which game? Type its number or its code, or leave.")
    screen.prompt()
    while (line := await keyboard.read_line()) is not None:
        screen.note_typed()
        word = line.strip()
        if word.lower() in ("leave", "quit", "exit"):
            return None
        if word.isascii() and word.isdigit() and len(word) <= 3 and 1 <= int(word) <= len(games):
            return games[int(word) - 1].room
        try:
            return parse_room_code(word)
        except BadRoomCode:
            screen.print(f"Type a number from 1 to {len(games)}, or a room code.")
            screen.prompt()
    return None


def _demand_a_code(client: Client, *, in_json: bool = False) -> ExitCode:
    command = own_command("watch", "CODE", server=client.address)
    print_failure("usage", f"Say which game to watch: {command}", in_json=in_json)
    return ExitCode.USAGE


def check(settings: Settings) -> int:
    """Go through every step that a game needs, print each, and return the code of the first that fails."""
    in_json = settings.mode == "json"

    def tell(step: str, line: str, *, ok: bool = True, **fields: object) -> None:
        if in_json:
            print_own("step", step=step, ok=ok, **fields)
        else:
            Output().print(f"{step.capitalize():<9} {line}")

    def resolve(address: Address) -> bool:
        started = time.monotonic()
        try:
            found = socket.getaddrinfo(address.host, address.port or 443, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            told = f"there is no host {clean_text(address.host)}"
            tell("resolve", f"failed: {told}", ok=False, message=told)
            if in_json:
                print_failure("unreachable", told, in_json=True)
            return False
        ms, places = _ms_since(started), list(dict.fromkeys(str(place[4][0]) for place in found))
        tell("resolve", f"ok, {', '.join(places)}", ms=ms, addresses=places)
        return True

    async def work(client: Client, _: Session) -> int:
        if in_json:
            print_connected(client, client.latency_seconds)
        tell("connect", "ok" if len(client.house.addresses) == 1 else f"ok, {client.address.url}")
        name, ms = clean_text(client.name), client.latency_seconds * 1000
        tell("hello", f"ok, {ms:.0f} ms, you would be {name}", ms=round(ms, 1), name=name)
        times = []
        for _ping in range(_PINGS):
            started = time.monotonic()
            await client.ping()
            times.append(_ms_since(started))
        tell("ping", f"ok, {', '.join(f'{each} ms' for each in times)}", ms=times)
        own, version = format_versions(PROTOCOL_VERSIONS), client_version()
        server, spoken = clean_text(client.server), client.welcome.protocol
        line = f"client {version} (protocol {own}), {server} (protocol {spoken})"
        tell("versions", line, client=version, client_protocol=own, server=server, protocol=spoken)
        return ExitCode.NORMAL

    async def fail() -> int:
        return ExitCode.UNREACHABLE

    with contextlib.suppress(BadAddress):  # which the run itself tells
        found = [resolve(address) for address in parse_house(settings.server).addresses]
        if not any(found):
            return run_alone(settings, fail)
    return run(settings, None, work, is_chatty=False)


def _ms_since(started: float) -> float:
    return round((time.monotonic() - started) * 1000, 1)


class PlainHome:
    """The home of plain mode: who one is and where, a game that still waits, then whatever is typed, a line at a time.

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
        is_waited_for = bool(self._waiting)
        word = words[0].lower() if words else ""
        if word in _HELP:
            self._screen.print(*describe_home_help(is_waited_for=is_waited_for))
        elif not word:
            self._screen.print(list_words(is_waited_for=is_waited_for))
        elif word == "resume" and not is_waited_for:
            self._screen.print("No game of yours waits.")
        elif word not in (*self._commands, "resume"):
            known = (*self._commands, *(("resume",) if is_waited_for else ()), "help", "quit")
            self._screen.print(describe_unknown(words[0], known, is_waited_for=is_waited_for))
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
