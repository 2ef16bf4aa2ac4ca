"""The feature of several servers with one store: its options, and the commands that set up and check the store."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from click import BadParameter, UsageError

from tictactoe_server.features.cluster.commands import cluster
from tictactoe_server.features.feature import Feature
from tictactoe_server.features.jetstream import needing_nats
from tictactoe_server.settings import Options, Settings, file_option, option, split_url
from tictactoe_server.storage.specs import Specs, Storage


def _parse_url(text: str) -> str | None:
    """Return `text` as a WebSocket URL without trailing slashes, or None if it is empty; raises `BadParameter`."""
    if not text:
        return None
    scheme, _, rest = text.partition("://")
    kind = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}.get(scheme.lower())
    parts = split_url(text)
    if kind is None or parts is None or parts.query or parts.fragment or parts.username:
        raise BadParameter(f'"{text}" is no URL as in ws://10.0.0.11:8765 or wss://play.example/s1.')
    return f"{kind}://{rest.rstrip('/')}"


@dataclass(frozen=True, slots=True)
class ClusterOptions(Options):
    """The cluster's store, and this server's address for players. Without a store, the server runs alone."""

    section = "Several servers"

    store: str | None = option(
        "Keep everything in these NATS servers, for several servers at once, as in nats://a,b,c; --data then keeps a "
        "copy of the finished games alone.",
        metavar="URLS",
    )
    store_credentials: Path | None = file_option(
        "Who this server is to --store: a user's credentials, or the seed of an nkey."
    )
    store_ca: Path | None = file_option("Certificates to trust for --store instead of the system's, in PEM.")
    store_unsafe: bool = option(
        "Use --store even where it may lose moves that it has acknowledged, and say so.", default=False, is_flag=True
    )
    advertise: str | None = option(
        "With --store: where players reach this very server, as in ws://10.0.0.11:8765 or wss://play.example/s1. "
        "Needed unless --host is one address.",
        _parse_url,
        "URL",
    )

    async def open_store(self, specs: Specs, data: Path | None) -> Storage:
        """Open the shared store; raises `CannotOpenStore`. The folder `data`, if any, gets a copy of finished games."""
        with needing_nats():
            from tictactoe_server.features.jetstream.store import JetStreamStore
        urls, credentials, ca = self.store or "", self.store_credentials, self.store_ca
        return await JetStreamStore.open(
            urls, specs, credentials=credentials, ca=ca, data=data, unsafe=self.store_unsafe
        )

    def check(self, settings: Settings) -> None:
        if self.store and self.advertise is None and settings.host in (None, "0.0.0.0", "::"):
            raise UsageError(
                "--store needs --advertise URL, where players reach this very server, unless --host is one address."
            )


FEATURE: Final = Feature(commands=(cluster,), options=ClusterOptions)
