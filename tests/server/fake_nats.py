"""A NATS server with one stream, which fails on demand as a real one hardly ever does."""

from __future__ import annotations

import asyncio
import base64
import json
from collections import deque
from typing import Any, Literal, NamedTuple, Self

from tictactoe_server import clock
from tictactoe_server.features.jetstream.access import Access
from tictactoe_server.features.jetstream.link import Link
from tictactoe_server.features.jetstream.stream import Stream

Fault = Literal["lost ack", "lost write", "late ack", "in process", "nobody", "cut"]
Headers = dict[str, str]
STREAM = "rooms-0"
_CONFIG = Stream(Link(Access("nats://nobody", None, None), 1.0), STREAM).config()
_NO_MESSAGE = {"error": {"code": 404, "err_code": 10037, "description": "no message found"}}


class Kept(NamedTuple):
    subject: str
    sequence: int
    headers: Headers
    data: bytes
    expires_at: float = float("inf")


class FakeNats:
    """The server; `async with` opens a real socket.

    Attributes:
        faults: What goes wrong with the next writes, one each: a number is the error that refuses the write.
        read_error: The error that refuses all reads, `refused` of them so far.
        copied: The last sequence that a read of many messages finds, or None for all.
        holds_echoes: Whether what clients send to themselves waits for `release`.
        turns_away: Whether clients are refused.
        others: The addresses of other servers that clients are told, such as "127.0.0.1:4222".
        introductions: The CONNECT lines of clients.
        kept: The newest message of each subject.
        clients: The open connections.
        connections: The number of connections so far.
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
        self.kept: dict[str, Kept] = {}
        self.sequence = 0
        self.connections = 0
        self.clients: dict[Client, None] = {}
        self._echoes: list[tuple[str, str]] = []
        self._held: list[tuple[list[Kept], str, bool]] = []
        self._batches: dict[str, Kept] = {}

    async def __aenter__(self) -> Self:
        self._server = await asyncio.get_running_loop().create_server(lambda: Client(self), "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.cut()
        self._server.close()
        await self._server.wait_closed()

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def cut(self) -> None:
        for client in list(self.clients):
            client.transport.abort()

    def freeze(self) -> None:
        """Neither send nor read anything on the present connections."""
        for client in self.clients:
            client.subscriptions, client.is_frozen = {}, True

    def keep(self, subject: str, data: bytes) -> None:
        """Store and republish a message, as if a client had written it."""
        self._keep(Kept(subject, 0, {}, data))

    def release(self) -> None:
        """Send the held answers, and carry out the held writes."""
        while self._echoes:
            subject, reply = self._echoes.pop()
            self.send(subject, b"", reply=reply)
        held, self._held = self._held, []
        for writes, reply, is_kept in held:
            if is_kept:
                self._acknowledge(reply, writes[-1].sequence)
            else:
                for write in writes:
                    self._keep(write)

    def take(self, client: Client, subject: str, reply: str, headers: Headers, data: bytes) -> None:
        match subject.split(".")[:4]:
            case ["$KV", _, *_]:
                self._write(reply, Kept(subject, 0, headers, data))
            case ["$JS", "API", "STREAM", "INFO"]:
                self._say(reply, self._describe(json.loads(data or b"{}")))
            case ["$JS", "API", "STREAM", "MSG"] if ".DELETE." in subject:
                self._delete(reply, json.loads(data)["seq"])
            case ["$JS", "API", "STREAM", "MSG"]:
                self._read(reply, json.loads(data))
            case ["$JS", "API", "DIRECT", "GET"]:
                self._read_many(reply, json.loads(data))
            case ["_INBOX", *_] if self.holds_echoes:
                self._echoes.append((subject, reply))
            case _ if not self.send(subject, data, headers or None, reply) and reply:
                client.send(reply, b"", {"": "503"})

    def send(self, subject: str, data: bytes, headers: Headers | None = None, reply: str = "") -> int:
        """Send a message to all subscribers, and return how many there are."""
        return sum(client.send(subject, data, headers, reply) for client in list(self.clients))

    def _write(self, reply: str, write: Kept) -> None:
        fault = self.faults.popleft() if self.faults and not write.subject.endswith(".time") else None
        writes, batch = [write], write.headers.pop("Nats-Batch-Id", None)
        if batch is not None and "Nats-Batch-Commit" not in write.headers:
            if fault != "lost write":
                self._batches[batch] = write
            return
        if batch is not None:
            if batch not in self._batches:
                self._refuse(reply, 10176)
                return
            writes.insert(0, self._batches.pop(batch))
        expected = write.headers.get("Nats-Expected-Last-Subject-Sequence")
        if any(held[-1].subject == write.subject and not is_kept for held, _, is_kept in self._held):
            self._refuse(reply, 10164)
        elif isinstance(fault, int):
            self._refuse(reply, fault)
        elif fault == "nobody":
            self.send(reply, b"", {"": "503"})
        elif fault == "lost write":
            pass
        elif expected is not None and int(expected) != self._last(write.subject):
            self._refuse(reply, 10071)
        elif fault == "in process":
            self._held.append((writes, reply, False))
        else:
            kept = [self._keep(one) for one in writes]
            if fault == "late ack":
                self._held.append((kept, reply, True))
            elif fault == "cut":
                self._cut_within(reply, json.dumps({"stream": STREAM, "seq": kept[-1].sequence}).encode())
            elif fault is None:
                self._acknowledge(reply, kept[-1].sequence)

    def _keep(self, write: Kept) -> Kept:
        self.sequence += 1
        lifetime = write.headers.get("Nats-TTL", "").removesuffix("s")
        expires_at = clock.monotonic() + float(lifetime) if lifetime else float("inf")
        kept = write._replace(sequence=self.sequence, expires_at=expires_at)
        self.kept[write.subject] = kept
        self.send(write.subject.replace("$KV", "ev"), kept.data, _sent_headers(kept))
        return kept

    def _last(self, subject: str) -> int:
        return next((kept.sequence for kept in self._living() if kept.subject == subject), 0)

    def _living(self) -> list[Kept]:
        now = clock.monotonic()
        for subject in [subject for subject, kept in self.kept.items() if kept.expires_at <= now]:
            del self.kept[subject]
        return list(self.kept.values())

    def _delete(self, reply: str, sequence: int) -> None:
        for kept in [kept for kept in self._living() if kept.sequence == sequence]:
            del self.kept[kept.subject]
        self._say(reply, {"success": True})

    def _describe(self, question: dict[str, Any]) -> dict[str, Any]:
        state: dict[str, Any] = dict.fromkeys(("messages", "bytes", "first_seq", "consumer_count"), 0)
        state["last_seq"] = self.sequence
        pattern, offset = question.get("subjects_filter", ""), question.get("offset", 0)
        found = [kept.subject for kept in self._living() if _is_of(kept.subject, pattern)]
        state["subjects"] = dict.fromkeys(found[offset:], 1)
        return {"config": _CONFIG, "state": state, "created": "now", "total": len(found)}

    def _read(self, reply: str, question: dict[str, Any]) -> None:
        if self.read_error is not None:
            self.refused += 1
            self._refuse(reply, self.read_error)
            return
        found = self._find(question, self.sequence)
        if not found:
            self._say(reply, _NO_MESSAGE)
            return
        message = {
            "subject": found[0].subject,
            "seq": found[0].sequence,
            "hdrs": base64.b64encode(_encode_headers(found[0].headers)).decode(),
            "data": base64.b64encode(found[0].data).decode(),
        }
        self._say(reply, {"message": message})

    def _read_many(self, reply: str, question: dict[str, Any]) -> None:
        found = self._find(question, self.sequence if self.copied is None else self.copied)
        for kept in found[: question["batch"]]:
            self.send(reply, kept.data, _sent_headers(kept))
        self.send(reply, b"", {"": "204 EOB" if found else "404 Message Not Found"})

    def _find(self, question: dict[str, Any], upto: int) -> list[Kept]:
        if "last_by_subj" in question:
            return [kept for kept in self._living() if kept.subject == question["last_by_subj"]]
        first, pattern = question["seq"], question["next_by_subj"]
        found = [kept for kept in self._living() if first <= kept.sequence <= upto and _is_of(kept.subject, pattern)]
        return sorted(found, key=lambda kept: kept.sequence)

    def _refuse(self, reply: str, code: int) -> None:
        self._say(reply, {"error": {"code": 400, "err_code": code, "description": f"error {code}"}})

    def _acknowledge(self, reply: str, sequence: int) -> None:
        self._say(reply, {"stream": STREAM, "seq": sequence})

    def _say(self, reply: str, content: dict[str, Any]) -> None:
        self.send(reply, json.dumps(content).encode())

    def _cut_within(self, subject: str, data: bytes) -> None:
        for client in list(self.clients):
            for sid in client.sids_of(subject):
                message = _encode_message(subject, sid, data, None)
                client.transport.write(message[: len(message) // 2])
                client.transport.close()


class Client(asyncio.Protocol):
    """A connection, on the server's side."""

    transport: Any

    def __init__(self, nats: FakeNats) -> None:
        self.subscriptions: dict[str, str] = {}
        self.is_frozen = False
        self._nats = nats
        self._buffer = b""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self._nats.connections += 1
        self._nats.clients[self] = None
        information = {"server_id": "FAKE", "version": "2.15.1", "proto": 1, "headers": True, "max_payload": 1 << 20}
        information |= {"connect_urls": self._nats.others}
        transport.write(b"INFO %b\r\n" % json.dumps(information).encode())

    def connection_lost(self, error: Exception | None) -> None:
        self._nats.clients.pop(self, None)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while not self.is_frozen and b"\r\n" in self._buffer:
            line, _, rest = self._buffer.partition(b"\r\n")
            verb, *words = line.decode().split()
            if verb in ("PUB", "HPUB"):
                size, start = int(words[-1]), int(words[-2]) if verb == "HPUB" else 0
                if len(rest) < size + 2:
                    return
                self._buffer = rest[size + 2 :]
                reply = words[1] if len(words) > (3 if verb == "HPUB" else 2) else ""
                self._nats.take(self, words[0], reply, _parse_headers(rest[:start]), rest[start:size])
                continue
            self._buffer = rest
            match verb:
                case "CONNECT" if self._nats.turns_away:
                    self.transport.write(b"-ERR 'Authorization Violation'\r\n")
                    self.transport.close()
                case "CONNECT":
                    self._nats.introductions.append(line.decode())
                case "PING":
                    self.transport.write(b"PONG\r\n")
                case "SUB":
                    self.subscriptions[words[-1]] = words[0]

    def send(self, subject: str, data: bytes, headers: Headers | None = None, reply: str = "") -> int:
        """Send a message once for each subscription to it, and return how many there are."""
        sids = self.sids_of(subject)
        for sid in sids:
            self.transport.write(_encode_message(subject, f"{sid} {reply}".rstrip(), data, headers))
        return len(sids)

    def sids_of(self, subject: str) -> list[str]:
        return [sid for sid, pattern in self.subscriptions.items() if _is_of(subject, pattern)]


