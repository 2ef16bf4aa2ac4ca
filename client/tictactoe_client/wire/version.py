"""Which client this is, which versions of the protocol it speaks, and what to say when a server speaks none of them."""

from __future__ import annotations

from typing import Final

PROTOCOL_VERSIONS: Final = (1,)
"""What this client speaks, ascending."""


def client_version() -> str:
    """Return the version of the installed distribution, or ``0`` where it runs uninstalled."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("tictactoe")
    except PackageNotFoundError:
        return "0"


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
        return f"{client} is too old: the server needs protocol {needs}. Upgrade: pipx upgrade tictactoe"
    return f"The server is too old: it speaks protocol {needs}. {client} needs a newer one: ask its host to upgrade."
