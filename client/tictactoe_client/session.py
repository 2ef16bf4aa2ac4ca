"""Where a run connects to: the house of the settings, or the server that a link names."""

from __future__ import annotations

from tictactoe_client.online.address import Address
from tictactoe_client.online.errors import BadAddress
from tictactoe_client.online.house import House, parse_house
from tictactoe_client.settings import Settings


def house_for(settings: Settings, address: Address | None) -> House:
    """Return the house of the settings; with an address the one that this leads to, beginning with it.

    Raises `BadAddress` where the settings name no server and no address does.
    """
    if address is None:
        return parse_house(settings.server)
    try:
        return parse_house(settings.server).led_by(address)
    except BadAddress:
        return House((address,))
