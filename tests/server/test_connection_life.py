import asyncio
import contextlib
import itertools
import time

import pytest
from websockets.frames import Close, Frame, Opcode

from tests.limits import uncounted
from tests.peer import PATIENCE_SECONDS, open_peer, play_out, two_playing, until
from tests.raw import UPGRADE, RawPeer, open_bytes, open_raw, ping, read_to_end, text
from tests.server.deadlines import expire
from tictactoe_server.cli.process import _loop_factory
from tictactoe_server.server import Server
from tictactoe_server.settings import Limits, Settings
from tictactoe_server.transport.admission import Admission, RemotePeer
from tictactoe_server.transport.connection import Connection, Receiver
from tictactoe_server.transport.http_connection import Phase
from tictactoe_server.transport.listen import open_sockets
from tictactoe_server.transport.listener import MAX_TURNED_AWAY, Listener

HELLO = text('{"type":"hello"}')
LARGE_BOARD = {"rows": 32, "columns": 32, "line": 5}


async def test_messages_right_behind_the_request_are_carried_out_whole_or_cut(server: Server) -> None:
    cut = text(ping("cut"))
    async with open_bytes(server.port) as (reader, writer):
        writer.write(UPGRADE + HELLO + text(ping("whole")) + cut[:9])
        await reader.readuntil(b'"whole"')
        writer.write(cut[9:])
        await reader.readuntil(b'"cut"')


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GET / HTTP/1.1\r\nX-Long: " + b"x" * 17_000, b"431"),
        (b"GET / HTTP/1.1\r\n" + b"X-Many: x\r\n" * 2_000, b"431"),
        (b"GET / HTTP/1.1\r\nX-Long: " + b"x" * 9_000 + b"\r\n\r\n", b"431"),
        (b"GET /" + b"x" * 9_000 + b" HTTP/1.1\r\n\r\n", b"414"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"400"),
        (b"\x00\xff", b"400"),
        (b"NONSENSE\r\n\r\n", b"400"),
        (b"GET / HTTP/3.0\r\n\r\n", b"505"),
        (b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", b"400"),
    ],
)
async def test_an_invalid_request_is_answered_and_closed(server: Server, request_bytes: bytes, status: bytes) -> None:
    async with open_bytes(server.port) as (reader, writer):
        writer.write(request_bytes)
        heard = await read_to_end(reader)
    head, _, words = heard.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 " + status), heard[:80]
    assert words.strip()


@pytest.mark.parametrize(
    "begin",
    [b"", b"GET / HTTP/1.1\r\nHost: localhost\r\n", UPGRADE, UPGRADE + text('{"type":"ping"}')],
    ids=["nothing", "half a request", "no hello", "anything but hello"],
)
@pytest.mark.limits(hello_seconds=600.0, close_seconds=600.0)
async def test_a_peer_without_a_hello_is_disconnected_in_time(server: Server, begin: bytes) -> None:
    async with open_bytes(server.port) as (reader, writer):
        writer.write(begin)
        await until(lambda: server._listener.connections)
        (connection,) = server._listener.connections
        if not begin.startswith(UPGRADE):
            await until(lambda: connection._phase is Phase.WAITING and connection._rest == begin)
            expire(connection)
            assert (await read_to_end(reader))[:13] == (b"HTTP/1.1 408 " if begin else b"")
            return
        await until(lambda: connection.is_open)
        expire(connection)
        assert not connection.is_open
        expire(connection)  # and the peer does not reply to the close
        closed = Frame(Opcode.CLOSE, Close(1008, "no hello").serialize()).serialize(mask=False)
        assert (await read_to_end(reader)).endswith(closed)


class FakeTransport(asyncio.Transport):
    """A transport without a peer that records whether it was aborted."""

    def __init__(self) -> None:
        super().__init__()
        self.is_aborted = False
        self.written: list[bytes] = []

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def abort(self) -> None:
        self.is_aborted = True

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written.append(bytes(data))


async def open_on_fake_transport(limits: Limits) -> tuple[Listener, Connection, FakeTransport]:
    """Return a listener and an open WebSocket of it."""
    opened = asyncio.Event()

    def accept(_: Connection) -> Receiver:
        opened.set()
        return Receiver()

    listener, transport = Listener(accept, Admission(limits), limits), FakeTransport()
    connection = listener._make_connection(RemotePeer(Admission(limits)))
    connection.connection_made(transport)
    connection.data_received(UPGRADE)
    await opened.wait()
    return listener, connection, transport


async def test_a_tls_handshake_that_ends_after_the_time_for_a_hello_is_aborted() -> None:
    limits = uncounted()
    listener, transport = Listener(lambda connection: Receiver(), Admission(limits), limits), FakeTransport()
    connection = listener._make_connection(RemotePeer(Admission(limits)))  # as when a socket is accepted
    expire(connection)
    connection.connection_made(transport)  # as when the handshake is done
    assert transport.is_aborted


