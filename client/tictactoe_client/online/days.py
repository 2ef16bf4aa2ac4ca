"""Games over days, as `Client.days`."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from tictactoe_client.online.address import parse_code
from tictactoe_client.online.part import Part, PartOwner, require
from tictactoe_protocol.days import Notify, Plan, PushSubscription, Turn
from tictactoe_protocol.pushes import Ok


class Days(Part):
    """Games over days; the methods raise `Refused` with ``unsupported`` if the server has none.

    Attributes:
        turns: The games that await our move, the longest wait first. `Told` reports changes.
    """

    def __init__(self, client: PartOwner) -> None:
        super().__init__(client)
        self.turns: tuple[Turn, ...] = client.welcome.turns or ()

    @property
    def are_offered(self) -> bool:
        """Whether games may take days on this server."""
        return self._client.welcome.turns is not UNSET

    async def notify(
        self,
        *,
        feed: bool | UnsetType = UNSET,
        webhook: str | UnsetType | None = UNSET,
        push: PushSubscription | UnsetType | None = UNSET,
        quiet: tuple[int, int] | UnsetType | None = UNSET,
    ) -> Ok:
        """Choose how we hear of games that await our move, and return what is set now; omitted choices stay.

        Args:
            feed: Whether there is an Atom feed; the answer has its secret address.
            webhook: An https address that gets each message, or None.
            push: A browser's subscription, or None.
            quiet: The minutes of the day (UTC) when quiet hours begin and end, or None.
        """
        require(self.are_offered, "no days")
        return await self._client._ask(Notify(feed=feed, webhook=webhook, push=push, quiet=quiet))

    async def plan(self, room: str, moves: Sequence[Sequence[int]] | None = None) -> tuple[tuple[int, ...], ...]:
        """Return the stored plan of a game, or store a new one: branches of cells, each from the next move on.

        The server plays our moves of a branch while the others play theirs. An empty list deletes the plan.
        """
        require(self.are_offered, "no days")
        branches = UNSET if moves is None else tuple(map(tuple, moves))
        return (await self._client._ask(Plan(room=parse_code(room), moves=branches))).plan or ()
