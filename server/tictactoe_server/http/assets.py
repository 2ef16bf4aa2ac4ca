"""The files of the page, read once: each under a name that has a hash of its content, so that it never changes.

They and all pages are sent in gzip to those who understand it, and not again to those who have them. Source: RFC 9110,
sections 8.8.3 (entity tags), 12.5.3 (Accept-Encoding) and 13.1.2 (If-None-Match).

A file names others by where they lie beside it, in double quotes (``"./turn.svg"``); such a name is replaced by the one
under which that file is served. Modules have one hash together, as each may load any other; those that the page always
needs are one file, see `Modules`. What modules say in ``/** ... */``, their types among it, does not travel, nor do
the spaces of styles, and sentences that no module says: an id is written there as a whole or up to a comma, or begins
as a template does. What only modules say that are not in the one file is in another, and what only those of a folder
say in one of theirs. The page learns from its own head which languages there are, and where the sentences of the one
that it is sent in are.
"""

from __future__ import annotations

import gzip
import html
import json
import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from hashlib import blake2b
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from tictactoe_protocol.catalogue import LANGUAGES, open_catalogue
from tictactoe_server.http.place import USUAL, Place
from tictactoe_server.transport.http_messages import HttpRequest, HttpResponse, HttpStream

FOLDER: Final = Path(__file__).parent.parent / "web"
PREFIX: Final = "/assets/"
INDEX: Final = "index.html"
STYLE: Final = "style.css"
"""The style sheet that has the page's colours."""
EMBED_INDEX: Final = "embed.html"
EMBED: Final = "embed.js"
"""What stands in frames of other pages: a page and its module, which is one file with all that it needs."""

ENTRIES: Final = ("main.js", "game.js")
"""The modules that are one file with all that they need: the page's own, and that of a game, to which nearly all go."""

LATER: Final = "later"
"""Where the sentences are found that are not needed on the way to a game."""