@pytest.mark.limits(ping_seconds=0.05)
async def test_idle_peers_are_pinged_and_stay_if_they_answer(server: Server) -> None:
    async with open_raw(server.url) as peer:
        for _ in range(10):
            asked = await peer.frame(Opcode.PING)
            await peer.write(text(bytes(asked.data), opcode=Opcode.PONG))
        await peer.write(text(ping("still here")))
        assert (await peer.message())["id"] == "still here"


@pytest.mark.parametrize("heard_at_turn", range(0, 60, 7))
async def test_a_peer_from_which_nothing_comes_is_cut_off_after_15_seconds(heard_at_turn: int) -> None:
    listener, connection, transport = await open_on_fake_transport(uncounted())
    turns = itertools.cycle(range(48))
    seconds_a_turn = Limits().ping_seconds / 48
    for turn in itertools.islice(turns, heard_at_turn):
        listener._take_turn(turn)
    connection.data_received(text(b"", opcode=Opcode.PONG))
    silent_turns = 0
    while not transport.is_aborted:
        listener._take_turn(next(turns))
        silent_turns += 1
    assert 14.3 < silent_turns * seconds_a_turn < 15.1
    connection.connection_lost(None)


@pytest.mark.limits(close_seconds=0.1)
async def test_a_client_that_does_not_close_after_its_answer_is_cut_off(server: Server) -> None:
    async with open_bytes(server.port) as (reader, writer):
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert (await read_to_end(reader)).endswith(b"ok\n")
        await until(lambda: not server._admission.connections)


@pytest.mark.limits(connections=1)
async def test_rejected_connections_that_linger_are_limited(server: Server) -> None:
    async with open_peer(server.url), contextlib.AsyncExitStack() as stack:
        for _ in range(MAX_TURNED_AWAY + 10):
            reader, _ = await stack.enter_async_context(open_bytes(server.port))
            assert (await reader.readline()).startswith(b"HTTP/1.1 503 ")
            assert len(server._listener._refused) <= MAX_TURNED_AWAY


async def test_requests_before_the_goodbye_are_carried_out_and_none_behind_it(server: Server) -> None:
    async with open_peer(server.url) as ana, open_raw(server.url) as peer:
        goodbye = text(Close(1000, "").serialize(), opcode=Opcode.CLOSE)
        before, behind = (text(f'{{"type":"create","rules":"{rules}"}}') for rules in ("four", "gomoku"))
        await peer.write(before + goodbye + behind)
        await peer.ended()
        rows = (await ana.ask("rooms"))["rooms"]
        assert [row["rules"]["preset"] for row in rows] == ["four"]


@pytest.mark.limits(close_seconds=0.1)
async def test_a_peer_that_does_not_answer_a_close_is_cut_off(server: Server) -> None:
    async with open_raw(server.url) as stubborn:
        await stubborn.write(text(b"\x00", opcode=Opcode.BINARY))
        assert await stubborn.close_code() == 1003
        await stubborn.write(text(ping("ignored")))
        await stubborn.ended()


async def test_a_queued_hello_does_not_time_out(server: Server) -> None:
    async with open_raw(server.url, hello=False) as patient:
        ((connection,), (session,)) = server._listener.connections, server.core.presence
        session.is_busy = True
        await patient.write(text('{"type":"hello"}'))
        await until(lambda: session.waits_since is not None)
        connection._close_silent()
        session.go_on()
        assert (await patient.message())["type"] == "welcome"


async def test_stopping_waits_only_briefly_for_clients() -> None:
    limits = uncounted(close_seconds=0.1)
    async with Server(Settings(host="127.0.0.1", port=0), limits=limits) as server:
        opened = open_raw(server.url)
        stubborn = await opened.__aenter__()
        half = await asyncio.open_connection("127.0.0.1", server.port)
    assert await stubborn.close_code() == 1012
    await stubborn.ended()
    assert await read_to_end(half[0]) == b""
    half[1].close()
    await opened.__aexit__(None, None, None)


