"""What a client checks of a server's ratings: a log that was written to a file, and checkpoints that it remembers."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from tests.end_to_end.clients import complaint, run_client
from tests.peer import until
from tests.server.ratings.served import RULES, a_server, people, play_each
from tictactoe_client import connect
from tictactoe_client.files.checkpoints import SeenCheckpoints
from tictactoe_client.online.address import parse_address
from tictactoe_client.online.checkpoints import compare_checkpoint, describe_standing
from tictactoe_protocol.ratings.checkpoints import Checkpoint
from tictactoe_server.admin.orders.ratings import ExportRatings, VoidGame
from tictactoe_server.ratings import folding
from tictactoe_server.ratings.tables import ENTRIES, LADDERS, LoggedEntry
from tictactoe_server.server import Server
from tictactoe_server.storage.store import delete, save


async def play(server: Server, games: int) -> str:
    """Play rated games of people who are new, wait for the checkpoints, and return the id of the last game."""
    before = server.ladders.folding.games
    async with people(server, names=(f"ana{before}", f"bo{before}")) as (ana, bo):
        over = (await play_each(server, ana, bo, games))[-1]
    await until(lambda: _is_signed(server, before + games))
    return str(over["game_id"])


def _is_signed(server: Server, games: int) -> bool:
    """Tell whether so many games are rated, and signed where they are enough for a checkpoint."""
    kept, due = server.ladders.folding, games // folding.CHECKPOINT_GAMES
    return kept.games == games and (kept.checkpoint.number if kept.checkpoint else 0) == due


def checkpoint_of(server: Server) -> Checkpoint:
    found = server.ladders.folding.checkpoint
    assert found is not None
    return found


@pytest.fixture
def seen(tmp_path: Path) -> SeenCheckpoints:
    return SeenCheckpoints(tmp_path / "checkpoints.json")


async def look(server: Server, seen: SeenCheckpoints) -> str | None:
    """Return what a client says of the checkpoint that the server has, as it asks for a ladder."""
    async with connect(server.url) as client:
        return await seen.look_at(client, checkpoint_of(server))


async def change_log(server: Server) -> None:
    """Let the first entry have been another one, as who writes to the store could, and sign all again."""
    entries, snapshots = server.core.store.table(ENTRIES), server.core.store.table(LADDERS)
    found = await entries.load("00000001")
    assert found is not None
    changed: LoggedEntry = replace(found[0], leaves=("00" * 32,) * len(found[0].leaves))
    await save(entries, "00000001", changed, found[1])
    for number in range(1, checkpoint_of(server).number + 1):
        kept = await snapshots.load(f"{number:08d}")
        assert kept is not None
        await delete(snapshots, f"{number:08d}", kept[1])


async def test_a_client_says_when_ratings_do_not_go_on_from_what_it_saw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seen: SeenCheckpoints
) -> None:
    monkeypatch.setattr(folding, "CHECKPOINT_GAMES", 2)
    data = tmp_path / "data"
    async with a_server(data=data) as server:
        await play(server, 2)
        assert await look(server, seen) is None, "there was nothing to compare with"
        assert await look(server, seen) is None
        game = await play(server, 4)
        await server.carry_out(VoidGame(game, "A program played."))
        await play(server, 2)
        assert checkpoint_of(server).number == 4
        assert await look(server, seen) is None, "a verdict is no change of the log"
        (kept,) = seen.list_all()
        assert kept.checkpoint == checkpoint_of(server)
        await change_log(server)
    async with a_server(data=data) as server:
        await until(lambda: server.ladders.folding.checkpoint and checkpoint_of(server).number == 4)
        assert await look(server, seen) == describe_standing("fork", kept.checkpoint, kept.checkpoint)
        await play(server, 2)
        state = tmp_path / "state"
        SeenCheckpoints(state / "tictactoe" / "checkpoints.json").keep(server.url, kept.checkpoint)
        async with run_client("ladder", RULES, "--server", server.url, XDG_STATE_HOME=str(state)) as client:
            assert await client.end() == 0
            assert "their log was changed" in client.lines[-1]
        assert seen.list_all() == [kept], "what was seen first is what counts"
    async with a_server(data=tmp_path / "other") as server:
        await play(server, 2)
        seen.keep(server.url, kept.checkpoint)
        told = await look(server, seen)
        assert told is not None
        assert "with another key" in told
        assert await look(server, seen) is None, "it was told once"


async def test_a_checkpoint_is_compared_with_what_the_server_shows_of_its_chain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folding, "CHECKPOINT_GAMES", 1)
    async with a_server(data=tmp_path) as server:
        made = []
        for _ in range(4):
            await play(server, 1)
            made.append(checkpoint_of(server))
        address = parse_address(server.url)
        assert [await compare_checkpoint(address, made[3], one) for one in (None, *made)] == [
            *("first", "stands", "stands", "stands", "same")
        ]
        assert await compare_checkpoint(address, made[2], made[0]) == "stands", "others may be signed meanwhile"
        assert await compare_checkpoint(address, made[1], made[2]) == "behind"
        unsigned = replace(made[3], chain="00" * 32)
        assert await compare_checkpoint(address, unsigned, made[0]) == "unsigned"
        assert await compare_checkpoint(address, made[3], replace(made[0], chain="00" * 32)) == "fork"
        monkeypatch.setattr(folding, "MAX_LINKS", 2)
        assert await compare_checkpoint(address, made[3], made[0]) == "stands", "in two answers"
        monkeypatch.setattr(folding, "MAX_LINKS", 0)
        assert await compare_checkpoint(address, made[3], made[0]) == "unproved"
    assert await compare_checkpoint(address, made[3], made[0]) == "unproved", "nobody answers"


async def test_ratings_that_were_written_to_a_file_are_folded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folding, "CHECKPOINT_GAMES", 2)
    file, state = tmp_path / "ratings.jsonl", tmp_path / "state"
    async with a_server() as server:
        await play(server, 3)
        await server.carry_out(ExportRatings(str(file)))
        digest, checkpoint = server.ladders.folding.state.digest, checkpoint_of(server)
    async with run_client("verify", str(file)) as client:
        assert await client.end() == 0
        assert digest in client.lines
        assert checkpoint.key in client.lines
    texts = file.read_bytes().splitlines(keepends=True)
    first = msgspec.json.decode(texts[0])
    first["games"][0]["places"].reverse()
    file.write_bytes(b"".join([msgspec.json.encode(first) + b"\n", *texts[1:]]))
    async with run_client("verify", str(file), "--language", "de") as client:
        assert await client.end() == 6
        said = "\n".join(client.lines)
        assert "Zeile 1" in said
        assert "geändert" in said
        assert "Prüfpunkt 1 hat eine andere Prüfsumme" in said
    async with run_client("verify", str(file), "--json") as client:
        told = json.loads(await client.until('{"from":"client","type":"verified"'))
        assert (told["holds"], told["games"], told["signed_games"]) == (False, 3, 2)
        assert [one["code"] for one in told["differences"]] == ["leaf", "signed digest", "digest"]
    seen = SeenCheckpoints(state / "tictactoe" / "checkpoints.json")
    seen.keep(server.url, replace(checkpoint, chain="00" * 32))
    async with run_client("verify", str(file), XDG_STATE_HOME=str(state)) as client:
        assert await client.end() == 6
        assert any("was seen at this server before, was another one" in line for line in client.lines)
    file.write_bytes(b"".join(texts[:-1]))
    assert "it is cut off" in await complaint("verify", str(file), code=2)
    assert "no file of ratings" in await complaint("verify", __file__, code=2)
    assert "no such file or directory" in await complaint("verify", str(tmp_path / "none"), code=2)
