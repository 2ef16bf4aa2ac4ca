"""Carries out commands about the player's name and devices."""

from __future__ import annotations

import json
from pathlib import Path
from random import choice
from typing import Any

from msgspec import UNSET

from tictactoe_client.files.players import Identity
from tictactoe_client.files.writer import create_file
from tictactoe_client.online.address import reachable_address
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import describe_cause
from tictactoe_client.settings import PROGRAM, Misuse
from tictactoe_client.text.qr import render_code
from tictactoe_protocol import clean_text
from tictactoe_protocol.names import ClaimName, Device, Export, Forget, LinkDevice, Revoke
from tictactoe_protocol.pushes import Ok
from tictactoe_words.catalogue import say


async def carry_out(
    client: Client, identity: Identity, what: str, value: str = ""
) -> tuple[list[str], tuple[str, ...]]:
    """Carry out a command; return lines that cannot be fetched again, such as rescue codes, and a QR code or ().

    If the player is worth keeping, `identity` stores it for later runs; a forgotten player is removed.
    """
    match what:
        case "claim":
            codes = (await client.ask(ClaimName(name=value))).rescue or ()
            identity.write_down(client)
            claimed = say("name claimed", name=clean_text(client.name))
            return [claimed, *(f"  {clean_text(code)}" for code in codes)], ()
        case "link":
            code = clean_text((await client.ask(LinkDevice())).link_code or "")
            identity.write_down(client)
            address = reachable_address(client.address)
            command = " ".join((PROGRAM, "name", "link", code, "--server", address.socket_url))
            link = address.link_to(f"#link={code}")
            return [say("name link how", command=command), link], render_code(link)
        case "revoke":
            await client.ask(Revoke(device=value))
        case "export":
            write_export(value, await fetch_export(client))
            return [say("saved in", file=clean_text(value))], ()
        case "forget":
            await client.ask(Forget())
            for url in client.cluster.given.urls:
                await identity.forget_token(url, client.token)
            return [say("name forgotten", server=client.address.url)], ()
    return [], ()


async def fetch_export(client: Client) -> dict[str, Any]:
    """Return everything that the server stores about us, by table; `games` has all our finished games."""
    page = await client.ask(Export())
    export, games = page.export or {}, list((page.export or {}).get("games", ()))
    while page.before is not UNSET:
        page = await client.ask(Export(before=page.before))
        games.extend((page.export or {}).get("games", ()))
    return export | {"games": games}


def write_export(file: str, export: dict[str, Any]) -> None:
    """Write a player's export as JSON to a file that must not exist yet; raises `Misuse`."""
    try:
        create_file(Path(file).expanduser(), f"{json.dumps(export, ensure_ascii=False, indent=1)}\n")
    except (OSError, ValueError) as error:
        raise Misuse(say("file not written", file=clean_text(file), why=describe_cause(error))) from None


def propose_name() -> str:
    return " ".join(choice(say(f"name proposal {part}").split()) for part in ("first", "last"))


def describe_self(client: Client, answer: Ok) -> str:
    id = "name own" if answer.claimed else "name others" if client.welcome.claimed is False else "name free"
    return say(id, name=clean_text(answer.claimed or client.name), n=answer.codes_left or 0)


def describe_device(device: Device) -> str:
    """Return a line about a device, beginning with its id."""
    program = clean_text(device.client or say("name some program"))
    line = f"{clean_text(device.id)}  {clean_text(device.seen)}  {program}"
    marks = [say("name this device")] * device.current + [say("age new")] * device.new
    return f"{line}  ({', '.join(marks)})" if marks else line
