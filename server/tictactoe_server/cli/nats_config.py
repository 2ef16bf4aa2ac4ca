"""The configuration of a node, printed whole for whoever sets it up; no store is touched for it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from urllib.parse import urlsplit

import click

from tictactoe_server.cluster import needing_nats

_ROUTE_PORT = 6222
_CONFIG = """\
server_name: {name}
client_advertise: "{host}:{port}"
listen: "0.0.0.0:{port}"
http: "127.0.0.1:8222"

jetstream {{
  store_dir: "/var/lib/nats"
  sync_interval: always  # an acknowledged move survives a loss of power everywhere at once
  max_file_store: 10GB
}}

tls {{
  cert_file: "/etc/nats/cert.pem"
  key_file: "/etc/nats/key.pem"
}}

cluster {{
  name: tictactoe
  listen: "0.0.0.0:{route_port}"
  routes: [{routes}]
  tls {{
    cert_file: "/etc/nats/cert.pem"
    key_file: "/etc/nats/key.pem"
    ca_file: "/etc/nats/ca.pem"
    verify: true
  }}
}}

accounts {{
  TICTACTOE {{
    jetstream: enabled
    users: [
      {{ nkey: {admin_key} }}
      {{ nkey: {game_key}
        permissions {{
{rights}
        }}
      }}
    ]
  }}
  SYS {{ }}
}}
system_account: SYS

ping_interval: 5s
ping_max: 2
write_deadline: 2s
max_payload: 256KB
lame_duck_duration: 30s
lame_duck_grace_period: 2s
"""


def config_of(host: str, urls: str, admin_key: str, game_key: str) -> str:
    """Return the configuration of the node at `host`, which `urls` name among the others; raises `CannotOpenStore`."""
    with needing_nats():
        from tictactoe_server.cluster.jetstream.access import parse_urls
        from tictactoe_server.cluster.jetstream.stream import RIGHTS
    nodes = {url.hostname: url.port or 4222 for url in map(urlsplit, parse_urls(urls))}
    if host not in nodes:
        raise click.UsageError(f"{host} is none of the nodes of --store: {', '.join(filter(None, nodes))}.")
    rights = []
    for verb, subjects in RIGHTS.items():
        listed = ", ".join(f'"{subject}"' for subject in subjects)
        rights.append(f"          {verb} {{ allow: [{listed}] }}")
    return _CONFIG.format(
        name=host.replace(".", "-"),
        host=host,
        port=nodes[host],
        route_port=_ROUTE_PORT,
        routes=", ".join(f'"nats://{node}:{_ROUTE_PORT}"' for node in nodes),
        admin_key=admin_key,
        game_key=game_key,
        rights="\n".join(rights),
    )


def printing_config(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that has `--store` the options by which it prints the configuration of a node instead."""

    @click.option("--print-config", metavar="HOST", help="Print nats.conf for this node of --store, and do no more.")
    @click.option("--admin-key", metavar="U...", default="UADMIN...", help="The public key of admin, for nats.conf.")
    @click.option("--game-key", metavar="U...", default="UGAME...", help="The public key of game, for nats.conf.")
    @functools.wraps(command)
    def run(print_config: str | None, admin_key: str, game_key: str, store: str, **options: object) -> None:
        if print_config is None:
            command(store=store, **options)
        else:
            click.echo(config_of(print_config, store, admin_key, game_key), nl=False)

    return run
