"""The feature "cluster", several servers with one store: its options, and commands to set up and check the store."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from click import BadParameter, UsageError

from tictactoe_server.core.remote import RemoteServers
from tictactoe_server.features.cluster.commands import cluster
from tictactoe_server.features.feature import Feature, Node
from tictactoe_server.features.jetstream import hidden, needing_nats
from tictactoe_server.settings import Options, Settings, file_option, option, split_url
from tictactoe_server.storage.specs import Specs, Storage


def _parse_url(text: str) -> str | None:
    """Return `text` as a WebSocket URL without trailing slashes, or None if it is empty; may raise `BadParameter`."""
    if not text:
        return None
    scheme, _, rest = text.partition("://")
    kind = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}.get(scheme.lower())
    parts = split_url(text)
    if kind is None or parts is None or parts.query or parts.fragment or parts.username:
        raise BadParameter(f'"{text}" is not a URL such as ws://10.0.0.11:8765 or wss://play.example/s1.')
    return f"{kind}://{rest.rstrip('/')}"


@dataclass(frozen=True, slots=True)
class ClusterOptions(Options):
    """The cluster's store, and this server's address for players. Without a store, the server runs alone."""

    section = "Several servers"

    store: str | None = option(
        "Run as part of a cluster that stores its data in NATS JetStream, such as nats://a,b,c. --data then stores "
        "only a copy of finished games.",
        metavar="URLS",
    )
    store_credentials: Path | None = file_option("Credentials for --store: a NATS .creds file, or the seed of an nkey.")
    store_ca: Path | None = file_option("CA certificates for --store (PEM). [default: the system's]")
    store_unsafe: bool = option(
        "Use --store even if it may lose acknowledged moves, and log a warning.", default=False, is_flag=True
    )
    advertise: str | None = option(
        "URL at which players reach this server of the cluster, such as ws://10.0.0.11:8765 or wss://play.example/s1. "
        "Required with --store, unless --host is a single address.",
        _parse_url,
        "URL",
    )

    @property
    def shared_store(self) -> str:
        return hidden(self.store or "")

    def check(self, settings: Settings) -> None:
        if self.store and self.advertise is None and settings.host in (None, "0.0.0.0", "::"):
            raise UsageError(
                "--store requires --advertise, the URL at which players reach this server, or a --host of one address."
            )


def _open_store(settings: Settings, specs: Specs) -> Awaitable[Storage] | None:
    """Return the opening of the shared store, if any. The data folder, if any, gets a copy of the finished games."""
    options = settings.of(ClusterOptions)
    if not options.store:
        return None
    with needing_nats():
        from tictactoe_server.features.jetstream.store import JetStreamStore
    return JetStreamStore.open(
        options.store,
        specs,
        credentials=options.store_credentials,
        ca=options.store_ca,
        data=settings.data,
        unsafe=options.store_unsafe,
    )


def _connect(node: Node) -> RemoteServers | None:
    options = node.settings.of(ClusterOptions)
    if not options.store:
        return None
    from tictactoe_server.features.cluster.cluster import Cluster

    return Cluster(node, options.advertise or node.url)


FEATURE: Final = Feature(
    make=lambda parts: parts.core.rooms.elsewhere.start(parts.core),
    connect=_connect,
    open_store=_open_store,
    commands=(cluster,),
    options=ClusterOptions,
)
