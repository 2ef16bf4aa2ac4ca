"""Several servers that share their players and rooms, and keep them in one store."""

from tictactoe_server.cluster.cluster import GRACE_SECONDS, NOTE_SECONDS, Cluster
from tictactoe_server.cluster.living import ask_living, find_living

__all__ = ["GRACE_SECONDS", "NOTE_SECONDS", "Cluster", "ask_living", "find_living"]
