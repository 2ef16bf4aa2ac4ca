"""Lines on their way to the server in JSON mode: each waits for its answer, also over a connection that was lost."""

from __future__ import annotations

import asyncio
import json

from tictactoe_client.json.json_lines import Line, print_own
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import Interrupted
from tictactoe_client.online.requests import is_repeatable_line
from tictactoe_protocol.codes import MAX_ID_LENGTH
from tictactoe_protocol.pushes import Error, Ok

Reply = asyncio.Future[Ok | Error | None]


class JsonRequests:
    """What was sent for the person at the input, and what they wait for."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._replies: dict[str, Reply] = {}
        self._unanswered: tuple[Line, Reply] | None = None
        self._resending: asyncio.Task[None] | None = None

    async def send(self, request: Line) -> Ok | Error | None:
        """Send a request and return its reply, or None where the reply could not be told from others."""
        identity = request["id"]
        if not isinstance(identity, str) or not 1 <= len(identity) <= MAX_ID_LENGTH:
            await self._client.send_text(json.dumps(request))
            return None
        reply: Reply = asyncio.get_running_loop().create_future()
        self._replies[identity] = reply
        try:
            await self._client.send_text(json.dumps(request))
            self._unanswered = (request, reply)
            return await reply
        finally:
            self._unanswered = None
            self._replies.pop(identity, None)

    def settle(self, answer: Ok | Error) -> None:
        """Hand an answer to whom it belongs."""
        reply = self._replies.get(answer.id or "")
        if reply is not None and not reply.done():
            reply.set_result(answer)

    def resend(self) -> None:
        """Send the line again that had no answer when the connection was lost, where it may be sent twice."""
        request, reply = self._unanswered or ({}, None)
        if reply is None or reply.done():
            return
        if is_repeatable_line(request):
            self._resending = asyncio.create_task(self._client.send_text(json.dumps(request)))
            return
        lost = Interrupted()
        print_own("error", id=request["id"], code="interrupted", message=lost.message)
        reply.set_result(None)
