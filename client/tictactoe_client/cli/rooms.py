"""The commands that enter or list rooms and events, manage names, open a page in a browser, or check a server."""

from __future__ import annotations

import asyncio
import socket
import sys
import time
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from tictactoe_client.cli.run import ask_and_print, ask_line, connected
from tictactoe_client.files.config import FILE_NAME, save_choices
from tictactoe_client.files.players import GUEST, KnownPlayers, Role
from tictactoe_client.files.records import STANDARD_STREAM
from tictactoe_client.files.writer import NotKept
from tictactoe_client.input import names as naming
from tictactoe_client.input.rule_options import choose_seat, parse_clock, parse_rules, parse_seat, rules_for_players
from tictactoe_client.input.ways import Choice, EventWay, Way, against_computer, together
from tictactoe_client.json_mode import JsonGame, pass_through, print_connected
from tictactoe_client.nearby import fetch_status, find_nearby
from tictactoe_client.online.address import Address, Cluster, is_event_link, parse_cluster, parse_event, parse_room
from tictactoe_client.online.client import Client
from tictactoe_client.online.connection import open_connection
from tictactoe_client.online.errors import Refused, Unreachable, describe_cause
from tictactoe_client.plain.game import PlainFace, PlainGame
from tictactoe_client.plain.tournament import PlainEvent
from tictactoe_client.session import Session, cluster_for
from tictactoe_client.settings import ExitCode, Misuse, Settings
from tictactoe_client.streams.keyboard import standard_input
from tictactoe_client.streams.output import Output, is_terminal, print_error, print_own, report
from tictactoe_client.text.language import means
from tictactoe_client.text.lobby import align_columns, list_rooms
from tictactoe_client.text.programs import own_command
from tictactoe_client.tui import FirstPage
from tictactoe_client.tui.start import show_screen
from tictactoe_client.version import client_version
from tictactoe_client.visit.event import carry_out, link_to, list_cards, parse_command
from tictactoe_client.visit.face import NoPerson, choose_name
from tictactoe_client.visit.visit import Visit
from tictactoe_protocol import PROTOCOL_VERSION, BadRoomCode, clean_text, parse_room_code
from tictactoe_protocol.events import EventOpen
from tictactoe_protocol.names import Devices
from tictactoe_words.catalogue import say
from tictactoe_words.rosters import decode_roster, read_roster
from tictactoe_words.tournaments import describe_head, list_events

_BLACK_ON_WHITE: Final = "\x1b[30;107m"
_USUAL: Final = "\x1b[0m"


async def play_anyone(settings: Settings, rules: str | None, clock: str | None, way: Way = "match", **wish: Any) -> int:
    """Play a quick match, or enter a room in another `way`; `wish` has further fields of the `Choice`."""
    return await _enter_and_stay(settings, Choice(way, parse_rules(rules), parse_clock(clock), **wish))


async def challenge(settings: Settings, rules: str | None, side: str | None, **wish: Any) -> int:
    seat = parse_seat(side, parse_rules(rules), "--side")
    return await play_anyone(settings, rules, way="challenge", seat=seat, **wish)


async def accept(settings: Settings, challenge: str) -> int:
    return await _enter_and_stay(settings, Choice("accept", code=challenge))


async def open_room(
    settings: Settings, *, clock: str | None, seat: str | None, bots: tuple[str, ...], **wish: Any
) -> int:
    """Open a room; `wish` has the options for the rules and for other terms of the room, as typed."""
    manners = {name: wish.pop(name) for name in ("private", "analysis", "chat", "rated")}
    rules = parse_rules(**wish)
    if len(bots) > len(rules.marks):
        raise Misuse(say("bots too many", n=len(bots), marks=", ".join(rules.marks)))
    choice = Choice("create", rules, parse_clock(clock), seat=parse_seat(seat, rules), bots=bots, **manners)
    return await _enter_and_stay(settings, choice)


async def play_computer(settings: Settings, level: str, first: str, rules: str | None, clock: str | None) -> int:
    """Play the computer on the given server; by default on a local server, which is started if necessary."""
    chosen = parse_rules(rules)
    choice = against_computer(level, chosen, choose_seat(first, chosen), parse_clock(clock))
    return await _enter_and_stay(settings if settings.server is not None else replace(settings, local=True), choice)


