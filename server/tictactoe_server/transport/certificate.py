"""The certificate and private key for TLS, which are reloaded when their files change."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import time
from pathlib import Path
from typing import Any, Final, NoReturn

import structlog

from tictactoe_server import OperatorError, clock
from tictactoe_server.files import open_regular

_ANY_TIME: Final = 0x200000  # OpenSSL's X509_V_FLAG_NO_CHECK_TIME: only clients check whether the certificate expired

log: Final = structlog.get_logger(__name__)


class Certificate:
    """The newest usable certificate and key from two files.

    Attributes:
        names: The certificate's host names, then its IP addresses, without wildcards.
    """

    def __init__(self, certificate: Path, key: Path) -> None:
        self._files = certificate, key
        self._load()

    async def run(self, seconds: float) -> None:
        """Check the files every `seconds` and reload them if they changed, until cancelled."""
        while True:
            await asyncio.sleep(seconds)
            if await asyncio.to_thread(self._stamps) != self._seen:
                await asyncio.to_thread(self.renew)

    def renew(self) -> None:
        """Reload the files; if they cannot be used, log the reason and keep the old certificate."""
        try:
            self._load()
            log.info("certificate reloaded", ends=self._ends)
        except OperatorError as error:
            log.warning("certificate not reloaded: the old one stays in use", reason=str(error))

    def _load(self) -> None:
        self._seen = self._stamps()
        self.context, details = _read_pair(*self._files)
        names = sorted(details.get("subjectAltName", ()), key=lambda named: named[0] != "DNS")
        self.names = tuple(name for kind, name in names if kind in ("DNS", "IP Address") and "*" not in name)
        ends_at = ssl.cert_time_to_seconds(details["notAfter"])
        self._ends = time.strftime("%Y-%m-%d", time.gmtime(ends_at))
        if ends_at < clock.wall():
            log.warning("certificate has expired: clients reject it", ended=self._ends)

    def _stamps(self) -> list[object]:
        """Return the files' identities, sizes and modification times, or an empty list if a file is missing."""
        with contextlib.suppress(OSError):
            return [(file.st_ino, file.st_size, file.st_mtime_ns) for file in map(Path.stat, self._files)]
        return []


def _read_pair(certificate: Path, key: Path) -> tuple[ssl.SSLContext, dict[str, Any]]:
    """Return a TLS context, and the certificate as clients see it. May raise `OperatorError`."""

    def refuse_to_ask() -> NoReturn:
        raise OperatorError(f"The key {key} is encrypted. Use a key without a passphrase.")

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        for file in (certificate, key):
            open_regular(file).close()
        context.load_cert_chain(certificate, key, refuse_to_ask)
        return context, _show(context, certificate)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise OperatorError(f"The key {key} does not belong to the certificate {certificate}.") from None
        words = error.verify_message if isinstance(error, ssl.SSLCertVerificationError) else error.reason
        reason = (words or "not in PEM format").replace("_", " ").lower()
        raise OperatorError(f"Cannot use the certificate in {certificate} or the key in {key}: {reason}.") from None
    except OSError as error:
        raise OperatorError(f"Cannot read {error.filename}: {(error.strerror or str(error)).lower()}.") from None


def _show(context: ssl.SSLContext, certificate: Path) -> dict[str, Any]:
    """Return the certificate as a client parses it in a handshake in memory, because `ssl` has no other parser."""
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname = False
    trusting.verify_flags = ssl.VERIFY_X509_PARTIAL_CHAIN | _ANY_TIME
    trusting.load_verify_locations(certificate)
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = trusting.wrap_bio(to_client, to_server)
    unfinished = [client, context.wrap_bio(to_server, to_client, server_side=True)]
    while unfinished:
        for end in tuple(unfinished):
            with contextlib.suppress(ssl.SSLWantReadError):
                end.do_handshake()
                unfinished.remove(end)
    return client.getpeercert() or {}
