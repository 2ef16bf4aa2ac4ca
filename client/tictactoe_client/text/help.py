"""Help texts: the commands of plain mode, and the commands and keys of the full screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Final

from tictactoe_client.board.grid import MOST_COLUMN_KEYS
from tictactoe_client.settings import PAIRS, Settings
from tictactoe_client.text.programs import own_command
from tictactoe_client.text.wording import is_move_by_letter, name_columns
from tictactoe_engine import Keys, Rules, format_key, has_single_keys
from tictactoe_protocol.pushes import RoomState
from tictactoe_words.catalogue import say
from tictactoe_words.choices import Choices
from tictactoe_words.commands import COMMANDS, RECORD, Command, list_commands, list_keys, words_of
from tictactoe_words.wording import capitalize, describe_rules, explain_rules, seat_of

Show = Callable[[str], str]
"""A function that returns the name of an action's key, or "" or "-" if it has none."""
Topic = tuple[str, tuple[tuple[str, str], ...]]
"""A title, and rows of keys or words, each with its effect."""

_SIGNS: Final = {
    "(O)": "last",
    "<X>": "line",
    "[ ]": "cursor",
    "x?": "pending",
    "+3 -4 =": "values",
    "~+ ~ ~- *": "guesses",
}


def describe_help(state: RoomState, settings: Settings, viewer: str, now: Choices | None = None) -> list[str]:
    """Return lines about the viewer's commands; `now` limits them to the commands that are possible."""
    rules, plays = state.rules.to_rules(), seat_of(state, viewer) is not None
    lines = [f"{say('topic goal', rules=describe_rules(rules))}.", *explain_rules(rules)]
    if plays:
        columns = (say("help columns", columns=name_columns(rules), n=rules.columns), say("move by column"))
        names = [f"{typed} ({does})" for typed, does in ([columns] if rules.gravity else _list_names(settings))]
        ways = _join_ways([*_list_keys(rules, settings), *names])
        lines.append(f"{say('topic move', rules=ways)}.")
    for topic, commands in list_commands(plays=plays, now=now):
        told = [
            _tell(_ask(command.typed[0], rules, settings, plays=plays), command.does)
            for command in commands
            if command.typed
        ]
        lines.append(f"{say(topic)}: {', '.join(told)}.")
    return [*lines, *([say("help asks once")] if plays else []), say("help empty line")]


def describe_record_help() -> list[str]:
    """Return lines about the commands for a recorded game."""
    return [
        f"{say(topic)}: {', '.join(_tell(command.typed[0], command.does) for command in commands)}."
        for topic, commands in RECORD.items()
    ]


def _tell(typed: str, does: str) -> str:
    return typed if does.lower() in typed.lower() else f"{typed} {does}"


def describe_controls(rules: Rules, settings: Settings) -> list[str]:
    """Return a single line about how to make moves and how to get help."""
    named = say("such as b2")
    if rules.gravity:
        named = say("such as columns", columns=name_columns(rules), n=rules.columns)
    more = _ask(words_of("help")[0], rules, settings)
    return [say("how to play", ways=_join_ways([*_list_keys(rules, settings), named]), help=more)]


def list_room_help(
    rules: Rules, settings: Settings, show: Show, *, plays: bool, now: Choices | None = None
) -> list[Topic]:
    """Return the full screen's help in a room; `now` limits it to the commands that are possible."""
    moves = tuple(_list_moves_on_screen(rules, settings, show)) if plays else ()
    topics: list[Topic] = [(say("topic move" if plays else "topic goal", rules=describe_rules(rules)), moves)]
    without_keys = {topic for topic, commands in COMMANDS.items() if not any(command.key for command in commands)}
    groups = sorted(list_commands(plays=plays, now=now), key=lambda group: group[0] in without_keys)
    return [*topics, *((say(topic), _list_rows(commands, show)) for topic, commands in groups), _list_signs()]


def list_home_help(show: Show) -> list[Topic]:
    """Return the full screen's help outside rooms."""
    everywhere = [command for command in COMMANDS["topic also"] if command.id != "command"]
    labels = {name: label or key.label for name, (key, label) in list_keys("home").items()}
    at_home = tuple((show(name), say(id)) for name, id in labels.items() if id)
    topics = [(say("topic everywhere"), _list_rows(everywhere, show)), (capitalize(say("key to home")), at_home)]
    for topic, commands in COMMANDS.items():
        pressed = [command for command in commands if command.key and command not in everywhere]
        if pressed:
            topics.append((say("topic in a room", topic=say(topic)), _list_rows(pressed, show)))
    return [*topics, _list_signs(), (say("topic elsewhere"), ((own_command("--help"), ""),))]


def _list_signs() -> Topic:
    return say("topic signs"), tuple((sign, say(f"sign {id}")) for sign, id in _SIGNS.items())


def _list_rows(commands: Sequence[Command], show: Show) -> tuple[tuple[str, str], ...]:
    rows, begin = [], show("command")
    begin += " " if len(begin) > 1 else ""
    for command in commands:
        key = command.key
        pressed = show(key.name) if key is not None else ""
        if pressed in ("", "-"):
            pressed = f"{begin}{max(command.typed, key=len)}" if command.typed else ""
        rows.append((pressed, say(key.label) if key is not None and key.label else command.does))
    return tuple(rows)


def _join_ways(ways: Sequence[str]) -> str:
    return reduce(lambda first, last: say("or", first=first, last=last), ways)


def _list_keys(rules: Rules, settings: Settings) -> list[str]:
    if rules.gravity or not has_single_keys(rules):
        return []
    rows = [" ".join(format_key(cell, settings.keys) for cell in range(first, first + 3)) for first in (0, 3, 6)]
    return [" / ".join(rows) if settings.keys == Keys.LETTERS else say("keys by digit", top=rows[0])]


def _list_names(settings: Settings) -> list[tuple[str, str]]:
    typed, id = PAIRS[settings.coordinates]
    return [("b2", say("named b2")), (typed, say(id))]


def _list_moves_on_screen(rules: Rules, settings: Settings, show: Show) -> Iterator[tuple[str, str]]:
    keys = _list_keys(rules, settings)
    if rules.gravity and rules.columns <= MOST_COLUMN_KEYS:
        yield f"1-{rules.columns}", say("move drops")
    if rules.gravity:
        yield name_columns(rules), say("move drops by name")
    else:
        yield from ((key, say("move at once")) for key in keys)
        colon = show("command") if keys and settings.keys == Keys.LETTERS else ""
        yield from ((f"{colon}{typed}", say("move and enter", cell=does)) for typed, does in _list_names(settings))
    shown = [show(action) for action in (("left", "right") if rules.gravity else ("left", "up", "down", "right"))]
    arrows = ("" if max(map(len, shown)) == 1 else "/").join(shown)
    yield f"{arrows} {show('place')}", say("move at cursor")


def _ask(line: str, rules: Rules, settings: Settings, *, plays: bool = True) -> str:
    return f"/{line}" if plays and is_move_by_letter(line.partition(" [")[0], rules, settings.keys) else line