_KINDS: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
    ".webmanifest": "application/manifest+json",
}
_CATALOGUE: Final = ".json"
PLACE_STYLE: Final = "place.css"  # asked for where something was chosen
_PLACE: Final = re.compile(r"\{\{(\w+)\}\}")
_COMMENT: Final = re.compile(r"/\*\*.*?\*/|^\s*//[^\n]*$", re.DOTALL | re.MULTILINE)
_INDENT: Final = re.compile(r"^\t+", re.MULTILINE)
_STYLE_SPACE: Final = re.compile(r"/\*.*?\*/\s*|\s*([{};])\s*", re.DOTALL)
_EMPTY_LINES: Final = re.compile(r"\n\s*\n")
_QUOTED: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`')
_WORTH_PACKING_BYTES: Final = 512
_PACKED: Final = ("Content-Encoding", "gzip")
_IMPORTED: Final = re.compile(rb'@import "\./([\w.-]+)";')
_NAME: Final = re.compile(r'"(\.{1,2}/[A-Za-z0-9_./-]+)"')
_IMPORT: Final = re.compile(
    r'^import (?:\{(?P<names>[^}]*)\}|\* as (?P<all>\w+)) from "(?P<file>\.{1,2}/[^"]+)";$', re.M
)
_EXPORT: Final = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", re.M)
_LATER: Final = re.compile(r'import\("(\.{1,2}/[^"]+)"\)')
_OTHER: Final = re.compile(r"^(?:import|export)\b.*$", re.M)


@dataclass(frozen=True, slots=True)
class Asset:
    """A file as it is served; `kind` is its media type, `packed` its content in gzip."""

    body: bytes
    kind: str
    packed: bytes


class Assets:
    """The files of a folder, by the paths under which they are served.

    Raises ValueError where modules import each other in a circle, and OSError where there is no page.
    """

    def __init__(self, folder: Path = FOLDER, own: Place = USUAL) -> None:
        self._folder, self.place = folder, own
        self._paths: dict[str, str] = {}
        self._files: dict[str, Asset] = {}
        names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.suffix in _KINDS)
        modules = {name: (folder / name).read_text("utf-8") for name in names if name.endswith(".js")}
        texts = {name: _EMPTY_LINES.sub("\n", _COMMENT.sub("", text)).lstrip("\n") for name, text in modules.items()}
        index = (folder / INDEX).read_text("utf-8")
        alone = [name for name in texts if f'"./{name}"' in index]
        embedded = Modules(texts, (EMBED,), ())
        self._modules = Modules({name: text for name, text in texts.items() if name != EMBED}, ENTRIES, alone)
        self._at_once = {"", *self._modules.together, *alone}
        self._places = sorted({"", *map(self._place_of, texts)})
        is_said = {one: _ids_in(texts[name] for name in texts if self._place_of(name) == one) for one in self._places}
        for language in LANGUAGES:
            name = f"{language}{_CATALOGUE}"
            rest = open_catalogue(language).sentences
            for at in self._places:  # the page's own come first: what is among these is nowhere else
                chosen = {id: sentence for id, sentence in rest.items() if is_said[at](id)}
                rest = rest if at else {id: sentence for id, sentence in rest.items() if id not in chosen}
                self._keep(posixpath.join(at, name), _to_json(chosen).encode())
        for name in sorted(names, key=_kind_of):  # these are in order, as every server has to find the same paths
            if name not in (INDEX, EMBED_INDEX) and name not in texts:
                self._keep(name, self._read(name))
        everything = "".join((*texts.values(), *self._paths.values()))
        for name in self._modules.files:
            self._paths[name] = _path_of(name, everything.encode())
        for name in self._modules.files:
            module = _INDENT.sub("", self._modules.render(name, self._paths.__getitem__))
            self._keep(name, self._replace_names(name, module).encode(), self._paths[name])
        if EMBED in texts:
            module = _INDENT.sub("", embedded.render(EMBED, self._paths.__getitem__))
            self._keep(EMBED, self._replace_names(EMBED, module).encode())
        pages = (INDEX, EMBED_INDEX) if EMBED in texts else (INDEX,)
        self._pages = {name: self._replace_names(name, (folder / name).read_text("utf-8")) for name in pages}
        self._named = [name for name in self._modules.files if self._paths[name] in self._pages[INDEX]]
        if self.place.logo is not None:
            self._keep(*self.place.logo)
        if self.place != USUAL:
            self._keep(PLACE_STYLE, self._read(PLACE_STYLE) + self.place.accent_style.encode())

    def find(self, path: str) -> Asset | None:
        return self._files.get(path)

    def named(self, name: str) -> Asset | None:
        return self._files.get(self._paths.get(name, ""))

    def page(
        self, title: str, description: str, address: str = "", language: str = "en", module: str = "", card: str = ""
    ) -> bytes:
        """Return the page, with a title and a description for those who only look at the link.

        `address` is what links to this server begin with, empty where they begin as the page's own does. `module` is
        what the page will load for what it shows, so that it asks for that and for its language at once. `card` are
        more elements of its head.
        """
        sentences = {place: self._paths[posixpath.join(place, language + _CATALOGUE)] for place in self._places}
        needed = sorted({"", *self._places_for(module)})
        said = (f'<link rel="preload" href="{sentences[place]}" as="fetch" crossorigin>\n' for place in needed)
        styles = (self._paths.get(f"{place}.css") for place in needed)
        looks = (f'<link rel="preload" href="{path}" as="style">\n' for path in styles if path is not None)
        modules = (
            f'<link rel="modulepreload" href="{self._paths[name]}">\n'
            for name in self._modules.files_for(module)
            if name not in self._named
        )
        words = {
            "title": html.escape(title),
            "description": html.escape(description),
            "address": html.escape(address),
            "language": language,
            "languages": html.escape(_to_json({one: open_catalogue(one).say("language") for one in LANGUAGES})),
            "sentences": html.escape(_to_json(sentences)),
            "script": html.escape(open_catalogue(language).say("page needs script")),
            "preloads": "".join((card, *said, *looks, *modules)),
            **self._words_of_place(language),
        }
        page = self._pages[EMBED_INDEX if module == EMBED else INDEX]
        return _PLACE.sub(lambda place: words[place[1]], page).encode()

    def _words_of_place(self, language: str) -> dict[str, str]:
        place, words = self.place, dict.fromkeys(("place", "logo", "imprint"), "")
        if place != USUAL:
            words["place"] = f'<link rel="stylesheet" href="{self._paths[PLACE_STYLE]}">\n'
        if place.logo is not None:
            words["logo"] = f'<img class="logo" src="{self._paths[place.logo[0]]}" alt="">'
        if place.imprint:
            address, said = html.escape(place.imprint), html.escape(open_catalogue(language).say("imprint"))
            words["imprint"] = f'<a class="imprint" href="{address}" rel="noopener">{said}</a>'
        return words | {"brand": html.escape(place.title) or "tictactoe"}

    def _place_of(self, module: str) -> str:
        """Return which bundle has a module's sentences: its folder's, the page's, or the one loaded later."""
        return posixpath.dirname(module) or ("" if module in self._at_once else LATER)

    def _places_for(self, module: str) -> set[str]:
        """Return the bundles with the sentences that a module needs."""
        place = self._place_of(module)
        return {place, LATER} & {*self._places} if place else {place}

    def _read(self, name: str) -> bytes:
        """Return a file's content, with imports of style sheets inlined."""
        body = (self._folder / name).read_bytes()
        return _IMPORTED.sub(lambda found: self._read(found[1].decode()), body) if name.endswith(".css") else body

    def _keep(self, name: str, body: bytes, path: str = "") -> None:
        """Serve a file under a path, by default one with a hash of its content."""
        kind = _kind_of(name)
        if kind == ".css":
            body = self._replace_names(name, _STYLE_SPACE.sub(r"\1", body.decode())).encode()
        self._paths[name] = path or _path_of(name, body)
        self._files[self._paths[name]] = Asset(body, _KINDS[kind], gzip.compress(body, mtime=0))

    def _replace_names(self, name: str, text: str) -> str:
        def replace(found: re.Match[str]) -> str:
            path = self._paths.get(resolve(name, found[1]))
            return found[0] if path is None else f'"{path}"'

        return _NAME.sub(replace, text)


class Modules:
    """The texts of modules by their names, which are relative to a folder.

    Those that the `entries` need are one file, by the name of the first entry and with it at the end: it comes at once,
    and packs better. Each module stands there in a function of its own, behind those that it imports, so that no two
    names meet. Those `alone`, and what is loaded later, by ``import(...)``, stay files by themselves, and take from the
    one what both need.

    Imports and exports stand at the beginning of a line, as ``import { a, b as c } from "./other.js";``, ``import * as
    other from ...`` and before what is declared; an exported name is never set anew. Raises ValueError for those of
    another form, and for modules that import each other in a circle.
    """

    def __init__(self, texts: Mapping[str, str], entries: Sequence[str], alone: Collection[str]) -> None:
        self._texts = texts
        self._entry = entries[0]
        self._imports = {name: tuple(_imported_by(name, text)) for name, text in texts.items()}
        self._needs: dict[str, set[str]] = {}
        try:
            ordered = [*TopologicalSorter(self._imports).static_order()]  # each behind what it imports
        except CycleError as found:
            circle = " ".join(found.args[1])
            raise ValueError(f"Modules of the page import each other in a circle: {circle}.") from None
        for name in ordered:
            self._needs[name] = {name}.union(*(self._needs[other] for other in self._imports.get(name, ())))
        needed = self._needed_by(*entries) - {*alone, self._entry} if self._entry in texts else set[str]()
        self.together = [name for name in self._needs if name in needed] + [self._entry] * (self._entry in texts)
        self.files = sorted(texts.keys() - needed)

    def files_for(self, *names: str) -> list[str]:
        """Return the files that contain these modules and their imports."""
        return sorted({self._entry if name in self.together else name for name in self._needed_by(*names)})

    def render(self, name: str, path_of: Callable[[str], str]) -> str:
        """Return a module's file; the entry's file contains all bundled modules."""
        if name != self._entry or name not in self.together:
            return self._replace_imports(name, path_of)
        outside = {other for one in self.together for other in self._imports[one] if other not in self.together}
        heads = [f'import * as {_variable(other)} from "{path_of(other)}";' for other in sorted(outside)]
        variables = ", ".join(map(_variable, self.together))
        return "\n".join((*heads, *(self._wrap(one) for one in self.together), f"export {{ {variables} }};\n"))

    def _wrap(self, name: str) -> str:
        """Return a module as an expression whose value is its exports."""
        text = self._replace_imports(name, None)
        exported = ", ".join(_EXPORT.findall(text))
        return f"const {_variable(name)} = (() => {{\n{_EXPORT.sub('', text).strip()}\nreturn {{ {exported} }};\n}})();"

    def _replace_imports(self, name: str, path_of: Callable[[str], str] | None) -> str:
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
            """Return an expression for the promise of a module that is loaded later."""
            other = resolve(name, found[1])
            is_there = path_of is None and other in self.together
            return f"Promise.resolve({_variable(other)})" if is_there else found[0]

        return _LATER.sub(load_later, _IMPORT.sub(replace, self._texts[name]))

    def _needed_by(self, *names: str) -> set[str]:
        return set[str]().union(*(self._needs.get(one, ()) for one in names)) & self._texts.keys()


def _imported_by(name: str, text: str) -> Iterator[str]:
    other = _OTHER.search(_EXPORT.sub("", _IMPORT.sub("", text)))
    if other:
        raise ValueError(f"This is no import or export of the page's modules, in {name}: {other[0]}")
    for found in _IMPORT.finditer(text):
        yield resolve(name, found["file"])


def resolve(name: str, file: str) -> str:
    """Resolve a relative import of a page file."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), file))


def _variable(name: str) -> str:
    return "$" + re.sub(r"\W", "_", posixpath.splitext(name)[0])


def _to_json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _kind_of(name: str) -> str:
    """Return a file's suffix; files may refer only to suffixes earlier in the order."""
    return posixpath.splitext(name)[1]


def _path_of(name: str, content: bytes) -> str:
    stem, suffix = posixpath.splitext(name)
    return f"{PREFIX}{stem}.{blake2b(content, digest_size=6).hexdigest()}{suffix}"


def _ids_in(modules: Iterable[str]) -> Callable[[str], bool]:
    """Return a pattern that matches the sentence ids used by modules."""
    whole, begun = set[str](), set[str]()
    for quoted in _QUOTED.findall("\n".join(modules)):
        head, place, rest = quoted[1:-1].partition("${")
        if place:
            begun.update([head] * head.endswith(" "))
            whole.update(one[1:-1] for one in _QUOTED.findall(rest))
        else:
            whole.add(head)
    heads = tuple(begun)
    return lambda id: id in whole or id.partition(",")[0] in whole or id.startswith(heads)


def link_card(site: str, title: str, description: str, url: str, picture: str) -> str:
    """Return the elements of a head that chats make a card of, with a picture of 1200 by 630 if there is one.

    Source: the Open Graph protocol, https://ogp.me.
    """
    said = {"title": title, "description": description, "type": "website", "site_name": site}
    if picture:
        said |= {"url": url, "image": picture, "image:width": "1200", "image:height": "630", "image:alt": description}
    lines = [f'<meta property="og:{name}" content="{html.escape(value)}">\n' for name, value in said.items()]
    kind = "summary_large_image" if picture else "summary"
    return "".join((*lines, f'<meta name="twitter:card" content="{kind}">\n'))


def send(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Return a response that no cache keeps without asking anew unless it says so; one with another status than 200
    none keeps at all.
    """
    body, fields = response.body, (("Vary", "Accept, Accept-Encoding, Accept-Language, Cookie"), *response.fields)
    if response.status != HTTPStatus.OK or isinstance(response, HttpStream):
        fields = (("Cache-Control", "no-store"), *fields)
    else:  # a weak tag: it is the same for what is packed and what is not
        tag = f'"{response.tag or blake2b(body, digest_size=8).hexdigest()}"'
        kept = () if any(name == "Cache-Control" for name, _ in fields) else (("Cache-Control", "no-cache"),)
        fields = (*kept, ("ETag", f"W/{tag}"), *fields)
        known = request.field("if-none-match")
        if tag in known or known.strip() == "*":
            return HttpResponse(HTTPStatus.NOT_MODIFIED, b"", fields=fields)
    if (
        response.kind != _KINDS[".png"]
        and len(body) >= _WORTH_PACKING_BYTES
        and request.accepts("gzip", "accept-encoding")
    ):
        packed = gzip.compress(body, 1, mtime=0)  # quickly, as others wait
        return replace(response, body=packed, fields=(_PACKED, *fields))
    return replace(response, fields=fields)


def send_part(request: HttpRequest, asset: Asset, *fields: tuple[str, str]) -> HttpResponse:
    """Return an immutable file, compressed if the client accepts it."""
    fields = (("Cache-Control", "public, max-age=31536000, immutable"), ("Vary", "Accept-Encoding"), *fields)
    if request.accepts("gzip", "accept-encoding"):
        return HttpResponse(HTTPStatus.OK, asset.packed, asset.kind, (_PACKED, *fields))
    return HttpResponse(HTTPStatus.OK, asset.body, asset.kind, fields)
