"""The feature that exports and erases players' data, and erases players who have been away for a long time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final

from tictactoe_server.admin.maintenance import hourly
from tictactoe_server.core.core import Core, Service, find_service
from tictactoe_server.features.backups.service import UNKNOWN_DAYS, Backups
from tictactoe_server.features.feature import Feature, Parts
from tictactoe_server.features.privacy.orders import ForgetOrder
from tictactoe_server.features.privacy.service import Forgetting
from tictactoe_server.records.tables import FORGOTTEN, PLAYERS, Forgotten
from tictactoe_server.storage.store import Conflict, Table, delete, values_of

FORGOTTEN_AT_ONCE: Final = 500  # players in one hour
_STEP_SECONDS: Final = 0.1  # between two batches of a table, for other tasks


class Absence(Service):
    """Forgets players who have been away for long. In a cluster, a single server does this.

    Args:
        days: How many days of absence are allowed, or None for any time.
        erasure_days: Returns how many days the hashes of forgotten players are kept. While a backup may still have
            these players, the hashes are needed to forget them again after a restore.
    """

    def __init__(self, forgetting: Forgetting, days: int | None, erasure_days: Callable[[], int]) -> None:
        self._forgetting = forgetting
        self._days = days
        self._erasure_days = erasure_days
        self.jobs = (lambda: hourly(self._core.rooms.restored, self.go_round),)

    def start(self, core: Core) -> None:
        self._core = core

    async def go_round(self, day: int) -> None:
        """Forget the players who have been away for too long on `day`, and delete old hashes.

        Raises `StoreUnavailable`.
        """
        if not self._core.rooms.elsewhere.is_chosen("keep-players"):
            return
        if self._days is not None:
            await self._forgetting.forget_all(await self._absent_since(day - self._days))
        await drop_hashes(self._core.store.table(FORGOTTEN), day - self._erasure_days())

    async def _absent_since(self, day: int) -> list[str]:
        seen: dict[str, int] = {}
        async for _, known, _ in values_of(self._core.store.table(PLAYERS)):
            seen[known.player.id] = max(known.seen, seen.get(known.player.id, 0))
        staying = self._core.staying
        return [id for id, last in seen.items() if last < day and id not in staying][:FORGOTTEN_AT_ONCE]


async def drop_hashes(table: Table[Forgotten], before: int) -> None:
    """Delete the hashes of players forgotten before the day `before`.

    The newest hash stays in the table, because its number shows which numbers of stand-ins have been used.
    """
    known = [row async for row in values_of(table, _STEP_SECONDS)]
    for key, kept, revision in sorted(known, key=lambda row: row[1].number)[:-1]:
        if kept.is_done and kept.day < before:
            with suppress(Conflict):
                await delete(table, key, revision)


def _make(parts: Parts) -> Iterable[Service]:
    backups, forgetting = find_service(parts.services, Backups), Forgetting(parts.specs, parts.check_device)
    days = parts.settings.keep_players_days
    return forgetting, Absence(forgetting, days, lambda: backups.oldest_days if backups else UNKNOWN_DAYS)


FEATURE: Final = Feature(make=_make, orders=(ForgetOrder,))
