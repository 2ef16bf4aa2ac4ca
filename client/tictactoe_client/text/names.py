"""What people are told of names that last, and of their devices."""

from __future__ import annotations

from collections.abc import Iterable

from tictactoe_client.online.address import reachable_address
from tictactoe_client.online.client import Client
from tictactoe_client.settings import PROGRAM
from tictactoe_protocol import clean_text
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.names import Device
from tictactoe_protocol.pushes import Ok


def describe_claim(name: str, codes: Iterable[str]) -> list[str]:
    """Return that a name is ours now, and the codes, which are told this once."""
    return [say("name claimed", name=clean_text(name)), *(f"  {clean_text(code)}" for code in codes)]


def describe_link(client: Client, code: str) -> tuple[str, str]:
    """Return how another device comes in by a code, and the link for that."""
    code = clean_text(code)
    command = " ".join((PROGRAM, "name", "link", code, "--server", client.address.url))
    return say("name link how", command=command), reachable_address(client.address).link_to(f"#link={code}")


def describe_devices(client: Client, found: Ok) -> list[str]:
    """Return who we are, and on which devices."""
    id = "name own" if found.claimed else "name others" if client.welcome.claimed is False else "name free"
    told = say(id, name=clean_text(found.claimed or client.name), n=found.codes_left or 0)
    return [told, *map(describe_device, found.devices or ())]


def describe_device(device: Device) -> str:
    """Return a device in one line, its id first."""
    program = clean_text(device.client or say("name some program"))
    line = f"{clean_text(device.id)}  {clean_text(device.seen)}  {program}"
    return f"{line}  ({say('name this device')})" if device.current else line
