"""What the command `check` does: every step that a game needs, each with its result and the time it takes.

The first that fails ends it, and the exit code says which that was.
"""

from __future__ import annotations

import asyncio
import socket
import time
from typing import Final

from tictactoe_client.cli.run import print_failure, run, run_alone
from tictactoe_client.json.lines import print_connected, print_own
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import BadAddress
from tictactoe_client.online.house import parse_house
from tictactoe_client.online.version import PROTOCOL_VERSIONS, client_version, format_versions
from tictactoe_client.session import Session
from tictactoe_client.settings import ExitCode, Settings
from tictactoe_client.streams.output import Output
from tictactoe_protocol import clean_text

PINGS: Final = 3


def check(settings: Settings) -> int:
    """Go through every step that a game needs, print each, and return the code of the first that fails."""
    is_json = settings.mode == "json"

    async def work(client: Client, _: Session) -> int:
        if is_json:
            print_connected(client, client.latency_seconds)
        await _check_conversation(client, is_json=is_json)
        return ExitCode.NORMAL

    async def fail() -> int:
        return ExitCode.UNREACHABLE

    try:
        house = parse_house(settings.server)
    except BadAddress:
        return run(settings, None, work, is_chatty=False)  # which tells it as ever
    found = [_resolve(address.host, address.port or 443, is_json=is_json) for address in house.addresses]
    if not any(found):
        return run_alone(settings, fail)
    return run(settings, None, work, is_chatty=False)


async def _check_conversation(client: Client, *, is_json: bool) -> None:
    name, server, protocol = clean_text(client.name), clean_text(client.server), client.welcome.protocol
    milliseconds = client.latency_seconds * 1000
    if is_json:
        print_own("step", step="connect", ok=True)
        print_own("step", step="hello", ok=True, ms=round(milliseconds, 1), name=name)
    else:
        where = "" if len(client.house.addresses) == 1 else f", {client.address.url}"
        Output().print(f"Connect   ok{where}", f"Hello     ok, {milliseconds:.0f} ms, you would be {name}")
    times = [seconds * 1000 for seconds in await _ping(client)]
    own = format_versions(PROTOCOL_VERSIONS)
    if is_json:
        print_own("step", step="ping", ok=True, ms=[round(one, 1) for one in times])
        versions = {"client": client_version(), "client_protocol": own, "server": server, "protocol": protocol}
        print_own("step", step="versions", ok=True, **versions)
    else:
        Output().print(f"Ping      ok, {', '.join(f'{one:.1f} ms' for one in times)}")
        Output().print(f"Versions  client {client_version()} (protocol {own}), {server} (protocol {protocol})")


def _resolve(host: str, port: int, *, is_json: bool) -> bool:
    """Print where the server's name leads; tell whether it leads anywhere."""
    started = time.monotonic()
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        told = f"there is no host {clean_text(host)}"
        if is_json:
            print_own("step", step="resolve", ok=False, message=told)
            print_failure("unreachable", told, in_json=True)
        else:
            Output().print(f"Resolve   failed: {told}")
        return False
    places = list(dict.fromkeys(str(place[4][0]) for place in found))
    if is_json:
        print_own("step", step="resolve", ok=True, ms=round((time.monotonic() - started) * 1000, 1), addresses=places)
    else:
        Output().print(f"Resolve   ok, {', '.join(places)}")
    return True


async def _ping(client: Client) -> list[float]:
    loop = asyncio.get_running_loop()
    times = []
    for _ in range(PINGS):
        started = loop.time()
        await client.ping()
        times.append(loop.time() - started)
    return times
