"""Make the pictures of the full screen in `docs/pictures/`: ``python -m tools.pictures``.

The program plays on a server, in a pseudo-terminal, against players of the library, and its screen is drawn. Values
that change from run to run (room codes, ports, times) are made equal.
"""

import argparse
import asyncio
import contextlib
import fcntl
import os
import pty
import re
import struct
import sys
import tempfile
import termios
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pyte

from tests.environment import environment
from tictactoe_client import Client, Room, connect
from tictactoe_engine import format_cell
from tictactoe_server.operator.log import set_up_logging
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tools.svg import Cell, draw_screen

FOLDER: Final = Path("docs/pictures")
SMALL, LARGE = (80, 24), (120, 40)
PATIENCE_SECONDS: Final = 20.0
QUIET_SECONDS: Final = 0.7
"""How long the output must be quiet before a picture is taken; every animation is faster."""

_INK, _GROUND = "#d7dce2", "#14171c"
_COLOURS: Final = MappingProxyType(
    {
        "black": "#14171c", "red": "#e06c75", "green": "#8cc265", "brown": "#d8a657",
        "blue": "#61a5f0", "magenta": "#c678dd", "cyan": "#4fb8c4", "white": "#d7dce2",
        "brightblack": "#7d8590", "brightred": "#ff7b86", "brightgreen": "#a5e075", "brightbrown": "#f0c674",
        "brightblue": "#7fbcff", "brightmagenta": "#de8bf0", "brightcyan": "#6fd3de", "brightwhite": "#ffffff",
    }
)  # fmt: skip
"""The colours of the terminal in the pictures, by the emulator's names."""

_PRIVATE: Final = re.compile(rb"\x1b\[[<=>][0-9;]*[A-Za-z]")
"""Settings of newer terminals, which the emulator does not know."""

_PROGRAM: Final = """
import tictactoe_client.nearby, tictactoe_client.__main__
tictactoe_client.nearby.SERVICE_TYPE = "_pictures._tcp.local."
tictactoe_client.__main__.main()
"""
"""The client, which finds no other servers of this network."""

GOMOKU: Final = (112, 97, 113, 111, 98, 128, 126, 82, 127, 129, 83, 142, 68, 67, 114, 115)
FALLING: Final = (38, 31, 37, 39, 36, 35, 30, 29, 24)


@dataclass
class Program:
    """The full screen in a pseudo-terminal, and the contents of its screen."""

    size: tuple[int, int]
    home: Path
    screen: pyte.Screen = field(init=False)
    _ours: int = field(init=False)

    async def start(self, *arguments: str) -> None:
        """Run the program."""
        self.screen = pyte.Screen(*self.size)
        self._stream = pyte.ByteStream(self.screen)
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", self.size[1], self.size[0], 0, 0))
        colours = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "COLORFGBG": "15;0"}
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", _PROGRAM, *arguments),
            preexec_fn=lambda: os.login_tty(theirs),
            env=environment(HOME=str(self.home), **colours),
        )
        os.close(theirs)
        os.set_blocking(self._ours, False)

    @property
    def text(self) -> str:
        """The text on the screen."""
        return "\n".join(self.screen.display)

    def type(self, text: str) -> None:
        """Type the text."""
        os.write(self._ours, text.encode())

    async def until(self, *words: str) -> None:
        """Wait until all these words are on the screen."""
        for _ in range(int(PATIENCE_SECONDS / 0.02)):
            self._read()
            if all(word in self.text for word in words):
                return
            await asyncio.sleep(0.02)
        raise SystemExit(f"{words} did not come:\n{self.text}")

    async def settle(self) -> None:
        """Wait until the screen is quiet."""
        quiet = 0.0
        for _ in range(int(PATIENCE_SECONDS / 0.05)):
            quiet = 0.0 if self._read() else quiet + 0.05
            if quiet >= QUIET_SECONDS:
                return
            await asyncio.sleep(0.05)

    async def press(self, *keys: str) -> None:
        """Press keys, each once the screen is quiet after the one before."""
        for key in keys:
            self.type(key)
            await self.settle()

    async def end(self) -> None:
        """End the program in any state."""
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        for _ in range(100):
            self._read()
            if self._process.returncode is not None:
                break
            await asyncio.sleep(0.02)
        else:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
        await self._process.wait()
        os.close(self._ours)

    def _read(self) -> int:
        """Read the new output, and return its length."""
        size = 0
        with contextlib.suppress(BlockingIOError, OSError):
            while data := os.read(self._ours, 65536):
                size += len(data)
                self._stream.feed(_PRIVATE.sub(b"", data))
        return size


