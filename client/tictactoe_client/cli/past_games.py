"""The commands `history`, which lists our finished games on a server, and `replay`, which steps through a game."""

from __future__ import annotations

import re
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeVar

from tictactoe_client.cli.run import ask_and_print, ask_line, connected
from tictactoe_client.files.records import STANDARD_STREAM, describe_fault, read_records, write_record
from tictactoe_client.input.record import (
    RecordActions,
    RecordedRoom,
    describe_record,
    summarise_position,
    summarise_record,
)
from tictactoe_client.json_mode import pass_through
from tictactoe_client.online.address import DEFAULT_SERVER, parse_address
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import ProtocolBroken, Refused, UnknownGame
from tictactoe_client.settings import ExitCode, Misuse, Settings
from tictactoe_client.streams.output import Output, is_terminal, print_own, report
from tictactoe_client.text.lobby import list_games
from tictactoe_client.text.programs import own_command
from tictactoe_client.tui import FirstPage
from tictactoe_client.tui.start import show_screen
from tictactoe_engine.records import GameRecord, RecordError, parse_record
from tictactoe_protocol import clean_text
from tictactoe_words.catalogue import say

_LISTED_GAMES: Final = 20
_GAME_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
Answer = TypeVar("Answer")


async def show_history(settings: Settings, limit: int | None) -> int:
    """Show our finished games, newest first; without a `limit`, all in the full screen, or else the latest 20."""
    if settings.mode == "screen" and settings.asks:
        return await show_screen(settings, first_page=FirstPage("history", limit))
    most = _LISTED_GAMES if limit is None else limit
    async with connected(settings, role="reader") as (client, _):

        async def ask() -> list[str]:
            games = await client.games.list(most)
            width = shutil.get_terminal_size().columns if is_terminal(1) else None
            command = own_command("replay", "ID", server=client.address)
            has_title = games and width is not None and not settings.quiet
            title = [say("games of", name=clean_text(client.name), command=command)] if has_title else []
            return [*title, *list_games(games, client.player, width=width)]

        return await ask_and_print(settings, client, ask, say("page games none"))


async def replay(
    settings: Settings, source: str | None, game: int | None, at: int | None, export: str | None, share: bool | None
) -> int:
    """Step through a finished game, write it to a file, or share it.

    Args:
        source: A file, or the id of a game of ours; by default our last game.
        game: The number of a game in the file.
        at: Show only the position after this number of moves.
        export: The file to write.
        share: True to share the game, False to stop sharing it.
    """
    if at is not None and export is not None:
        raise Misuse(say("choose one", one="--at", other="--export"))
    is_file = source is not None and _is_file(source)
    if share is not None:
        if is_file or (at, export, game) != (None, None, None):
            raise Misuse(say("share only id"))
        link = await _ask_for(settings, source, lambda client, id: client.games.share(id, on=share))
        outcome = link or ("" if settings.quiet else say("history not shared"))
        report(settings, "shared", outcome, link=link)
        return ExitCode.NORMAL
    note: list[str] = []
    if source is not None and is_file:
        records = read_records(source)
        if game is not None and game > len(records):
            raise Misuse(say("file has games", file=clean_text(source), n=len(records), game=game))
        if game is None and len(records) > 1:
            note = [say("first of games", n=len(records))]
        record = records[(game or 1) - 1]
    elif game is not None:
        raise Misuse(say("game of file"))
    else:
        try:
            record = parse_record(await _ask_for(settings, source, lambda client, id: client.games.record(id)))
        except RecordError as error:
            raise ProtocolBroken(describe_fault(error).rstrip(".")) from None
    if at is not None and at > len(record.moves):
        raise Misuse(say("no such move", n=at, all=len(record.moves)))
    if export is None:
        return await _show(settings, record, at, note, asks=settings.asks and source != STANDARD_STREAM)
    write_record(export, record)
    if export != STANDARD_STREAM:
        outcome = "" if settings.quiet else say("saved in", file=clean_text(export))
        report(settings, "exported", outcome, file=export)
    return ExitCode.NORMAL


def _is_file(source: str) -> bool:
    return source == STANDARD_STREAM or Path(source).is_file() or not _GAME_ID.fullmatch(source)


async def _ask_for(
    settings: Settings, id: str | None, ask_client: Callable[[Client, str], Awaitable[Answer]]
) -> Answer:
    """Return the server's answer to a request about one of our games, by default the last."""
    async with connected(settings, role="reader") as (client, _):

        async def ask() -> Answer:
            if id is not None:
                return await ask_client(client, id)
            for last in await client.games.list(1):
                return await ask_client(client, last.game_id)
            raise UnknownGame(say("page games none"))

        try:
            return await (pass_through(client, ask) if settings.mode == "json" else ask())
        except Refused as refused:
            if refused.code != "not_allowed" or refused.path is None:
                raise
            command = own_command("history", server=client.address)
            raise UnknownGame(say("played no game", number=id, url=client.address.url, command=command)) from None


async def _show(settings: Settings, record: GameRecord, at: int | None, notes: list[str], *, asks: bool) -> int:
    plies = range(len(record.moves) + 1) if at is None else range(at, at + 1)
    if settings.mode == "json":
        print_own("record", **summarise_record(record))
        for position in record.positions():
            if position.ply in plies:
                print_own("position", **summarise_position(record, position))
        return ExitCode.NORMAL
    if settings.mode == "screen" and asks:
        first_page = FirstPage("replay", record=record, ply=at or 0, note=" ".join(notes))
        return await show_screen(settings, parse_address(DEFAULT_SERVER), first_page=first_page)
    asks = asks and is_terminal(0, 1)
    screen = Output(prompts=asks)
    room = RecordedRoom(record)
    actions = RecordActions(room, settings, tell=screen.print)
    screen.print(*notes, *describe_record(room), *([say("please type a step")] if asks else []))
    for ply in plies[:1] if asks else plies:
        actions.timeline = actions.timeline.jump(ply)
        screen.print(*actions.tell_moment())
    while asks and (line := await ask_line(screen)) is not None:
        outcome = await actions.do_line(line)
        if outcome.going is not None:
            break
        screen.print(*outcome.lines)
    return ExitCode.NORMAL
