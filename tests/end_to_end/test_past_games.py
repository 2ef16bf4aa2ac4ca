import json
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.end_to_end.clients import COMMAND, outcome, run_client
from tests.end_to_end.conftest import GAMES
from tests.kept import leave_seat
from tests.peer import Peer, open_peer, play_out
from tests.terminal import run_screen
from tictactoe_client import connect
from tictactoe_client.files.players import KnownPlayer, KnownPlayers
from tictactoe_engine.records import parse_record
from tictactoe_server.server import Server

HERE = Path(__file__).parent / "transcripts"
FIRST_GAME = (HERE / "replay.txt").read_text(encoding="utf-8").rstrip()


async def finish_a_game(ana: Peer, bo: Peer) -> str:
    """Play a game that ana wins, leave the room and return its code."""
    room = str((await ana.ask("create"))["room"])
    await bo.ask("join", room=room)
    await play_out({"X": ana, "O": bo}, room, [0, 3, 1, 4, 2])
    for peer in (ana, bo):
        await peer.ask("leave", room=room)
    return room


@asynccontextmanager
async def played(
    server: Server, games: int = 1, resigned: int = 0, url: str | None = None, pid: int | None = None
) -> AsyncIterator[str]:
    """Play games that ana wins and others that she resigns; yield the room of her last win.

    The process `pid` plays as her, by default this process.
    """
    async with open_peer(server.url, "ana") as ana, open_peer(server.url, "bo") as bo:
        KnownPlayers().keep(KnownPlayer(url or server.url, "ana", ana.welcome["token"], pid=pid or os.getpid()))
        codes = [await finish_a_game(ana, bo) for _ in range(games)]
        for _ in range(resigned):
            room = (await ana.ask("create", rules="gomoku"))["room"]
            await bo.ask("join", room=room)
            await play_out({"X": ana, "O": bo}, room, [0, 1])
            await ana.ask("resign", room=room)
            for peer in (ana, bo):
                await peer.ask("leave", room=room)
        yield codes[-1] if codes else ""


async def oldest_id(server: Server) -> str:
    """Return the id of the oldest game in ana's history."""
    return (await outcome("history", "-s", server.url))[1].splitlines()[-1].split()[0]


async def test_history_lists_one_s_own_games_newest_first(server: Server) -> None:
    async with played(server, games=3):
        code, output, errors = await outcome("history", "--limit", "2", "-s", server.url)
    assert (code, errors) == (0, "")
    first, second = output.splitlines()
    for line in (first, second):
        assert re.match(r"[0-9A-Z]{6}-1-\d{13}  ", line)
        assert line.endswith("Tic-tac-toe  ana (X) v bo (O)  won by a line  5 moves")


async def test_at_a_terminal_history_names_the_player(server: Server) -> None:
    async with (
        played(server, games=1),
        run_screen(*COMMAND, "history", "--plain", "-s", server.url, TERM="dumb") as screen,
    ):
        said = f"Games of ana, newest first. To step through one: tictactoe-client replay ID --server {server.url}\n"
        assert said in await screen.hear(" 5 moves\n")
        assert await screen.end() == 0


async def test_without_a_game_that_is_said(server: Server) -> None:
    assert await outcome("history", "-s", server.url) == (0, "", "No finished game yet.\n")
    code, output, errors = await outcome("replay", "-s", server.url)
    assert (code, output, errors) == (5, "", "No finished game yet.\n")


async def test_a_name_selects_one_of_the_stored_players(server: Server) -> None:
    async with played(server), connect(server.url, name="cy") as cy:
        KnownPlayers().keep(KnownPlayer(server.url, "cy", cy.token))
        assert "No finished game" in (await outcome("history", "-s", server.url))[2]
        assert "ana (X)" in (await outcome("history", "-s", server.url, "-n", "ana"))[1]


async def test_a_server_that_forgot_the_player_has_no_games(server: Server) -> None:
    KnownPlayers().keep(KnownPlayer(server.url, "ana", "unknown"))
    assert (await outcome("history", "-s", server.url))[0] == 0
    found = KnownPlayers().find((server.url,))
    assert found is not None
    assert (found.rooms, found.refused_at > 0) == ((), True)


async def test_watching_uses_no_stored_player(server: Server) -> None:
    async with open_peer(server.url) as ana:
        room = (await ana.ask("create"))["room"]
        leave_seat(server.url, room, ana.welcome["token"])
        before = KnownPlayers().path.read_bytes()
        async with run_client("watch", room, "-s", server.url) as eve:
            await eve.until("Connected,")
            await ana.until(lambda message: message.get("watchers") == 1)
    assert KnownPlayers().path.read_bytes() == before


