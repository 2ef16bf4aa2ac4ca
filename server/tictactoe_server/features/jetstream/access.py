"""The addresses of the NATS nodes, and the credentials as options for the NATS library."""

from __future__ import annotations

import contextlib
import ipaddress
import random
import ssl
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import ParseResult, urlsplit

import nkeys
from nats import errors

from tictactoe_server.features.jetstream import hidden
from tictactoe_server.files import open_regular
from tictactoe_server.storage.store import CannotOpenStore


class Access:
    """The known nodes, and how to connect to them. The constructor raises `CannotOpenStore`.

    Args:
        urls: The nodes, as in ``nats://a,b:4223``, optionally with a user and a password, or with a token.
        credentials: A file with a user's JWT and seed, or with the seed of an nkey.
        ca: A file with the certificates to trust instead of the system's.

    Attributes:
        urls: The nodes without credentials, for messages and logs.
        servers: The URLs of the nodes without credentials; the connection tries the first one next.
    """

    def __init__(self, urls: str, credentials: Path | None, ca: Path | None) -> None:
        named, self.urls = parse_urls(urls), hidden(urls)
        self.servers = deque(random.sample([hidden(url) for url in named], len(named)))
        self._names: dict[str, str] = {}
        self._credentials = credentials
        first = urlsplit(named[0])
        self._user, self._password = (None, None) if credentials else (first.username, first.password)
        self._tls = _tls_context(ca) if ca is not None or urls.startswith("tls:") else None
        _credentials_in(credentials)

    def options_for(self, server: str) -> dict[str, Any]:
        options = _credentials_in(self._credentials)
        user: str | Callable[[], str] | None = self._user
        if self._tls is not None:
            options["tls"] = self._tls
            user = _give_over_tls(self._tls, self._user or "")  # the library calls it for a token in any case
        if user is not None:
            options |= {"token": user} if self._password is None else {"user": user, "password": self._password}
        return options | ({"tls_hostname": self._names[server]} if server in self._names else {})

    def add_found(self, found: Iterable[ParseResult]) -> None:
        """Add the nodes that the first node announces.

        With TLS, the certificate of a node that is announced by an IP address must be valid for the first node's name.
        """
        for server in found:
            url = f"{server.scheme}://{server.netloc}"
            if url in self.servers:
                continue
            self.servers.append(url)
            with contextlib.suppress(ValueError):
                ipaddress.ip_address(server.hostname or "")
                if self._tls is not None:
                    self._names[url] = self._names.get(self.servers[0]) or urlsplit(self.servers[0]).hostname or ""


def _give_over_tls(context: ssl.SSLContext, secret: str) -> Callable[[], str]:
    """Return a callback for the NATS library that returns `secret` once TLS is established; before, it raises an error.

    Without it, the library would send the secret unencrypted to a node that does not use TLS.
    """
    encrypted = []

    class NotedHandshake(ssl.SSLObject):
        def do_handshake(self) -> None:
            super().do_handshake()
            encrypted.append(self)

    def say() -> str:
        if not encrypted:
            raise errors.Error("the server speaks no TLS")
        return secret

    context.sslobject_class = NotedHandshake
    return say


def parse_urls(urls: str) -> list[str]:
    """Return the URL of each node in a list such as ``nats://a,b``; may raise `CannotOpenStore`.

    The list has the scheme, and a user with a password, only once, before the first host.

    >>> parse_urls("nats://ana:secret@a,b:4223")
    ['nats://ana:secret@a', 'nats://ana:secret@b:4223']
    """
    scheme, _, rest = urls.partition("://")
    user, at, hosts = rest.rpartition("@")
    with contextlib.suppress(ValueError):
        parts = [urlsplit(f"{scheme}://{user}{at}{host}") for host in hosts.rstrip("/").split(",")]
        if scheme in ("nats", "tls") and all(part.hostname and not part.path and part.port != 0 for part in parts):
            return [part.geturl() for part in parts]
    raise CannotOpenStore(f"{hidden(urls)!r} is not a list of URLs such as nats://a.example,b.example,c.example:4222.")


def _credentials_in(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        with open_regular(file) as opened:
            text = opened.read()
    except OSError as error:
        raise CannotOpenStore(f"Cannot read the credentials in {file}: {error.strerror or error}.") from error
    if b"-----BEGIN NATS USER JWT-----" in text:
        return {"user_credentials": str(file)}
    with contextlib.suppress(nkeys.NkeysError, ValueError):
        nkeys.from_seed(bytearray(text.strip())).wipe()
        return {"nkeys_seed": str(file)}
    raise CannotOpenStore(f"{file} contains no NATS credentials: a user's JWT and seed, or the seed of an nkey.")


def _tls_context(ca: Path | None) -> ssl.SSLContext:
    try:
        if ca is not None:
            open_regular(ca).close()
        return ssl.create_default_context(cafile=ca)
    except OSError as error:  # also raised by OpenSSL
        raise CannotOpenStore(f"Cannot read the certificates in {ca}: {error.strerror or error}.") from error
