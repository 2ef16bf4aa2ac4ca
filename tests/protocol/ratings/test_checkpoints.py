"""Checkpoints stand on each other, and what was changed shows; signatures are those of RFC 8032."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec.structs import replace

from tests.protocol.ratings.test_ladder import game
from tests.rows import each
from tictactoe_protocol.ratings.checkpoints import START, Checkpoint, extend_chain, leaf_of, link_of, sign_checkpoint
from tictactoe_protocol.ratings.ed25519 import is_signed, public_key_of, sign
from tictactoe_protocol.ratings.log import Verdict

SECRET = bytes(range(32))


def by_chance(count: int) -> tuple[list[Checkpoint], list[list[bytes]]]:
    """Return checkpoints, and for each of them the leaves that it adds."""
    chance, chain = Random(10), START
    made: list[Checkpoint] = []
    leaves = [[leaf_of(chance.randbytes(16), game(number, "ab", (1, 2))) for number in range(3)] for _ in range(count)]
    for number, own in enumerate(leaves, 1):
        chain = extend_chain(chain, link_of(own))
        made.append(sign_checkpoint(SECRET, number, chain, f"digest {number}"))
    return made, leaves


def test_a_later_checkpoint_stands_on_an_earlier_one() -> None:
    made, leaves = by_chance(4)
    assert all(one.is_signed for one in made)
    links = [*map(link_of, leaves)]
    assert made[3].stands_on(made[0], links[1:])
    assert made[3].stands_on(made[3], [])
    assert all(
        later.stands_on(earlier, [link]) for (earlier, later), link in zip(pairwise(made), links[1:], strict=True)
    )


def test_a_checkpoint_does_not_stand_on_what_was_changed() -> None:
    made, leaves = by_chance(3)
    other = [[leaves[1][0], leaf_of(bytes(16), game(9, "ab", (2, 1))), leaves[1][2]], leaves[2]]
    swapped = [[*reversed(leaves[1])], leaves[2]]
    links = [*map(link_of, leaves)]
    assert not made[2].stands_on(made[0], [*map(link_of, other)])
    assert not made[2].stands_on(made[0], [*map(link_of, swapped)])
    assert not made[2].stands_on(made[0], links[2:])
    assert not replace(made[2], key="00" * 32).stands_on(made[0], links[1:])


@each(
    "change",
    [{"number": 2}, {"chain": "00" * 32}, {"digest": "other"}, {"key": "00" * 32}, {"key": "x"}, {"signature": "00"}],
)
def test_a_checkpoint_that_was_changed_is_not_signed(change: dict[str, object]) -> None:
    assert not replace(by_chance(1)[0][0], **change).is_signed


def test_a_leaf_says_nothing_without_its_salt_and_changes_with_every_field() -> None:
    record = Verdict(1, 0, "ana", "void game", "", of="a")
    leaves = {leaf_of(salt, one) for salt in (bytes(16), SECRET[:16]) for one in (record, replace(record, of="b"))}
    assert len(leaves) == 4
    with pytest.raises(ValueError, match="16 bytes, not 3"):
        leaf_of(b"abc", record)


@each(
    ("secret", "key", "message", "signature"),
    [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
        ),
    ],
)
def test_signatures_are_those_of_the_standard(secret: str, key: str, message: str, signature: str) -> None:
    own, told = bytes.fromhex(secret), bytes.fromhex(message)
    assert (public_key_of(own).hex(), sign(own, told).hex()) == (key, signature)
    assert is_signed(bytes.fromhex(key), told, bytes.fromhex(signature))


def test_signatures_are_those_of_another_program() -> None:
    chance = Random(11)
    for _ in range(20):
        secret, message = chance.randbytes(32), chance.randbytes(chance.randrange(200))
        other = Ed25519PrivateKey.from_private_bytes(secret)
        assert public_key_of(secret) == other.public_key().public_bytes_raw()
        assert sign(secret, message) == other.sign(message)


def test_a_signature_with_one_bit_changed_is_none() -> None:
    chance, key, signature = Random(12), public_key_of(SECRET), sign(SECRET, b"told")
    for _ in range(40):
        parts, bit = [key, b"told", signature], chance.randrange(8)
        part, place = (index := chance.randrange(3)), chance.randrange(len(parts[index]))
        changed = bytearray(parts[part])
        changed[place] ^= 1 << bit
        parts[part] = bytes(changed)
        assert not is_signed(*parts)
    assert not is_signed(key, b"told", signature + b"\0")
    assert not is_signed(b"", b"told", b"")
    order = 2**252 + 27742317777372353535851937790883648493
    again = int.from_bytes(signature[32:], "little") + order
    assert not is_signed(key, b"told", signature[:32] + again.to_bytes(32, "little"))
