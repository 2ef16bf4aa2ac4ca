"""Lines of JSON in both directions: our own, the server's passed through, and requests that wait for their answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import Interrupted
from tictactoe_client.online.requests import is_repeatable_line
from tictactoe_client.streams.output import print_json
from tictactoe_protocol.codes import MAX_ID_LENGTH
from tictactoe_protocol.pushes import Error, Ok

Line = dict[str, Any]
Answer = TypeVar("Answer")


def print_own(type: str, **fields: object) -> None:
    """Print a line of the client's own."""
    print_json(json.dumps({"from": "client", "type": type, **fields}, ensure_ascii=False, separators=(",", ":")))


def print_connected(client: Client, latency_seconds: float) -> None:
    """Print the first line of every conversation: where it leads, and how long the answer to hello took."""
    print_own("connected", server=client.address.url, latency_ms=max(1, round(latency_seconds * 1000)))


async def pass_through(client: Client, ask: Callable[[], Coroutine[Any, Any, Answer]]) -> Answer:
    """Carry out requests, print everything that the server says meanwhile, and return what came of them."""
    messages = client.messages()
    print_connected(client, client.latency_seconds)
    asking = asyncio.create_task(ask())
    asking.add_done_callback(lambda _: messages.put(None))
    try:
        async for message in messages:
            if message.event is None:
                print_json(message.text)
        return await asking
    finally:
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)


def parse_line(text: str) -> Line:
    """Return the object on a line; raises ValueError for anything else, also for NaN and Infinity.

    >>> parse_line('{"type":"ping"}')
    {'type': 'ping'}
    """
    try:
        content = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("This is nested too deeply.") from None
    except ValueError as error:
        raise ValueError(f"This is not JSON: {error}.") from None
    if not isinstance(content, dict):
        raise ValueError("A line holds one JSON object.")
    return content


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


class Requests:
    """Requests of the person at the input, one at a time: each waits for its answer, also over a loss."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._request: Line = {}
        self._reply: asyncio.Future[Ok | Error | None] | None = None
        self._is_sent = False
        self._resending: asyncio.Task[None] | None = None

    async def send(self, request: Line) -> Ok | Error | None:
        """Send a request and return its reply, or None where the reply could not be told from others."""
        identity = request["id"]
        if not isinstance(identity, str) or not 1 <= len(identity) <= MAX_ID_LENGTH:
            await self._client.send_text(json.dumps(request))
            return None
        reply: asyncio.Future[Ok | Error | None] = asyncio.get_running_loop().create_future()
        self._request, self._reply, self._is_sent = request, reply, False
        await self._client.send_text(json.dumps(request))
        self._is_sent = True
        return await reply

    def settle(self, answer: Ok | Error | None) -> None:
        """Hand an answer to the request that it belongs to, None where there will be none."""
        if self._reply and not self._reply.done() and (answer is None or answer.id == self._request["id"]):
            self._reply.set_result(answer)

    def resend(self) -> None:
        """Send the request again that had no answer when the connection was lost, where it may be sent twice."""
        if self._reply is None or self._reply.done() or not self._is_sent:
            return
        if is_repeatable_line(self._request):
            self._resending = asyncio.create_task(self._client.send_text(json.dumps(self._request)))
            return
        lost = Interrupted()
        print_own("error", id=self._request["id"], code="interrupted", message=lost.message)
        self.settle(None)
