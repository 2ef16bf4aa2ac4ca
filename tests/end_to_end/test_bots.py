import asyncio
import re
import shutil
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from tests.end_to_end.clients import run_client
from tests.environment import environment
from tests.faults.hostile_server import ROOM, TOKEN, hostile_cluster, sends_to, state
from tests.peer import PATIENCE_SECONDS, open_peer, until
from tests.programs import start_program
from tictactoe_client import Unreachable, connect
from tictactoe_protocol.pushes import Moved
from tictactoe_protocol.requests import Hello, Watch
from tictactoe_server.server import Server

DOCS = Path(__file__).parents[2] / "docs"
BOTS_PAGE = DOCS / "tutorials" / "write-a-bot.md"
CLUSTER_PAGE = DOCS / "reference" / "protocol" / "several-servers.md"
NOWHERE = "ws://127.0.0.1:1"

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node here to run a bot in JavaScript")


def write_program(page: Path, folder: Path) -> str:
    """Write the JavaScript program of a page into a folder, and return its path."""
    program = folder / "bot.mjs"
    program.write_text(page.read_text(encoding="utf-8").partition("```js\n")[2].partition("```")[0], encoding="utf-8")
    return str(program)


@needs_node
async def test_the_bot_in_javascript_of_the_documentation_plays_to_the_end(server: Server, tmp_path: Path) -> None:
    program = write_program(BOTS_PAGE, tmp_path)
    options = ("--level", "easy", "--rules", "four-pie", "--first", "bot", "--server", server.url)
    command = ("node", program, "bot", *options)
    process = await start_program(*command, stdout=PIPE, stderr=PIPE, env=environment())
    output, errors = await process.communicate()
    assert (process.returncode, errors) == (0, b"")
    assert re.fullmatch(rb"(line|full): (won|lost|drawn)\n", output)


@needs_node
@pytest.mark.parametrize(
    ("opens", "enters"),
    [("play", "play"), ("new --board 6x3 --win 3 --gravity --blocked a3,b3,c3,a5,b5,c5", "join {}")],
)
async def test_the_bot_in_javascript_waits_for_an_opponent_and_plays_it(
    opens: str, enters: str, server: Server, tmp_path: Path
) -> None:
    command = ("node", write_program(BOTS_PAGE, tmp_path), "--server", server.url)
    first = await start_program(*command, *opens.split(), stdout=PIPE, stderr=PIPE, env=environment())
    assert first.stderr is not None
    waiting = re.fullmatch(r"Waiting for an opponent in ([A-Z0-9]{6})\.\n", (await first.stderr.readline()).decode())
    assert waiting is not None
    second = await start_program(
        *command, *enters.format(waiting[1]).split(), stdout=PIPE, stderr=PIPE, env=environment()
    )
    for process in (first, second):
        output, _ = await process.communicate()
        assert process.returncode == 0
        assert re.fullmatch(rb"(line|full): (won|lost|drawn)\n", output)


@needs_node
async def test_the_program_of_the_documentation_follows_a_room_and_goes_to_no_stranger(tmp_path: Path) -> None:
    program = write_program(CLUSTER_PAGE, tmp_path)
    async with hostile_cluster() as (one, two):
        one.answers[Watch] = sends_to(two.url)
        two.answers[Watch] = lambda _: [state(3, (4,), client=None)]
        command = ("node", "--experimental-websocket", program, one.url, ROOM)
        process = await start_program(*command, stdout=PIPE, stderr=PIPE, env=environment())
        assert process.stdout is not None
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert await process.stdout.readline() == b"....X....\n"
            one.answers[Watch] = two.answers[Watch]
            await two.push(Moved(ROOM, one.url))
            assert await process.stdout.readline() == b"....X....\n"
            await one.push(Moved(ROOM, "ws://127.0.0.1:1"))
            _, errors = await process.communicate()
        assert b"Error: Room K7M4PQ is at ws://127.0.0.1:1." in errors
        again = one.heard[-1]
        assert isinstance(again, Watch)
        assert again.seq == 3
        assert [request.token for request in (*two.heard, *one.heard[2:]) if isinstance(request, Hello)] == [TOKEN] * 2


async def test_without_a_server_one_is_started_and_ends_with_the_client() -> None:
    program = (
        "from tictactoe_client import nearby\n"
        "from tictactoe_client.online import address\n"
        f"nearby._START_SECONDS = {PATIENCE_SECONDS}\n"
        f"address.DEFAULT_SERVER = '{NOWHERE}'\n"
        "from tictactoe_client.cli.main import main\n"
        "main()\n"
    )
    command = (sys.executable, "-c", program)
    async with run_client("bot", "--level", "easy", command=command, TICTACTOE_BOT_PAUSE="0") as ana:
        started = await ana.until("No server runs on this machine: started one at ws://127.0.0.1:")
        url = started.split()[-4]
        await ana.until("Your move, X.")
        async with connect(url) as other:
            assert await other.ping()
        ana.type("leave", "leave")
        assert await ana.end() == 0
    with pytest.raises(Unreachable):
        async with connect(url):
            pass


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="nothing tells what processes there are")
async def test_a_server_that_is_killed_leaves_no_worker_and_no_word_behind(tmp_path: Path) -> None:
    options = f"--host 127.0.0.1 --port 0 --data {tmp_path} --bot-pause 0 --log-level error".split()
    server = await start_program(
        sys.executable, "-m", "tictactoe_server", *options, stdout=PIPE, stderr=PIPE, env=environment()
    )
    assert server.stdout is not None
    address = (await server.stdout.readline()).decode().split()[-1]
    async with open_peer(address.replace("http", "ws")) as ana:
        room = (await ana.ask("create", rules="gomoku", bots=["hard"]))["room"]
        await ana.send("move", room=room, cell=112, ply=0)
        await ana.state(ply=2)
        workers = children_of(server.pid)
        assert workers
        server.kill()
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert (await server.communicate())[1] == b""
        await until(lambda: not any(map(is_running, workers)))  # they are orphans now


async def test_the_local_server_ends_even_if_the_client_is_killed() -> None:
    program = (
        "import asyncio\n"
        "from tictactoe_client.nearby import run_local_server\n"
        "async def main():\n"
        "    async with run_local_server() as address:\n"
        "        print(address.url, flush=True)\n"
        "        await asyncio.Event().wait()\n"
        "asyncio.run(main())\n"
    )
    process = await start_program(sys.executable, "-c", program, stdout=PIPE, env=environment())
    assert process.stdout is not None
    async with open_peer((await process.stdout.readline()).decode().strip()) as peer:
        process.kill()
        await process.wait()
        with pytest.raises(ConnectionClosed):
            await peer.next_of("never")


def children_of(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()


def is_running(pid: str) -> bool:
    """Return whether a process exists and is not a zombie."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
