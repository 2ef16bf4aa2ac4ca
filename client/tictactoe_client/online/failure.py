"""Why no connection came about, in the words of a person; of a certificate that is not believed, what stands in it."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import socket
import ssl
import time
from typing import Any, Final

from websockets.exceptions import InvalidStatus, ProxyError, WebSocketException

from tictactoe_client.online.address import Address
from tictactoe_client.online.errors import ClientError, Unreachable, VersionRefused
from tictactoe_client.online.version import PROTOCOL_VERSIONS, describe_mismatch
from tictactoe_protocol import clean_text

_ERRNO: Final = re.compile(r"\[Errno (\d+)\]")
_OFFERED: Final = re.compile(r"tictactoe\.v(\d{1,4})")

_NOT_YET, _EXPIRED = 9, 10
_OTHER_NAME: Final = frozenset({62, 64})
_UNTRUSTED: Final = frozenset({2, 18, 19, 20, 21})
"""OpenSSL's X509_V_ERR codes."""

_ANY_TIME: Final = 0x200000
"""OpenSSL's X509_V_FLAG_NO_CHECK_TIME."""

_MOST_NAMES: Final = 3
_LONGEST_NAME: Final = 80


async def explain_failure(address: Address, error: Exception, timeout_seconds: float) -> ClientError:
    """Return the error that says why the handshake failed; looks at the server's certificate where that is why."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return Unreachable(address.url, f"TLS: {await describe_doubt(address, error, timeout_seconds)}")
    if isinstance(error, InvalidStatus):
        body = (error.response.body or b"").decode("utf-8", "replace")
        versions = tuple(sorted({int(version) for version in _OFFERED.findall(body)} - set(PROTOCOL_VERSIONS)))
        if error.response.status_code in (400, 426) and versions:
            return VersionRefused(describe_mismatch(versions), versions)
        if place := error.response.headers.get("Location"):
            return Unreachable(address.url, f"the server sends you elsewhere, to {clean_text(place)[:200]}")
        if address.scheme == "ws" and "HTTPS" in body:
            return Unreachable(address.url, "the server wants TLS; with it, it is wss://")
        return Unreachable(address.url, f"the server answered HTTP {error.response.status_code}")
    if isinstance(error, ProxyError):
        return Unreachable(address.url, f"the proxy refused: {clean_text(str(error))}")
    if isinstance(error, WebSocketException):
        perhaps = "; if it wants TLS, it is wss://" if address.scheme == "ws" else ""
        return Unreachable(address.url, f"what answers there is no WebSocket server{perhaps}")
    if isinstance(error, ImportError):
        return Unreachable(address.url, "a SOCKS proxy needs the package python-socks")
    if address.scheme == "wss" and _found_no_tls(error):
        return Unreachable(address.url, "TLS: the server seems to have none; without it, it is ws://")
    return Unreachable(address.url, _describe_failure(error, timeout_seconds))


def _found_no_tls(error: Exception) -> bool:
    """Tell whether a handshake for TLS met something else: other bytes, or an end without a word."""
    if isinstance(error, ssl.SSLError):
        return error.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE")
    return isinstance(error, ConnectionError) and error.errno is None


def _describe_failure(error: Exception, timeout_seconds: float) -> str:
    if isinstance(error, socket.gaierror):
        return "no such host"
    if isinstance(error, ssl.SSLError):
        return f"TLS: {error.reason or 'handshake failed'}".lower().replace("tls", "TLS", 1)
    if isinstance(error, TimeoutError):
        return f"no answer within {timeout_seconds:g} s"
    numbers = [error.errno] if isinstance(error, OSError) and error.errno else _errnos_in(str(error))
    if errno.ECONNREFUSED in numbers:
        return "connection refused"
    if numbers:
        return os.strerror(numbers[0]).lower()
    return "the connection broke in the handshake" if isinstance(error, OSError) else str(error)


def _errnos_in(text: str) -> list[int]:
    """Return the error numbers that asyncio wrote into one sentence, having tried several addresses."""
    return [int(number) for number in _ERRNO.findall(text)]


async def describe_doubt(address: Address, error: ssl.SSLCertVerificationError, timeout_seconds: float) -> str:
    """Return what is wrong with a server's certificate, with what stands in it where that can be read."""
    try:
        async with asyncio.timeout(timeout_seconds):
            shown = await _read_certificate(address)
    except (OSError, ValueError):
        shown = {}
    code, host = error.verify_code, address.host
    if code in _OTHER_NAME:
        names = [_clean(name) for _, name in shown.get("subjectAltName", ())]
        whose = f"for {', '.join(names[:_MOST_NAMES])}, " if names else ""
        return f"its certificate is {whose}not for {host}"
    if code == _EXPIRED:
        return f"its certificate has expired{_day(' on', shown.get('notAfter'))}"
    if code == _NOT_YET:
        begins = _day(" before", shown.get("notBefore")) or " yet"
        return f"its certificate does not count{begins}; is this machine's clock right?"
    if code in _UNTRUSTED:
        issuer = {key: value for part in shown.get("issuer", ()) for key, value in part}
        name = issuer.get("commonName") or issuer.get("organizationName")
        who = (
            f"{_clean(name)}, whom this machine does not trust" if name else "somebody whom this machine does not trust"
        )
        return f"its certificate is from {who}; --ca FILE names an authority to trust"
    return error.verify_message


async def _read_certificate(address: Address) -> dict[str, Any]:
    """Return what a server shows as its certificate, whatever that is worth; nothing is sent to it."""
    blind = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    blind.check_hostname, blind.verify_mode = False, ssl.CERT_NONE
    whole = await _shake_hands(address, blind, binary_form=True)
    # The `ssl` module reads only certificates that it was told to trust.
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname = False
    trusting.verify_flags = ssl.VERIFY_X509_PARTIAL_CHAIN | _ANY_TIME
    trusting.load_verify_locations(cadata=whole)
    shown: dict[str, Any] = await _shake_hands(address, trusting, binary_form=False)
    return shown


async def _shake_hands(address: Address, context: ssl.SSLContext, *, binary_form: bool) -> Any:
    """Return the server's certificate of a handshake after which nothing more is said."""
    _, writer = await asyncio.open_connection(
        address.host, address.port or 443, ssl=context, server_hostname=address.host
    )
    try:
        return writer.get_extra_info("ssl_object").getpeercert(binary_form)
    finally:
        writer.transport.abort()


def _day(word: str, when: str | None) -> str:
    """Return the word and the day, or nothing where it is not known."""
    return f"{word} {time.strftime('%Y-%m-%d', time.gmtime(ssl.cert_time_to_seconds(when)))}" if when else ""


def _clean(name: str) -> str:
    return clean_text(name)[:_LONGEST_NAME]
