"""Claimed names, devices and stored data of the player, as `Client.names`."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, structs

from tictactoe_client.online.part import Part
from tictactoe_protocol import parse_name
from tictactoe_protocol.names import ClaimName, Devices, Export, Forget, LinkDevice, Revoke
from tictactoe_protocol.pushes import Ok


class Names(Part):
    """Our name, the devices that play under it, and our data on the server."""

    async def claim(self, name: str) -> tuple[str, ...]:
        """Claim a name and return the codes that restore it, which are shown only once."""
        client = self._client
        answer = await client._ask(ClaimName(name=name))
        client.name, client.welcome = parse_name(name), structs.replace(client.welcome, claimed=True)
        return answer.rescue or ()

    async def link_device(self) -> str:
        """Return a code for `connect` on another device, valid once within five minutes."""
        return (await self._client._ask(LinkDevice())).link_code or ""

    async def devices(self) -> Ok:
        """Return an answer with our `devices`, the `claimed` name and the number of rescue codes left."""
        return await self._client._ask(Devices())

    async def revoke(self, device: str) -> None:
        """Log one of our devices out, by its id."""
        await self._client._ask(Revoke(device=device))

    async def export(self) -> dict[str, Any]:
        """Return everything that the server stores about us: the tables by name, and all finished games as `games`."""
        page = await self._client._ask(Export())
        export, games = page.export or {}, list((page.export or {}).get("games", ()))
        while page.before is not UNSET:
            page = await self._client._ask(Export(before=page.before))
            games.extend((page.export or {}).get("games", ()))
        return export | {"games": games}

    async def forget(self) -> None:
        """Delete us from the server for good: the token becomes invalid, and the connection ends."""
        await self._client._ask(Forget())