@dataclass(frozen=True)
class Stage:
    """A server, a program on it, the other players, and the codes of their rooms."""

    server: Server
    program: Program
    players: Mapping[str, Client]
    codes: list[str] = field(default_factory=list)

    async def start(self, *arguments: str) -> None:
        """Run the program on the server, as ana."""
        await self.program.start(*arguments, "-s", self.server.url, "-n", "ana")

    async def meet(self, rules: str, *cells: int) -> Room:
        """Match bo with the waiting ana and play these cells; ana's are typed."""
        await self.program.until("Waiting for")
        room = await self.players["bo"].rooms.match(rules)
        self.codes.append(room.code)
        await self.program.until("Your move")
        for ply, cell in enumerate(cells):
            if ply % 2:
                await room.move(cell)
            else:
                await self.program.until("Your move", f"{(ply + 1) // 2}. X" if ply else "")
                await self.program.settle()
                self.program.type(f":{format_cell(cell, room.state.rules.to_rules())}\r")
            async with asyncio.timeout(PATIENCE_SECONDS):
                while len(await room.sync()) <= ply:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
        return room

    async def play(self, rules: str, *cells: int, one: str = "cy", other: str = "dee") -> Room:
        """Play these cells as two other players."""
        first = await self.players[one].rooms.create(rules)
        self.codes.append(first.code)
        second = await self.players[other].rooms.join(first.code)
        for ply, cell in enumerate(cells):
            await (second if ply % 2 else first).move(cell, ply=ply)
        return first


Scene = Callable[[Stage], Awaitable[None]]


async def home(stage: Stage) -> None:
    """Show the first page after a won game, with running games and a waiting room."""
    await stage.start("play", "--rules", "classic")
    await stage.meet("classic", 4, 0, 2, 6, 8, 1, 5)
    await stage.program.settle()
    await stage.play("classic", 4, 0, 8)
    await stage.play("gomoku", *GOMOKU[:12])
    await stage.play("connect-four", *FALLING)
    stage.codes.append((await stage.players["bo"].rooms.create("four")).code)
    await stage.program.press("\x1b")
    await stage.program.until("Find an opponent")
    await asyncio.sleep(1.5)


async def new_room(stage: Stage) -> None:
    """Show the form of a new room."""
    await stage.start()
    await stage.program.until("Invite a friend")
    await stage.program.press("\x1b[B", "\x1b[B", "\r")
    await stage.program.until("New room")


async def three(stage: Stage) -> None:
    """Show a game of 3x3 in the middle."""
    await stage.start("play", "--rules", "classic")
    await stage.meet("classic", 4, 0, 8, 2)


async def gomoku(stage: Stage) -> None:
    """Show gomoku, with some talk."""
    await stage.start("play", "--rules", "gomoku")
    room = await stage.meet("gomoku", *GOMOKU[:10])
    await room.chat("Nice opening!")


async def falling(stage: Stage) -> None:
    """Show connect-four."""
    await stage.start("play", "--rules", "connect-four")
    await stage.meet("connect-four", *FALLING[:8])


async def watching(stage: Stage) -> None:
    """Show a game of three to a watcher."""
    cy, dee, bo = (stage.players[name] for name in ("cy", "dee", "bo"))
    first = await cy.rooms.create("three-players")
    stage.codes.append(first.code)
    others = [await dee.rooms.join(first.code), await bo.rooms.join(first.code)]
    for ply, cell in enumerate((12, 6, 8, 16, 18, 7, 11)):
        await (first, *others)[ply % 3].move(cell, ply=ply)
    await stage.start("watch", first.code)
    await stage.program.until("cy")


async def won(stage: Stage) -> None:
    """Show the end of a game that ana has won."""
    await stage.start("play", "--rules", "classic")
    await stage.meet("classic", 4, 0, 2, 8, 6)
    await asyncio.sleep(1)


