"""Plain mode as a face of a visit: lines are printed, and answers typed."""

from __future__ import annotations

from tictactoe_client.streams.keyboard import Keyboard
from tictactoe_client.streams.output import Output
from tictactoe_client.text.language import means
from tictactoe_client.visit.face import Prompt
from tictactoe_words.catalogue import say


class PlainFace:
    """A person who reads `output` and types."""

    def __init__(self, output: Output, keyboard: Keyboard, *, asks: bool) -> None:
        self._output = output
        self._keyboard = keyboard
        self.asks = asks

    def show(self, *lines: str) -> None:
        self._output.print(*lines)

    async def ask(self, prompt: Prompt) -> str | None:
        if not self.asks:
            return None
        how = say("answer default", default=prompt.default) if prompt.default else ""
        if prompt.value is None:
            how = say("answer typed watch" if prompt.word else "answer typed")
        self._output.print(*f"{prompt.text} {how}".rstrip().split("\n"))
        self._output.prompt()
        line = await self._keyboard.read_line()
        self._output.note_typed()
        if line is None or prompt.value is not None:
            return None if line is None else line.strip()
        return "" if means(line, "yes", *filter(None, [prompt.word])) else None