async def play_together(settings: Settings, names: Sequence[str], clock: str | None, **wish: Any) -> int:
    """Play all seats at this keyboard, on the same server as `play_computer`."""
    if settings.mode == "json":
        raise Misuse(say("local for people"))
    rules = parse_rules(**rules_for_players(len(names), **wish))
    if len(names) > len(rules.marks):
        raise Misuse(say("local too many", n=len(names), marks=", ".join(rules.marks)))
    chosen = [*names] or [name for name in (settings.name,) if name]
    first, *guests = *chosen, *(say("local player", n=n) for n in range(len(chosen) + 1, len(rules.marks) + 1))
    named = replace(settings, name=first, name_is_for_now=True)
    there = named if settings.server is not None else replace(named, local=True)
    return await _enter_and_stay(there, together(rules, guests, parse_clock(clock)))


async def join(settings: Settings, room: Sequence[str]) -> int:
    """Join a room by its code or link, or return to our seat from an earlier run; enter an event by its link."""
    text = " ".join(room)
    if is_event_link(text):
        return await use_event(settings, [text], None)
    code, address = parse_room(text)
    return await _enter_and_stay(settings, Choice("join", code=code), address)


async def _enter_and_stay(settings: Settings, choice: Choice, address: Address | None = None) -> int:
    """Enter a room and play or watch in the chosen mode. Players use their stored identity; watchers are anonymous."""
    if settings.mode == "screen":
        return await show_screen(settings, address, choice)
    room = choice.code if choice.way == "join" else None
    role: Role = "nobody" if choice.way == "watch" else "player"
    name = None if role == "nobody" else await _ask_name(settings, cluster_for(settings, address))
    who: dict[str, Any] = {"room": room, "role": role, "new_name": name}
    async with connected(settings, address, is_chatty=True, **who) as (_, session):
        if settings.mode == "json":
            return await JsonGame(session, standard_input()).run(choice)
        return await _stay(session, choice)


async def _stay(session: Session, choice: Choice) -> int:
    output = Output(prompts=is_terminal(0, 1))
    ended = await PlainGame(session, standard_input(), output).run(choice)
    if isinstance(ended, int):
        return ended
    return await PlainEvent(session, standard_input()).run(EventWay(ended.code, watches=True))


async def _ask_name(settings: Settings, cluster: Cluster) -> str | None:
    players = KnownPlayers()
    known = players.find(tuple(address.url for address in cluster.addresses))
    has_name = settings.name is not None or (known is not None and not known.name.startswith(GUEST))
    if has_name or settings.mode != "plain" or settings.quiet or not (settings.asks and is_terminal(0, 1)):
        return None
    face = PlainFace(Output(prompts=True), standard_input(), asks=True)
    name = await choose_name(face, players.find_name() or naming.propose_name())
    with suppress(NotKept):
        save_choices({"name": name})
    return name


async def watch(settings: Settings, room: Sequence[str]) -> int:
    """Watch a game by its code or link; without one, list the games and ask, or raise `Misuse` without a terminal."""
    text = " ".join(room)
    if is_event_link(text):
        return await use_event(settings, [text.partition("#")[0]], None)
    if room:
        code, address = parse_room(text)
        return await _enter_and_stay(settings, Choice("watch", code=code), address)
    if settings.mode == "screen":
        return await show_screen(settings, first_page=FirstPage("watch"))
    async with connected(settings, is_chatty=True) as (client, session):
        screen = Output(prompts=is_terminal(0, 1))
        games: dict[str, str] = {}
        if settings.mode == "json":
            await pass_through(client, client.rooms.list)
        else:
            playing = [room for room in await client.rooms.list() if room.status == "playing"]
            screen.print(*(list_rooms(playing, numbered=True) or [say("no public game")]))
            games = {str(number): room.room for number, room in enumerate(playing, 1)}
        if settings.mode == "json" or not (settings.asks and is_terminal(0)):
            raise Misuse(say("say which game", command=own_command("watch", "CODE", server=client.address)))
        if games:
            screen.print(say("which game"))
        while games and (line := await ask_line(screen)) is not None:
            word = line.strip()
            if means(word, "leave", "quit"):
                break
            try:
                watching = Choice("watch", code=games.get(word) or parse_room_code(word))
            except BadRoomCode:
                screen.print(say("number or code", n=len(games)))
            else:
                return await _stay(session, watching)
        return ExitCode.NORMAL