SCENES: Final[Mapping[str, tuple[Scene, str]]] = MappingProxyType(
    {
        "home": (home, "The first page: what one can do, and the games that are on"),
        "new-room": (new_room, "The form of a new room"),
        "3x3": (three, "A game of 3x3"),
        "gomoku": (gomoku, "Gomoku on 15x15"),
        "connect-four": (falling, "Connect four"),
        "watching": (watching, "A game of three, watched"),
        "end": (won, "The end of a game that was won"),
    }
)
"""The scenes by the first part of their file's name, with their descriptions for readers who cannot see them."""

SIZES: Final[Mapping[str, Sequence[tuple[int, int]]]] = MappingProxyType(
    {name: (SMALL, LARGE) if name in ("home", "gomoku", "connect-four", "end") else (SMALL,) for name in SCENES}
)
"""The sizes of the windows in the documentation."""


@contextlib.asynccontextmanager
async def stage_of(size: tuple[int, int]) -> AsyncIterator[Stage]:
    """Start a server with players for a scene."""
    async with contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        kept = Settings(host="127.0.0.1", port=0, data=folder / "data")
        server = await stack.enter_async_context(Server(kept))
        names = ("bo", "cy", "dee")
        players = {name: await stack.enter_async_context(connect(server.url, name=name)) for name in names}
        yield Stage(server, Program(size, folder), players)


async def take(name: str, size: tuple[int, int]) -> str:
    """Return the picture of a scene in a window of this size."""
    scene, title = SCENES[name]
    async with stage_of(size) as stage:
        await scene(stage)
        await stage.program.settle()
        rows = _cells_of(stage.program.screen, _same(stage.program.text, stage.codes))
        await stage.program.end()
    grounds = Counter(cell.ground for row in rows for cell in row)
    return draw_screen(
        rows, grounds.most_common(1)[0][0], title=f"{title}, in a window of {size[0]} by {size[1]} characters."
    )


def _same(text: str, codes: Sequence[str]) -> str:
    """Return a screen's text with values that differ from run to run made equal, of the same length."""
    text = re.sub(r"127\.0\.0\.1:\d{5}", "10.0.0.200:8765", text)
    for code in codes:
        text = text.replace(code, "K7M4PQ")
    text = re.sub(r"\b(\d+) ms", lambda found: f"{'1':>{len(found[1])}} ms", text)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "2030-12-31 18:05", text)
    return re.sub(r"\b0:\d\d\b", "0:41", text)


def _cells_of(screen: pyte.Screen, text: str) -> Sequence[Sequence[Cell]]:
    """Return the cells of a screen, with this text instead of the original."""
    rows = []
    for y, line in enumerate(text.split("\n")):
        shown = [screen.buffer[y][x] for x in range(screen.columns)]
        letters = line if len(line) == len(shown) else "".join(cell.data or " " for cell in shown)
        rows.append([_cell_of(cell, letter) for cell, letter in zip(shown, letters, strict=False)])
    return rows


def _cell_of(shown: pyte.screens.Char, text: str) -> Cell:
    ink, ground = _colour(shown.fg, _INK), _colour(shown.bg, _GROUND)
    if shown.reverse:
        ink, ground = ground, ink
    return Cell(text, ink, ground, shown.bold, shown.italics, shown.underscore)


def _colour(name: str, otherwise: str) -> str:
    return otherwise if name == "default" else _COLOURS.get(name) or f"#{name}"


def _parse_size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    return int(width), int(height)


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the pictures that the command line names, else all."""
    parser = argparse.ArgumentParser(prog="python -m tools.pictures", description="Make the pictures of the screen.")
    parser.add_argument("scenes", nargs="*", choices=[[], *SCENES], metavar="SCENE", help=", ".join(SCENES))
    parser.add_argument("--out", type=Path, default=FOLDER, metavar="FOLDER")
    parser.add_argument("--size", type=_parse_size, metavar="80x24", help="in a window of this size alone")
    chosen = parser.parse_args(arguments)
    set_up_logging("text", "error")
    chosen.out.mkdir(parents=True, exist_ok=True)
    for name in chosen.scenes or SCENES:
        for size in [chosen.size] if chosen.size else SIZES[name]:
            path = chosen.out / f"{name}-{size[0]}x{size[1]}.svg"
            path.write_text(asyncio.run(take(name, size)), encoding="utf-8")
            print(path, path.stat().st_size)


if __name__ == "__main__":
    main()
