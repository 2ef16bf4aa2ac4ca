"""What can be typed and pressed, once: `h` in plain mode, `?` on the full screen and docs/client.md read these tables.

Keys stand here as the names of actions: whoever shows them hands in what they are called.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from tictactoe_client.board.grid import MOST_COLUMN_KEYS
from tictactoe_client.online.address import DEFAULT_SERVER, Address
from tictactoe_client.settings import PROGRAM, Settings
from tictactoe_client.text.wording import is_move_by_letter, name_columns
from tictactoe_engine import PRESETS, Coordinates, Keys, Rules, format_key, has_single_keys
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.wording import describe_rules, seat_of


def own_command(*words: str, server: Address | None = None) -> str:
    """Return the line that runs this program with these words, and with the server unless it is the default one."""
    target = () if server is None or server.url == DEFAULT_SERVER else ("--server", server.url)
    return " ".join([_name(PROGRAM), *(shlex.quote(word) for word in (*words, *target))])


def invitation(room: str) -> str:
    """Return the line that leads other people into a room, on whatever machine."""
    return f"{PROGRAM} join {room}"


def server_command() -> str:
    """Return the line that starts a server of the same installation."""
    return _name("tictactoe-server")


def name_program(program: str, started: str, python: str, found: str | None, folder: str) -> str:
    """Return how to call one of our programs from this folder; `found` is what the bare name leads to."""
    paths = (started, python) if Path(started).name == PROGRAM else (python,)
    homes = [Path(path).parent for path in paths if os.sep in path]
    own = next((home / program for home in homes if (home / program).is_file()), None)
    if own is None or (found is not None and os.path.realpath(found) == os.path.realpath(own)):
        return program
    whole = os.path.abspath(os.path.join(folder, own))
    near = os.path.relpath(whole, folder)
    return shlex.quote(min(near if os.sep in near else os.path.join(".", near), whole, key=len))


@lru_cache(maxsize=2)
def _name(program: str) -> str:
    started = sys.argv[0] if sys.argv else ""
    if Path(started).name != PROGRAM and Path(started).parts[-2:] != ("tictactoe_client", "__main__.py"):
        return program
    return name_program(program, started, sys.executable, shutil.which(program), os.getcwd())


Show = Callable[[str], str]
"""What the key of an action is called, "" or "-" where it has none."""
Topic = tuple[str, tuple[tuple[str, str], ...]]
"""A title, and under it what is typed or pressed with what it does."""


@dataclass(frozen=True, slots=True)
class Command:
    """What `who` may type, the shortest word first and behind a colon on the full screen, or press by the action."""

    does: str
    typed: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    who: Literal["all", "player"] = "all"


_WORTH: Final = "Worth, where no two people play"
COMMANDS: Final[dict[str, tuple[Command, ...]]] = {
    "Ask": (
        Command("board", ("b", "board")),
        Command("last move", ("l", "last")),
        Command("free cells", ("f", "free")),
        Command("clocks", ("c", "clock")),
        Command("who is here", ("o", "who")),
    ),
    "Read": (
        Command("a column", ("s A",)),
        Command("a row", ("s 1",)),
        Command("a cell", ("s b2",)),
    ),
    "Look": (
        Command("around a cell", ("a b2", "around b2")),
        Command("along its diagonals", ("d b2", "diagonals b2")),
        Command("around the last move", ("a", "around")),
        Command("along its diagonals", ("d", "diagonals")),
    ),
    "List": (
        Command("cells of each mark", ("m", "marks")),
        Command("of one", ("m x", "marks x")),
        Command("rows of marks", ("r", "runs")),
        Command("all moves", ("moves",)),
        Command("the last six", ("moves 6",)),
    ),
    "Step": (
        Command("a move back", ("p", "back"), ("left",)),
        Command("a move on", ("next", "n"), ("right",)),
        Command("after move 5", ("board 5",)),
        Command("the newest", ("live",), ("end",)),
    ),
    _WORTH: (
        Command("this position and its moves", ("value", "review"), ("review",)),
        Command("those after move 5", ("value 5",)),
        Command("what was given away", ("mistakes",)),
        Command("the next mistake", ("next mistake", "mistake"), ("mistake",)),
        Command("the mistake before", ("previous mistake",), ("mistake_before",)),
    ),
    "Game": (
        Command("offers a draw or accepts one", ("draw",), who="player"),
        Command("asks for your move back or gives theirs back", ("undo",), who="player"),
        Command("gives up", ("resign",), who="player"),
        Command("takes the win when the other one is gone", ("claim",), ("claim",), "player"),
        Command("calls it a draw then", ("claim draw",), ("claim_draw",), "player"),
    ),
    "Offers": (
        Command("accepts", ("yes", "y", "accept"), ("accept",), "player"),
        Command("refuses", ("no", "n", "decline"), ("decline",), "player"),
        Command("takes your draw offer back", ("draw withdraw",), who="player"),
        Command("takes your undo back", ("undo withdraw",), who="player"),
    ),
    "After the end": (
        Command("plays again with the same players", ("rematch",), ("rematch",), "player"),
        Command("finds another opponent", ("new",), ("another",), "player"),
        Command("writes the record of the game", ("save",), ("save",)),
        Command("writes it to this file", ("save FILE",)),
    ),
    "Talk": (
        Command("says it to all", ("chat TEXT",), ("chat",)),
        Command("hides what they say from you", ("mute NAME",)),
        Command("shows it again", ("unmute NAME",)),
        Command("says who is muted", ("mute",)),
    ),
    "Also": (
        Command("help", ("h", "?", "help"), ("help",)),
        Command("leaves", ("leave", "quit", "exit"), ("back",)),
        Command("begins a command", keys=("command",)),
        Command("draws the screen anew", keys=("redraw",)),
        Command("ends the program", keys=("quit",)),
    ),
}
"""What can be done in a room, by what it is about."""

RECORD_STEPS: Final = (
    Command("or an empty line next", ("n",)),
    Command("previous", ("p",)),
    Command("that move, 0 the start", ("a number",)),
    Command("the end", ("live",)),
    Command("quit", ("q",)),
)
"""How one goes through a recorded game."""

HOME: Final = (
    Command("your game that still waits", ("resume",)),
    Command("whoever comes", ("play",)),
    Command("the computer; bot --level hard plays well", ("bot",)),
    Command("a room of your own, to invite others to", ("new",)),
    Command("a seat in a room, by its code or its link", ("join CODE",)),
    Command("a game that is being played, chosen from a list; watch CODE, a certain one", ("watch",)),
    Command("the public rooms", ("rooms",)),
    Command("your finished games; replay steps through the last one, replay 17 through number 17", ("history",)),
)
"""What can be done outside rooms; the other commands of the program can be typed as well."""

FORM: Final = (
    ("Game", f"{', '.join(PRESETS)}. Whatever is changed below makes it a game of one's own."),
    ("Board", "rows x columns, such as 15x15; from 1x2 to 32x32"),
    ("In a row to win", "how many marks make a line, along, down or slanting"),
    ("Marks", "a capital letter for each player in turn order, two to six: XOA"),
    ("Blocked cells", "nobody may take them, and no line goes through: b2,c3"),
    ("Misère", "whoever completes a line loses; for two players"),
    ("Gravity", "a mark falls to the lowest free cell of its column"),
    ("Clock", "3+2 is 3 minutes each and 2 seconds more for every move, 10/move is 10 seconds for each; empty is none"),
    ("Who may see it", "public rooms are listed and met by quick match; private ones are found by their code or link"),
    ("Analysis", "open, for a lesson, lets all have the running game analysed"),
    ("Chat", "players lets those who watch only read"),
    ("Your mark", "whose turn it is to begin goes by the order of the marks"),
    ("The computer", "takes all seats that you leave free"),
)
"""The lines of a new room's form and what they mean."""

