"""Refusals as codes with data. `tictactoe_words.refusals` has their sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tictactoe_protocol.codes import ErrorCode


class Refusal(Exception):
    """The refusal of a request.

    Attributes:
        code: The error code.
        data: The values in the sentence. The entry ``why`` distinguishes sentences with the same code.
    """

    def __init__(self, code: ErrorCode, why: str = "", **data: Any) -> None:
        self.code = code
        self.data: Mapping[str, Any] = {"why": why, **data} if why else data
        super().__init__(f"Refused: {code}.")
