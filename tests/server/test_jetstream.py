import asyncio
import base64
import contextlib
import gc
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import nkeys
import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from tests.authority import Authority
from tests.environment import environment
from tests.peer import until
from tests.proxy import Link as ProxyLink
from tests.proxy import Proxy
from tests.server.commands import run_command
from tests.server.nats_node import Node, check_refusal, empty_store, make_anew, node_in
from tests.server.stored import ANA_KEY, finish, forget_ban, keep, keep_ban, keep_player, room_of, rooms_in, seat
from tests.server.tables import ANA, BO
from tictactoe_server.core.remote import RemoteServers
from tictactoe_server.features.cluster import commands
from tictactoe_server.features.jetstream import streams as sharding
from tictactoe_server.features.jetstream.link import Link
from tictactoe_server.features.jetstream.store import JetStreamStore
from tictactoe_server.features.jetstream.stream import Stream
from tictactoe_server.features.jetstream.streams import Streams, make_streams, name_of
from tictactoe_server.records.mirror import Mirror
from tictactoe_server.records.tables import BANS, KEPT, PLAYERS, ROOMS, Ban
from tictactoe_server.rooms.finished import FinishedGame
from tictactoe_server.scheduler import Tasks
from tictactoe_server.storage.store import (
    MISSING,
    CannotOpenStore,
    NotStored,
    Pending,
    StoreBusy,
    StoreUnavailable,
    Unreadable,
    save,
)

CODE = "K7M4PQ"
NOBODY_THERE = "nats://127.0.0.1:1"


@pytest.fixture
async def store(node: Node, tmp_path: Path) -> AsyncIterator[JetStreamStore]:
    opened = await empty_store(node, tmp_path / "one")
    yield opened
    await opened.close()


@pytest.fixture
async def other(node: Node, store: JetStreamStore, tmp_path: Path) -> AsyncIterator[JetStreamStore]:
    opened = await JetStreamStore.open(node.url, KEPT, data=tmp_path / "other", unsafe=True)
    yield opened
    await opened.close()


@pytest.fixture
async def link(node: Node) -> AsyncIterator[Link]:
    opened = await Link.open(node.url)
    yield opened
    await opened.close()


class Several(RemoteServers):
    is_several = True


async def until_copied(store: JetStreamStore, count: int) -> list[tuple[int, FinishedGame]]:
    """Wait until the history has `count` games of ana's, and return them."""
    while len(games := await store.games.games_of(ANA.id, 10)) != count:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    return games


async def test_the_codes_of_all_rooms_are_read_without_the_rooms(store: JetStreamStore) -> None:
    table = store.table(ROOMS)
    assert [code async for codes in table.all_keys() for code in codes] == []
    for code in ("AAAAAA", "BBBBBB"):
        await keep(store, room_of(code), MISSING)
    await keep_player(store, "token", ANA, MISSING)
    assert sorted([code async for codes in table.all_keys() for code in codes]) == ["AAAAAA", "BBBBBB"]


async def test_missed_changes_are_reported_after_a_reconnection(node: Node, store: JetStreamStore) -> None:
    async with Proxy(node.port) as proxy:
        far = await JetStreamStore.open(proxy.url.replace("ws", "nats"), KEPT, unsafe=True)
        ban, old, told = Ban("10.0.0.0/8", "noise", 1), Ban("pana", "noise", 1), dict[str, Ban | None]()
        tasks = Tasks()

        def note(subject: str, before: Ban | None, after: Ban | None) -> None:
            told[subject] = after

        await keep_ban(store, old)
        bans = Mirror(far.table(BANS), BANS.name, Several(), tasks)
        bans.on_change.add(note)
        tasks.start(bans.run(0.05))
        await bans.loaded.wait()
        proxy.is_closed = True
        proxy.cut()
        await until(lambda: not far.link.is_connected)
        assert far.owed_since() is not None
        with pytest.raises(NotStored):
            await keep(far, room_of("AAAAAA"), MISSING)
        await keep_ban(store, ban)
        await forget_ban(store, old.subject)
        game = await finish(store, "BBBBBB", ANA, BO)
        proxy.is_closed = False
        await until(lambda: told == {ban.subject: ban, old.subject: None})
        await keep(far, room_of("AAAAAA"), MISSING)
        assert far.owed_since() is None
        assert [found for _, found in await until_copied(far, 1)] == [game]
        await tasks.stop()
        await far.close()


