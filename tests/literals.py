"""Find text for people in source code; it belongs in the catalogue.

A string counts as text for people if it has two words or is passed to a function that shows it. Catalogue ids do
not count.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tictactoe_words.catalogue import open_catalogue

PLACE: Final = "\0"
"""Stands for a placeholder of a string."""
IDS: Final = tuple(open_catalogue("en").sentences)
_WORDS: Final = re.compile(
    rf"[A-Za-z]{{2,}}[,:;.…]? [A-Za-z{PLACE}]|{PLACE}[,:;.]? [A-Za-z]{{2,}}|^[A-Z][a-z]+[.!?:…]$"
)
_SHOWN: Final = re.compile(r"[A-Za-z]{2,}")
_SHOWING: Final = frozenset({"print", "print_error", "tell", "_tell", "notify", "echo", "write_text"})
"""Functions that show their first argument. So does an object's `say`; the catalogue's `say` takes an id."""
_TAKING_IDS: Final = frozenset(
    {"say", "_say_of", "may", "find", "find_reason", "_want", "get", "word_of", "words_of", "understood"}
)
"""Functions that take an id, even one that begins with a placeholder."""
_LABELS: Final = frozenset({"label", "title", "heading", "placeholder", "tooltip"})
_LOGS: Final = frozenset({"log", "_log", "logger", "_logger", "logging", "_LOG", "LOG"})
_FOR_PROGRAMMERS: Final = frozenset(
    {"AssertionError", "TypeError", "AttributeError", "RuntimeError", "NotImplementedError", "LookupError"}
)
_PATTERNS: Final = frozenset({"compile", "fullmatch", "match", "search", "sub", "split"})
_CSS: Final = frozenset({"CSS", "DEFAULT_CSS", "STYLE"})


@dataclass(frozen=True)
class Literal:
    """Text in the code: its line, and the text with `PLACE` for placeholders."""

    line: int
    text: str


def is_id(text: str) -> bool:
    """Return True if the text can be a catalogue id, or the end of an id, once its placeholders are filled."""
    pattern = re.compile(f"(?:.* )?{'.+'.join(map(re.escape, text.split(PLACE)))}")
    return bool(text.strip(PLACE)) and any(
        pattern.fullmatch(id) or (text[:1] == "," and id.endswith(text)) for id in IDS
    )


def find_in_python(source: str) -> Iterator[Literal]:
    yield from _Finder().find(ast.parse(source))


class _Finder(ast.NodeVisitor):
    def __init__(self) -> None:
        self.found: list[Literal] = []
        self._is_shown = self._is_id = False

    def find(self, tree: ast.AST) -> list[Literal]:
        self.visit(tree)
        return self.found

    def _take(self, node: ast.expr, text: str) -> None:
        if self._is_shown:
            is_found = _SHOWN.search(text) and not (" " in text and text in IDS)
        else:
            is_found = _WORDS.search(text) and not (is_id(text) and (self._is_id or not text.startswith(PLACE)))
        if is_found:
            self.found.append(Literal(node.lineno, text))

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self._take(node, node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        parts = [value.value if isinstance(value, ast.Constant) else PLACE for value in node.values]
        self._take(node, "".join(map(str, parts)))
        for value in node.values:
            if isinstance(value, ast.FormattedValue):
                self._visit(value.value, shown=False)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):  # a docstring
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None and not _names(node.target) & _CSS:
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        if not any(_names(target) & _CSS for target in node.targets):
            self._visit(node.value, shown=any(_names(target) & _LABELS for target in node.targets))

    def visit_arg(self, node: ast.arg) -> None:
        """Skip the annotation."""

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        owner = getattr(node.func.value, "id", "") if isinstance(node.func, ast.Attribute) else ""
        if name in _FOR_PROGRAMMERS or owner in _LOGS or (owner == "re" and name in _PATTERNS) or name == "cast":
            return
        is_showing = name in _SHOWING or (name == "say" and not _is_catalogues(node.func))
        self._visit(node.func, shown=False)
        for number, argument in enumerate(node.args):
            before, self._is_id = self._is_id, name in _TAKING_IDS and not is_showing
            self._visit(
                argument, shown=is_showing and not number and isinstance(argument, ast.Constant | ast.JoinedStr)
            )
            self._is_id = before
        for keyword in node.keywords:
            self._visit(keyword.value, shown=keyword.arg in _LABELS)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._visit_body(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._visit_body(node)

    def _visit_body(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for child in (*node.decorator_list, node.args, *node.body):
            self.visit(child)

    def _visit(self, node: ast.AST, *, shown: bool) -> None:
        before, self._is_shown = self._is_shown, shown
        self.visit(node)
        self._is_shown = before


def _is_catalogues(function: ast.expr) -> bool:
    """Return True for the `say` that takes an id: a plain name, or a method of an open catalogue."""
    if isinstance(function, ast.Attribute):
        maker = function.value.func if isinstance(function.value, ast.Call) else None
        return isinstance(maker, ast.Name) and maker.id == "open_catalogue"
    return True


def _names(target: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}


_SCRIPT: Final = re.compile(
    r"""//[^\n]*|/\*.*?\*/|(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?P<template>`)"""
    r"""|(?P<pattern>(?<=[(,=:!&|?\s])/(?![*/])(?:\\.|\[(?:\\.|[^\]\n])*\]|[^/\\\n\[])+/[a-z]*)""",
    re.DOTALL,
)


def find_in_script(source: str) -> Iterator[Literal]:
    """Yield the text for people in a JavaScript module, without comments and regular expressions."""
    at = 0
    while found := _SCRIPT.search(source, at):
        at = found.end()
        if found["template"]:
            text, at = _read_template(source, at)
        elif found["string"]:
            text = found["string"][1:-1]
        else:
            continue
        if _WORDS.search(text) and not is_id(text):
            yield Literal(source.count("\n", 0, found.start()) + 1, text)


def _read_template(source: str, at: int) -> tuple[str, int]:
    """Return a template literal, with `PLACE` for embedded code, and the offset of its end."""
    text, depth = "", 0
    while at < len(source):
        if depth == 0 and source[at] == "`":
            return text, at + 1
        if source.startswith("${", at):
            text, depth, at = text + (PLACE if depth == 0 else ""), depth + 1, at + 2
        elif depth and source[at] in "{}":
            depth, at = depth + (1 if source[at] == "{" else -1), at + 1
        else:
            text, at = text + (source[at] if depth == 0 else ""), at + (2 if source[at] == "\\" else 1)
    return text, at
