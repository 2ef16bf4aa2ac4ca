"""The command `brain`: seat an engine as a guest player, or serve the built-in engine."""

from __future__ import annotations

import asyncio
import importlib.util
import shutil
from contextlib import suppress
from dataclasses import replace
from typing import Any

from tictactoe_client.cli.run import connected
from tictactoe_client.exits import exit_code_of
from tictactoe_client.input.rule_options import parse_clock
from tictactoe_client.input.ways import Choice
from tictactoe_client.json_mode import pass_through
from tictactoe_client.online.address import parse_room
from tictactoe_client.online.client import Client
from tictactoe_client.online.events import Back, Lost, RoomEvent, Said, Updated
from tictactoe_client.online.room import Room
from tictactoe_client.session import Session
from tictactoe_client.settings import ExitCode, Misuse, Settings
from tictactoe_client.streams.keyboard import standard_input
from tictactoe_client.streams.output import Output, OutputFailed, print_own, report_failure
from tictactoe_client.text import arrival
from tictactoe_client.text.programs import own_command
from tictactoe_client.text.talk import announce_chat
from tictactoe_engine import PRESETS
from tictactoe_lab.brain.engine import Engine, EngineFailed
from tictactoe_lab.brain.gomocup import check_playable
from tictactoe_lab.brain.player import EnginePlayer
from tictactoe_lab.brain.serve import PBrain
from tictactoe_words.catalogue import say
from tictactoe_words.telling import announce
from tictactoe_words.wording import count

_MEGABYTE = 1024 * 1024


async def use_engine(
    settings: Settings,
    command: tuple[str, ...],
    room: str | None,
    rules: str | None,
    clock: str | None,
    memory: int | None,
    *,
    serve: bool,
    level: str,
) -> int:
    """Seat the engine started by `command` in a room or a quick match; with `serve`, act as an engine instead."""
    if serve:
        if command:
            raise Misuse(say("engine or serve"))
        await PBrain(level, standard_input().read_line, Output().print).run()
        return ExitCode.NORMAL
    if not command:
        raise Misuse(say("engine missing", command=own_command("brain", "./engine")))
    if shutil.which(command[0]) is None:
        raise Misuse(say("engine not found", command=command[0]))
    if memory and importlib.util.find_spec("resource") is None:
        raise Misuse(say("engine memory"))
    way, address = Choice("match", PRESETS[rules or "gomoku"], parse_clock(clock)), None
    if room is None:
        check_playable(way.rules)
    else:
        code, address = parse_room(room)
        way = Choice("join", code=code)
    settings = replace(settings, mode="json" if settings.mode == "json" else "plain")
    guest = _EngineGuest(settings, way)
    engine = Engine(command, (memory or 0) * _MEGABYTE, guest.show)
    try:
        options: dict[str, Any] = {"is_chatty": True, "room": way.code or None, "role": "player", "bot": True}
        async with connected(settings, address, **options) as (client, session):
            if settings.mode == "json":
                return await pass_through(client, lambda: guest.play(client, session, engine))
            return await guest.play(client, session, engine)
    except EngineFailed as failed:
        detail = f"\n{failed.detail}" if failed.detail else ""
        report_failure(settings, "engine", failed.message, say("engine cannot go on", why=failed.message) + detail)
        return ExitCode.ENGINE
    finally:
        await engine.end()


class _EngineGuest:
    """An engine that plays in the room entered by `way`; prints the room's events for the engine's owner."""

    def __init__(self, settings: Settings, way: Choice) -> None:
        self._settings = settings
        self._way = way

    async def play(self, client: Client, session: Session, engine: Engine) -> ExitCode:
        """Take a seat once the engine is ready, play, and leave; return the exit code. Raises `EngineFailed`."""
        rules = self._way.rules
        if self._way.code:
            rules = (await client.rooms.watch(self._way.code)).state.rules.to_rules()
            check_playable(rules)
        await engine.set_up(rules)
        room = await session.enter(self._way.enter(client))
        if self._settings.mode == "plain":
            room.subscribe(lambda event: self._show_event(event, room, client))
        try:
            await EnginePlayer(engine, room, stays=self._settings.stay).play()
        except (asyncio.CancelledError, OutputFailed) as end:
            await session.end_by(end)
            raise
        except EngineFailed:
            await room.say_goodbye()
            raise
        if room.ended is not None and room.state.status != "over":
            return ExitCode.REFUSED if room.ended == "replaced" else ExitCode.NO_ROOM
        await room.say_goodbye()
        return exit_code_of(room.state, client.player, with_result=self._settings.result_code)

    def show(self, text: str) -> None:
        """Print a message of the engine."""
        if self._settings.mode == "json":
            with suppress(OutputFailed):
                print_own("engine", text=text)
        elif not self._settings.quiet:
            _print(say("engine says", text=text))

    def _show_event(self, event: RoomEvent, room: Room, client: Client) -> None:
        """Print an event of the room, worded as in a transcript."""
        match event:
            case Updated(old=None):
                _print(*arrival.greet(event.state, client, replace(self._settings, quiet=True), room))
            case Updated():
                _print(*announce(event.news, event.state, client.player, after_loss=event.after_loss))
            case Said(line):
                _print(announce_chat(line))
            case Lost():
                _print(arrival.describe_attempts(event, holds_seat=True))
            case Back(seconds=seconds):
                _print(say("connected again", time=count(max(1, round(seconds)), "second")))


def _print(*lines: str) -> None:
    """Print lines; the engine plays on even if standard output is closed."""
    with suppress(OutputFailed):
        Output().print(*lines)
