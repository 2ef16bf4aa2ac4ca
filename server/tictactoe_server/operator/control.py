"""The operator's orders, and the private Unix socket over which they reach a running server.

An order and its answer are one line of JSON each. The socket is in the data folder or in the user's runtime folder, and
only its owner may use it.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import socket
import stat
import warnings
from collections.abc import Awaitable, Callable, Iterable
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any, Final

import msgspec
import platformdirs
import structlog

from tictactoe_protocol import BadRoomCode
from tictactoe_server import OperatorError
from tictactoe_server.operator import people, rooms, status
from tictactoe_server.operator.order import Order, OrderRefused, ServerParts, read_answer
from tictactoe_server.rooms.room import Refused
from tictactoe_server.storage.store import StoreUnavailable
from tictactoe_words.refusals import describe_fault

ORDERS: Final[tuple[type[Order], ...]] = (*status.ORDERS, *rooms.ORDERS, *people.ORDERS)
"""The orders that every server accepts; features add more."""

SOCKET_NAME: Final = "control.sock"
MAX_ORDER_BYTES: Final = 16 * 1024
MAX_PATH_BYTES: Final = 100  # a length that every operating system allows
_PATIENCE_SECONDS: Final = 15.0

log: Final = structlog.get_logger(__name__)


class NoServer(OperatorError):
    """No server can be reached."""


class Orders:
    """Executes the operator's orders on a server."""

    def __init__(self, server: ServerParts, added: Iterable[type[Order]]) -> None:
        self._server = server
        self._decode: Callable[[bytes], Order] = msgspec.json.Decoder(reduce(or_, (*ORDERS, *added))).decode

    async def carry_out(self, order: Order, *, is_from_another: bool = False) -> Any:
        """Execute an order and return its answer. May raise `OrderRefused`.

        Args:
            is_from_another: Whether another server in the cluster forwarded the order. It is then executed only here.
        """
        try:
            return await (order.run_here(self._server) if is_from_another else order.run(self._server))
        except (BadRoomCode, Refused) as refused:
            raise OrderRefused(describe_fault(refused)) from None
        except StoreUnavailable as unavailable:
            raise OrderRefused(f"The store is unavailable: {unavailable}") from None

    async def answer_line(self, data: bytes, *, is_from_another: bool = False) -> bytes:
        """Execute an order that is given as JSON; return its answer, or an error, as JSON."""
        try:
            order = self._decode(data)
        except (msgspec.DecodeError, UnicodeError) as bad:
            return msgspec.json.encode({"error": f"Invalid order: {bad}."})
        try:
            return msgspec.json.encode({"answer": await self.carry_out(order, is_from_another=is_from_another)})
        except OrderRefused as refused:
            error = str(refused)
        except Exception:
            log.exception("order failed")
            error = "Internal error; see the server's log."
        return msgspec.json.encode({"error": error})


def socket_path(data: Path | None, port: int) -> Path:
    """Return the path of a server's socket. Without a data folder, the name of the socket contains the port."""
    if data is not None:
        path = data.absolute() / SOCKET_NAME
        if len(os.fsencode(path)) <= MAX_PATH_BYTES:
            return path
        name = hashlib.sha256(os.fsencode(data.resolve())).hexdigest()[:16]
    else:
        name = str(port)
    return _runtime_folder() / f"{name}.sock"


def _runtime_folder() -> Path:
    with warnings.catch_warnings():  # platformdirs warns if the environment specifies no runtime folder
        warnings.simplefilter("ignore")
        try:
            return Path(platformdirs.user_runtime_dir("tictactoe", appauthor=False))
        except OSError:
            return Path(platformdirs.user_state_dir("tictactoe", appauthor=False))


def ask(path: Path, order: Order) -> Any:
    """Send an order to a server, block until it answers, and return the answer.

    Raises:
        NoServer: The server does not run or does not answer.
        OrderRefused: The server refuses the order.
    """
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(_PATIENCE_SECONDS)
        try:
            _check_folder(path)
            peer.connect(os.fspath(path))
            peer.sendall(msgspec.json.encode(order) + b"\n")
            data = b"".join(iter(lambda: peer.recv(65_536), b""))
        except (FileNotFoundError, ConnectionRefusedError):
            raise NoServer(f"No server is running: nothing listens on {path}.") from None
        except OSError as error:
            raise NoServer(f"Cannot connect to the server at {path}: {error.strerror or error}.") from None
    try:
        return read_answer(data)
    except ValueError:
        raise NoServer(f"The server at {path} did not reply.") from None


class ControlSocket:
    """Listens for orders, one per connection.

    Args:
        answer: Returns the answer to an order; both are lines of JSON.
    """

    def __init__(self, path: Path, answer: Callable[[bytes], Awaitable[bytes]]) -> None:
        self._path = path
        self._answer_line = answer
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Start listening. A socket left behind by a dead server is replaced. Failures are logged."""
        path = self._path
        try:
            for folder in (path.parent.parent, path.parent):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _check_folder(path)
            with socket.socket(socket.AF_UNIX) as probe, contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
                probe.connect(os.fspath(path))
                raise FileExistsError(f"another server listens on {path}")
            # Connections are accepted only after the socket has become private.
            opened = await asyncio.start_unix_server(self._answer, path, limit=MAX_ORDER_BYTES, start_serving=False)
            path.chmod(0o600)
            await opened.start_serving()
            self._server = opened
        except OSError as error:
            log.warning("control socket not opened: orders are not accepted", socket=str(path), reason=str(error))

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
            with contextlib.suppress(OSError):
                self._path.unlink()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                writer.write(await self._answer_line(await reader.readline()) + b"\n")
                await writer.drain()
        except (OSError, ValueError, TimeoutError) as error:
            log.debug("control connection failed", reason=repr(error))
        finally:
            writer.close()


def _check_folder(path: Path) -> None:
    """Raise OSError if another user may have created the socket at this path, or could replace it.

    The runtime folder has a guessable name and may be inside a shared folder, so it must belong to the user and must
    not be a symbolic link. The data folder may be a symbolic link, because it is private.
    """
    folder, user = path.parent, os.geteuid()
    folders = [(folder, 0o022)] if path.name == SOCKET_NAME else [(folder.parent, 0o022), (folder, 0o077)]
    for each, others in folders:
        found = each.stat()
        if found.st_uid != user or stat.S_IMODE(found.st_mode) & others:
            raise PermissionError(f"other users can write to {each}")
    if path.name != SOCKET_NAME and (folder.is_symlink() or folder.parent.lstat().st_uid != user):
        raise PermissionError(f"{folder} is a symbolic link, or its parent belongs to another user")
