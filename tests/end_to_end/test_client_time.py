"""The client's reactions to passing time, with short waiting times and without processes."""

import asyncio
import json
import os

import pytest

from tests.kept import session_of
from tests.peer import open_peer
from tests.terminal import pipe
from tictactoe_client import connect
from tictactoe_client.input.ways import Choice
from tictactoe_client.json_mode import JsonGame
from tictactoe_client.settings import Settings
from tictactoe_client.streams.keyboard import MAX_LINE_BYTES, Keyboard
from tictactoe_server.server import Server

SOON = 0.02


async def test_a_script_whose_input_has_ended_leaves(server: Server, capfd: pytest.CaptureFixture[str]) -> None:
    settings = Settings(mode="json", leaving_seconds=SOON, result_code=True)
    with pipe() as (reader, writer):
        os.close(writer)
        async with connect(server.url, name="ana") as ana, open_peer(server.url, "bo") as bo:
            code = (await bo.ask("create"))["room"]
            assert await JsonGame(session_of(ana, settings), Keyboard(reader)).run(Choice("join", code=code)) == 12
            assert (await bo.state(status="over"))["result"]["reason"] == "aborted"
    printed = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert printed[-1]["type"] == "ok"


async def test_lines_are_read_whatever_their_ends_and_lengths() -> None:
    with pipe() as (reader, writer):
        os.write(writer, b"one\r\ntwo\n\n" + b"x" * 3 * 1024 + b"\nfour \xff\nlast without end")
        os.close(writer)
        keyboard = Keyboard(reader)
        lines = [await keyboard.read_line() for _ in range(7)]
    assert lines == ["one", "two", "", "x" * 3 * 1024, "four \ufffd", "last without end", None]
    assert await keyboard.read_line() is None


async def test_an_endless_line_is_cut_and_costs_no_memory() -> None:
    with pipe() as (reader, writer):
        keyboard = Keyboard(reader)
        first = asyncio.create_task(keyboard.read_line())
        for _ in range(40):
            await asyncio.to_thread(os.write, writer, b"y" * 4096)
        await asyncio.to_thread(os.write, writer, b"\nnext\n")
        assert await first == "y" * MAX_LINE_BYTES
        assert await keyboard.read_line() == "next"


async def test_the_answer_to_a_question_goes_to_the_question_and_the_next_line_to_the_game() -> None:
    with pipe() as (reader, writer):
        keyboard = Keyboard(reader)
        game = asyncio.create_task(keyboard.read_line())
        await asyncio.sleep(0)
        question = asyncio.create_task(keyboard.read_line())
        await asyncio.sleep(0)
        os.write(writer, b"yes\nb2\n")
        assert (await question, await game) == ("yes", "b2")


async def test_input_that_cannot_be_read_is_no_input() -> None:
    with pipe() as (reader, writer):
        os.close(reader)
        assert await Keyboard(reader).read_line() is None
        assert writer
