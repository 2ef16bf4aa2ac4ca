"""A house: servers that serve the same rooms and know the same players, each at an address of its own.

Which addresses are one house nobody but the person can say: those that were given together are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tictactoe_client.online.address import DEFAULT_SERVER, Address, parse_address
from tictactoe_client.online.invite import is_same_server


@dataclass(frozen=True, slots=True)
class House:
    """Its addresses, at least one, in the order in which they are to be tried."""

    addresses: tuple[Address, ...]

    @property
    def first(self) -> Address:
        """Where to try first."""
        return self.addresses[0]

    @property
    def urls(self) -> tuple[str, ...]:
        """The addresses as URLs."""
        return tuple(address.url for address in self.addresses)

    def has(self, address: Address) -> bool:
        """Tell whether an address leads to one of the house's servers."""
        return any(is_same_server(address, own) for own in self.addresses)

    def led_by(self, address: Address) -> House:
        """Return the house with this address first, and the others after it in a ring; a house of its own for another.

        >>> parse_house("a,b,c").led_by(parse_address("b")).urls
        ('ws://b:8765', 'ws://c:8765', 'ws://a:8765')
        """
        own = self.addresses
        same = (
            [own.index(address)] if address in own else [n for n, one in enumerate(own) if is_same_server(address, one)]
        )
        return House((*own[same[0] :], *own[: same[0]])) if same else House((address,))


def parse_house(text: str | None) -> House:
    """Return the house whose addresses stand in a text, with commas between; None is the default server.

    Raises `BadAddress`.

    >>> parse_house("one, wss://two").urls
    ('ws://one:8765', 'wss://two')
    """
    words = [word for word in (text or DEFAULT_SERVER).split(",") if word.strip()]
    return house_of(words or [text or ""])


def house_of(given: str | Address | House | Sequence[str | Address]) -> House:
    """Return the house that one address, or several together, make; raises `BadAddress`."""
    if isinstance(given, House):
        return given
    if isinstance(given, str | Address):
        given = (given,)
    parsed = (one if isinstance(one, Address) else parse_address(one) for one in given)
    addresses = tuple(dict.fromkeys(parsed))
    return House(addresses) if addresses else parse_house(None)