async def show_rooms(settings: Settings) -> int:
    async with connected(settings) as (client, _):

        async def ask() -> list[str]:
            return list_rooms(await client.rooms.list())

        command = own_command("new", server=client.address)
        return await ask_and_print(settings, client, ask, say("no public room", command=command))


async def show_servers(settings: Settings) -> int:
    servers = await find_nearby(settings.timeout_seconds)
    if settings.mode == "json":
        print_own("servers", servers=[{"name": server.name, "url": server.address.url} for server in servers])
        return ExitCode.NORMAL
    Output().print(*align_columns((server.name, server.address.url) for server in servers))
    if not servers and not settings.quiet:
        print_error(say("no server near"))
    return ExitCode.NORMAL


async def use_name(settings: Settings, what: str, value: str | None) -> int:
    comes = what == "rescue" or (what == "link" and value is not None)
    if what in ("claim", "export", "revoke", "rescue") and value is None:
        raise Misuse(say("name needs", what=what))
    if what == "rescue" and settings.name is None:
        raise Misuse(say("name rescue needs"))
    codes = {what: value} if comes and value is not None else {}
    role: Role = "player" if comes else "reader"
    async with connected(settings, role=role, codes=codes) as (client, session):

        async def ask() -> list[str]:
            if what == "forget" and value != (name := (await client.ask(Devices())).claimed or client.name):
                command = own_command("name", what, name, server=client.address)
                raise Misuse(say("name forget sure", name=clean_text(name), command=command))
            lines, picture = ([], ()) if comes else await naming.carry_out(client, session.identity, what, value or "")
            if comes or what in ("claim", "link"):
                if "name" in settings.fixed and settings.name != client.name:
                    print_error(say("choice fixed", key="name", file=FILE_NAME))
                elif settings.name not in (None, client.name) and not settings.name_is_for_now:
                    save_choices({"name": client.name})
            if not lines:
                answer = await client.ask(Devices())
                return [naming.describe_self(client, answer), *map(naming.describe_device, answer.devices or ())]
            draws = is_terminal(1) and settings.colour and settings.draws_board and not settings.ascii
            return [*lines, *(f"{_BLACK_ON_WHITE}{line}{_USUAL}" for line in picture if draws)]

        return await ask_and_print(settings, client, ask)


async def open_page(settings: Settings, room: Sequence[str]) -> int:
    """Open the page of a server, a room or an event in a browser; raises `Refused` if there is no such room."""
    code, ticket, address = parse_event(" ".join(room)) if room else ("", "", None)
    address = address or cluster_for(settings, None).first
    patience, ca = settings.timeout_seconds, settings.ca
    if code and await fetch_status(address, f"e/{code}", patience, ca) == HTTPStatus.OK:
        code = f"e/{code}#{ticket}" if ticket else f"e/{code}"
    elif code and await fetch_status(address, code, patience, ca) == HTTPStatus.NOT_FOUND:
        raise Refused("no_such_room", say("refused no_such_room", room=code), room=code, server=address.url)
    link = address.link_to(code) if code else address.page_url
    report(settings, "page", link, url=link)
    if not await asyncio.to_thread(webbrowser.open, link):
        print_error(say("no browser"))
    return ExitCode.NORMAL


