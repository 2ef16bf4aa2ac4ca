"""What the command `check` does: every step that a game needs, each with its result and the time it takes.

The first that fails ends it, and the exit code says which that was.
"""

from __future__ import annotations

import socket
import time
from typing import Any, Final

from tictactoe_client.cli.run import print_failure, run, run_alone
from tictactoe_client.json.game import print_connected
from tictactoe_client.online.address import parse_house
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import BadAddress
from tictactoe_client.online.version import PROTOCOL_VERSIONS, client_version, format_versions
from tictactoe_client.session import Session
from tictactoe_client.settings import ExitCode, Settings
from tictactoe_client.streams.output import Output, print_own
from tictactoe_protocol import clean_text

PINGS: Final = 3


def check(settings: Settings) -> int:
    """Go through every step that a game needs, print each, and return the code of the first that fails."""
    in_json = settings.mode == "json"

    async def work(client: Client, _: Session) -> int:
        if in_json:
            print_connected(client, client.latency_seconds)
        await _check_conversation(client, in_json=in_json)
        return ExitCode.NORMAL

    async def fail() -> int:
        return ExitCode.UNREACHABLE

    try:
        addresses = parse_house(settings.server).addresses
    except BadAddress:
        return run(settings, None, work, is_chatty=False)  # which tells it as ever
    found = [_resolve(address.host, address.port or 443, in_json=in_json) for address in addresses]
    if any(found):
        return run(settings, None, work, is_chatty=False)
    return run_alone(settings, fail)


async def _check_conversation(client: Client, *, in_json: bool) -> None:
    name, server, protocol = clean_text(client.name), clean_text(client.server), client.welcome.protocol
    latency_ms, own = client.latency_seconds * 1000, format_versions(PROTOCOL_VERSIONS)
    where = "" if len(client.house.addresses) == 1 else f", {client.address.url}"
    _tell(f"Connect   ok{where}", "connect", in_json=in_json)
    hello = f"Hello     ok, {latency_ms:.0f} ms, you would be {name}"
    _tell(hello, "hello", in_json=in_json, ms=round(latency_ms, 1), name=name)
    times = []
    for _ in range(PINGS):
        started = time.monotonic()
        await client.ping()
        times.append(round((time.monotonic() - started) * 1000, 1))
    _tell(f"Ping      ok, {', '.join(f'{each} ms' for each in times)}", "ping", in_json=in_json, ms=times)
    fields: dict[str, Any] = {"client_protocol": own, "server": server, "protocol": protocol}
    line = f"Versions  client {client_version()} (protocol {own}), {server} (protocol {protocol})"
    _tell(line, "versions", in_json=in_json, client=client_version(), **fields)


def _resolve(host: str, port: int, *, in_json: bool) -> bool:
    """Print where the server's name leads; tell whether it leads anywhere."""
    started = time.monotonic()
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        told = f"there is no host {clean_text(host)}"
        _tell(f"Resolve   failed: {told}", "resolve", in_json=in_json, ok=False, message=told)
        if in_json:
            print_failure("unreachable", told, in_json=True)
        return False
    places, ms = list(dict.fromkeys(str(place[4][0]) for place in found)), round((time.monotonic() - started) * 1000, 1)
    _tell(f"Resolve   ok, {', '.join(places)}", "resolve", in_json=in_json, ms=ms, addresses=places)
    return True


def _tell(line: str, step: str, *, in_json: bool, ok: bool = True, **fields: object) -> None:
    """Print a step: a line for people, an object for programs."""
    if in_json:
        print_own("step", step=step, ok=ok, **fields)
    else:
        Output().print(line)
