"""Web Push: messages encrypted for a browser (RFC 8291) and signed by the server (RFC 8292); needs the extra `push`."""

from __future__ import annotations

import base64
import re
from typing import Final

import http_ece
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tictactoe_protocol import encode
from tictactoe_protocol.days import PushSubscription
from tictactoe_server import clock
from tictactoe_server.features.days.https import parse_target

SERVICES: Final = re.compile(
    r"fcm\.googleapis\.com|updates\.push\.services\.mozilla\.com|[\w-]+\.push\.apple\.com|[\w-]+\.notify\.windows\.com"
)
LIFETIME_SECONDS: Final = 12 * 60 * 60  # of a signature; push services refuse more than a day


def new_secret() -> str:
    return f"{ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value:x}"


class PushSealer:
    """Encrypts and signs messages with the server's `secret`; browsers know its `public_key`."""

    def __init__(self, secret: str) -> None:
        self._key = ec.derive_private_key(int(secret, 16), ec.SECP256R1())
        self.public_key = _encode(self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint))

    def accepts(self, subscription: PushSubscription) -> bool:
        """Return True if a subscription has valid keys, and is with a browser's own service."""
        target = parse_target(subscription.endpoint)
        try:
            return target is not None and bool(SERVICES.fullmatch(target.place) and self.seal(subscription, b"", ""))
        except (ValueError, http_ece.ECEException):
            return False

    def seal(self, to: PushSubscription, message: bytes, origin: str) -> tuple[bytes, dict[str, str]]:
        """Return the body and the headers of a request to the push service of an accepted subscription."""
        one_time, public, auth = ec.generate_private_key(ec.SECP256R1()), _decode(to.keys.p256dh), _decode(to.keys.auth)
        body = http_ece.encrypt(message, private_key=one_time, dh=public, auth_secret=auth, version="aes128gcm")
        audience = "/".join(to.endpoint.split("/")[:3])
        claims = {"aud": audience, "exp": int(clock.wall()) + LIFETIME_SECONDS, "sub": origin}
        text = f"{_encode(encode({'typ': 'JWT', 'alg': 'ES256'}))}.{_encode(encode(claims))}"
        numbers = decode_dss_signature(self._key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
        signature = _encode(b"".join(number.to_bytes(32, "big") for number in numbers))
        authorization = f"vapid t={text}.{signature}, k={self.public_key}"
        return body, {"Authorization": authorization, "Content-Encoding": "aes128gcm", "TTL": "86400"}


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