async def test_games_have_the_same_ids_at_all_servers(
    node: Node, store: JetStreamStore, other: JetStreamStore, tmp_path: Path
) -> None:
    game = await finish(store, CODE, ANA, BO)
    ((id, _),) = await store.games.games_of(ANA.id, 5)
    assert await until_copied(other, 1) == [(id, game)]
    third = await JetStreamStore.open(node.url, KEPT, data=tmp_path / "third", unsafe=True)
    assert await until_copied(third, 1) == [(id, game)]
    await third.close()


async def test_a_restarted_server_continues_its_copy(node: Node, store: JetStreamStore, tmp_path: Path) -> None:
    first = await JetStreamStore.open(node.url, KEPT, data=tmp_path / "first", unsafe=True)
    await finish(first, "AAAAAA", ANA, BO)
    assert len(await first.games.games_of(ANA.id, 5)) == 1
    await first.close()
    await finish(store, "BBBBBB", ANA, BO)
    again = await JetStreamStore.open(node.url, KEPT, data=tmp_path / "first", unsafe=True)
    await until_copied(again, 2)
    await again.close()


async def test_a_copy_of_another_stream_is_restarted(node: Node, tmp_path: Path) -> None:
    first = await empty_store(node, tmp_path / "data")
    await finish(first, "AAAAAA", ANA, BO)
    assert len(await first.games.games_of(ANA.id, 5)) == 1
    await first.close()
    second = await empty_store(node, tmp_path / "data")
    assert await second.games.games_of(ANA.id, 5) == []
    await second.close()


async def stored_player(link: Link) -> tuple[dict[str, object], str]:
    """Return the document of a player in the stream, and its time to live."""
    answer = msgspec.json.decode(
        await link.request(
            "$JS.API.STREAM.MSG.GET.rooms-0", b'{"last_by_subj": "$KV.rooms-0.player.%s"}' % ANA_KEY.encode()
        )
    )["message"]
    headers = base64.b64decode(answer["hdrs"]).decode()
    (ttl,) = [line.partition(": ")[2] for line in headers.splitlines() if line.startswith("Nats-TTL")]
    return msgspec.json.decode(base64.b64decode(answer["data"])), ttl


async def test_a_player_with_a_seat_is_kept_for_a_year_even_renamed(store: JetStreamStore, link: Link) -> None:
    await keep_player(store, ANA_KEY, ANA, MISSING)
    assert (await stored_player(link))[1] == f"{2 * 86_400}s"
    await seat(store, ANA_KEY)
    while (await stored_player(link))[1] != f"{366 * 86_400}s":  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    found = await store.table(PLAYERS).load(ANA_KEY)
    assert found is not None
    await save(store.table(PLAYERS), ANA_KEY, replace(found[0], player=BO), found[1])
    document, ttl = await stored_player(link)
    assert document["is_seated"] is True
    assert ttl == f"{366 * 86_400}s"
    assert store.table(PLAYERS).expires


async def test_a_damaged_room_does_not_affect_others(store: JetStreamStore, link: Link) -> None:
    await keep(store, room_of(CODE), MISSING)
    await link.request(f"{store.streams.of('room.AAAAAA').prefix}room.AAAAAA", b"00000000nonsense")
    with pytest.raises(Unreadable):
        await store.table(ROOMS).load("AAAAAA")
    assert await rooms_in(store) == {CODE: room_of(CODE)}


