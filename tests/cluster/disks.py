"""A small disk for tests that fill it; only root can mount one, on Linux."""

import subprocess
from pathlib import Path
from typing import Self

from tests.environment import environment

MIB = 256
CHUNK = bytes(1 << 20)


class CannotMount(Exception):
    """The system refuses to mount a disk."""


class Disk:
    """A file system in memory, mounted on a folder that it hides; use it with ``with``. Raises `CannotMount`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ballast = folder / "ballast"

    def __enter__(self) -> Self:
        self._folder.mkdir(parents=True, exist_ok=True)
        command = ("mount", "-t", "tmpfs", "-o", f"size={MIB}m", "tictactoe", str(self._folder))
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, env=environment())
        except subprocess.CalledProcessError as error:
            raise CannotMount(f"A node gets no disk of its own: {error.stderr.strip()}") from error
        except OSError as error:
            raise CannotMount(f"A node gets no disk of its own: {error}.") from error
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run(("umount", str(self._folder)), check=True, env=environment())

    def fill(self) -> None:
        try:
            with self._ballast.open("wb", buffering=0) as file:
                while True:
                    file.write(CHUNK)
        except OSError:
            return

    def free(self) -> None:
        self._ballast.unlink(missing_ok=True)
