"""The command `check`: every step that a game needs, one after the other, with the time that each takes."""

from __future__ import annotations

import contextlib
import socket
import time
from typing import Final

from tictactoe_client.cli.run import print_failure, run
from tictactoe_client.json.game import print_connected
from tictactoe_client.online.address import Address, parse_house
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import BadAddress
from tictactoe_client.online.version import PROTOCOL_VERSIONS, client_version, format_versions
from tictactoe_client.session import Session
from tictactoe_client.settings import ExitCode, Settings
from tictactoe_client.streams.output import Output, print_own
from tictactoe_protocol import clean_text

_PINGS: Final = 3


def check(settings: Settings) -> int:
    """Go through every step that a game needs, print each, and return the code of the first that fails."""
    in_json = settings.mode == "json"

    def tell(step: str, line: str, *, ok: bool = True, **fields: object) -> None:
        if in_json:
            print_own("step", step=step, ok=ok, **fields)
        else:
            Output().print(f"{step.capitalize():<9} {line}")

    def resolve(address: Address) -> bool:
        started = time.monotonic()
        try:
            found = socket.getaddrinfo(address.host, address.port or 443, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            told = f"there is no host {clean_text(address.host)}"
            tell("resolve", f"failed: {told}", ok=False, message=told)
            if in_json:
                print_failure("unreachable", told, in_json=True)
            return False
        places = list(dict.fromkeys(str(place[4][0]) for place in found))
        tell("resolve", f"ok, {', '.join(places)}", ms=_ms_since(started), addresses=places)
        return True

    async def work(client: Client, _: Session) -> int:
        if in_json:
            print_connected(client, client.latency_seconds)
        tell("connect", "ok" if len(client.house.addresses) == 1 else f"ok, {client.address.url}")
        name, ms = clean_text(client.name), client.latency_seconds * 1000
        tell("hello", f"ok, {ms:.0f} ms, you would be {name}", ms=round(ms, 1), name=name)
        times = []
        for _ping in range(_PINGS):
            started = time.monotonic()
            await client.ping()
            times.append(_ms_since(started))
        tell("ping", f"ok, {', '.join(f'{each} ms' for each in times)}", ms=times)
        own, version = format_versions(PROTOCOL_VERSIONS), client_version()
        server, spoken = clean_text(client.server), client.welcome.protocol
        line = f"client {version} (protocol {own}), {server} (protocol {spoken})"
        tell("versions", line, client=version, client_protocol=own, server=server, protocol=spoken)
        return ExitCode.NORMAL

    with contextlib.suppress(BadAddress):  # which the run itself tells
        found = [resolve(address) for address in parse_house(settings.server).addresses]
        if not any(found):
            return ExitCode.UNREACHABLE
    return run(settings, None, work, is_chatty=False)


def _ms_since(started: float) -> float:
    return round((time.monotonic() - started) * 1000, 1)
