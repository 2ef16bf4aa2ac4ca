"""Names for players on servers that assign all names. Their words are the same in English and German."""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

_FIRST: Final = """
    Aqua Bingo Boogie Cosmo Disco Domino Hula Indigo Jazz Karate Lava Limbo Magma Mambo Mango Ninja Opal Pixel Polar
    Polka Radio Robo Safari Salsa Samba Sonar Super Tango Turbo Ultra Yoga Zen
"""
_ANIMALS: Final = """
    Alligator Ara Axolotl Beagle Bison Collie Dingo Emu Flamingo Gecko Gnu Hamster Husky Ibis Impala Jaguar Kiwi Koala
    Labrador Lemur Leopard Mustang Okapi Opossum Orca Otter Panda Pony Puma Python Serval Tapir Terrier Tiger Wolf
    Wombat Yak Zebra
"""


def give_name(id: str) -> str:
    """Return the name assigned to the player or guest with this id. It is the same on every server.

    >>> give_name("p5K2dW8xQnA")
    'Yoga Leopard 56'
    """
    first, animal, number = blake2b(id.encode(), digest_size=3).digest()
    firsts, animals = _FIRST.split(), _ANIMALS.split()
    return f"{firsts[first % len(firsts)]} {animals[animal % len(animals)]} {10 + number % 90}"
