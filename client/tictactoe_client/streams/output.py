"""Writes whole lines to standard output and error, and flushes at once. Imports little, to keep `--help` fast."""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final

from tictactoe_client.settings import ExitCode, Settings
from tictactoe_words.catalogue import say

_OUTPUT: Final = 1
_ERRORS: Final = 2


class OutputFailed(Exception):
    """Standard output cannot be written; `message` is "" if the reader of a pipe has closed it."""

    def __init__(self, error: OSError) -> None:
        from tictactoe_client.online.errors import describe_cause

        super().__init__(str(error))
        self.message = say("cannot print", reason=describe_cause(error))
        self.exit_code = ExitCode.OUTPUT_FAILED
        if isinstance(error, BrokenPipeError):
            self.message, self.exit_code = "", ExitCode.BROKEN_PIPE
        elif error.errno == errno.EIO and stat.S_ISCHR(os.fstat(_OUTPUT).st_mode):
            self.exit_code = ExitCode.HANGUP  # a closed terminal


@contextmanager
def writing() -> Iterator[None]:
    """Within the context, turn a failure to write into `OutputFailed`, and discard all later output."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        failed = OutputFailed(error)
        silence_output()
        raise failed from error


class Output:
    """Standard output, flushed at once; with `prompts`, it shows a prompt while a person may type a line."""

    def __init__(self, *, prompts: bool = False) -> None:
        self._prompts = prompts
        self._is_prompting = False

    def print(self, *lines: str) -> None:
        """Print lines; if a prompt is open, begin a new line first."""
        if lines:
            self._write("".join(f"{line}\n" for line in (*([""] if self._is_prompting else []), *lines)))
            self._is_prompting = False

    def prompt(self) -> None:
        if self._prompts and not self._is_prompting:
            self._write("> ")
            self._is_prompting = True

    def _write(self, text: str) -> None:
        with writing():
            sys.stdout.write(text)
            sys.stdout.flush()

    def note_typed(self) -> None:
        self._is_prompting = False

    def note_interrupt(self) -> None:
        """Begin a new line before the next output, because the terminal has echoed ``^C``."""
        self._is_prompting = self._prompts


def print_json(text: str) -> None:
    """Print JSON as a single line of UTF-8 in any locale; on a terminal, control characters are escaped."""
    line = text.replace("\r", " ").replace("\n", " ")  # in JSON, a literal line break can only occur between tokens
    if is_terminal(1):
        from tictactoe_protocol import escape_text

        line = escape_text(line.replace("\t", " "))
    with writing():
        sys.stdout.buffer.write(line.encode("utf-8", "replace") + b"\n")
        sys.stdout.buffer.flush()


def print_own(type: str, **fields: object) -> None:
    """Print a message of the client (not of the server) as JSON."""
    print_json(own_line(type, **fields))


def own_line(type: str, **fields: object) -> str:
    """Return a message of the client (not of the server) as JSON."""
    return json.dumps({"from": "client", "type": type, **fields}, ensure_ascii=False, separators=(",", ":"))


def report(settings: Settings, type: str, words: str = "", **fields: object) -> None:
    """Print `words`, if any; in JSON mode, print a message of the client with the `fields` instead."""
    if settings.mode == "json":
        print_own(type, **fields)
    elif words:
        Output().print(words)


def report_end(settings: Settings, code: int) -> int:
    """Print the exit code in JSON mode, and return it."""
    report(settings, "closed", exit=int(code))
    return code


def print_error(text: str) -> None:
    """Print a text without its control characters on standard error; failures to write are ignored."""
    from tictactoe_protocol import clean_text

    try:
        sys.stderr.write("".join(f"{clean_text(line)}\n" for line in text.split("\n")))
        sys.stderr.flush()
    except OSError:
        silence_output(_ERRORS)


def report_failure(settings: Settings, code: str, message: str, told: str | None = None) -> None:
    """Print a failure on standard error, worded as `told` if given; in JSON mode, also print a message about it."""
    from tictactoe_protocol import clean_text

    print_error(message if told is None else told)
    with suppress(OutputFailed):
        report(settings, "error", code=code, message=clean_text(message))


def can_print(text: str) -> bool:
    """Return True if the encoding of standard error has all characters of a text."""
    with suppress(UnicodeError):
        return bool(text.encode(sys.stderr.encoding or "ascii"))
    return False


def open_missing_streams() -> None:
    """Replace closed standard streams by /dev/null, so that no socket gets their descriptors."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for number, name in ((_OUTPUT, "stdout"), (_ERRORS, "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115


def silence_output(descriptor: int = _OUTPUT) -> None:
    """Discard all further output of a stream that cannot be written."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def close_output() -> None:
    """Flush the standard streams; discard unwritable output, so that Python's exit cannot fail."""
    for descriptor, stream in ((_OUTPUT, sys.stdout), (_ERRORS, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            silence_output(descriptor)


def is_terminal(*descriptors: int) -> bool:
    """Return True if all descriptors are terminals."""
    return all(os.isatty(descriptor) for descriptor in descriptors)


def wants_colour(environment: Mapping[str, str], *, no_colour: bool, on_screen: bool = False) -> bool:
    """Return True if standard output, or the full screen if `on_screen`, may use colours.

    An empty environment variable counts as unset.
    """
    is_page = environment.get("TEXTUAL_COLOR_SYSTEM") == "truecolor"
    if no_colour or environment.get("NO_COLOR") or (environment.get("TERM") == "dumb" and not is_page):
        return False
    if environment.get("FORCE_COLOR"):
        return environment["FORCE_COLOR"] != "0"
    return (on_screen or is_terminal(1)) and not environment.get("ACCESSIBLE")
