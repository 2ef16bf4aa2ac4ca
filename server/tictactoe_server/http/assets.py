"""The files of the page, which are read once and served in an immutable folder that is named after their content.

Source of the caching: RFC 9110, sections 8.8.3 (entity tags), 12.5.3 (Accept-Encoding) and 13.1.2 (If-None-Match).

- The modules that the page always needs are bundled into one file.
- Comments in modules (``/** ... */``), including types, and spaces in style sheets are removed.
- A sentence of the catalogue is sent only if a module contains its id as a string: the whole id, the id up to a comma,
  or the beginning of the id in a template. There is a bundle of sentences for the page, and one for other
  modules.
"""

from __future__ import annotations

import gzip
import html
import json
import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from hashlib import blake2b
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from tictactoe_engine import PRESETS
from tictactoe_protocol.codec import encode
from tictactoe_protocol.terms import RulesState
from tictactoe_server.http.branding import DEFAULT, Branding
from tictactoe_server.transport.http_messages import HttpRequest, HttpResponse, HttpStream
from tictactoe_words.catalogue import LANGUAGES, open_catalogue

FOLDER: Final = Path(__file__).parent.parent / "web"
PREFIX: Final = "/assets/"
INDEX: Final = "index.html"
STYLE: Final = "style.css"
"""The style sheet with the page's colours."""
EMBED_INDEX: Final = "embed.html"
EMBED: Final = "embed.js"
"""The page for frames in other sites' pages, and its module, which is bundled with its imports into one file."""
ENTRIES: Final = ("main.js", "game.js")
"""The modules that are bundled with their imports into one file: the page's main module and the module for games."""
PREFETCHED: Final = ("help.js", "history.js", "home.js", "wall.js")
"""The modules that browsers fetch when they have nothing else to do, with all that other modules need."""
STANDARD_GAMES: Final = encode([RulesState.of(rules) for rules in PRESETS.values()]).decode()
"""The rules of the standard games, as the page's HTML contains them."""
MORE: Final = "more."
"""The prefix of the style sheet and of the bundles of sentences for modules that are loaded later."""

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
_BRANDING_STYLE: Final = "place.css"
_PLACEHOLDER: Final = re.compile(r"\{\{(\w+)\}\}")
_COMMENT: Final = re.compile(r"/\*\*.*?\*/|^\s*//[^\n]*$", re.DOTALL | re.MULTILINE)
_INDENT: Final = re.compile(r"^\t+", re.MULTILINE)
_STYLE_SPACE: Final = re.compile(r"/\*.*?\*/\s*|\s*([{};])\s*", re.DOTALL)
_EMPTY_LINES: Final = re.compile(r"\n\s*\n")
_QUOTED: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`')
_WORTH_PACKING_BYTES: Final = 512
_PACKED: Final = ("Content-Encoding", "gzip")
_IMPORTED: Final = re.compile(r'@import "\./([\w.-]+)";')
_IMPORT: Final = re.compile(r'^import \{ (\w+(?:, \w+)*) \} from "(\.{1,2}/[^"]+)";$', re.M)
_EXPORT: Final = re.compile(r"^export (?=(?:async )?(?:function|const|class) \w)", re.M)
_LATER: Final = re.compile(r'import\("(\.{1,2}/[^"]+)"\)')
_OTHER: Final = re.compile(r"^(?:import|export)\b.*$", re.M)


@dataclass(frozen=True, slots=True)
class Asset:
    """A file's content, its media type, and its content compressed with gzip."""

    body: bytes
    kind: str
    packed: bytes


class Assets:
    """The files in a folder, by their paths on the server.

    Raises:
        ValueError: A module has an import that `Modules` refuses.
    """

    def __init__(self, folder: Path = FOLDER, branding: Branding = DEFAULT) -> None:
        self._folder = folder
        self.branding = branding
        names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.suffix in _KINDS)
        self._pages = {name: self._read(name) for name in names if name.endswith(".html")}
        modules = {name: self._read(name) for name in names if name.endswith(".js")}
        texts = {name: _EMPTY_LINES.sub("\n", _COMMENT.sub("", text)).strip() for name, text in modules.items()}
        alone = [name for name in texts if self._is_named(name) and name not in ENTRIES]
        self._modules = Modules({name: text for name, text in texts.items() if name != EMBED}, ENTRIES, alone)
        self._at_once = {*self._modules.together, *alone}
        spare = (*self._modules.files_for(*PREFETCHED), f"{MORE}css")
        self._spare = {name for name in spare if not self._is_named(name)}
        bodies = {name: (folder / name).read_bytes() for name in names if name not in {*self._pages, *texts}}
        bodies |= {name: self._read_style(name).encode() for name in names if name.endswith(".css")}
        bodies |= {name: self._modules.render(name).encode() for name in self._modules.files}
        if EMBED in texts:
            bodies[EMBED] = Modules(texts, (EMBED,), ()).render(EMBED).encode()
        bodies |= self._choose_sentences(texts)
        if branding != DEFAULT:
            bodies[_BRANDING_STYLE] += branding.accent_style.encode()
        if branding.logo is not None:
            bodies |= [branding.logo]
        version = blake2b(repr(sorted(bodies.items())).encode(), digest_size=6).hexdigest()
        self._path = f"{PREFIX}{version}/"
        self._files = {
            self._path + name: Asset(body, _KINDS[posixpath.splitext(name)[1]], gzip.compress(body, mtime=0))
            for name, body in bodies.items()
        }

    def find(self, path: str) -> Asset | None:
        return self._files.get(path)

    def named(self, name: str) -> Asset | None:
        return self._files.get(self._path + name)

    def page(
        self,
        title: str,
        description: str,
        address: str = "",
        language: str = "en",
        module: str = "",
        card: str = "",
        root: str = "/",
    ) -> bytes:
        """Return the page's HTML.

        Args:
            address: The prefix of links to share; "" for the address of the page itself.
            module: The module to preload, with its sentences and style sheets, because the page will load it.
            card: More elements for the page's head.
            root: The path of the server, which may be relative to the path of the page.
        """
        path = html.escape(root) + self._path[1:]
        sentences, styles = [f"{language}.json"], list[str]()
        if module and module not in self._at_once:
            sentences.append(f"{MORE}{language}.json")
            styles.append(f"{MORE}css")
        files = [name for name in self._modules.files_for(module) if not self._is_named(name)]
        preloads = [f'<link rel="preload" href="{path}{name}" as="fetch" crossorigin>\n' for name in sentences]
        preloads += (f'<link rel="preload" href="{path}{name}" as="style">\n' for name in styles)
        preloads += (f'<link rel="modulepreload" href="{path}{name}">\n' for name in files)
        spare = (self._spare | {f"{MORE}{language}.json"}).difference(files, sentences, styles)
        preloads += (f'<link rel="prefetch" href="{path}{name}">\n' for name in sorted(spare))
        words = {
            "title": html.escape(title),
            "description": html.escape(description),
            "address": html.escape(address),
            "language": language,
            "languages": html.escape(_to_json({one: open_catalogue(one).say("language") for one in LANGUAGES})),
            "games": html.escape(STANDARD_GAMES),
            "assets": path,
            "script": html.escape(open_catalogue(language).say("page needs script")),
            "preloads": "".join((card, *preloads)),
            "root": html.escape(root),
            **self._words_of_branding(language, path),
        }
        page = self._pages[EMBED_INDEX if module == EMBED else INDEX]
        return _PLACEHOLDER.sub(lambda found: words[found[1]], page).encode()

    def _words_of_branding(self, language: str, path: str) -> dict[str, str]:
        branding, words = self.branding, dict.fromkeys(("place", "logo", "imprint"), "")
        if branding != DEFAULT:
            words["place"] = f'<link rel="stylesheet" href="{path}{_BRANDING_STYLE}">\n'
        if branding.logo is not None:
            words["logo"] = f'<img class="logo" src="{path}{branding.logo[0]}" alt="">'
        if branding.imprint:
            address, label = html.escape(branding.imprint), html.escape(open_catalogue(language).say("imprint"))
            words["imprint"] = f'<a class="imprint" href="{address}" rel="noopener">{label}</a>'
        return words | {"brand": html.escape(branding.title) or "tictactoe"}

    def _is_named(self, name: str) -> bool:
        """Return True if the page itself loads a file."""
        return f'"{{{{assets}}}}{name}"' in self._pages[INDEX]

    def _choose_sentences(self, texts: Mapping[str, str]) -> dict[str, bytes]:
        """Return the files with the sentences of each language."""
        is_needed = _ids_in(texts[name] for name in texts if name in self._at_once)
        is_needed_later = _ids_in(texts[name] for name in texts if name not in self._at_once)
        files: dict[str, bytes] = {}
        for language in LANGUAGES:
            rest = open_catalogue(language).sentences
            page = {id: rest[id] for id in rest if is_needed(id)}
            later = {id: rest[id] for id in rest if id not in page and is_needed_later(id)}
            files |= {f"{language}.json": _to_json(page).encode(), f"{MORE}{language}.json": _to_json(later).encode()}
        return files

    def _read(self, name: str) -> str:
        return (self._folder / name).read_text("utf-8")

    def _read_style(self, name: str) -> str:
        """Return a style sheet without unneeded spaces; the imported style sheets replace the imports."""
        text = _IMPORTED.sub(lambda found: self._read_style(found[1]), self._read(name))
        return _STYLE_SPACE.sub(r"\1", text)


class Modules:
    """JavaScript modules, some of which are bundled into one file.

    The `entries` and their imports form the bundle, which is named after the first entry. One file loads faster and
    compresses better than many. In the bundle, the modules share one scope, so their top-level names must differ, and
    each follows the modules that it imports; the first entry comes last. The modules `alone`, and modules that are
    loaded later by ``import(...)``, are separate files that import from the bundle. The page's function `loadLater`
    gets the result of each such ``import``.

    Imports and exports must stand at the beginning of a line and have one of these forms: ``import { a, b } from
    "./other.js";``, or ``export`` before a declaration.

    Args:
        texts: The source texts of the modules, by their names relative to the folder.

    Attributes:
        together: The names of the modules in the bundle.
        files: The names of the files to serve.

    Raises:
        ValueError: An import or export has another form, or modules import each other in a circle.
    """

    def __init__(self, texts: Mapping[str, str], entries: Sequence[str], alone: Collection[str]) -> None:
        self._texts = texts
        self._entry = entries[0]
        self._imports = {name: [other for _, other in _imports_of(name, text)] for name, text in texts.items()}
        self._needs: dict[str, set[str]] = {}
        ordered = [*TopologicalSorter(self._imports).static_order()]
        for name in ordered:
            self._needs[name] = {name}.union(*(self._needs[other] for other in self._imports.get(name, ())))
        needed = self._needed_by(*entries) - {*alone}
        self.together = sorted((name for name in ordered if name in needed), key=self._entry.__eq__)
        self.files = sorted(name for name in texts if name == self._entry or name not in needed)

    def files_for(self, *names: str) -> list[str]:
        """Return the names of the files that contain these modules and their imports."""
        return sorted({*map(self._file_of, self._needed_by(*names))})

    def render(self, name: str) -> str:
        """Return the content of a file: a module, or the bundle."""
        members = self.together if name == self._entry else [name]
        wanted: dict[str, set[str]] = {}
        for member in members:
            for names, other in _imports_of(member, self._texts[member]):
                if (file := self._file_of(other)) != name:
                    wanted.setdefault(file, set()).update(names)
        heads = [f'import {{ {", ".join(sorted(wanted[file]))} }} from "{_relative(file, name)}";' for file in wanted]
        texts = [self._render_module(member, name) for member in members]
        return _INDENT.sub("", "".join(f"{text}\n" for text in (*heads, *texts)))

    def _render_module(self, name: str, file: str) -> str:
        """Return a module's text without its imports, as a part of a file."""

        def load_later(found: re.Match[str]) -> str:
            other = self._file_of(_resolve(name, found[1]))
            loading = f'import("{_relative(other, file)}")'
            return loading if other == self._entry else f"globalThis.loadLater({loading})"

        return _LATER.sub(load_later, _IMPORT.sub("", self._texts[name])).strip()

    def _file_of(self, name: str) -> str:
        return self._entry if name in self.together else name

    def _needed_by(self, *names: str) -> set[str]:
        return set[str]().union(*(self._needs.get(name, ()) for name in names)) & self._texts.keys()


def _imports_of(name: str, text: str) -> Iterator[tuple[list[str], str]]:
    """Yield the names that a module imports from each other module, and the name of that module."""
    other = _OTHER.search(_EXPORT.sub("", _IMPORT.sub("", text)))
    if other:
        raise ValueError(f"This is no import or export of the page's modules, in {name}: {other[0]}")
    for found in _IMPORT.finditer(text):
        yield found[1].split(", "), _resolve(name, found[2])


def _resolve(name: str, file: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), file))


def _to_json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _relative(name: str, to: str) -> str:
    """Return the path of the file `name` relative to the file `to`."""
    relative = posixpath.relpath(f"/{name}", posixpath.dirname(f"/{to}"))
    return relative if relative.startswith(".") else f"./{relative}"


def _ids_in(modules: Iterable[str]) -> Callable[[str], bool]:
    """Return a function that returns True if one of the modules may use the sentence with an id."""
    ids, beginnings = set[str](), set[str]()
    for quoted in _QUOTED.findall("\n".join(modules)):
        head, is_template, rest = quoted[1:-1].partition("${")
        if not is_template:
            ids.add(head)
            continue
        if head.endswith(" "):
            beginnings.add(head)
        ids.update(one[1:-1] for one in _QUOTED.findall(rest))
    heads = tuple(beginnings)
    return lambda id: id in ids or id.partition(",")[0] in ids or id.startswith(heads)


def link_card(site: str, title: str, description: str, url: str, picture: str) -> str:
    """Return the elements for a page's head that link previews use. Source: the Open Graph protocol, https://ogp.me.

    Args:
        site: The name of the server.
        picture: The URL of a picture with 1200 by 630 pixels, or "".
    """
    tags = {"title": title, "description": description, "type": "website", "site_name": site}
    if picture:
        tags |= {"url": url, "image": picture, "image:width": "1200", "image:height": "630", "image:alt": description}
    lines = [f'<meta property="og:{name}" content="{html.escape(value)}">\n' for name, value in tags.items()]
    kind = "summary_large_image" if picture else "summary"
    return "".join((*lines, f'<meta name="twitter:card" content="{kind}">\n'))


def send(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Return a response with an entity tag, compressed if the client accepts that.

    By default, caches must revalidate the response. They must not store it if its status is not 200.
    """
    body, fields = response.body, (("Vary", "Accept, Accept-Encoding, Accept-Language, Cookie"), *response.fields)
    if response.status != HTTPStatus.OK or isinstance(response, HttpStream):
        fields = (("Cache-Control", "no-store"), *fields)
    else:  # the tag is weak, because it is the same with and without compression
        tag = f'"{response.tag or blake2b(body, digest_size=8).hexdigest()}"'
        caching = () if any(name == "Cache-Control" for name, _ in fields) else (("Cache-Control", "no-cache"),)
        fields = (*caching, ("ETag", f"W/{tag}"), *fields)
        known = request.field("if-none-match")
        if tag in known or known.strip() == "*":
            return HttpResponse(HTTPStatus.NOT_MODIFIED, b"", fields=fields)
    if (
        response.kind != _KINDS[".png"]
        and len(body) >= _WORTH_PACKING_BYTES
        and request.accepts("gzip", "accept-encoding")
    ):
        return replace(response, body=gzip.compress(body, 1, mtime=0), fields=(_PACKED, *fields))
    return replace(response, fields=fields)


def send_part(request: HttpRequest, asset: Asset, *fields: tuple[str, str]) -> HttpResponse:
    """Return the response with an immutable file, compressed if the client accepts that."""
    fields = (("Cache-Control", "public, max-age=31536000, immutable"), ("Vary", "Accept-Encoding"), *fields)
    if request.accepts("gzip", "accept-encoding"):
        return HttpResponse(HTTPStatus.OK, asset.packed, asset.kind, (_PACKED, *fields))
    return HttpResponse(HTTPStatus.OK, asset.body, asset.kind, fields)
