"""The list of all features. Outside `features/`, only the server itself and its command line import it."""

from __future__ import annotations

from typing import Final

from tictactoe_server.features.api.service import FEATURE as API
from tictactoe_server.features.backups.service import FEATURE as BACKUPS
from tictactoe_server.features.boards.service import FEATURE as BOARDS
from tictactoe_server.features.bots.service import FEATURE as BOTS
from tictactoe_server.features.challenges.service import FEATURE as CHALLENGES
from tictactoe_server.features.cluster.feature import FEATURE as CLUSTER
from tictactoe_server.features.days.feature import FEATURE as DAYS
from tictactoe_server.features.metrics.feature import FEATURE as METRICS
from tictactoe_server.features.previews.feature import FEATURE as PREVIEWS
from tictactoe_server.features.privacy.service import FEATURE as PRIVACY
from tictactoe_server.features.ratings.feature import FEATURE as RATINGS
from tictactoe_server.features.reviews.service import FEATURE as REVIEWS
from tictactoe_server.features.tournaments.service import FEATURE as TOURNAMENTS

FEATURES: Final = (
    API,
    PRIVACY,
    BACKUPS,
    BOTS,
    REVIEWS,
    TOURNAMENTS,
    CHALLENGES,
    DAYS,
    RATINGS,
    BOARDS,
    PREVIEWS,
    METRICS,
    CLUSTER,
)
"""Every feature comes after the features that it imports."""
