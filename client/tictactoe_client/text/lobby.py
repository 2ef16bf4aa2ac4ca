"""Texts outside games: the prompt of plain mode, and lists of rooms, finished games and games that await our move."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime, tzinfo

from rich.cells import cell_len, set_cell_size

from tictactoe_engine import PRESETS, Rules
from tictactoe_protocol import clean_text
from tictactoe_protocol.days import Turn
from tictactoe_protocol.events import EventHead
from tictactoe_protocol.pushes import PastGame, RoomSummary
from tictactoe_protocol.terms import RulesState
from tictactoe_words.catalogue import say
from tictactoe_words.commands import Command, word_of
from tictactoe_words.tournaments import describe_word
from tictactoe_words.wording import (
    count,
    describe_clock,
    describe_manners,
    describe_reason,
    describe_rules,
    format_duration,
    is_draw,
)


def offer_games(games: Sequence[tuple[str, int | None]]) -> list[str]:
    """Return a line for each room where our seat is held; `games` pairs each room with the remaining ms or None."""
    resume = word_of("resume")
    words = [resume if len(games) == 1 else f"{resume} {room}" for room, _ in games]
    rooms = [name_with_time(room, held_ms) for room, held_ms in games]
    return [say("you have a game", room=room, word=word) for room, word in zip(rooms, words, strict=True)]


def list_words(words: Iterable[str]) -> str:
    """Return a line that asks the person to type one of these words, or the word to quit."""
    return say("please type", words=say("or", first=", ".join(words), last=word_of("quit")))


def describe_home_help(offered: Sequence[Command]) -> list[str]:
    """Return a line for each command that the prompt of plain mode offers."""
    return [*(f"{command.typed[0]}: {command.does}" for command in offered), say("home help"), say("home options")]


def name_with_time(room: str, held_ms: int | None) -> str:
    """Return a room's code, and how long our seat there is still held if that is known.

    >>> name_with_time("K7M4PQ", 31_000), name_with_time("K7M4PQ", 0), name_with_time("K7M4PQ", None)
    ('K7M4PQ (0:31 left)', 'K7M4PQ (yours until somebody claims it)', 'K7M4PQ')
    """
    if held_ms is None:
        return room
    note = say("page time left", time=format_duration(held_ms)) if held_ms else say("page until claimed")
    return say("name with mark", name=room, mark=note)


def list_rooms(rooms: Sequence[RoomSummary], *, numbered: bool = False) -> list[str]:
    """Return an aligned line for each room, with a number at the beginning if `numbered`, and the age at the end."""
    table = []
    for number, room in enumerate(rooms, 1):
        named = {mark: clean_text(seat.name) if seat else say("view cell free") for mark, seat in room.seats.items()}
        status = say(f"status {room.status}") if room.status in ("waiting", "over") else clean_text(room.status)
        row = (
            room.room,
            count(room.ply, "move") if room.status == "playing" else status,
            ", ".join((describe_rules(room.rules), *describe_manners(room))),
            say("versus").join(say("name with mark", name=name, mark=mark) for mark, name in named.items()),
            describe_clock(room.clock),
            format_duration(room.age_ms),
        )
        table.append((f"{number}.", *row) if numbered else row)
    return align_columns(table)


def list_games(
    games: Sequence[PastGame], viewer: str, zone: tzinfo | None = None, *, width: int | None = None
) -> list[str]:
    """Return an aligned line for each game; if a line is wider than `width`, the players get a second line."""
    table = [
        (
            clean_text(game.game_id),
            format_date(game.at, zone),
            _describe_game(game),
            say("versus").join(
                say("name with mark", name=clean_text(player.name), mark=mark) for mark, player in game.players.items()
            ),
            describe_outcome(game, viewer),
            count(game.moves, "move"),
        )
        for game in games
    ]
    lines = align_columns(table)
    if width is None or all(cell_len(line) <= width for line in lines):
        return lines
    players = 3
    short = align_columns([(*row[:players], *row[players + 1 :]) for row in table])
    indent = " " * (max(cell_len(row[0]) for row in table) + 2)
    return [line for head, row in zip(short, table, strict=True) for line in (head, f"{indent}{row[players]}")]


def list_turns(turns: Sequence[Turn]) -> list[str]:
    """Return an aligned line for each game over days that awaits our move: code, rules, time left, and since when."""
    return align_columns(
        (
            turn.room,
            short_rules(turn.rules),
            say("page time left", time=format_duration(turn.left_ms)),
            say("turn since", time=format_duration(turn.since_ms)),
        )
        for turn in turns
    )


def align_columns(
    table: Iterable[Sequence[str]], to_the_right: Collection[int] = (), *, max_width: int | None = None
) -> list[str]:
    """Return the rows of a table as lines with aligned columns, measured in terminal cells.

    Args:
        to_the_right: The numbers of the columns to align at the right.
        max_width: The maximum width of all columns but the last; longer texts are cut off.

    >>> align_columns([("日本", "X"), ("ana", "O")])
    ['日本  X', 'ana   O']
    >>> align_columns([("ana", "waits")], max_width=2)
    ['an  waits']
    """
    rows = [*table]
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    widths[:-1] = [min(width, max_width or width) for width in widths[:-1]]

    def justify(column: int, cell: str) -> str:
        padding = " " * (widths[column] - cell_len(cell))
        return f"{padding}{cell}" if column in to_the_right else set_cell_size(cell, widths[column])

    return ["  ".join(justify(*each) for each in enumerate(row)).rstrip() for row in rows]


def _describe_game(game: PastGame) -> str:
    preset = game.rules.preset
    rules = say(f"name of {preset}") if preset in PRESETS else describe_rules(game.rules)
    return f"{rules}, {say('record event', name=clean_text(game.event))}" if game.event else rules


def describe_outcome(game: PastGame, viewer: str) -> str:
    """Return the result of a game as the viewer sees it, such as ``won by a line``."""
    winner = game.players.get(game.result.winner or "")
    if game.result.winner is None:
        verdict = "drawn" if is_draw(game.result) else "ended"
    else:
        verdict = "won" if winner and winner.player == viewer else "lost"
    return f"{say(f'column {verdict}')} {describe_reason(game.result.reason)}"


def format_date(milliseconds: int, zone: tzinfo | None = None) -> str:
    """Return the date, hour and minute of a time in a time zone, by default this machine's."""
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).astimezone(zone).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return say("date unknown")


