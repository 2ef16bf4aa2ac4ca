"""A game in plain mode as both players read and type it: two programs, one server, one lost connection.

The texts of both are in `transcripts/` and compared line by line; `UPDATE_PICTURES=1` writes them again.
`docs/reference/client.md` quotes them. In German some English words are typed, which work there as well.
"""

import os
import re
from pathlib import Path

import pytest

from tests.end_to_end.clients import ClientProcess, run_client
from tests.proxy import Proxy
from tictactoe_server.server import Server

HERE = Path(__file__).parent / "transcripts"
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "client.md"


class Sitting:
    """A player's program, and a transcript of everything printed and typed."""

    def __init__(self, client: ClientProcess) -> None:
        self.client = client
        self.hear = client.until

    async def ask(self, line: str, *answers: str) -> None:
        """Type a line and read up to the last line of its answer."""
        self.client.lines.append(f"> {line}")
        await self.client.ask(line, *answers)

    def text(self, url: str, code: str) -> str:
        """Return the transcript without what differs from run to run."""
        place = url.removeprefix("ws://")
        text = "\n".join(self.client.lines).replace(place, "localhost:8765").replace(code, "K7M4PQ")
        text = re.sub(r"Connected, \d+ ms", "Connected, 1 ms", text)
        text = re.sub(r"Verbunden, \d+ ms", "Verbunden, 1 ms", text)
        text = re.sub(r"after \d+ seconds?", "after 4 seconds", text)
        text = re.sub(r"Nach \d+ Sekunden?", "Nach 4 Sekunden", text)
        return re.sub(r"\b\d:\d\d\b", "1:00", text) + "\n"


async def play(script: str, players: dict[str, Sitting], proxy: Proxy) -> None:
    """Run two players' programs by a script of `transcripts/`: the lines they type, and the answers to wait for."""
    for line in filter(None, script.splitlines()):
        who, _, deed = line.partition(" ")
        verb, _, text = deed.partition(": ")
        typed, _, answers = text.rpartition(" -> ")
        match verb:
            case "types":
                await players[who].ask(typed, *answers.split(" | "))
            case "reads":
                await players[who].hear(*answers.split(" | "))
            case "loses the connection":
                proxy.lose()
            case "may connect again":
                proxy.is_closed = False
            case "ends":
                assert await players[who].client.end() == 0
            case _:
                raise ValueError(line)


@pytest.mark.parametrize(
    ("language", "waiting", "suffix"),
    [("en", "Waiting for another player.", ""), ("de", "Es fehlt noch jemand", "-de")],
)
async def test_games_match_transcripts(language: str, waiting: str, suffix: str, server: Server, proxy: Proxy) -> None:
    script, options = (HERE / f"sitting-{language}.txt").read_text(encoding="utf-8"), ("--language", language)
    async with run_client("new", "-n", "ana", "-s", proxy.url, *options) as ana_client:
        code = (await ana_client.until("Code")).split()[1]
        await ana_client.until(waiting)
        async with run_client("join", code, "-n", "bo", "-s", server.url, *options) as bo_client:
            ana, bo = Sitting(ana_client), Sitting(bo_client)
            await play(script, {"ana": ana, "bo": bo}, proxy)
            compare(f"ana{suffix}", ana.text(proxy.url, code))
            compare(f"bo{suffix}", bo.text(server.url, code))


def compare(name: str, text: str) -> None:
    path = HERE / f"{name}.txt"
    if os.environ.get("UPDATE_PICTURES"):
        path.write_text(text, encoding="utf-8")
    assert text.splitlines() == path.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", ["bo", "home"])
def test_the_page_shows_parts_of_the_sitting_in_their_order(name: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    shown = page.partition(f"<!-- transcript: {name};")[2].partition("```text\n")[2].partition("```")[0]
    assert shown
    real = (HERE / f"{name}.txt").read_text(encoding="utf-8")
    for part in shown.split("...\n"):
        before, found, real = real.partition(part)
        assert found, part
        assert not before or before.endswith("\n")
