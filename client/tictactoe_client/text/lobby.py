"""What is said outside games: the home of plain mode, a game that still waits, rooms and finished games. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo

from tictactoe_client.online.address import Address
from tictactoe_client.text.help import Command, own_command
from tictactoe_protocol import clean_text
from tictactoe_protocol.happened import is_draw
from tictactoe_protocol.pushes import PastGame, RoomSummary
from tictactoe_protocol.wording import (
    count,
    describe_clock,
    describe_manners,
    describe_reason,
    describe_rules,
    format_duration,
)


def offer_games(games: Sequence[tuple[str, int | None]]) -> list[str]:
    """Return a line for each room where a seat still waits, given with the ms for which it is held."""
    return [
        f"You have a game in {name_with_time(room, held_ms)}: type {'resume' if len(games) == 1 else f'resume {room}'}."
        for room, held_ms in games
    ]


def list_words(offered: Sequence[Command]) -> str:
    """Return what can be typed at home in one line."""
    return f"Type {', '.join(command.typed[0] for command in offered)}, help or quit."


def describe_home_help(offered: Sequence[Command]) -> list[str]:
    """Return what each word does, one a line."""
    return [
        *(f"{command.typed[0]}: {command.does}." for command in offered),
        "help: these lines. quit: the end of the program.",
        "Options may follow, such as play --rules gomoku; play --help names them. In a game, leave leads back here.",
    ]


def describe_way_back(room: str, held_ms: int | None, address: Address) -> str:
    """Return that a game waits, for how long, and the command that takes its seat up again."""
    return f"You have a game in {name_with_time(room, held_ms)}: {own_command('join', address.word_for(room))}"


def name_with_time(room: str, held_ms: int | None) -> str:
    """Return a room with how long one's seat there is held, None where that is not known.

    >>> name_with_time("K7M4PQ", 31_000), name_with_time("K7M4PQ", 0), name_with_time("K7M4PQ", None)
    ('K7M4PQ (0:31 left)', 'K7M4PQ (yours until it is claimed)', 'K7M4PQ')
    """
    if held_ms is None:
        return room
    return f"{room} ({f'{format_duration(held_ms)} left' if held_ms else 'yours until it is claimed'})"


def describe_loss(room: str, ended: PastGame | None, viewer: str, replay_from: Address | None = None) -> str:
    """Return how the game of a room ended, or that it is closed; with the command that replays it from a server."""
    if ended is None:
        return f"Your room {room} is closed."
    replay = "" if replay_from is None else f" {own_command('replay', clean_text(ended.id), server=replay_from)}"
    return f"Your game in {room} is over: {describe_outcome(ended, viewer)}.{replay}"


def list_rooms(rooms: Sequence[RoomSummary], *, numbered: bool = False) -> list[str]:
    """Return one line a room in aligned columns, with a number before each for choosing, and its age at the end."""
    table = []
    for number, room in enumerate(rooms, 1):
        named = {mark: clean_text(seat.name) if seat else "free" for mark, seat in room.seats.items()}
        row = (
            room.room,
            count(room.ply, "move") if room.status == "playing" else clean_text(room.status),
            ", ".join((describe_rules(room.rules), *describe_manners(room))),
            " v ".join(f"{name} ({mark})" for mark, name in named.items()),
            describe_clock(room.clock),
            format_duration(room.age_ms),
        )
        table.append((f"{number}.", *row) if numbered else row)
    return _align(table)


def list_games(
    games: Sequence[PastGame],
    viewer: str | Sequence[str],
    zone: tzinfo | None = None,
    *,
    whose: Sequence[str] = (),
    width: int | None = None,
) -> list[str]:
    """Return one line a game in aligned columns: the id for `replay`, date, rules, players, the viewer's result, moves.

    Where not all are of one viewer, there is one for each game, and `whose` it is in words stands last. Where that is
    wider than `width`, the players stand on a line of their own below.
    """
    viewers = [viewer] * len(games) if isinstance(viewer, str) else viewer
    table = [
        (
            f"id {clean_text(game.id)}",
            format_date(game.at, zone),
            game.rules.preset or describe_rules(game.rules),
            " v ".join(f"{clean_text(player.name)} ({mark})" for mark, player in game.players.items()),
            describe_outcome(game, viewer),
            count(game.moves, "move"),
            *(clean_text(name) for name in whose[number : number + 1]),
        )
        for number, (game, viewer) in enumerate(zip(games, viewers, strict=True))
    ]
    lines = _align(table)
    if width is None or all(len(line) <= width for line in lines):
        return lines
    players = 3
    short = _align([(*row[:players], *row[players + 1 :]) for row in table])
    indent = " " * (max(len(row[0]) for row in table) + 2)
    return [line for head, row in zip(short, table, strict=True) for line in (head, f"{indent}{row[players]}")]


def _align(table: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]


def describe_no_games(address: Address) -> str:
    """Return that there is no finished game at this server."""
    return f"You have finished no game on {address.url} yet."


def describe_outcome(game: PastGame, viewer: str) -> str:
    """Return how a game ended for the viewer: ``won by a line``."""
    winner = game.players.get(game.result.winner or "")
    if game.result.winner is None:
        verdict = "drawn" if is_draw(game.result) else "ended"
    else:
        verdict = "won" if winner and winner.player == viewer else "lost"
    return f"{verdict} {describe_reason(game.result.reason)}"


def format_date(milliseconds: int, zone: tzinfo | None = None) -> str:
    """Return a moment as a day and a time in the zone, by default this machine's, or that it is unknown."""
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).astimezone(zone).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return "date unknown"
