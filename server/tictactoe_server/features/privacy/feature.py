"""Export and erasure of players' data as a feature."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tictactoe_server.core.core import Service, find_service
from tictactoe_server.features.backups.service import UNKNOWN_DAYS, Backups
from tictactoe_server.features.feature import Feature, Parts
from tictactoe_server.features.privacy.absence import Absence
from tictactoe_server.features.privacy.orders import ForgetOrder
from tictactoe_server.features.privacy.service import Forgetting


def _make(parts: Parts) -> Iterable[Service]:
    backups, forgetting = find_service(parts.services, Backups), Forgetting(parts.specs, parts.check_device)
    days = parts.settings.keep_players_days
    return forgetting, Absence(forgetting, days, lambda: backups.oldest_days if backups else UNKNOWN_DAYS)


FEATURE: Final = Feature(make=_make, orders=(ForgetOrder,))
