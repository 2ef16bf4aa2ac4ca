"""The modules of the page, of which those that it always needs are one file: it comes at once, and packs better. Pure.

Each module stands there in a function of its own, behind those that it imports, so that no two names meet. What is
loaded later, by ``import(...)``, stays a file by itself, and takes from the one what both need. Names are relative to
a folder.

Imports and exports stand at the beginning of a line, as ``import { a, b as c } from "./other.js";``, ``import * as
other from ...`` and before what is declared; an exported name is never set anew.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final

_IMPORT: Final = re.compile(
    r'^import (?:\{(?P<names>[^}]*)\}|\* as (?P<all>\w+)) from "(?P<file>\.{1,2}/[^"]+)";$', re.M
)
_EXPORT: Final = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", re.M)
_LATER: Final = re.compile(r'import\("(\.{1,2}/[^"]+)"\)')
_OTHER: Final = re.compile(r"^(?:import|export)\b.*$", re.M)


class Modules:
    """The texts of modules by their names.

    Those that the `entries` need are one file, by the name of the first entry and with it at the end; but for those
    `alone`, which are files by themselves.

    Raises ValueError for modules that import each other in a circle, and for an import or export of another form.
    """

    def __init__(self, texts: Mapping[str, str], entries: Sequence[str], alone: Collection[str]) -> None:
        self._texts = texts
        self._entry = entries[0]
        self._imports = {name: tuple(_imported_by(name, text)) for name, text in texts.items()}
        self._needs: dict[str, set[str]] = {}
        for name in texts:
            self._put_in_order(name, ())
        needed = self._needed_by(*entries) - {*alone, self._entry} if self._entry in texts else set[str]()
        self.together = [name for name in self._needs if name in needed] + [self._entry] * (self._entry in texts)
        self.files = sorted(texts.keys() - needed)

    def files_for(self, *names: str) -> list[str]:
        """Return the names of the files that these modules come in, with all that they import."""
        return sorted({self._entry if name in self.together else name for name in self._needed_by(*names)})

    def render(self, name: str, path_of: Callable[[str], str]) -> str:
        """Return the file of a module: of the entry all that are together, else the module alone."""
        if name != self._entry or name not in self.together:
            return self._replace_imports(name, path_of)
        outside = {other for one in self.together for other in self._imports[one] if other not in self.together}
        heads = [f'import * as {_variable(other)} from "{path_of(other)}";' for other in sorted(outside)]
        variables = ", ".join(map(_variable, self.together))
        return "\n".join((*heads, *(self._wrap(one) for one in self.together), f"export {{ {variables} }};\n"))

    def _wrap(self, name: str) -> str:
        """Return a module as the value of what it exports."""
        text = self._replace_imports(name, None)
        exported = ", ".join(_EXPORT.findall(text))
        return f"const {_variable(name)} = (() => {{\n{_EXPORT.sub('', text).strip()}\nreturn {{ {exported} }};\n}})();"

    def _replace_imports(self, name: str, path_of: Callable[[str], str] | None) -> str:
        """Return a text that takes what it imports out of the others' values, or out of files where there are paths."""

        def replace(found: re.Match[str]) -> str:
            other = resolve(name, found["file"])
            taken = found["all"] or f"{{{found['names'].replace(' as ', ': ')}}}"
            if path_of is None:
                return f"const {taken} = {_variable(other)};"
            if other in self.together:
                head = f'import {{ {_variable(other)} }} from "{path_of(self._entry)}";'
                return f"{head} const {taken} = {_variable(other)};"
            return found[0].replace(found["file"], path_of(other))

        def load_later(found: re.Match[str]) -> str:
            """Return the promise of a module that is loaded later, which may be there already."""
            other = resolve(name, found[1])
            is_there = path_of is None and other in self.together
            return f"Promise.resolve({_variable(other)})" if is_there else found[0]

        return _LATER.sub(load_later, _IMPORT.sub(replace, self._texts[name]))

    def _needed_by(self, *names: str) -> set[str]:
        return set[str]().union(*(self._needs.get(one, ()) for one in names)) & self._texts.keys()

    def _put_in_order(self, name: str, readers: tuple[str, ...]) -> None:
        """Put a module, with all that it needs, behind what it imports."""
        if name in readers:
            raise ValueError(f"Modules of the page import each other in a circle: {' '.join((*readers, name))}.")
        if name not in self._needs:
            imported = self._imports.get(name, ())
            for other in imported:
                self._put_in_order(other, (*readers, name))
            self._needs[name] = {name}.union(*(self._needs[other] for other in imported))


def _imported_by(name: str, text: str) -> Iterator[str]:
    """Yield the names of what a module imports, as it was resolved."""
    other = _OTHER.search(_EXPORT.sub("", _IMPORT.sub("", text)))
    if other:
        raise ValueError(f"This is no import or export of the page's modules, in {name}: {other[0]}")
    for found in _IMPORT.finditer(text):
        yield resolve(name, found["file"])


def resolve(name: str, file: str) -> str:
    """Return the name of what a file of the page names by where it lies beside it."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), file))


def _variable(name: str) -> str:
    return "$" + re.sub(r"\W", "_", posixpath.splitext(name)[0])
