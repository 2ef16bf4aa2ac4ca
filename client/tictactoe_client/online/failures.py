"""Why a connection cannot be had, and why one ended, in words for people."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import re
import socket
import ssl
import time
from typing import Any, Final

from websockets.exceptions import ConnectionClosed, InvalidStatus, ProxyError, WebSocketException
from websockets.frames import CloseCode
from websockets.http11 import Response

from tictactoe_client.online import errors
from tictactoe_client.online.address import Address
from tictactoe_client.online.version import PROTOCOL_VERSIONS, describe_mismatch
from tictactoe_protocol import clean_text
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.codes import CloseCode as Code

MAX_RECEIVED_BYTES: Final = 4 * 1024 * 1024
GOING_DOWN: Final = frozenset({Code.GOING_AWAY, Code.SERVICE_RESTART})
"""With which code a server closes that goes down."""

_FAULTS: Final[dict[int, str]] = {
    CloseCode.PROTOCOL_ERROR: "broken no websocket",
    CloseCode.INVALID_DATA: "broken no utf-8",
    CloseCode.MESSAGE_TOO_BIG: "broken too big",
}
"""With which code we end a connection over which the server sends what it may not, and why, by the sentence's id."""

_OFFERED: Final = re.compile(r"tictactoe\.v(\d{1,4})")

_ANY_TIME: Final = 0x200000
"""OpenSSL's X509_V_FLAG_NO_CHECK_TIME."""

_LONGEST_NAME: Final = 80


def explain_end(closed: ConnectionClosed) -> errors.ConnectionLost:
    """Return the error that says who closed a connection, and why."""
    if closed.sent is not None and not closed.rcvd_then_sent and closed.sent.code in _FAULTS:
        return errors.ProtocolBroken(say(_FAULTS[closed.sent.code], n=MAX_RECEIVED_BYTES // 2**20))
    if closed.rcvd is None:
        return errors.ConnectionLost(say("lost broken"))
    code, reason = closed.rcvd.code, clean_text(closed.rcvd.reason)
    if name := next((name for name, closed_with in errors.EXPULSIONS.items() if code == closed_with), None):
        because = f": {reason}" if reason not in ("", name) else ""
        return errors.Expelled(name, say(f"expelled {name}", because=because), code)
    if code in GOING_DOWN:
        return errors.ConnectionLost(say("lost going down"), code)
    unsaid = "policy" if code == CloseCode.POLICY_VIOLATION else code
    return errors.ConnectionLost(say("lost closed", why=reason or unsaid), code)


async def explain_failure(address: Address, error: Exception, timeout_seconds: float) -> errors.ClientError:
    """Return the error that says why a connection could not be opened: `VersionRefused` or `Unreachable`."""
    if isinstance(error, InvalidStatus):
        return _explain_answer(address, error.response)
    # Having tried several addresses, asyncio writes their error numbers into one sentence.
    own = error.errno if isinstance(error, OSError) else None
    numbers = [own] if own else [int(number) for number in re.findall(r"\[Errno (\d+)\]", str(error))]
    reason = str(error)
    match error:
        case ProxyError():
            reason = say("failure proxy", why=clean_text(str(error)))
        case WebSocketException():
            reason = say(f"failure no websocket {address.scheme}")
        case ImportError():
            reason = say("failure no socks")
        case ssl.SSLCertVerificationError():
            reason = f"TLS: {await _describe_doubt(address, error, timeout_seconds)}"
        case _ if address.scheme == "wss" and _found_no_tls(error):
            reason = say("failure no tls")
        case socket.gaierror():
            reason = say("failure no host")
        case ssl.SSLError():
            reason = f"TLS: {(error.reason or say('failure handshake')).lower()}"
        case TimeoutError():
            reason = say("failure no answer", seconds=f"{timeout_seconds:g}")
        case _ if errno.ECONNREFUSED in numbers:
            reason = say("failure refused")
        case _ if numbers:
            reason = errors.describe_system_error(numbers[0])
        case OSError():
            reason = say("failure broken")
    return errors.Unreachable(address.url, reason)


def _explain_answer(address: Address, response: Response) -> errors.ClientError:
    body = (response.body or b"").decode("utf-8", "replace")
    versions = tuple(sorted({int(version) for version in _OFFERED.findall(body)} - set(PROTOCOL_VERSIONS)))
    if response.status_code in (400, 426) and versions:
        return errors.VersionRefused(describe_mismatch(versions), versions)
    reason = say("failure http", status=response.status_code)
    if place := response.headers.get("Location"):
        reason = say("failure elsewhere", place=clean_text(place)[:200])
    elif address.scheme == "ws" and "HTTPS" in body:
        reason = say("failure wants tls")
    return errors.Unreachable(address.url, reason)


def _found_no_tls(error: Exception) -> bool:
    """Tell whether a handshake for TLS met something else: other bytes, or an end without a word."""
    if isinstance(error, ssl.SSLError):
        return error.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE")
    return isinstance(error, ConnectionError) and error.errno is None


async def _describe_doubt(address: Address, error: ssl.SSLCertVerificationError, timeout_seconds: float) -> str:
    """Return what is wrong with the certificate, with what stands in it where that can be read."""
    shown: dict[str, Any] = {}
    with contextlib.suppress(OSError, ValueError):
        async with asyncio.timeout(timeout_seconds):
            shown = await _read_certificate(address)
    match error.verify_code:  # OpenSSL's X509_V_ERR codes
        case 9:
            begins = _day(shown.get("notBefore"))
            return say("certificate early on" if begins else "certificate early", day=begins)
        case 10:
            expired = _day(shown.get("notAfter"))
            return say("certificate late on" if expired else "certificate late", day=expired)
        case 62 | 64:
            names = ", ".join(clean_text(name)[:_LONGEST_NAME] for _, name in shown.get("subjectAltName", ())[:3])
            id = "certificate for others" if names else "certificate not for"
            return say(id, names=names, host=address.host)
        case 2 | 18 | 19 | 20 | 21:
            issuer = {key: value for part in shown.get("issuer", ()) for key, value in part}
            name = issuer.get("commonName") or issuer.get("organizationName")
            id = "certificate from" if name else "certificate untrusted"
            return say(id, name=clean_text(name or "")[:_LONGEST_NAME])
    return error.verify_message


async def _read_certificate(address: Address) -> dict[str, Any]:
    """Return what a server shows as its certificate, whatever that is worth; nothing is sent to it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    while True:
        _, writer = await asyncio.open_connection(address.host, address.port or 443, ssl=context)
        shown: ssl.SSLObject = writer.get_extra_info("ssl_object")
        writer.transport.abort()
        if said := shown.getpeercert():
            return said
        # The `ssl` module reads only certificates that it was told to trust.
        context.load_verify_locations(cadata=shown.getpeercert(binary_form=True) or b"")
        context.verify_mode, context.verify_flags = ssl.CERT_REQUIRED, ssl.VERIFY_X509_PARTIAL_CHAIN | _ANY_TIME


def _day(when: str | None) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(ssl.cert_time_to_seconds(when))) if when else ""
