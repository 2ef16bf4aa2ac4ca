"""What the command `event` does: list events, open one, enter or watch one, and what its organiser may."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tictactoe_client.cli.run import ask_and_print, connected
from tictactoe_client.files.records import STANDARD_STREAM
from tictactoe_client.input.rule_options import parse_clock
from tictactoe_client.input.tournament import carry_out, find_deed, link_to, list_cards
from tictactoe_client.json_mode import JsonGame
from tictactoe_client.online.address import parse_event
from tictactoe_client.online.client import Client, EventWay
from tictactoe_client.online.errors import describe_cause
from tictactoe_client.plain.tournament import PlainEvent
from tictactoe_client.settings import Misuse, Settings
from tictactoe_client.streams.keyboard import standard_input
from tictactoe_client.text.lobby import align_columns
from tictactoe_client.text.programs import own_command
from tictactoe_client.text.tournament import list_events
from tictactoe_client.tui import FirstPage
from tictactoe_client.tui.start import show_screen
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.events import EventOpen


async def use_event(settings: Settings, words: Sequence[str], ticket: str | None, **terms: Any) -> int:
    """List the events, open one where the word is ``new``, go to one, or do there what is typed behind its code."""
    if not words:
        return await _show_events(settings)
    if words[0] == "new":
        return await _open_event(settings, **terms)
    code, linked, address = parse_event(words[0])
    deed, argument = find_deed(" ".join(words[1:])) if words[1:] else ("", "")
    ticket, name = ticket or linked, argument if deed == "join" else ""
    stays = deed in ("", "join")

    enter = EventWay(code, ticket, name, watches=not (deed or ticket))
    if stays and settings.mode == "screen":
        return await show_screen(settings, address, first_page=FirstPage("event", enter=enter))
    async with connected(settings, address, is_chatty=stays, role="player" if stays else "reader") as (client, session):
        if not stays:
            return await ask_and_print(settings, client, lambda: _do(client, code, deed, argument))
        if settings.mode == "json":
            return await JsonGame(client, settings, standard_input(), session, shows_token=False).run(enter)
        return await PlainEvent(client, settings, standard_input(), session).run(enter)


async def _do(client: Client, code: str, deed: str, argument: str) -> list[str]:
    tournament = await client.watch_event(code)
    return await carry_out(client, tournament, deed, argument) or [say("tournament done", code=code)]


async def _show_events(settings: Settings) -> int:
    if settings.mode == "screen":
        return await show_screen(settings, first_page=FirstPage("events"))
    async with connected(settings) as (client, _):

        async def ask() -> list[str]:
            events = await client.events()
            return align_columns(list_events(events).values()) if events else []

        command = own_command("event", "new", server=client.address)
        return await ask_and_print(settings, client, ask, say("tournament none", command=command))


async def _open_event(
    settings: Settings, *, clock: str, entry: str, roster: str | None, ready: int, late: int, **more: Any
) -> int:
    """Open an event and say how one comes there: its code, links, and for a roster a card for each name.

    What is `more` has the names of `EventOpen`, and is None where it was left out.
    """
    names = _read_roster(roster) if roster is not None else ()
    terms: dict[str, Any] = {"entry": "roster" if names else entry, "title": say("tournament untitled")}
    terms |= {name: term for name, term in more.items() if term not in (None, "")}
    terms |= {"clock": parse_clock(clock), "roster": names, "start": "full" if "size" in terms else "hand"}
    wanted = EventOpen(**terms, ready_ms=ready * 1000, late_until=late)
    async with connected(settings, role="player") as (client, _):

        async def ask() -> list[str]:
            event = await client.open_event(wanted)
            return [
                say("tournament opened", code=event.code),
                say("tournament link", link=link_to(client, event.code, event.ticket)),
                *list_cards(client, event.code, event.cards),
                say("tournament run it", command=own_command("event", event.code, server=client.address)),
            ]

        return await ask_and_print(settings, client, ask)


def _read_roster(source: str) -> tuple[str, ...]:
    """Return the names in a file, one a line, or on standard input; raises `Misuse` where there is none."""
    try:
        text = sys.stdin.read() if source == STANDARD_STREAM else Path(source).read_text("utf-8-sig")
    except (OSError, UnicodeError) as error:
        raise Misuse(say("tournament no roster", file=source, why=describe_cause(error))) from None
    names = tuple(name for line in text.splitlines() if (name := line.strip()))
    if not names:
        raise Misuse(say("tournament no names", file=source))
    return names