def describe_age(milliseconds: int) -> str:
    """Return an age, rounded down to minutes or hours.

    >>> describe_age(3_000), describe_age(130_000), describe_age(9_000_000)
    ('new', '2 min', '2 h')
    """
    minutes = milliseconds // 60_000
    if minutes < 1:
        return say("age new")
    return say("clock minutes", n=minutes) if minutes < 60 else say("age hours", n=minutes // 60)


def short_rules(rules: RulesState | Rules) -> str:
    """Return the rules in a few words, such as ``15x15, 5 in a row``."""
    parts = [f"{rules.rows}x{rules.columns}"]
    if (rules.line, rules.rows, rules.columns) != (3, 3, 3):
        parts.append(say("rules line", line=rules.line))
    special = {"rules misere": rules.misere, "rules gravity": rules.gravity, "view cell blocked": rules.blocked}
    special["rules exact"] = rules.exact
    return ", ".join([*parts, *(say(id) for id, is_so in special.items() if is_so), *filter(None, [rules.opening])])


def describe_terms(head: EventHead) -> str:
    """Return the terms of a tournament, such as ``Swiss, 3x3, 3+2``."""
    return ", ".join((describe_word("kind", head.kind), short_rules(head.rules), describe_clock(head.clock)))


def describe_others(online: int) -> str:
    """Return how many other people are online; "" if `online` is 0, which means that the number is unknown."""
    return say("home others", n=online - 1) if online > 1 else say("home nobody online") if online else ""


def tally(games: Sequence[PastGame], viewer: str, *, is_complete: bool) -> str:
    """Return a text with the numbers of games, wins, losses and draws; say "at least" if the list is incomplete."""
    winners = [game.players[game.result.winner].player for game in games if game.result.winner is not None]
    won, drawn = winners.count(viewer), sum(is_draw(game.result) for game in games)
    many = say("count game" if is_complete else "history at least", n=len(games))
    return say("history tally", games=many, won=won, lost=len(winners) - won, drawn=drawn)
