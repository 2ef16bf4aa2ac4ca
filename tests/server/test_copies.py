"""The nodes' copies of the streams: which faults are named, and that the advice repairs them and destroys nothing."""

import asyncio
import contextlib
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from nats.js.api import ClusterInfo

from tests.cluster.nodes import READY_SECONDS, SYSTEM, Node, Nodes
from tests.environment import environment
from tests.ports import free_ports
from tests.rows import each
from tests.server.stored import room_of
from tictactoe_server.features.jetstream.copies import Compared, Copies, Copy, Faults, Report
from tictactoe_server.features.jetstream.link import Link
from tictactoe_server.features.jetstream.store import JetStreamStore
from tictactoe_server.features.jetstream.stream import StreamInfo
from tictactoe_server.features.jetstream.streams import make_streams
from tictactoe_server.records.tables import KEPT, ROOMS
from tictactoe_server.storage.store import CannotOpenStore, StoreUnavailable, save

WELL = Copy(10, 1, 12)


@pytest.fixture
async def nodes(tmp_path: Path) -> AsyncIterator[Nodes]:
    async with Nodes(tmp_path) as found:
        link = await Link.open(found.admin_url)
        try:
            while True:  # a new stream may be without a leader for a while
                with contextlib.suppress(CannotOpenStore):
                    await make_streams(link, 1)
                    break
                await asyncio.sleep(0.1)
        finally:
            await link.close()
        yield found


@contextlib.asynccontextmanager
async def opened(nodes: Nodes) -> AsyncIterator[tuple[JetStreamStore, Copies]]:
    store = await JetStreamStore.open(nodes.url, KEPT)
    copies = Copies(store.link)
    await copies.open()
    yield store, copies
    await store.close()


async def until_faults(store: JetStreamStore, copies: Copies, *expected: str) -> str:
    """Wait until exactly these nodes have faults, and return the sentences."""
    async with asyncio.timeout(4 * READY_SECONDS):
        while True:
            with contextlib.suppress(StoreUnavailable):
                found = await copies.find_faults(store.streams.all)
                if found.keys() == set(expected):
                    return " ".join(sentence for sentences in found.values() for sentence in sentences)
            await asyncio.sleep(0.05)


@contextlib.asynccontextmanager
async def watching(nodes: Nodes) -> AsyncIterator[Process]:
    """Run `cluster check --watch`."""
    command = (sys.executable, "-m", "tictactoe_server", "cluster", "check", "--watch", "--store", nodes.url)
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, env=environment())
    try:
        yield process
    finally:
        process.kill()
        await process.communicate()


async def says(process: Process, words: str) -> None:
    """Wait until a process has written these words in a line."""
    assert process.stdout is not None
    async with asyncio.timeout(READY_SECONDS):
        while words not in (line := (await process.stdout.readline()).decode()):
            assert line, words


async def test_a_copy_is_no_fault_while_servers_write(nodes: Nodes) -> None:
    async with opened(nodes) as (store, copies):
        await until_faults(store, copies)
        is_over = asyncio.Event()

        async def write(code: str) -> None:
            while not is_over.is_set():
                with contextlib.suppress(StoreUnavailable):
                    await save(store.table(ROOMS), code, room_of(code), None)

        writing = [asyncio.create_task(write(f"B{number:05}")) for number in range(20)]
        found = [await copies.find_faults(store.streams.all) for _ in range(5)]
        is_over.set()
        await asyncio.gather(*writing)
        assert not any(found), found


async def test_a_dead_machine_is_named_and_replaced_by_one_with_another_name(nodes: Nodes) -> None:
    async with opened(nodes) as (store, copies):
        leading = {nodes.nodes[0].meta_leader(), (await nodes.when_led()).name}
        # The end of a leader would cause an election, which takes ten seconds.
        dead = next(node for node in nodes.nodes if node.name not in leading)
        nodes.nodes.remove(dead)
        async with watching(nodes) as watch:
            await says(watch, "No faults.")
            await dead.kill()
            await says(watch, f"Fault: Node {dead.name} does not answer")
        await until_faults(store, copies, dead.name)
        new = Node(nodes.folder, 3, free_ports(3))
        new.write([node.route_port for node in nodes.nodes], authority=None, is_proxied=False)
        await new.start()
        nodes.nodes.append(new)
        url = nodes._url_of((node.port for node in nodes.nodes), SYSTEM)
        link = await Link.open(url)
        removal = msgspec.json.encode({"peer": dead.name})
        while True:  # until the new node has joined
            if b"error" not in await link.request("$JS.API.SERVER.REMOVE", removal):
                break
            await asyncio.sleep(0.1)
        await link.close()
        await until_faults(store, copies)
        replicas = [(await stream.info()).cluster for stream in store.streams.all]
        for one in replicas:
            assert {one.leader, *(peer.name for peer in one.replicas or ())} == {node.name for node in nodes.nodes}


def report(copy: Copy, **data: object) -> Report:
    """Return what a node says about its copy of rooms-0."""
    detail = {"name": "rooms-0", "created": "now", "state": copy}
    said = {"config": {"sync_always": True}, "account_details": [{"stream_detail": [detail]}], **data}
    return msgspec.convert({"server": {"name": ""}, "data": msgspec.to_builtins(said)}, Report)


DAMAGED = report(Copy(9, 1, 12))
LATE = report(Copy(5, 1, 7))
SOUND = report(WELL)


@each(
    ("b", "c", "words"),
    [
        (SOUND, SOUND, ""),
        (
            DAMAGED,
            SOUND,
            "Node b has damaged files: its copies of rooms-0 differ from those of the others by 1 message.",
        ),
        (DAMAGED, SOUND, "move its store_dir aside"),
        (DAMAGED, report(Copy(8, 1, 12)), "The nodes have different copies of rooms-0. More than one"),
        (LATE, SOUND, "Node b is 5 writes behind. If that lasts and its disk is not full"),
        (
            LATE,
            None,
            "More than one node has a fault. Before anything else, stop the servers and copy the store",
        ),
        (
            report(Copy(14, 1, 15)),
            SOUND,
            "Node b has 3 writes that the others have lost, perhaps the only copy. Stop it and copy",
        ),
        (SOUND, None, "Node c does not answer: it is down, or it hangs."),
        (
            report(WELL, disabled=True, account_details=[]),
            SOUND,
            "Node b has stopped storing: its disk is full, or its max_file_store",
        ),
        (
            report(WELL, config={}),
            SOUND,
            "Node b confirms writes before they are on its disk: set sync_interval: always.",
        ),
    ],
)
def test_faults_are_named_with_an_advice_that_destroys_nothing(b: Report, c: Report | None, words: str) -> None:
    sample = {"a": SOUND, "b": b} | ({} if c is None else {"c": c})
    faults = Faults()
    faults.look_at_nodes({"a", "b", "c"}, sample)
    Compared("rooms-0", StreamInfo(cluster=ClusterInfo(leader="a"), created="now")).compare([sample, sample], faults)
    said = " ".join(sentence for sentences in faults.sentences().values() for sentence in sentences)
    assert words in said
    assert bool(words) == bool(said)
