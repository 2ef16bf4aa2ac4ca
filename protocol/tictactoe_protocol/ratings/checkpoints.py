"""Signed marks on the log: who remembers one sees whether a later log has changed what was before it. Pure.

The chain runs over hashes of what the log has, each with a salt of its own. So a name can be forgotten with the salt,
and what was signed still holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final

import msgspec
from msgspec import Struct

from tictactoe_protocol.ratings.ed25519 import is_signed, public_key_of, sign
from tictactoe_protocol.ratings.log import RatedGame, Verdict

SALT_BYTES: Final = 16
MAX_LINKS: Final = 1_000
START: Final = bytes(32)
"""The chain before the first checkpoint."""


class Checkpoint(Struct, frozen=True):
    """The chain and the ratings' digest at a point of the log, signed; all but its number in hex figures."""

    number: int
    chain: str
    digest: str
    signature: str
    key: str

    @property
    def is_signed(self) -> bool:
        """Whether the signature is by the key that it names."""
        try:
            key, signature = bytes.fromhex(self.key), bytes.fromhex(self.signature)
        except ValueError:
            return False
        return is_signed(key, _message(self.number, self.chain, self.digest), signature)

    def stands_on(self, earlier: Checkpoint, links: Sequence[bytes]) -> bool:
        """Tell whether it goes on from an earlier one: `links` are those of each checkpoint after it, up to this."""
        chain = bytes.fromhex(earlier.chain)
        for link in links:
            chain = extend_chain(chain, link)
        is_next = self.number == earlier.number + len(links)
        return is_next and self.key == earlier.key and self.chain == chain.hex()


class Links(Struct, frozen=True):
    """The links in hex figures of the checkpoints `after` one of this number, in their order: `MAX_LINKS` at most."""

    after: int
    links: tuple[str, ...]


def sign_checkpoint(secret: bytes, number: int, chain: bytes, digest: str) -> Checkpoint:
    """Return a checkpoint, numbered from 1, that is signed with a secret of 32 bytes."""
    signature = sign(secret, _message(number, chain.hex(), digest))
    return Checkpoint(number, chain.hex(), digest, signature.hex(), public_key_of(secret).hex())


def leaf_of(salt: bytes, record: RatedGame | Verdict) -> bytes:
    """Return the hash of a record with its salt, which are `SALT_BYTES` by chance: raises ValueError for others."""
    if len(salt) != SALT_BYTES:
        raise ValueError(f"A salt has {SALT_BYTES} bytes, not {len(salt)}.")
    return sha256(salt + msgspec.json.encode(record)).digest()


def link_of(leaves: Iterable[bytes]) -> bytes:
    """Return what links a checkpoint to the one before: the hash of the leaves of the entries since, in their order."""
    return sha256(b"".join(leaves)).digest()


def extend_chain(chain: bytes, link: bytes) -> bytes:
    """Return the chain of the next checkpoint, by its link."""
    return sha256(chain + link).digest()


def _message(number: int, chain: str, digest: str) -> bytes:
    return msgspec.json.encode(["tictactoe checkpoint", number, chain, digest])
