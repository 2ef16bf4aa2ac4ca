"""Hostile texts in every field, through the real client and the real server.

A terminal receives no kind of escape sequence that a harmless server does not cause, a pipe receives none, and neither
receives control, bidirectional or invisible characters.
"""

import asyncio
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from tests.corpus import CORPUS, SURROGATES, faults_in
from tests.end_to_end.clients import COMMAND, ClientProcess, run_client
from tests.faults.harness import Harness
from tests.faults.hostile_server import (
    OTHER,
    ROOM,
    TOKEN,
    Frame,
    HostileServer,
    everything_said,
    hostile_server,
    identity,
    the_end,
)
from tests.peer import open_peer
from tests.terminal import Terminal, kinds_of_sequences, run_screen, strip_sequences
from tests.together import try_each
from tictactoe_protocol.events import EventWatch
from tictactoe_protocol.pushes import ChatLine, Error, Ok
from tictactoe_protocol.requests import Hello, Join, Record
from tictactoe_protocol.requests import Request as Asked

HARMLESS = tuple(f"word {number}" for number in range(5))
STRONGEST = tuple(
    CORPUS[name]
    for name in (
        *("C0", "C1", "title", "clipboard", "unfinished OSC", "line breaks", "overwriting", "overrides", "isolates"),
        *("zero width", "variation selectors", "tags", "stacked marks", "wide", "nothing", "format"),
    )
)
"""Some texts of each kind, for slow tests; faster tests cover the whole corpus."""
WORST = "".join(text for text in CORPUS.values() if len(text) < 1000)
"""All short texts of the corpus in one."""


def landmark(number: int) -> ChatLine:
    """Return a chat line that marks the progress of the conversation."""
    return ChatLine(room=ROOM, from_="n", seat="O", text=f"so far {number}", at=0, player=OTHER)


def talk(words: Sequence[str], client: str | None = "X") -> Iterable[tuple[list[Frame], str]]:
    """Yield every push with these words, each with a text that the screen then shows."""
    for number, text in enumerate(words):
        yield [*everything_said(text, 2 + 3 * number, client), landmark(number)], f"so far {number}"


def ending(words: Sequence[str]) -> list[Frame]:
    return the_end(2 + 3 * len(words), words[0])


def unsafe_in(text: str, allowed: str = "\n") -> list[str]:
    """Return the faults, except stacked marks, which escaping keeps."""
    return [fault for fault in faults_in(text, allowed) if fault.startswith("U+")]


def assert_clean_pipe(written: str, allowed: str = "\n") -> None:
    assert list(faults_in(written, allowed)) == []
    assert "Traceback" not in written


def assert_clean_terminal(written: bytes, harmless: bytes) -> None:
    """Check that a terminal received clean text, and only the kinds of sequences that a harmless server causes."""
    text = written.decode()
    assert kinds_of_sequences(text) <= kinds_of_sequences(harmless.decode())
    assert list(faults_in(strip_sequences(text), "\r\n")) == []
    assert b"Traceback" not in written


async def listen(
    client: ClientProcess, server: HostileServer, words: Sequence[str], own_mark: str | None = "X"
) -> None:
    """Show everything with these words to a client in plain mode, until its room closes."""
    await client.until("Your move, X." if own_mark else "X's move.")
    for frames, shown in talk(words, own_mark):
        await server.push(*frames)
        await client.until(f"n: {shown}")
    await server.push(*ending(words))


@pytest.mark.parametrize("command", ["join", "watch"])
async def test_a_transcript_in_a_pipe_holds_nothing_but_clean_lines(command: str) -> None:
    words = tuple(CORPUS.values())
    async with hostile_server(WORST) as server, run_client(command, ROOM, "--plain", "-s", server.url) as client:
        await listen(client, server, words, "X" if command == "join" else None)
        assert await client.end() == 0
        assert_clean_pipe("\n".join(client.lines))
        assert_clean_pipe(await client.errors())
        assert len(client.lines) > 2 * len(words)


async def talk_on_terminal(words: Sequence[str], *options: str) -> Terminal:
    """Show everything with these words to a client on a terminal; return the terminal and the sent texts."""
    async with (
        hostile_server(words[0]) as server,
        run_screen(*COMMAND, "join", ROOM, "-n", "ana", "-s", server.url, *options) as screen,
    ):
        await screen.until("Your move")
        for frames, shown in talk(words):
            await server.push(*frames)
            await screen.shows(shown)
        screen.type("?" if not options else "o\n")
        await screen.shows("Help" if not options else "online")
        screen.type("\x1b" if not options else "b\n")
        if not options:
            await screen.shows(shown, without="Help")  # an Esc that comes late would leave the page that follows
        await server.push(*ending(words))
        await screen.until("is closed")
        screen.type("\x03" if not options else "")
        assert await screen.end() in (0, 130)
        return screen


async def test_a_transcript_on_a_terminal_steers_it_no_more_than_a_harmless_one() -> None:
    words = tuple(CORPUS.values())
    harmless, hostile = await asyncio.gather(talk_on_terminal(HARMLESS, "--plain"), talk_on_terminal(words, "--plain"))
    assert_clean_terminal(hostile.written, harmless.written)


async def test_the_full_screen_steers_the_terminal_no_more_than_with_a_harmless_server() -> None:
    harmless, hostile = await asyncio.gather(talk_on_terminal(HARMLESS), talk_on_terminal(STRONGEST))
    assert_clean_terminal(hostile.written, harmless.written)


