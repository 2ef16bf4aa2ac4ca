"""The commands that lead into a room: play, new, bot, join and watch.

They read their options and hand over; the network is imported by the command that needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import click

from tictactoe_client.cli.manual import command
from tictactoe_client.cli.options import LEVELS, Words, clock_option, rules_option, settings_of, shared_options


@command(
    short_help="Play whoever comes.",
    examples=(
        "play",
        "play --rules gomoku --name ana",
        "play --rules connect-four --clock 3+2",
    ),
)
@rules_option
@clock_option
@shared_options
@click.pass_context
def play(context: click.Context, /, rules: str | None, clock: str | None, **_: Any) -> int:
    """Play whoever comes: a quick match.

    Joins the oldest open room with the same rules and the same clock, or opens one and waits in it. What is not said is
    classic tic-tac-toe without a clock.
    """
    settings = settings_of(context)
    from tictactoe_client.input.rule_options import RuleOptions, parse_clock, parse_rules

    chosen, limits = parse_rules(RuleOptions(rules=rules)), parse_clock(clock)
    from tictactoe_client.cli.errands import visit
    from tictactoe_client.online.choosing import Choice

    return visit(settings, None, Choice("match", chosen, limits))


@command(
    short_help="Open a room and invite others.",
    examples=(
        "new",
        "new --rules gomoku --clock 3+2",
        "new --board 7x7 --win 4 --marks XOA --blocked d4",
        "new --bot hard",
    ),
)
@rules_option
@click.option("--board", metavar="ROWSxCOLUMNS", help="The board's size, up to 32x32.")
@click.option("--win", type=int, metavar="N", help="How many in a row win.")
@click.option("--marks", metavar="LETTERS", help="Two to six marks in turn order, such as XOA for three players.")
@click.option("--blocked", metavar="CELLS", help="Cells that nobody may take, such as b2,c3.")
@click.option("--misere", is_flag=True, help="Whoever completes a line loses.")
@click.option("--gravity", is_flag=True, help="Marks fall to the lowest free cell of their column.")
@clock_option
@click.option("--private", is_flag=True, help="Keep the room out of the public list.")
@click.option("--seat", metavar="MARK", help="The mark to play; the first by default, which begins.")
@click.option("--bot", "bots", multiple=True, type=Words(LEVELS), help="Let the computer take a seat; repeatable.")
@click.option(
    "--analysis", type=Words(["closed", "open"]), default="closed", help="open: analyse the running game, for a lesson."
)
@click.option("--chat", type=Words(["all", "players"]), default="all", help="players: those who watch only read.")
@shared_options
@click.pass_context
def new(
    context: click.Context,
    /,
    clock: str | None,
    private: bool,
    seat: str | None,
    bots: tuple[str, ...],
    analysis: Literal["closed", "open"],
    chat: Literal["all", "players"],
    **rules: Any,
) -> int:
    """Open a room of your own, show its code and link, and wait for the others.

    The rules are those of a game with a name (--rules), or made of a board, a length to win and what else makes it
    different. Whoever has the code or the link may join.
    """
    settings = settings_of(context)
    from tictactoe_client.input.rule_options import RuleOptions, check_bots, parse_clock, parse_rules, parse_seat

    chosen = parse_rules(RuleOptions(**{name: rules[name] for name in RuleOptions.__dataclass_fields__}))
    limits, mark = parse_clock(clock), parse_seat(seat, chosen)
    check_bots(bots, chosen)
    from tictactoe_client.cli.errands import visit
    from tictactoe_client.online.choosing import Choice

    return visit(settings, None, Choice("create", chosen, limits, private, mark, bots, analysis=analysis, chat=chat))


@command(
    short_help="Play the computer; needs no server.",
    examples=(
        "bot",
        "bot --level hard --first bot",
        "bot --rules gomoku --clock 5+3",
    ),
)
@click.option("--level", type=Words(LEVELS), default="medium", help="How well the computer plays (medium).")
@click.option("--first", type=Words(["me", "bot", "random"]), default="me", help="Who begins (me).")
@rules_option
@clock_option
@shared_options
@click.pass_context
def bot(context: click.Context, /, level: str, first: str, rules: str | None, clock: str | None, **_: Any) -> int:
    """Play the computer.

    Where no server runs on this machine, one is started for the game, and ends with it. With --server the game is
    played there.
    """
    settings = settings_of(context)
    if settings.server is None:
        settings = replace(settings, local=True)
    from tictactoe_client.input.rule_options import RuleOptions, choose_seat, parse_clock, parse_rules

    chosen, limits = parse_rules(RuleOptions(rules=rules)), parse_clock(clock)
    seat = choose_seat(first, chosen)
    from tictactoe_client.cli.errands import visit
    from tictactoe_client.online.choosing import against_computer

    return visit(settings, None, against_computer(level, chosen, seat, limits))


@command(
    short_help="Take a free seat in a room.",
    examples=(
        "join K7M4PQ",
        "join ws://192.168.1.20:8765/K7M4PQ --name bo",
    ),
)
@click.argument("room", nargs=-1, required=True, metavar="CODE|LINK")
@shared_options
@click.pass_context
def join(context: click.Context, /, room: Sequence[str], **_: Any) -> int:
    """Take a free seat in a room, or the seat there that an earlier run left behind.

    A code has six letters and digits; case, dashes and spaces do not matter. A link names its server too.
    """
    settings = settings_of(context)
    from tictactoe_client.input.rule_options import parse_room_argument

    code, address = parse_room_argument(" ".join(room))
    from tictactoe_client.cli.errands import visit
    from tictactoe_client.online.choosing import Choice

    return visit(settings, address, Choice("join", code=code))


@command(
    short_help="Watch a game.",
    examples=(
        "watch",
        "watch K7M4PQ",
        "watch ws://192.168.1.20:8765/K7M4PQ --plain",
    ),
)
@click.argument("room", nargs=-1, metavar="[CODE|LINK]")
@shared_options
@click.pass_context
def watch(context: click.Context, /, room: Sequence[str], **_: Any) -> int:
    """Watch a game from its first move or from the middle; nothing that you do disturbs it.

    Without a code or a link, choose from the list of running games.
    """
    settings = settings_of(context)
    if not room:
        from tictactoe_client.cli.errands import watch_any

        return watch_any(settings)
    from tictactoe_client.input.rule_options import parse_room_argument

    code, address = parse_room_argument(" ".join(room))
    from tictactoe_client.cli.errands import visit
    from tictactoe_client.online.choosing import Choice

    return visit(settings, address, Choice("watch", code=code))
