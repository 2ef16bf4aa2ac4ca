"""The games shown in the protocol's documentation, replayed line by line against real servers.

Everything is compared except generated values: players, tokens, room codes and the server's version. Generated values
that are equal on the page must be equal here.
"""

import asyncio
import contextlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
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


def generated_values(shown: Any, actual: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield the page's generated values in a message, each with its value in this run."""
    if isinstance(shown, dict) and isinstance(actual, dict):
        for name in shown.keys() & actual.keys():
            yield from generated_values(shown[name], actual[name], name)
    elif isinstance(shown, list) and isinstance(actual, list):
        for one, other in zip(shown, actual, strict=False):
            yield from generated_values(one, other)
    elif key in GENERATED and isinstance(shown, str) and isinstance(actual, str):
        yield shown, actual


def replace_all(text: str, replacements: Iterable[tuple[str, str]]) -> str:
    """Replace the longest texts first, because a game's id begins with its room's code."""
    for old, new in sorted(replacements, key=lambda each: len(each[0]), reverse=True):
        text = text.replace(old, new)
    return text


async def read_line(socket: ClientConnection) -> str:
    async with asyncio.timeout(PATIENCE_SECONDS):
        return str(await socket.recv())


def without_version(message: Any) -> Any:
    return {**message, "server": "tictactoe-server"} if message.get("type") == "welcome" else message


async def replay(url: str, page: str) -> int:
    """Replay a page's transcript at the server of `url` and return its number of lines; each line must match."""
    lines, actual_of = list(read_transcript(page)), dict[str, str]()
    async with contextlib.AsyncExitStack() as stack:
        sockets: dict[str, ClientConnection] = {}
        for line in lines:
            if line.who not in sockets:
                sockets[line.who] = await stack.enter_async_context(connect(url, proxy=None))
            if line.is_typed:
                await sockets[line.who].send(replace_all(line.text, actual_of.items()))
                continue
            shown, text = json.loads(line.text), await read_line(sockets[line.who])
            actual_of = dict(generated_values(shown, json.loads(text))) | actual_of
            actual = json.loads(replace_all(text, ((own, page_s) for page_s, own in actual_of.items())))
            assert without_version(actual) == without_version(shown)
            assert list(actual) == list(shown)
        for socket in sockets.values():
            with contextlib.suppress(ConnectionClosed):
                await socket.send('{"type":"ping","id":"nothing more"}')
                assert json.loads(await read_line(socket))["id"] == "nothing more"
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