async def test_off_a_terminal_every_position_is_shown_in_order(games: str) -> None:
    assert await outcome("replay", games) == (0, FIRST_GAME, "")


async def test_a_file_on_standard_input_is_replayed_too() -> None:
    async with run_client("replay", "-", "--no-board") as client:
        client.type(*GAMES.splitlines())
        client.end_input()
        assert await client.end() == 0
    assert client.lines[-2:] == ["Move 7 of 7: ana plays C2, middle right.", "ana wins. Row 2 is X X X."]


async def test_in_json_each_position_is_one_object(games: str) -> None:
    code, output, _ = await outcome("replay", games, "--json")
    messages = [json.loads(line) for line in output.splitlines()]
    assert code == 0
    assert {message["from"] for message in messages} == {"client"}
    assert [message["type"] for message in messages] == ["record", *["position"] * 8, "closed"]
    assert messages[-2]["line"] == [3, 4, 5]
    assert messages[4]["comments"] == ["A threat."]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["GAMES", "--at", "8"], 2, "There is no move 8, only 0 to 7.\n"),
        (["GAMES", "--game", "3"], 2, "GAMES has 2 games: there is no game 3.\n"),
        (["GAMES", "--at", "1", "--export", "x"], 2, "Use either --at or --export.\n"),
        (["GAMES.bad"], 2, "Cannot read GAMES.bad: no such file or directory.\n"),
        (["17", "--game", "1"], 2, "--game works only with a file.\n"),
    ],
)
async def test_invalid_replay_arguments_are_reported_in_one_line(
    games: str, arguments: list[str], code: int, words: str
) -> None:
    typed = [argument.replace("GAMES", games) for argument in arguments]
    assert await outcome("replay", *typed) == (code, "", words.replace("GAMES", games))


async def test_one_s_last_game_needs_no_argument_and_any_other_its_id(server: Server) -> None:
    async with played(server, games=2) as last:
        _, output, _ = await outcome("replay", "--no-board", "-s", server.url)
        _, older, _ = await outcome("replay", await oldest_id(server), "--no-board", "-s", server.url)
    lines = output.splitlines()
    assert lines[0].endswith(f"room {last}, game 1.")
    assert lines[1:3] == ["5 moves. ana wins. Row 1 is X X X.", "The start."]
    assert lines[-2:] == ["Move 5 of 5: ana plays C1, top right.", "ana wins. Row 1 is X X X."]
    assert older.splitlines()[1:] == lines[1:]
    assert last not in older


async def test_an_unknown_id_ends_with_five(server: Server) -> None:
    async with played(server):
        for id in ("999", "nothing"):
            code, output, errors = await outcome("replay", id, "-s", server.url)
            assert (code, output) == (5, "")
            assert errors.startswith(f"You have no game {id} on {server.url}")
            assert errors.count("\n") == 1
        _, output, _ = await outcome("replay", "999", "--json", "-s", server.url)
    assert [json.loads(line)["type"] for line in output.splitlines()][-2:] == ["error", "closed"]


async def test_an_export_is_read_back_and_never_overwrites(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "game.txt"
    async with played(server) as room:
        id = await oldest_id(server)
        assert await outcome("replay", id, "--export", str(file), "-s", server.url) == (0, f"Saved in {file}", "")
        written = file.read_text()
        assert parse_record(written).room == room
        again = await outcome("replay", id, "--export", str(file), "-s", server.url)
        assert again == (2, "", f"{file} already exists. Nothing was overwritten.\n")
        assert file.read_text() == written
        code, output, _ = await outcome("replay", "--export", "-", "-s", server.url)
    assert (code, parse_record(output)) == (0, parse_record(written))
    assert (await outcome("replay", str(file), "--no-board"))[0] == 0


async def test_at_a_terminal_one_steps_through_the_game(games: str) -> None:
    async with run_screen(*COMMAND, "replay", games, "--no-board", "--at", "3", TERM="dumb") as screen:
        await screen.hear("Move 3 of 7: ana plays C1, top right.\n{A threat.}\n> ")
        for step in (HERE / "replay-steps.txt").read_text(encoding="utf-8").split("> ")[1:]:
            typed, _, shown = step.partition("\n")
            screen.type(f"{typed}\n")
            assert (await screen.hear(f"{shown}> ")) == f"{typed}\n{shown}> "
        screen.type("q\n")
        assert await screen.end() == 0


@pytest.mark.parametrize(("typed", "code"), [("\x04", 0), ("\x03", 130)])
async def test_the_end_of_input_ends_it_and_ctrl_c_as_well(games: str, typed: str, code: int) -> None:
    async with run_screen(*COMMAND, "replay", games, TERM="dumb") as screen:
        await screen.hear("> ")
        screen.type(typed)
        await screen.hear("Goodbye.\n")
        assert await screen.end() == code