async def test_too_many_concurrent_writes_are_busy(store: JetStreamStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tictactoe_server.features.jetstream.stream.MAX_WAITING", 2)
    pending = [Pending() for _ in range(3)]
    for number, each in enumerate(pending):
        store.table(BANS).save(f"p{number}", Ban(f"p{number}", "noise", 1), MISSING, each)
    with pytest.raises(StoreBusy):
        await pending[2].future
    await pending[0].future
    await pending[1].future


async def test_an_unusable_store_is_reported_with_the_reason(node: Node, link: Link) -> None:
    with pytest.raises(CannotOpenStore, match="Cannot reach"):
        await JetStreamStore.open(NOBODY_THERE, KEPT, opening_seconds=0.2)
    for url in ("nats://", "http://a", "a,b", "nats://a:x", "nats://a/b"):
        with pytest.raises(CannotOpenStore, match="is not a list of URLs"):
            await JetStreamStore.open(url, KEPT)
    await link.request("$JS.API.STREAM.DELETE.rooms-0")
    with pytest.raises(CannotOpenStore, match="cluster init"):
        await JetStreamStore.open(node.url, KEPT)
    await make_streams(link, 1, 1)
    with pytest.raises(CannotOpenStore, match="on only one node"):
        await JetStreamStore.open(node.url, KEPT)
    for change, words in (
        ({"storage": "memory"}, "in memory"),
        ({"allow_atomic": False}, "allow_atomic"),
        ({"republish": None}, "republish"),
        ({"max_msgs_per_subject": 5}, "max_msgs_per_subject"),
    ):
        await make_anew(Stream(link, "rooms-0"), change)
        with pytest.raises(CannotOpenStore, match=words):
            await JetStreamStore.open(node.url, KEPT)


async def test_a_store_with_tls_is_used_with_nothing_else(node: Node, tmp_path: Path) -> None:
    authority, stranger = Authority(tmp_path), tmp_path / "stranger"
    authority.issue()
    stranger.mkdir()
    files = f'tls {{ cert_file: "{authority.cert}", key_file: "{authority.key}" }}'
    with node_in(tmp_path, files) as secret:
        url = secret.url.replace("nats", "tls")
        link = await Link.open(url, ca=authority.ca)
        await make_streams(link, 1, 1)
        await link.close()
        await check_refusal(url, "certificate", ca=Authority(stranger).ca)
    await check_refusal(node.url, "no TLS", ca=authority.ca)
    with pytest.raises(CannotOpenStore, match="Cannot read the certificates"):
        await Link.open(url, ca=tmp_path / "nothing")


async def test_a_node_that_falls_silent_is_left_at_once_also_with_tls(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    authority.issue()
    files = f'tls {{ cert_file: "{authority.cert}", key_file: "{authority.key}" }}'
    with node_in(tmp_path, files) as node:
        async with Proxy(node.port) as proxy:
            url = proxy.url.replace("ws", "tls")
            patient = await Link.open(url, ca=authority.ca)
            await make_streams(patient, 1, 1)
            await patient.close()
            link = await Link.open(url, ca=authority.ca, patience_seconds=0.3)
            for silent in proxy.links:
                silent.up.is_swallowing = silent.down.is_swallowing = True
            with pytest.raises(StoreUnavailable):
                await link.request("$JS.API.STREAM.INFO.rooms-0")
            async with asyncio.timeout(25):  # a farewell would take 30 s
                while True:
                    with contextlib.suppress(StoreUnavailable):
                        await link.request("$JS.API.STREAM.INFO.rooms-0")
                        break
                    await asyncio.sleep(0.05)
            await link.close()


async def test_a_connection_lost_at_its_start_leaves_no_task(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    authority = Authority(tmp_path)
    authority.issue()
    files = f'tls {{ cert_file: "{authority.cert}", key_file: "{authority.key}" }}'
    with node_in(tmp_path, files) as node:
        async with Proxy(node.port) as proxy:
            link, before = await Link.open(proxy.url.replace("ws", "tls"), ca=authority.ca), asyncio.all_tasks()
            for number in range(20):
                await link.subscribe(f"cluster.{number}", lambda message: None)
            await link.flush()
            length, turned_away = proxy.links[0].down.passed, asyncio.Queue[None]()
            for left in range(0, 160, 8):  # the end of the node's first message, and of its answer

                def cut_soon(one: ProxyLink, after: int = length - left) -> None:
                    one.down.cut_after = after
                    turned_away.put_nowait(None)

                proxy.on_link = cut_soon
                proxy.cut()
                while turned_away.empty():  # a closed connection is noticed at the latest by the next write
                    link.publish("cluster.0")
                    await asyncio.sleep(0.01)
                turned_away.get_nowait()
                await asyncio.sleep(0.05)
            await link.close()
            del link
            await until(lambda: asyncio.all_tasks() <= before)
            gc.collect()  # the event loop then reports what was left running
    assert [line.getMessage() for line in caplog.records if line.levelname == "ERROR"] == []


async def test_a_refusal_by_a_node_is_not_treated_as_silence(tmp_path: Path) -> None:
    rights = '{ publish { deny: ["$KV.>", "_INBOX.>"] } }'
    users = f"accounts {{ GAME {{ users: [{{ user: ana, password: secret, permissions {rights} }}] }} }}"
    with node_in(tmp_path, users) as node:
        link, connected = await Link.open(node.url.replace("//", "//ana:secret@"), patience_seconds=1), list[str]()
        link.on_connected.append(lambda: connected.append("again"))
        for _ in range(3):
            with pytest.raises(StoreUnavailable, match="permissions violation"):
                await link.request("$KV.rooms-0.room.AAAAAA")
        assert connected == []
        await link.close()


async def test_a_server_identifies_itself_with_a_file(tmp_path: Path) -> None:
    seed = nkeys.encode_seed(os.urandom(32), nkeys.PREFIX_BYTE_USER)
    key = nkeys.from_seed(bytearray(seed)).public_key.decode()
    file = tmp_path / "user.nk"
    file.write_bytes(seed + b"\n")
    users = f"accounts {{ GAME {{ jetstream: enabled, users: [{{ nkey: {key} }}] }} }}"
    with node_in(tmp_path, users) as node:
        link = await Link.open(node.url, credentials=file)
        await make_streams(link, 1, 1)
        await link.close()
        await check_refusal(node.url, "Authorization")
    for text in ("nonsense", "SUnonsense", ""):
        file.write_text(text)
        with pytest.raises(CannotOpenStore, match="contains no NATS credentials"):
            await Link.open(node.url, credentials=file, opening_seconds=0.5)
    file.write_text("-----BEGIN NATS USER JWT-----")
    with node_in(tmp_path, users) as node:
        await check_refusal(node.url, "credentials cannot be used", credentials=file)
    with pytest.raises(CannotOpenStore, match="Cannot read the credentials"):
        await Link.open(node.url, credentials=tmp_path / "nothing")


GAME = """
accounts { GAME { jetstream: enabled, users: [
  { user: founder, password: one }
  { user: game, password: two, %s }
] } }
"""


def test_the_rights_that_init_prints_are_all_that_a_server_needs(tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    with node_in(tmp_path / "first") as node:
        made = run_command("cluster", "init", "--store", node.url, "--replicas", "1")
        assert made.exit_code == 0, made.output
        again = run_command("cluster", "init", "--store", node.url, "--replicas", "1")
        assert again.output == made.output
    printed = made.output[made.output.index("permissions") :]
    with node_in(tmp_path / "second", GAME % printed) as node:
        founder, game = (node.url.replace("//", f"//{user}@") for user in ("founder:one", "game:two"))
        missing = run_command("cluster", "check", "--store", game)
        assert missing.exit_code == 1
        assert "cluster init" in missing.output
        assert run_command("cluster", "init", "--store", founder, "--replicas", "1").exit_code == 0
        found = run_command("cluster", "check", "--store", game)
        assert "No server is running." in found.output
        assert [line for line in found.output.splitlines() if line.startswith("Fault")] == [
            f"Fault: Stream {', '.join(map(name_of, range(8)))}: "
            "It is stored on only one node; surviving the loss of a node requires 3."
        ]

        async def play() -> None:
            store = await JetStreamStore.open(game, KEPT, unsafe=True)
            await store.identity()
            done = await finish(store, CODE, ANA, BO)
            assert len(await store.games.games_of(ANA.id, 5)) == 1
            assert not await store.games.forget_before(done.at + 1)
            assert len(await rooms_in(store)) == 1
            await store.close()

        asyncio.run(play())


def test_init_waits_for_nodes_that_are_still_starting(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    failures = ["No peers yet."] * 2

    async def fail_first(link: Link, count: int, replicas: int) -> Streams:
        if failures:
            raise CannotOpenStore(failures.pop())
        return await make_streams(link, count, replicas)

    monkeypatch.setattr(sharding, "make_streams", fail_first)
    monkeypatch.setattr(commands, "set_up_logging", lambda *_: None)
    ended = CliRunner().invoke(commands.init, ["--store", node.url, "--replicas", "1"])
    assert (ended.exit_code, failures) == (0, []), ended.output
    assert ended.stderr == "No peers yet. Retrying for up to 25 s.\n"


@pytest.mark.parametrize(
    "arguments", [["--host", "127.0.0.1", "--port", "0"], ["cluster", "check"]], ids=["server", "check"]
)
def test_without_the_library_for_nats_it_is_said_how_to_get_it(arguments: list[str]) -> None:
    program = f"""
import sys
sys.modules["nats"] = None
from tictactoe_server.cli.main import main
main({[*arguments, "--store", NOBODY_THERE]!r})
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 1
    assert "pip install '.[cluster]'" in ended.stderr
