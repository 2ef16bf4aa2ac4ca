import json
from pathlib import Path

import msgspec

from tests.end_to_end.clients import complaint, run_client
from tests.peer import until
from tests.server.ratings.served import a_server, people, play_each
from tictactoe_server.features.ratings.feature import ExportRatings, VoidGame
from tictactoe_server.features.ratings.service import Ladders


async def test_an_export_is_folded_again_without_the_server(tmp_path: Path) -> None:
    file = tmp_path / "ratings.jsonl"
    async with a_server() as server, people(server) as (ana, bo):
        over = (await play_each(server, ana, bo, 3))[-1]
        await until(lambda: server.service(Ladders).folding.games == 3)
        await server.carry_out(VoidGame(over["game_id"], "A program played."))
        await server.carry_out(ExportRatings(str(file)))
        digest = server.service(Ladders).folding.state.digest
    async with run_client("verify", str(file)) as client:
        assert await client.end() == 0
        assert digest in client.lines
    lines = file.read_bytes().splitlines(keepends=True)
    first = msgspec.json.decode(lines[0])
    first["players"].reverse()
    file.write_bytes(b"".join([msgspec.json.encode(first) + b"\n", *lines[1:]]))
    async with run_client("verify", str(file), "--language", "de") as client:
        assert await client.end() == 6
        assert "aber in der Datei steht" in client.lines
        assert client.lines[-1] == digest
    async with run_client("verify", str(file), "--json") as client:
        told = json.loads(await client.until('{"from":"client","type":"verified"'))
        assert (told["holds"], told["games"], told["verdicts"], told["expected"]) == (False, 3, 1, digest)
        assert told["digest"] != digest
    file.write_bytes(b"".join(lines[:-1]))
    assert "is not an export of ratings: line" in await complaint("verify", str(file), code=2)
    assert "is not an export of ratings" in await complaint("verify", __file__, code=2)
    assert "no such file or directory" in await complaint("verify", str(tmp_path / "none"), code=2)
