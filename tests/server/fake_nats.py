"""A NATS server on a real socket with one stream, that goes wrong on demand as a real one hardly ever does."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from collections import deque
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self

from tictactoe_server.cluster.jetstream.access import Access
from tictactoe_server.cluster.jetstream.link import Link
from tictactoe_server.cluster.jetstream.stream import Stream

Fault = Literal["lost ack", "lost write", "late ack", "in process", "nobody", "cut", "nonsense"]
_STREAM = "rooms-0"
_CONFIG = Stream(Link(Access("nats://nobody", None, None), 1.0), _STREAM).config()
_NO_MESSAGE = {"error": {"code": 404, "err_code": 10037, "description": "no message found"}}


class Kept(NamedTuple):
    """A message of the stream."""

    subject: str
    sequence: int
    headers: dict[str, str]
    data: bytes


class FakeNats:
    """Use it with ``async with``; `url` is where it listens.

    `faults` are what goes wrong with the next writes, one each: a number is the error that it is refused with.
    `release` lets what was held up happen: the answers of ``late ack``, the writes of ``in process``. Reads are refused
    with `read_error`, `refused` of them so far; many at once are answered up to the sequence `copied`. While
    `holds_echoes` what clients send to themselves waits for `release`. With `turns_away` nobody is let in. It tells of
    the `others`, as in ``["127.0.0.1:4222"]``; `introductions` are what clients say first.
    """

    def __init__(self) -> None:
        self.faults: deque[Fault | int] = deque()
        self.read_error: int | None = None
        self.refused = 0
        self.copied: int | None = None
        self.holds_echoes = False
        self.turns_away = False
        self.others: list[str] = []
        self.introductions: list[str] = []
        self._echoes: list[tuple[str, str]] = []
        self.kept: dict[str, Kept] = {}
        self.sequence = 0
        self.connections = 0
        self._held: list[tuple[Kept, str, bool]] = []
        self._peers: dict[asyncio.StreamWriter, dict[str, str]] = {}
        self._unheard: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cut()
        self._server.close()
        await self._server.wait_closed()

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def cut(self) -> None:
        """Break every connection."""
        for writer in list(self._peers):
            writer.transport.abort()

    def freeze(self) -> None:
        """Say nothing more over the connections that there are, and hear nothing."""
        for writer in self._peers:
            self._peers[writer] = {}
            self._unheard.add(writer)

    def throw_out(self) -> None:
        """End every connection as a server does with a client that it does not want."""
        for writer in list(self._peers):
            writer.write(b"-ERR 'Slow Consumer'\r\n")
            writer.close()

    def keep(self, subject: str, data: bytes) -> None:
        """Keep a message and send it on, as if somebody had written it."""
        self._keep(Kept(subject, 0, {}, data))

    def release(self) -> None:
        """Let what was held up happen."""
        while self._echoes:
            subject, reply = self._echoes.pop()
            self._send(subject, b"", reply=reply)
        held, self._held = self._held, []
        for write, reply, is_kept in held:
            if is_kept:
                self._say(reply, {"stream": _STREAM, "seq": write.sequence})
            else:
                self._keep(write)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._peers[writer] = {}
        info = {"server_id": "FAKE", "version": "2.15.1", "proto": 1, "headers": True, "max_payload": 1 << 20}
        info |= {"connect_urls": self.others}
        writer.write(b"INFO %b\r\n" % json.dumps(info).encode())
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while line := await reader.readline():
                if writer in self._unheard:
                    continue
                verb, *words = line.decode().split()
                match verb:
                    case "CONNECT" if self.turns_away:
                        writer.write(b"-ERR 'Authorization Violation'\r\n")
                        writer.close()
                    case "CONNECT":
                        self.introductions.append(line.decode())
                    case "PING":
                        writer.write(b"PONG\r\n")
                    case "SUB":
                        self._peers[writer][words[-1]] = words[0]
                    case "PUB" | "HPUB":
                        content = (await reader.readexactly(int(words[-1]) + 2))[:-2]
                        start = int(words[-2]) if verb == "HPUB" else 0
                        reply = words[1] if len(words) > (3 if verb == "HPUB" else 2) else ""
                        self._take(words[0], reply, _headers_of(content[:start]), content[start:])
        del self._peers[writer]
        writer.transport.abort()

    def _take(self, subject: str, reply: str, headers: dict[str, str], data: bytes) -> None:
        match subject.split(".")[:4]:
            case ["$KV", "rooms-0", *_]:
                self._write(subject, reply, headers, data)
            case ["$JS", "API", "STREAM", "INFO"]:
                counts = dict.fromkeys(("messages", "bytes", "first_seq", "consumer_count"), 0)
                state = {**counts, "last_seq": self.sequence}
                self._say(reply, {"config": _CONFIG, "state": state, "created": "now"})
            case ["$JS", "API", "STREAM", "MSG"]:
                self._read(reply, json.loads(data))
            case ["$JS", "API", "DIRECT", "GET"]:
                self._read_many(reply, json.loads(data))
            case ["_INBOX", *_] if self.holds_echoes:
                self._echoes.append((subject, reply))
            case ["_INBOX", *_]:
                self._send(subject, data, reply=reply)

    def _write(self, subject: str, reply: str, headers: dict[str, str], data: bytes) -> None:
        fault = self.faults.popleft() if self.faults and not subject.endswith(".time") else None
        last = self.kept[subject].sequence if subject in self.kept else 0
        expected = headers.get("Nats-Expected-Last-Subject-Sequence")
        write = Kept(subject, 0, headers, data)
        if any(held.subject == subject and not is_kept for held, _, is_kept in self._held):
            self._refuse(reply, 10164)
        elif isinstance(fault, int):
            self._refuse(reply, fault)
        elif fault == "nobody":
            self._send(reply, b"", {"": "503"})
        elif fault == "in process":
            self._held.append((write, reply, False))
        elif fault == "nonsense":
            self._send(reply, b"what?")
        elif fault == "lost write":
            pass
        elif expected is not None and int(expected) != last:
            self._refuse(reply, 10071)
        else:
            kept = self._keep(write)
            if fault == "late ack":
                self._held.append((kept, reply, True))
            elif fault == "cut":
                self._cut_within(reply, {"stream": _STREAM, "seq": kept.sequence})
            elif fault is None:
                self._say(reply, {"stream": _STREAM, "seq": kept.sequence})

    def _keep(self, write: Kept) -> Kept:
        self.sequence += 1
        kept = self.kept[write.subject] = write._replace(sequence=self.sequence)
        self._send(write.subject.replace("$KV", "ev"), kept.data, _sent_headers(kept))
        return kept

    def _read(self, reply: str, question: dict[str, Any]) -> None:
        if self.read_error is not None:
            self.refused += 1
            self._refuse(reply, self.read_error)
            return
        found = self._find(question, self.sequence)
        if not found:
            self._say(reply, _NO_MESSAGE)
            return
        headers = "".join(f"{name}: {value}\r\n" for name, value in found[0].headers.items())
        message = {
            "subject": found[0].subject,
            "seq": found[0].sequence,
            "hdrs": base64.b64encode(f"NATS/1.0\r\n{headers}\r\n".encode()).decode(),
            "data": base64.b64encode(found[0].data).decode(),
        }
        self._say(reply, {"message": message})

    def _read_many(self, reply: str, question: dict[str, Any]) -> None:
        found = self._find(question, self.sequence if self.copied is None else self.copied)
        for kept in found[: question["batch"]]:
            self._send(reply, kept.data, _sent_headers(kept))
        self._send(reply, b"", {"": "204 EOB" if found else "404 Message Not Found"})

    def _find(self, question: dict[str, Any], upto: int) -> list[Kept]:
        if "last_by_subj" in question:
            kept = self.kept.get(question["last_by_subj"])
            return [] if kept is None else [kept]
        behind = [
            kept
            for kept in self.kept.values()
            if question["seq"] <= kept.sequence <= upto and _is_of(kept.subject, question["next_by_subj"])
        ]
        return sorted(behind, key=lambda kept: kept.sequence)

    def _refuse(self, reply: str, code: int) -> None:
        self._say(reply, {"error": {"code": 400, "err_code": code, "description": f"error {code}"}})

    def _say(self, subject: str, content: dict[str, Any]) -> None:
        self._send(subject, json.dumps(content).encode())

    def _send(self, subject: str, data: bytes, headers: dict[str, str] | None = None, reply: str = "") -> None:
        for writer, subscriptions in self._peers.items():
            for sid, pattern in subscriptions.items():
                if _is_of(subject, pattern):
                    writer.write(_message(subject, f"{sid} {reply}".rstrip(), data, headers))

    def _cut_within(self, subject: str, content: dict[str, Any]) -> None:
        for writer, subscriptions in self._peers.items():
            for sid, pattern in subscriptions.items():
                if _is_of(subject, pattern):
                    message = _message(subject, sid, json.dumps(content).encode(), None)
                    writer.write(message[: len(message) // 2])
                    writer.close()


def _message(subject: str, sid: str, data: bytes, headers: dict[str, str] | None) -> bytes:
    if headers is None:
        return b"MSG %b %b %d\r\n%b\r\n" % (subject.encode(), sid.encode(), len(data), data)
    status = f" {headers['']}" if "" in headers else ""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items() if name)
    head = f"NATS/1.0{status}\r\n{lines}\r\n".encode()
    sizes = (subject.encode(), sid.encode(), len(head), len(head) + len(data))
    return b"HMSG %b %b %d %d\r\n%b%b\r\n" % (*sizes, head, data)


def _sent_headers(kept: Kept) -> dict[str, str]:
    return {**kept.headers, "Nats-Subject": kept.subject, "Nats-Sequence": str(kept.sequence)}


def _headers_of(head: bytes) -> dict[str, str]:
    lines = [line.partition(": ") for line in head.decode().split("\r\n")[1:]]
    return {name: value for name, colon, value in lines if colon}


def _is_of(subject: str, pattern: str) -> bool:
    """Tell whether a subject is one of those that a pattern names, whose last word may be a wildcard."""
    if pattern.endswith((".>", ".*")):
        return subject.startswith(pattern[:-1])
    return subject == pattern