async def test_a_stopped_server_carries_out_no_request_that_was_queued_behind_another() -> None:
    async with Server(Settings(host="127.0.0.1", port=0), limits=uncounted()) as server, open_raw(server.url) as peer:
        (session,) = server.core.presence
        session.is_busy = True
        await peer.write(text('{"type":"create"}'))
        await until(lambda: session.waits_since is not None)
    session.go_on()
    await until(lambda: session.waits_since is None)
    assert (server.core.rooms.by_code, server._dispatcher.tasks) == ({}, {})


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: localhost\r\n"], ids=["nothing", "half a request"])
def test_a_connection_during_the_stop_is_closed_too(monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    async def stop_at_arrival() -> None:
        limits = uncounted()
        stopping: list[asyncio.Task[None]] = []

        class Arriving(Connection):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                super().connection_made(transport)
                if sent:
                    self.data_received(sent)
                stopping.append(asyncio.create_task(listener.stop(1012, "stopping", PATIENCE_SECONDS)))

        monkeypatch.setattr("tictactoe_server.transport.listener.Connection", Arriving)
        listener = Listener(lambda _: Receiver(), Admission(limits), limits)
        (listening,) = open_sockets("127.0.0.1", 0)
        port = listening.getsockname()[1]
        await listener.listen([listening])
        async with open_bytes(port) as (reader, _):
            assert await read_to_end(reader) == b""
            begun = time.monotonic()
            await stopping[0]
        assert time.monotonic() - begun < PATIENCE_SECONDS / 2
        assert listener.connections == {}

    with asyncio.Runner(loop_factory=_loop_factory()) as runner:  # as in a process of its own
        runner.run(stop_at_arrival())


async def test_an_answer_and_its_state_are_written_together() -> None:
    _, connection, transport = await open_on_fake_transport(uncounted())
    connection.push_answer_and_state("K7M4PQ", b"ok 1, ", b"state 1")
    assert transport.written[1:] == [b"ok 1, state 1"]
    connection.pause_writing()
    for number in (2, 3):
        connection.push_answer_and_state("K7M4PQ", b"ok %d, " % number, b"state %d" % number)
    assert len(transport.written) == 2
    connection.resume_writing()
    assert transport.written[2:] == [b"ok 2, ok 3, state 3"]
    connection.connection_lost(None)


async def test_a_peer_with_a_full_outbox_is_cut_off_at_once() -> None:
    _, connection, transport = await open_on_fake_transport(uncounted(outbox_bytes=8192, catch_up_seconds=600))
    connection.pause_writing()
    for count in (8, 1):
        assert not transport.is_aborted
        for _ in range(count):
            connection.push_frame(bytes(1024))
    assert transport.is_aborted
    connection.connection_lost(None)


async def fill(slow: RawPeer, room: str, count: int = 6_000) -> None:
    """Request more than all buffers between server and peer can hold, and read none of it."""
    request = text(f'{{"type":"sync","room":"{room}"}}')
    for _ in range(count // 100):
        await slow.write(request * 100)


async def watch(slow: RawPeer, room: str) -> None:
    await slow.write(text(f'{{"type":"watch","room":"{room}"}}') + text(ping("watching")))
    while (await slow.message()).get("id") != "watching":
        pass


@pytest.mark.limits(outbox_bytes=8192, catch_up_seconds=600)
async def test_a_slow_reader_gets_only_the_newest_state(server: Server) -> None:
    async with (
        two_playing(server, rules=LARGE_BOARD) as (ana, bo, room),
        open_raw(server.url, receive_buffer=4096) as slow,
    ):
        await watch(slow, room)
        await fill(slow, room)
        last = await play_out({"X": ana, "O": bo}, room, [cell * 3 for cell in range(100)])
        await slow.write(text(ping("after")))
        seqs: list[int] = []
        is_answered = False
        while not is_answered or not seqs or seqs[-1] < last["seq"]:
            message = await slow.message()
            is_answered = is_answered or message.get("id") == "after"
            if message["type"] == "room":
                seqs.append(message["seq"])
        assert seqs == sorted(seqs)
        assert seqs[-1] == last["seq"]
        assert len(set(seqs)) < 100


@pytest.mark.limits(outbox_bytes=8192, catch_up_seconds=0.05)
async def test_a_reader_that_does_not_catch_up_is_cut_off(server: Server) -> None:
    async with open_peer(server.url) as ana, open_raw(server.url, receive_buffer=4096) as slow:
        room = (await ana.ask("create", rules=LARGE_BOARD))["room"]
        await watch(slow, room)
        await ana.state(watchers=1)
        with contextlib.suppress(ConnectionError):
            await fill(slow, room)
        await ana.state(watchers=0)


@pytest.mark.limits(outbox_bytes=16_384, catch_up_seconds=600)
async def test_no_state_follows_the_end_of_a_room(server: Server) -> None:
    async with open_peer(server.url) as ana, open_raw(server.url, receive_buffer=4096) as slow:
        gone = (await ana.ask("create", rules=LARGE_BOARD))["room"]
        await watch(slow, gone)
        await fill(slow, gone)
        await ana.ask("ping")
        await ana.ask("leave", room=gone)
        await slow.write(text(ping("end")))
        told: list[str] = []
        while True:
            message = await slow.message()
            told.append(message["type"])
            if message.get("id") == "end":
                break
        await slow.write(text(ping("really the end")))
        while (message := await slow.message()).get("id") != "really the end":
            told.append(message["type"])
        assert "room" in told
        assert "room" not in told[told.index("closed") :]
