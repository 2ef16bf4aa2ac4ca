"""What the stories ask of a person at a face of the client: the full screen, plain mode, the page or the library."""

from typing import Literal, Protocol

Deed = Literal[
    "accept", "accept challenge", "claim", "decline", "draw", "leave", "rematch", "resign", "undo", "withdraw"
]


class Person(Protocol):
    """ana, at one face.

    Attributes:
        url: The server that she goes to.
    """

    url: str

    async def open_room(self, rules: str = "classic") -> str:
        """Open a room and return its code; others can join it."""

    async def join(self, code: str) -> None: ...

    async def watch(self, code: str) -> None: ...

    async def enter_event(self, code: str) -> None: ...

    async def play(self, cell: str) -> None:
        """Place a mark; it is her turn, or about to be."""

    async def choose(self, number: int) -> None:
        """Choose an option of the opening by its number."""

    async def say(self, text: str) -> None: ...

    async def do(self, deed: Deed) -> None:
        """Do this as the face offers it, and confirm it if the face asks."""

    async def hear(self, *words: str) -> None:
        """Wait until each of these words has been told or is shown."""

    async def see(self, mark: str, cell: str) -> None:
        """Wait until the cell bears the mark."""