async def check(settings: Settings) -> int:
    """Try each step that is needed to play on a server, and print the results."""
    clock = time.monotonic

    def report_step(step: str, line: str, *, ok: bool = True, **fields: object) -> None:
        report(settings, "step", f"{say(f'step {step}'):<9} {line}", step=step, ok=ok, **fields)

    for address in parse_cluster(settings.server).addresses:
        started, asking = clock(), asyncio.get_running_loop().getaddrinfo
        try:
            addresses = await asking(address.host, address.port or 443, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            reason = say("no host", host=clean_text(address.host))
            report_step("resolve", say("step failed", told=reason), ok=False, message=reason)
        else:
            places = list(dict.fromkeys(str(place[4][0]) for place in addresses))
            report_step(
                "resolve", say("step ok with", told=", ".join(places)), ms=_in_ms(clock() - started), addresses=places
            )
    async with connected(settings) as (client, _):
        if settings.mode == "json":
            print_connected(client)
        is_alone = len(client.cluster.addresses) == 1
        report_step("connect", say("step ok") if is_alone else say("step ok with", told=client.address.url))
        name, ms = clean_text(client.name), _in_ms(client.latency_seconds)
        report_step("hello", say("step you would be", ms=f"{ms:.0f}", name=name), ms=ms, name=name)
        times = []
        for _ping in range(3):
            started = clock()
            await client.ping()
            times.append(_in_ms(clock() - started))
        report_step("ping", say("step ok with", told=", ".join(f"{each} ms" for each in times)), ms=times)
        own, server = client_version(), clean_text(client.server)
        line = say("step both versions", own=own, server=server, protocol=PROTOCOL_VERSION)
        report_step("versions", line, client=own, server=server, protocol=PROTOCOL_VERSION)
        page = client.address
        try:
            connection = await open_connection(page, settings.timeout_seconds, settings.ca, origin=page.origin)
        except Unreachable as error:
            why = error.reason
            report_step("page", say("step failed", told=why), ok=False, origin=page.origin, message=why)
            return ExitCode.UNREACHABLE
        await connection.close()
        report_step("page", say("step ok"), origin=page.origin)
        return ExitCode.NORMAL


def _in_ms(seconds: float) -> float:
    return round(seconds * 1000, 1)


async def use_event(settings: Settings, words: Sequence[str], ticket: str | None, **terms: Any) -> int:
    """List the events, open an event (``new``), enter an event by its code, or carry out a command at it."""
    if not words:
        return await _show_events(settings)
    if words[0] == "new":
        return await _open_event(settings, **terms)
    code, linked, address = parse_event(words[0])
    command, argument = parse_command(" ".join(words[1:])) if words[1:] else ("", "")
    ticket, name = ticket or linked, argument if command == "join" else ""
    stays = command in ("", "join")
    enter = EventWay(code, ticket, name, watches=not (command or ticket))
    if stays and settings.mode == "screen":
        return await show_screen(settings, address, first_page=FirstPage("event", enter=enter))
    async with connected(settings, address, is_chatty=stays, role="player" if stays else "reader") as (client, session):
        if not stays:
            return await ask_and_print(settings, client, lambda: _carry_out(client, session, code, command, argument))
        if settings.mode == "json":
            return await JsonGame(session, standard_input(), shows_token=False).run(enter)
        return await PlainEvent(session, standard_input()).run(enter)


async def _carry_out(client: Client, session: Session, code: str, command: str, argument: str) -> list[str]:
    event = await client.tournaments.watch(code)
    return await carry_out(Visit(NoPerson(), session), event, command, argument) or [say("tournament done", code=code)]


async def _show_events(settings: Settings) -> int:
    if settings.mode == "screen":
        return await show_screen(settings, first_page=FirstPage("events"))
    async with connected(settings) as (client, _):

        async def ask() -> list[str]:
            events = await client.tournaments.list()
            return align_columns(list_events(events).values()) if events else []

        command = own_command("event", "new", server=client.address)
        return await ask_and_print(settings, client, ask, say("tournament none", command=command))


async def _open_event(
    settings: Settings, *, clock: str, entry: str, roster: str | None, ready: int, rest: int, late: int, **more: Any
) -> int:
    """Open an event and print its code, links and cards; `more` has further fields of `EventOpen` or None for each."""
    names = _read_roster(roster) if roster is not None else ()
    terms: dict[str, Any] = {"entry": "roster" if names else entry, "title": say("page event")}
    terms |= {name: term for name, term in more.items() if term not in (None, "")}
    terms |= {"clock": parse_clock(clock), "roster": names, "start": "full" if "size" in terms else "hand"}
    terms |= {"ready_ms": ready * 1000, "late_until": late}
    async with connected(settings, role="reader") as (client, session):

        async def ask() -> list[str]:
            event = await client.tournaments.open(EventOpen(**terms, break_ms=rest * 1000))
            session.identity.write_down(client)
            plan = describe_head(event.state.head)
            return [
                say("tournament opened", code=event.code),
                f"{say('invitation link')}: {link_to(client, event.code, event.ticket)}",
                *list_cards(client, event.code, event.cards),
                *([plan] if plan else []),
                say("tournament run it", command=own_command("event", event.code, "--plain", server=client.address)),
            ]

        return await ask_and_print(settings, client, ask)


def _read_roster(source: str) -> tuple[str, ...]:
    try:
        body = sys.stdin.buffer.read() if source == STANDARD_STREAM else Path(source).read_bytes()
    except OSError as error:
        raise Misuse(say("record unreadable file", file=source, why=describe_cause(error))) from None
    names = read_roster(decode_roster(body))
    if not names:
        raise Misuse(say("tournament no names", file=source))
    return names
