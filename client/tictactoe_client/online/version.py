"""Which versions of the protocol this client speaks, and what to say when a server speaks none of them."""

from __future__ import annotations

from typing import Final

from tictactoe_client.online.installation import client_version, upgrade_command

PROTOCOL_VERSIONS: Final = (1,)
"""What this client speaks, ascending."""


def format_versions(versions: tuple[int, ...]) -> str:
    """Return versions as a range.

    >>> format_versions((1,)), format_versions((3, 4))
    ('1', '3-4')
    """
    return str(versions[0]) if len(versions) == 1 else f"{versions[0]}-{versions[-1]}"


def describe_mismatch(server_versions: tuple[int, ...], own: tuple[int, ...] = PROTOCOL_VERSIONS) -> str:
    """Return which side is too old, and what to do; `server_versions` is ascending and not empty.

    >>> describe_mismatch((3, 4), (2,)).split(":")[1]
    ' the server needs protocol 3-4. Upgrade'
    """
    client = f"This client ({client_version()}, protocol {format_versions(own)})"
    needs = format_versions(server_versions)
    if server_versions[0] > own[-1]:
        way = upgrade_command() or "install a newer one in the way that this one was"
        return f"{client} is too old: the server needs protocol {needs}. Upgrade: {way}"
    return f"The server is too old: it speaks protocol {needs}. {client} needs a newer one: ask its host to upgrade."
