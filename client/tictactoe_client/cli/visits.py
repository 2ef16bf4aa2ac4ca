"""The ways into a room from the command line, in the chosen mode; and the rooms that there are."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, Literal

from tictactoe_client.cli.run import print_failure, run
from tictactoe_client.input.rule_options import (
    RuleOptions,
    check_bots,
    choose_seat,
    parse_clock,
    parse_room_argument,
    parse_rules,
    parse_seat,
)
from tictactoe_client.json.game import JsonGame, pass_through
from tictactoe_client.online.address import Address
from tictactoe_client.online.client import Choice, Client, against_computer
from tictactoe_client.plain.game import PlainGame
from tictactoe_client.session import Session
from tictactoe_client.settings import ExitCode, Settings
from tictactoe_client.streams.keyboard import Keyboard
from tictactoe_client.streams.output import Output, is_terminal, print_error
from tictactoe_client.text.help import own_command
from tictactoe_client.text.lobby import list_rooms
from tictactoe_protocol import BadRoomCode, parse_room_code
from tictactoe_protocol.pushes import RoomSummary


def play_anyone(settings: Settings, rules: str | None, clock: str | None) -> int:
    """Play a quick match."""
    return visit(settings, None, Choice("match", parse_rules(RuleOptions(rules=rules)), parse_clock(clock)))


def open_room(settings: Settings, *, clock: str | None, seat: str | None, bots: tuple[str, ...], **wish: Any) -> int:
    """Open a room; the `wish` is what rules and a `Choice` are made of, as typed."""
    rules = parse_rules(RuleOptions(**{name: wish.pop(name) for name in RuleOptions.__dataclass_fields__}))
    choice = Choice("create", rules, parse_clock(clock), seat=parse_seat(seat, rules), bots=bots, **wish)
    check_bots(bots, rules)
    return visit(settings, None, choice)


def play_computer(settings: Settings, level: str, first: str, rules: str | None, clock: str | None) -> int:
    """Play the computer, at the server that was named, else at one of this machine, started where none runs."""
    chosen = parse_rules(RuleOptions(rules=rules))
    choice = against_computer(level, chosen, choose_seat(first, chosen), parse_clock(clock))
    return visit(settings if settings.server is not None else replace(settings, local=True), None, choice)


def enter(settings: Settings, way: Literal["join", "watch"], room: str) -> int:
    """Join or watch the room of a code or a link."""
    code, address = parse_room_argument(room)
    return visit(settings, address, Choice(way, code=code))


def visit(settings: Settings, address: Address | None, choice: Choice) -> int:
    """Enter a room, play or watch in the chosen mode, and return the exit code.

    A seat that an earlier run left behind in the room to join is taken up again. Who plays is the player
    of an earlier run again, and has a history; who watches is nobody in particular.
    """
    if settings.mode == "screen":
        from tictactoe_client.tui.running import run_screen

        return run_screen(settings, address, choice)

    async def work(client: Client, session: Session) -> int:
        keyboard = Keyboard()
        if settings.mode == "json":
            return await JsonGame(client, settings, keyboard, session).run(choice.enter)
        output = Output(prompts=is_terminal(0, 1))
        return await PlainGame(client, settings, keyboard, output, session).run(choice.enter)

    room = choice.code if choice.way == "join" else None
    return run(settings, address, work, room=room, role="nobody" if choice.way == "watch" else "player")


def watch_any(settings: Settings) -> int:
    """Let a person choose a running game and watch it; without one to ask, list the games and return 2."""

    if settings.mode == "screen":
        from tictactoe_client.tui.opening import Opening
        from tictactoe_client.tui.running import run_screen

        return run_screen(settings, None, opening=Opening("watch"))

    async def work(client: Client, _: Session) -> int:
        if settings.mode == "json":
            await pass_through(client, client.rooms)
            return _demand_a_code(client, in_json=True)
        keyboard, screen = Keyboard(), Output(prompts=is_terminal(0, 1))
        games = [room for room in await client.rooms() if room.status == "playing"]
        screen.print(*(list_rooms(games, numbered=True) or ["No public game is being played now."]))
        if not (settings.asks and is_terminal(0)):
            return _demand_a_code(client)
        if not games:
            return ExitCode.NORMAL
        try:
            code = await _ask_for_game(games, keyboard, screen)
        except asyncio.CancelledError:
            screen.print("Goodbye.")
            raise
        if code is None:
            return ExitCode.NORMAL
        return await PlainGame(client, settings, keyboard, screen).run(lambda client: client.watch(code))

    return run(settings, None, work)


def go_home(settings: Settings) -> int:
    """Open the full screen at its first page."""
    from tictactoe_client.tui.running import run_screen

    return run_screen(settings, None)


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