SHAPES: Final = (
    ("(O)", "the last move"),
    ("<X>", "the deciding line; through large marks it is drawn as a line"),
    ("[ ]", "the cursor"),
    ("x?", "a move on its way"),
    ("+3 -4 =", "values: wins in 3 moves of all players, loses in 4, a draw"),
    ("~+ ~ ~- *", "guesses: good, even, bad; the best move"),
)
"""What the signs on the board mean."""

_ASKS_ONCE: Final = "What gives a running game up asks once: the word again, or yes, does it; anything else plays on."


def describe_help(state: RoomState, settings: Settings, viewer: str) -> list[str]:
    """Return what the viewer can type on this board and with these options, a line for each thing it is about."""
    rules, plays = state.rules.to_rules(), seat_of(state, viewer) is not None
    lines = [f"Goal: {describe_rules(rules)}."]
    if plays:
        falls = "a column or any cell of it; the mark falls to the lowest free cell"
        columns = (f"{name_columns(rules)}, or 1 to {rules.columns}", falls)
        names = [f"{typed} ({does})" for typed, does in ([columns] if rules.gravity else _list_names(settings))]
        lines.append(f"A move: {' or '.join([*_list_keys(rules, settings), *names])}.")
    for title, commands in _list_commands(plays=plays):
        told = [f"{_ask(one.typed[0], rules, settings, plays=plays)} {one.does}" for one in commands if one.typed]
        lines.append(f"{title}: {', '.join(told)}.")
    return [*lines, *([_ASKS_ONCE] if plays else []), "An empty line repeats whose move it is."]


def describe_record_help() -> list[str]:
    """Return what can be typed while a recorded game is looked at, a line for each thing it is about."""
    asked = (*(one for one in COMMANDS["Ask"] if one.typed[0] in "blf"), Command("who played", ("o",)))
    of_any_board = ("Read", "Look", "List", _WORTH)
    topics = {"Step": RECORD_STEPS, "Ask": asked} | {title: COMMANDS[title] for title in of_any_board}
    return [f"{title}: {', '.join(f'{one.typed[0]} {one.does}' for one in topics[title])}." for title in topics]


