"""Several servers behind one host name of a real nginx, with the configuration of deploy/cluster: a path per server."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from ipaddress import ip_network
from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from tests.authority import Authority
from tests.end_to_end.test_nginx import NGINX, Site, running_nginx
from tests.peer import open_peer, play_out, until
from tests.ports import free_ports
from tests.server.nats_node import empty_store, node_in
from tictactoe_server.features.cluster.cluster import Cluster
from tictactoe_server.features.cluster.feature import ClusterOptions
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

SITE = Path(__file__).parents[2] / "deploy" / "cluster" / "nginx.conf"
COUNT = 3

pytestmark = pytest.mark.skipif(NGINX is None, reason="no nginx is installed here (Debian: apt install nginx)")


@contextlib.asynccontextmanager
async def behind_one_name(authority: Authority, folder: Path) -> AsyncIterator[tuple[Site, list[Server]]]:
    """Run servers that share a store, and nginx in front of them."""
    ports = free_ports(COUNT)
    changes = {f"10.0.0.1{number}:8765": f"127.0.0.1:{port}" for number, port in enumerate(ports, 1)}
    async with contextlib.AsyncExitStack() as stack:
        node = stack.enter_context(node_in(folder))
        await (await empty_store(node)).close()
        site = stack.enter_context(running_nginx(folder, authority, changes, SITE.read_text(encoding="utf-8")))
        servers = [
            Server(
                Settings(
                    host="127.0.0.1",
                    port=port,
                    origins=(site.url.replace("wss", "https"),),
                    trusted_proxies=(ip_network("127.0.0.1"),),
                    features=(ClusterOptions(store=node.url, store_unsafe=True, advertise=f"{site.url}/s{number}"),),
                )
            )
            for number, port in enumerate(ports, 1)
        ]
        await asyncio.gather(*(stack.enter_async_context(server) for server in servers))
        await until(lambda: all(len(server.service(Cluster).members.urls) == COUNT for server in servers))
        yield site, servers


async def test_the_host_name_leads_to_the_path_of_the_rooms_server(authority: Authority, tmp_path: Path) -> None:
    trusting = authority.trusting()
    async with behind_one_name(authority, tmp_path) as (site, servers), contextlib.AsyncExitStack() as stack:
        first = [await stack.enter_async_context(open_peer(site.url, tls=trusting)) for _ in servers]
        assert {peer.welcome["servers"][0] for peer in first} == {f"{site.url}/s{number}" for number in (1, 2, 3)}
        ana, bo, _ = first
        room = (await ana.ask("create"))["room"]
        moved = await bo.ask("join", room=room)
        assert (moved["code"], moved["url"]) == ("moved", ana.welcome["servers"][0])
        again = await stack.enter_async_context(open_peer(moved["url"], tls=trusting, token=bo.welcome["token"]))
        assert (await again.ask("join", room=room))["seat"] == "O"
        state = await play_out({"X": ana, "O": again}, room, [0, 3, 1, 4, 2])
        assert state["result"]["winner"] == "X"
        page = {"Origin": site.url.replace("wss", "https")}
        async with connect(f"{site.url}/s2", ssl=trusting, proxy=None, additional_headers=page):
            """The page of any server may connect to each."""
