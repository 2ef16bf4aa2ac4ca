"""The commands about servers rather than games: those of the local network, and a server's page in a browser."""

from __future__ import annotations

import asyncio
import webbrowser
from collections.abc import Sequence

from tictactoe_client.online.address import parse_room
from tictactoe_client.online.nearby import find_nearby
from tictactoe_client.session import house_for
from tictactoe_client.settings import ExitCode, Settings
from tictactoe_client.streams.output import Output, print_error, print_own


async def show_servers(settings: Settings) -> int:
    """Print the servers of the local network."""
    servers = await find_nearby()
    if settings.mode == "json":
        print_own("servers", servers=[{"name": server.name, "url": server.address.url} for server in servers])
        return ExitCode.NORMAL
    width = max((len(server.name) for server in servers), default=0)
    Output().print(*(f"{server.name:<{width}}  {server.address.url}" for server in servers))
    if not servers and not settings.quiet:
        print_error("No server announces itself on this network. Some networks keep such words from being heard.")
    return ExitCode.NORMAL


async def open_page(settings: Settings, room: Sequence[str]) -> int:
    """Open the page of a server, or of a room there, in the system's browser."""
    code, address = parse_room(" ".join(room)) if room else (None, None)
    address = address or house_for(settings, None).first
    link = address.link_to(code) if code is not None else address.page_url
    if settings.mode == "json":
        print_own("page", url=link)
    else:
        Output().print(link)
    if not await asyncio.to_thread(webbrowser.open, link):
        print_error("No browser could be started here: open the link by hand.")
    return ExitCode.NORMAL
