"""Signatures by Ed25519 (RFC 8032, whose section 6 this follows), as no library for them comes with all installations.

Whoever measures how long a signature takes may learn of the secret: sign where nobody can, as beside a server's work.
One takes a few milliseconds.
"""

from __future__ import annotations

from hashlib import sha512
from typing import Final

Point = tuple[int, int, int, int]
"""x, y, z and t with x/z, y/z the coordinates and t/z their product."""

_P: Final = 2**255 - 19
_ORDER: Final = 2**252 + 27742317777372353535851937790883648493
_D: Final = -121665 * pow(121666, -1, _P) % _P
_ROOT: Final = pow(2, (_P - 1) // 4, _P)


def public_key_of(secret: bytes) -> bytes:
    """Return the public key, 32 bytes, of a secret of 32 bytes by chance."""
    return _pack(_multiply(_expand(secret)[0], _BASE))


def sign(secret: bytes, message: bytes) -> bytes:
    """Return the signature, 64 bytes."""
    scalar, prefix = _expand(secret)
    nonce = _hash(prefix, message)
    commitment = _pack(_multiply(nonce, _BASE))
    answer = (nonce + _hash(commitment, public_key_of(secret), message) * scalar) % _ORDER
    return commitment + answer.to_bytes(32, "little")


def is_signed(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Tell whether it is the signature of this message by this key; not so for anything malformed."""
    owner, commitment = _unpack(public_key), _unpack(signature[:32])
    answer = int.from_bytes(signature[32:], "little")
    if owner is None or commitment is None or len(signature) != 64 or answer >= _ORDER:
        return False
    claimed = _add(commitment, _multiply(_hash(signature[:32], public_key, message), owner))
    return _pack(_multiply(answer, _BASE)) == _pack(claimed)


def _hash(*parts: bytes) -> int:
    return int.from_bytes(sha512(b"".join(parts)).digest(), "little") % _ORDER


def _expand(secret: bytes) -> tuple[int, bytes]:
    hashed = sha512(secret).digest()
    return int.from_bytes(hashed[:32], "little") & (2**254 - 8) | 2**254, hashed[32:]


def _add(one: Point, other: Point) -> Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % _P
    b = (one[1] + one[0]) * (other[1] + other[0]) % _P
    c, d = 2 * one[3] * other[3] * _D % _P, 2 * one[2] * other[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _multiply(scalar: int, point: Point) -> Point:
    found = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            found = _add(found, point)
        point, scalar = _add(point, point), scalar >> 1
    return found


def _pack(point: Point) -> bytes:
    inverse = pow(point[2], -1, _P)
    return (point[1] * inverse % _P | (point[0] * inverse % _P & 1) << 255).to_bytes(32, "little")


def _unpack(packed: bytes) -> Point | None:
    number = int.from_bytes(packed, "little")
    sign, y = number >> 255, number & (2**255 - 1)
    if len(packed) != 32 or y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    x = x if x * x % _P == square else x * _ROOT % _P
    if x * x % _P != square or (not x and sign):
        return None
    x = x if x & 1 == sign else _P - x
    return x, y, 1, x * y % _P


_BASE: Final[Point] = _unpack((4 * pow(5, -1, _P) % _P).to_bytes(32, "little")) or (0, 1, 1, 0)
