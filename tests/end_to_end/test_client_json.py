import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.clients import ClientProcess, run_client
from tests.kept import leave_seat, until_left
from tests.peer import Peer, open_peer, two_playing
from tictactoe_server.server import Server

MOVES = ['{"type":"move","at":"a1"}', '{"type":"move","at":"b1"}', '{"type":"move","at":"c1"}']


def messages(client: ClientProcess) -> list[dict[str, Any]]:
    return [json.loads(line) for line in client.lines]


def own(client: ClientProcess) -> list[str]:
    return [message["type"] for message in messages(client) if message.get("from") == "client"]


@asynccontextmanager
async def json_game(server: Server, name: str = "ana") -> AsyncIterator[tuple[ClientProcess, Peer, str]]:
    """Match ana, in JSON mode with X, with bo; yield both and the room's code."""
    async with run_client("play", "--json", "-n", name, "-s", server.url) as ana, open_peer(server.url, "bo") as bo:
        await ana.message(type="room")
        code = (await bo.ask("match"))["room"]
        await ana.message(type="room", status="playing")
        yield ana, bo, code


async def test_a_file_of_moves_plays_a_whole_game(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "moves.jsonl"
    path.write_text("\n".join(MOVES))
    with path.open("rb") as moves:
        async with (
            run_client("play", "--json", "-n", "ana", "-s", server.url, "--result-code", stdin=moves) as ana,
            open_peer(server.url, "bo") as bo,
        ):
            await ana.message(type="room", status="waiting")
            code = (await bo.ask("match"))["room"]
            for cell in (3, 4):
                state = await bo.until(lambda message: message["type"] == "room" and message["turn"] == "O")
                await bo.send("move", room=code, cell=cell, ply=state["ply"])
            assert await ana.end() == 0
            assert await ana.errors() == ""
    first, last = messages(ana)[0], messages(ana)[-1]
    assert (first["type"], first["server"]) == ("connected", server.url)
    assert last == {"from": "client", "type": "closed", "exit": 0}
    over = [message for message in messages(ana) if message["type"] == "room"][-1]
    assert over["result"] == {"winner": "X", "reason": "line", "line": [0, 1, 2]}
    replies = [message["id"] for message in messages(ana) if message["type"] == "ok"]
    assert replies == ["client-1", "line-1", "line-2", "line-3"]


async def test_json_mode_prints_server_messages_byte_for_byte(server: Server) -> None:
    async with json_game(server, "Zoë") as (ana, bo, code):
        ana.send(type="move", id="m1", at="b2")
        await ana.message(type="ok", id="m1")
        await ana.message(type="room", ply=1)
        state = await bo.state(ply=1)
        assert json.loads(ana.lines[-1]) == state
        assert ana.lines[-1] == json.dumps(state, ensure_ascii=False, separators=(",", ":"))
        assert "Zoë" in ana.lines[-1]
        await bo.ask("leave", room=code)


async def test_room_and_ply_are_filled_in_and_refusals_pass_through(server: Server) -> None:
    async with json_game(server) as (ana, _, code):
        ana.send(type="sync", id="s")
        assert (await ana.message(id="s"))["type"] == "ok"
        ana.send(type="move", id="m", cell=4, room=f"{code[:3]}-{code[3:]}".lower())
        await ana.message(type="ok", id="m")
        await ana.message(type="room", ply=1)
        ana.send(type="move", id="n", cell=5, ply=1)
        refused = await ana.message(id="n")
        assert (refused["code"], "from" in refused) == ("not_your_turn", False)
        ana.send(type="dance", id="d")
        assert (await ana.message(id="d"))["code"] == "unknown_type"
        ana.send(type=["dance"], id="e")
        assert (await ana.message(id="e"))["code"] == "bad_message"
        ana.send(type="ping", id=7)
        assert (await ana.message(type="error"))["code"] == "bad_message"
        ana.send(type="resign", id="r")
        await ana.message(type="ok", id="r")
        await ana.message(type="room", status="over")
        ana.send(type="move", id="late", cell=0)
        assert (await ana.message(id="late"))["code"] == "game_over"
        ana.end_input()
        assert await ana.end() == 0


@pytest.mark.parametrize("line", ["hello", "{", "[1]", '{"type":NaN}', '"text"', "[" * 20_000])
async def test_a_line_that_is_no_json_object_is_answered_with_its_number(server: Server, line: str) -> None:
    async with run_client("play", "--json", "-s", server.url) as ana:
        await ana.message(type="room")
        ana.type("", line, '{"type":"ping","id":"p"}')
        error = await ana.message(type="error")
        assert (error["from"], error["code"], error["line"]) == ("client", "bad_json", 2)
        assert error["message"]
        await ana.message(type="ok", id="p")
        ana.send(type="leave")
        ana.end_input()
        assert await ana.end() == 0


async def test_refusals_of_the_client_are_in_order_with_the_servers_answers(server: Server) -> None:
    async with run_client("play", "--json", "-s", server.url) as ana:
        await ana.message(type="room")
        ana.type(*['{"type":"chat","text":""}', "hello"] * 20, '{"type":"leave"}')
        ana.end_input()
        assert await ana.end() == 0
    answers = [message.get("line") or message["id"] for message in messages(ana) if message["type"] in ("ok", "error")]
    assert answers[1:] == [n if n % 2 == 0 else f"line-{n}" for n in range(1, 41)] + ["line-41"]


async def test_a_request_over_the_size_limit_is_refused(server: Server) -> None:
    async with run_client("play", "--json", "-s", server.url) as ana:
        await ana.message(type="room")
        ana.send(type="ping", id="long", pad="x" * 20_000)
        error = await ana.message(type="error")
        assert (error["from"], error["code"], error["id"]) == ("client", "too_long", "long")
        ana.send(type="leave")
        ana.end_input()
        assert await ana.end() == 0
    assert own(ana) == ["connected", "error", "closed"]


async def test_a_second_move_for_one_position_is_dropped_and_waits_for_no_other(server: Server) -> None:
    async with json_game(server) as (ana, bo, code):
        ana.type('{"type":"move","at":"b2"}', '{"type":"move","at":"c3"}')
        await bo.send("move", room=code, cell=0, ply=(await bo.state(ply=1))["ply"])
        error = await ana.message(type="error")
        assert (error["from"], error["code"], error["id"], error["line"]) == ("client", "stale", "line-2", 2)
        assert error["message"] == "This move was not sent: the position has changed."
        if not any(message.get("ply") == 2 for message in messages(ana)):
            await ana.message(type="room", ply=2)
        ana.type('{"type":"move","at":"a3"}')
        assert (await bo.state(ply=3))["board"] == "O...X.X.."


async def test_a_watcher_watches_on_to_the_end_without_input(server: Server) -> None:
    async with two_playing(server) as (ana, _, code):
        async with run_client("watch", code, "--json", "-s", server.url) as watcher:
            watcher.end_input()
            await watcher.message(type="room")
            await ana.ask("resign", room=code)
            assert await watcher.end() == 0
        assert messages(watcher)[-2]["status"] == "over"


@pytest.mark.parametrize("command", [("rooms",), ("history",), ("watch",)], ids=" ".join)
async def test_watching_prints_no_token(server: Server, command: tuple[str, ...]) -> None:
    async with open_peer(server.url, "bo") as bo:
        code = (await bo.ask("create"))["room"]
        for arguments in (command, ("watch", code)):
            leave_seat(server.url, code, bo.welcome["token"], "bo")
            async with run_client(*arguments, "--json", "--no-input", "-n", "bo", "-s", server.url) as client:
                assert (await client.message(type="welcome"))["token"] == "…"
                if arguments[-1] == code:
                    client.process.terminate()
                await client.end()
                assert bo.welcome["token"] not in "".join(client.lines)


async def test_check_tells_each_step_as_an_object(server: Server) -> None:
    async with run_client("check", "--json", "-s", server.url, "-n", "ana") as check:
        assert await check.end() == 0
    steps = [message for message in messages(check) if message["type"] == "step"]
    assert [step["step"] for step in steps] == ["resolve", "connect", "hello", "ping", "versions", "page"]
    assert all(step["ok"] for step in steps)
    assert (steps[2]["name"], len(steps[3]["ms"])) == ("ana", 3)
    assert messages(check)[-1] == {"from": "client", "type": "closed", "exit": 0}


async def test_without_input_the_session_ends_with_the_game_though_the_pipe_stays_open(server: Server) -> None:
    async with run_client("new", "--json", "--no-input", "-s", server.url) as ana, open_peer(server.url, "bo") as bo:
        room = (await ana.message(type="room"))["room"]
        await bo.ask("join", room=room)
        ana.send(type="move", at="b2")
        await bo.state(ply=1)
        await bo.ask("resign", room=room)
        assert await ana.end() == 0
        assert json.loads(ana.lines[-1])["type"] == "closed"


async def test_the_seat_of_a_room_that_was_joined_by_a_request_is_written_down(server: Server) -> None:
    async with run_client("new", "--json", "-s", server.url) as ana, open_peer(server.url, "bo") as bo:
        first = (await ana.message(type="room"))["room"]
        second = (await bo.ask("create"))["room"]
        ana.send(type="leave", id="gone")
        await ana.message(type="ok", id="gone")
        ana.send(type="join", room=second)
        await ana.message(type="room", room=second)
        await until_left(server.url, second)
        await ana.kill()
    assert first != second