async def test_json_on_a_terminal_escapes_control_characters() -> None:
    words = tuple(text for text in CORPUS.values() if len(text) < 1000)
    async with (
        hostile_server(WORST) as server,
        run_screen(*COMMAND, "join", ROOM, "--json", "--stay", "-s", server.url) as screen,
    ):
        await screen.until('"type":"room"')
        for frames, shown in talk(words):
            await server.push(*frames)
            await screen.until(shown)
        await server.push(*ending(words))
        assert await screen.end() == 0
        assert unsafe_in(screen.written.decode(), "\r\n") == []
        said = {json.loads(line).get("text") for line in screen.written.decode().splitlines()}
        assert said.issuperset(text for text in words if text)


RECORD = """\
[X "{}"]
[O "{}"]
[Room "{}"]
[Result "X"]
[Reason "line"]

1. a1 {{ {} }} a2 2. b1 b2 3. c1 X
"""


async def test_a_record_is_shown_clean_or_refused_in_clean_words(tmp_path: Path) -> None:
    path = tmp_path / "game.txt"

    async def attempt(text: str) -> None:
        text = text.replace('"', "'").replace("}", ")")
        record = RECORD.format(text, text, text, text)
        path.write_text(record, errors="surrogatepass")

        def send(request: Asked) -> list[Frame]:
            return [Ok(id=identity(request), record=record)]

        async with hostile_server(text, {Record: send}) as server:
            for arguments, codes in (([str(path)], (0, 2)), (["17", "-s", server.url], (0, 4))):
                async with run_client("replay", *arguments) as client:
                    assert await client.end() in codes
                    assert_clean_pipe("\n".join(client.lines))
                    assert_clean_pipe(await client.errors())

    await try_each(STRONGEST, attempt, at_a_time=1)


@pytest.mark.parametrize(
    ("mode", "code", "exit_code"),
    [("--plain", "bad_name", 6), ("--json", "no_such_room", 5), ("--plain", "room_full", 5), ("--json", WORST, 6)],
)
async def test_refusals_are_printed_as_clean_text(mode: str, code: str, exit_code: int) -> None:
    def refuse(request: Asked) -> list[Frame]:
        return [Error(id=identity(request), code=code, message=WORST, room=WORST, path=WORST)]

    at = Hello if code == "bad_name" else Join
    async with (
        hostile_server(WORST, {at: refuse, EventWatch: refuse}) as server,
        run_client("join", ROOM, mode, "-s", server.url) as client,
    ):
        assert await client.end() == exit_code
        assert_clean_pipe(await client.errors())
        if mode == "--plain":
            assert_clean_pipe("\n".join(client.lines))


@pytest.mark.parametrize(
    ("mode", "code", "exit_code"),
    [("--plain", 1008, 7), ("--json", 4500, 6), ("--plain", 4501, 6), ("--json", 4999, 7)],
)
async def test_close_reasons_are_printed_as_clean_text(mode: str, code: int, exit_code: int) -> None:
    reason = "\x1b]0;t\x07\x9b31m\u202eevil\u200b\n\r\x7f" + "\U000e0041"
    async with hostile_server() as server, run_client("join", ROOM, mode, "-s", server.url) as client:
        await client.until('{"type":"room"' if mode == "--json" else "Your move")
        await server.close(code, reason)
        assert await client.end() == exit_code
        assert_clean_pipe("\n".join(client.lines))
        errors = await client.errors()
        assert_clean_pipe(errors)
        assert "evil" in errors


def read_log(errors: str) -> str:
    return Path(errors.rpartition("Debug log: ")[2].strip()).read_text(encoding="utf-8")


async def test_the_debug_log_is_clean_and_keeps_the_token_to_itself() -> None:
    words = tuple(CORPUS.values())
    async with (
        hostile_server(WORST) as server,
        run_client("join", ROOM, "--plain", "--debug", "-s", server.url) as client,
    ):
        await listen(client, server, words)
        client.type("leave")
        await client.end()
        log = read_log(await client.errors())
    assert unsafe_in(log) == []
    assert all(line[:2] == "20" for line in log.splitlines())
    assert TOKEN not in log


async def test_the_real_server_passes_on_and_logs_nothing_unclean(tmp_path: Path) -> None:
    async with Harness(tmp_path / "data", "--log-level", "debug") as server:
        async with open_peer(server.url, "ana") as ana, open_peer(server.url, "bo") as bo:
            room = (await ana.ask("create"))["room"]
            await bo.ask("join", room=room)
            for text in (text[:1000] for text in CORPUS.values()):
                async with open_peer(server.url, text) as stranger:
                    assert stranger.welcome["type"] in ("welcome", "error")
                    await stranger.ask("join", room=text)
                    if stranger.welcome["type"] == "error":  # the name was refused
                        await stranger.ask("hello")
                    await stranger.ask("create", rules=text, seat=text, bots=[text])
                    await stranger.ask(text)
                    await stranger.send("move", id=text, room=text, cell=text, ply=text)
                    await stranger.send_text(json.dumps({text: text}))
                    await stranger.send_text(text)
                    assert (await stranger.ask("ping"))["type"] in ("ok", "error")
                await ana.ask("chat", room=room, text=text)
            for half in SURROGATES:
                await bo.send_text(f'{{"type":"chat","room":"{room}","text":{half}}}')
            await bo.ask("chat", room=room, text="that was all")
            await ana.until(lambda message: message.get("text") == "that was all")
            heard = [message for message in (*ana.seen, *bo.seen) if message["type"] != "welcome"]
        assert [fault for message in heard for fault in faults_in(json.dumps(message, ensure_ascii=False))] == []
        await server.end()
    assert list(faults_in("\n".join(server.log), "\n")) == []
    assert not [line for line in server.log if "Traceback" in line]