def _encode_message(subject: str, sid: str, data: bytes, headers: Headers | None) -> bytes:
    if headers is None:
        return b"MSG %b %b %d\r\n%b\r\n" % (subject.encode(), sid.encode(), len(data), data)
    head = _encode_headers(headers)
    sizes = (subject.encode(), sid.encode(), len(head), len(head) + len(data))
    return b"HMSG %b %b %d %d\r\n%b%b\r\n" % (*sizes, head, data)


def _encode_headers(headers: Headers) -> bytes:
    status = f"NATS/1.0 {headers.get('', '')}".rstrip()
    return "\r\n".join((status, *(f"{name}: {value}" for name, value in headers.items() if name), "", "")).encode()


def _sent_headers(kept: Kept) -> Headers:
    return {**kept.headers, "Nats-Subject": kept.subject, "Nats-Sequence": str(kept.sequence)}


def _parse_headers(head: bytes) -> Headers:
    lines = [line.partition(":") for line in head.decode().split("\r\n")[1:]]
    return {name: value.strip() for name, colon, value in lines if colon}


def _is_of(subject: str, pattern: str) -> bool:
    """Return whether a subject matches a pattern, whose last word may be a wildcard."""
    if pattern.endswith((".>", ".*")):
        return subject.startswith(pattern[:-1])
    return subject == pattern
