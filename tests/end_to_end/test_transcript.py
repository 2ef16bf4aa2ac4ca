"""The games shown in the protocol's documentation, replayed line by line against real servers.

Everything is compared except generated values: players, tokens, room codes and the server's version. Generated values
that are equal on the page must be equal here.
"""

import asyncio
import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.peer import PATIENCE_SECONDS
from tictactoe_server.server import Server

DOCS = Path(__file__).parents[2] / "docs" / "reference"
BLOCK = re.compile(r"^```text (\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
GAME, OPENING = "protocol.md", "protocol/openings.md"
GENERATED = {"player", "token", "room", "url", "cluster", "game_id"}


@dataclass(frozen=True)
class Line:
    """A line of the transcript: the peer, whether the peer sent it, and the JSON."""

    who: str
    is_typed: bool
    text: str


def read_transcript(page: str) -> Iterator[Line]:
    """Yield the lines in the order of the game; `…` repeats the fields of the state before."""
    states: dict[str, Any] = {}
    for who, block in BLOCK.findall(page):
        for line in block.splitlines():
            assert line[:2] in ("> ", "< "), line
            text = line[2:]
            if text.startswith('{"type":"room"'):
                before = states[who] if text.endswith(",…}") else {}
                states[who] = before | json.loads(text.replace(",…}", "}"))
                text = json.dumps(states[who])
            yield Line(who, line[0] == ">", text)


@dataclass
class Generated:
    """The page's players, tokens and codes, each with its value in this run."""

    actual_of: dict[str, str] = field(default_factory=dict)

    def bind(self, shown: str, actual: str) -> str:
        """Return the page's text for `actual`, and learn new values."""
        self.actual_of.setdefault(shown, actual)
        return next((key for key, value in self.actual_of.items() if value == actual), actual)

    def learn(self, shown: Any, actual: Any) -> Any:
        """Return `actual` with all generated values replaced by the page's."""
        if isinstance(shown, dict) and isinstance(actual, dict):
            renamed = {self.shown_for(key): value for key, value in actual.items()}
            return {
                key: self.bind(shown[key], value)
                if key in GENERATED and isinstance(value, str) and isinstance(shown.get(key), str)
                else self.learn(shown.get(key), value)
                for key, value in renamed.items()
            }
        if isinstance(shown, list) and isinstance(actual, list) and len(shown) == len(actual):
            return [self.learn(one, other) for one, other in zip(shown, actual, strict=True)]
        if isinstance(shown, str) and isinstance(actual, str):
            return self.told_of(actual)
        return actual

    def told_of(self, text: str) -> str:
        """Return a sentence with its generated values replaced by the page's."""
        for shown, actual in self.actual_of.items():
            text = text.replace(actual, shown)
        return text

    def shown_for(self, actual: str) -> str:
        return next((key for key, value in self.actual_of.items() if value == actual), actual)

    def type_as_told(self, text: str) -> str:
        """Return a line as a reader types it, with this run's codes."""
        for shown, actual in self.actual_of.items():
            text = text.replace(shown, actual)
        return text


async def read_line(socket: ClientConnection) -> Any:
    async with asyncio.timeout(PATIENCE_SECONDS):
        return json.loads(await socket.recv())


def without_version(message: Any) -> Any:
    return {**message, "server": "tictactoe-server"} if message.get("type") == "welcome" else message


async def replay(url: str, page: str) -> int:
    """Replay a page's transcript at the server of `url` and return its number of lines; each line must match."""
    lines, generated = list(read_transcript(page)), Generated()
    async with contextlib.AsyncExitStack() as stack:
        sockets: dict[str, ClientConnection] = {}
        for line in lines:
            if line.who not in sockets:
                sockets[line.who] = await stack.enter_async_context(connect(url, proxy=None))
            if line.is_typed:
                await sockets[line.who].send(generated.type_as_told(line.text))
                continue
            shown, actual = json.loads(line.text), await read_line(sockets[line.who])
            assert without_version(generated.learn(shown, actual)) == without_version(shown)
            assert list(actual) == list(shown)
        for socket in sockets.values():
            with contextlib.suppress(ConnectionClosed):
                await socket.send('{"type":"ping","id":"nothing more"}')
                assert (await read_line(socket))["id"] == "nothing more"
    return len(lines)


def read_page(path: str) -> str:
    return (DOCS / path).read_text(encoding="utf-8")


@pytest.mark.parametrize("path", [GAME, OPENING])
async def test_the_games_of_the_protocol_pages_can_be_typed_as_they_stand(server: Server, path: str) -> None:
    assert await replay(server.url, read_page(path)) > 20


async def test_typed_lines_are_compact_and_fit_a_terminals_line() -> None:
    lines = [line for path in (GAME, OPENING) for line in read_transcript(read_page(path))]
    typed = [line.text for line in lines if line.is_typed]
    assert typed
    for text in typed:
        assert json.dumps(json.loads(text), separators=(",", ":")) == text
        assert len(text) <= 80
