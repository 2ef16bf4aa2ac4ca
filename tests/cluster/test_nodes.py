"""The nodes of the tests do what nodes do: write on a majority, elect, and end with whoever started them."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from nats.errors import TimeoutError as NoAnswer
from nats.js.api import StreamConfig

from tests.authority import Authority
from tests.cluster.nodes import GAME, STREAM, Nodes, NoNodes, find_program
from tests.environment import environment
from tests.peer import until

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def nodes(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Nodes]:
    """Three with TLS and with cables between them, and the stream on all of them."""
    folder = tmp_path_factory.mktemp("nodes")
    authority = Authority(folder)
    authority.issue()
    async with Nodes(folder, authority=authority, is_proxied=True) as nodes:
        async with nodes.connected() as admin:
            await admin.jetstream().add_stream(
                StreamConfig(name=STREAM, subjects=["$KV.rooms.>"], num_replicas=3, max_msgs_per_subject=1)
            )
        yield nodes


async def write(nodes: Nodes, text: bytes) -> None:
    """Write as the servers may, again until it is taken."""
    async with asyncio.timeout(25):
        while True:
            try:
                async with nodes.connected(GAME) as client:
                    await client.request("$KV.rooms.time", text, timeout=1)
                    return
            except (NoAnswer, OSError):
                continue


async def read(nodes: Nodes) -> bytes:
    async with nodes.connected() as client:
        return (await client.jetstream().get_last_msg(STREAM, "$KV.rooms.time")).data or b""


async def test_a_node_that_is_cut_off_leads_no_more_until_the_cables_are_mended(nodes: Nodes) -> None:
    leader = await nodes.when_led()
    number = nodes.nodes.index(leader)
    cables = [cable for ends, cable in nodes.cables.items() if number in ends]
    for cable in cables:
        cable.cut()
    async with asyncio.timeout(25):
        while await nodes.leader() in (leader, None):
            continue
    await write(nodes, b"3")
    for cable in cables:
        cable.heal()
    await nodes.when_writable()
    assert await read(nodes) == b"3"


async def test_the_user_of_the_servers_may_not_change_the_stream(nodes: Nodes) -> None:
    async with nodes.connected(GAME) as client:
        with pytest.raises(NoAnswer):
            await client.request(f"$JS.API.STREAM.DELETE.{STREAM}", b"", timeout=0.5)
    await nodes.when_led()


async def test_without_a_program_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(NoNodes, match="no nats-server"):
        find_program()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells processes that their parent is gone")
async def test_a_tied_process_ends_when_the_one_that_started_it_is_killed() -> None:
    program = (
        "import subprocess, sys; from tests.cluster.tied import tied\n"
        "print(subprocess.Popen(tied('sleep', '60')).pid, flush=True); sys.stdin.read()"
    )
    pipe = asyncio.subprocess.PIPE
    parent = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program), stdin=pipe, stdout=pipe, env=environment(), cwd=Path(__file__).parents[2]
    )
    assert parent.stdout
    child = int(await parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    await parent.wait()
    await until(lambda: not is_alive(child))


def is_alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
