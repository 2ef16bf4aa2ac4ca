"""A certificate that is not believed, in words: for whom it is, of which days, and from whom."""

from __future__ import annotations

import asyncio
import ssl
import time
from typing import Any, Final

from tictactoe_client.online.address import Address
from tictactoe_protocol import clean_text

_NOT_YET, _EXPIRED = 9, 10
_OTHER_NAME: Final = frozenset({62, 64})
_UNTRUSTED: Final = frozenset({2, 18, 19, 20, 21})
"""OpenSSL's X509_V_ERR codes."""

_ANY_TIME: Final = 0x200000
"""OpenSSL's X509_V_FLAG_NO_CHECK_TIME."""

_MOST_NAMES: Final = 3
_LONGEST_NAME: Final = 80


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
