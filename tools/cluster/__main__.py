"""A trial cluster on this machine: three NATS nodes, two servers and a balancer, ended by Ctrl-C.

Everything listens on free ports of the loopback, and is deleted afterwards.
Usage: python -m tools.cluster [--servers 2] [--tls]
"""

import argparse
import asyncio
import contextlib
import signal
import sys
import tempfile
from pathlib import Path

from tests.authority import Authority
from tests.cluster.nodes import NoNodes
from tests.cluster.servers import CannotFound, Cluster, trusting
from tools.cluster.balancer import Balancer

BEHIND_BALANCER = ("--trusted-proxy", "127.0.0.1")


async def show(folder: Path, *, servers: int, authority: Authority | None) -> None:
    """Run the cluster, print all addresses, and wait for Ctrl-C."""
    ended = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, ended.set)
    async with contextlib.AsyncExitStack() as stack:
        opening = asyncio.create_task(
            stack.enter_async_context(Cluster(folder, *BEHIND_BALANCER, servers=servers, authority=authority))
        )
        told = asyncio.create_task(ended.wait())
        try:
            await asyncio.wait((opening, told), return_when=asyncio.FIRST_COMPLETED)
            if ended.is_set():
                opening.cancel()
                await asyncio.gather(opening, return_exceptions=True)
                return
        finally:
            told.cancel()
        cluster = await opening
        balancer = await stack.enter_async_context(Balancer([server.port for server in cluster.servers]))
        for node in cluster.nodes.nodes:
            print(f"node     {node.name}  nats://127.0.0.1:{node.port}  process {node.pid}  {node.folder}")
            print(f"             http://127.0.0.1:{node.monitor_port}")
        for number, server in enumerate(cluster.servers):
            print(f"server   s{number}  {server.url}  process {server.pid}  {server.folder}")
        print(f"balancer     {balancer.url}")
        print(f"For the commands of an operator: --store {cluster.nodes.url} {' '.join(trusting(cluster.nodes))}")
        print(f"For a friend: tictactoe-client --server {balancer.url}")
        print("Ctrl-C ends them all.", flush=True)
        await ended.wait()
        print("Ending them all.", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tools.cluster", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--servers", type=int, default=2, help="how many (default 2)")
    parser.add_argument("--tls", action="store_true", help="nodes speak TLS, with each other and with the servers")
    options = parser.parse_args()
    if options.servers < 1:
        parser.error("A cluster has one server at least.")
    with tempfile.TemporaryDirectory(prefix="tictactoe-cluster-") as name:
        folder = Path(name)
        authority = None
        if options.tls:
            authority = Authority(folder)
            authority.issue()
        try:
            asyncio.run(show(folder, servers=options.servers, authority=authority))
        except (NoNodes, CannotFound) as error:
            sys.exit(f"tools.cluster: {error}")


if __name__ == "__main__":
    main()