def describe_controls(rules: Rules, settings: Settings) -> list[str]:
    """Return how to play in one line."""
    named = f"a column, {name_columns(rules)} or 1 to {rules.columns}" if rules.gravity else "a cell such as b2"
    board = f"{_ask('b', rules, settings)} for the board, " if rules.gravity else ""
    ways = " or ".join([*_list_keys(rules, settings), named])
    return [f"To play, type {ways}. {board}{_ask('h', rules, settings)} for help, leave to go."]


def list_room_help(rules: Rules, settings: Settings, show: Show, *, plays: bool) -> list[Topic]:
    """Return the help of the full screen in a room: moves, what has keys, commands behind a colon, signs."""
    goal = describe_rules(rules)
    moves = tuple(_list_moves_on_screen(rules, settings, show)) if plays else ()
    topics: list[Topic] = [(f"A move: {goal}" if plays else f"Goal: {goal}", moves)]
    groups = sorted(_list_commands(plays=plays), key=lambda group: not any(command.keys for command in group[1]))
    return [*topics, *((title, _list_rows(commands, show)) for title, commands in groups), ("Signs", SHAPES)]


def list_home_help(show: Show) -> list[Topic]:
    """Return the help of the full screen outside rooms: what counts everywhere, and what the keys do at a board."""
    everywhere = tuple((show(command.keys[0]), command.does) for command in COMMANDS["Also"] if command.keys)
    topics = [("Everywhere", everywhere)]
    for title, commands in COMMANDS.items():
        pressed = tuple(command for command in commands if command.keys)
        if pressed and title != "Also":
            topics.append((f"In a room: {title[0].lower()}{title[1:]}", _list_rows(pressed, show)))
    return [*topics, ("Signs", SHAPES), ("Another window, a script, a screen reader", ((own_command("--help"), ""),))]


def _list_commands(*, plays: bool) -> Iterator[tuple[str, tuple[Command, ...]]]:
    """Yield what those who play, or those who watch, can do, by what it is about."""
    for title, commands in COMMANDS.items():
        if found := tuple(command for command in commands if plays or command.who == "all"):
            yield title, found


def _list_rows(commands: tuple[Command, ...], show: Show) -> tuple[tuple[str, str], ...]:
    """Return the keys of commands, or their longest word where they have none, with what they do."""
    rows, begin = [], show("command")
    begin += " " if len(begin) > 1 else ""
    for command in commands:
        keys = [shown for action in command.keys if (shown := show(action)) not in ("", "-")]
        words = [f"{begin}{max(command.typed, key=len)}"] if command.typed and not keys else []
        rows.append((" ".join([*keys, *words]), command.does))
    return tuple(rows)


def _list_keys(rules: Rules, settings: Settings) -> list[str]:
    """Return the keys of the cells, none where the cells have none."""
    if rules.gravity or not has_single_keys(rules):
        return []
    top = " ".join(format_key(cell, settings.keys) for cell in range(3))
    return ["q w e / a s d / z x c" if settings.keys == Keys.LETTERS else f"1-9 ({top} on top)"]


def _list_names(settings: Settings) -> list[tuple[str, str]]:
    """Return how a cell is named, with what that means."""
    pair = {
        Coordinates.ROW_COLUMN_1: ("2,3", "row 2, column 3"),
        Coordinates.ROW_COLUMN_0: ("1,2", "row 1, column 2, both from 0"),
        Coordinates.X_Y_1: ("3,2", "column 3, row 2"),
    }[settings.coordinates]
    return [("b2", "column B, row 2"), pair]


def _list_moves_on_screen(rules: Rules, settings: Settings, show: Show) -> Iterator[tuple[str, str]]:
    """Yield how one moves on the full screen: what plays at once, what wants Enter, and the cursor."""
    keys = _list_keys(rules, settings)
    if rules.gravity and rules.columns <= MOST_COLUMN_KEYS:
        yield f"1-{rules.columns}", "drops into that column at once"
    if rules.gravity:
        yield name_columns(rules), "the column, and Enter; the mark falls"
    else:
        yield from ((key, "the cell, at once") for key in keys)
        colon = show("command") if keys and settings.keys == Keys.LETTERS else ""
        yield from ((f"{colon}{typed}", f"{does}, and Enter") for typed, does in _list_names(settings))
    shown = [show(action) for action in (("left", "right") if rules.gravity else ("left", "up", "down", "right"))]
    arrows = ("" if max(map(len, shown)) == 1 else "/").join(shown)
    click = "a click" if keys and not settings.confirm else "a click and another one"
    yield f"{arrows} {show('place')}", f"the cell at the cursor{f', or {click}' if settings.mouse else ''}"


def _ask(line: str, rules: Rules, settings: Settings, *, plays: bool = True) -> str:
    """Return what to type for a command: with a slash where one who plays would make a move by it."""
    return f"/{line}" if plays and is_move_by_letter(line, rules, settings.keys) else line
