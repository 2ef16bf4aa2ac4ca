"""The files of the page, which are read once and served under immutable paths that contain a hash of their content.

Source of the caching: RFC 9110, sections 8.8.3 (entity tags), 12.5.3 (Accept-Encoding) and 13.1.2 (If-None-Match).

- A quoted relative name of a file (``"./turn.svg"``) is replaced by the path of that file on the server. In imports and
  style sheets the path is relative, because a proxy may serve the server under any path.
- All modules share one hash, because each module may load any other. The modules that the page always needs are bundled
  into one file.
- Comments in modules (``/** ... */``), including types, and spaces in style sheets are removed.
- A sentence of the catalogue is sent only if a module contains its id as a string: the whole id, the id up to a comma,
  or the beginning of the id in a template. There is a bundle of sentences for the page, for modules loaded later, and
  for each folder of modules.
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
LATER: Final = "later"
"""The name of the bundle with rare sentences and with the sentences of modules that are loaded later."""

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
_BRANDING_STYLE: Final = "place.css"
_PLACEHOLDER: Final = re.compile(r"\{\{(\w+)\}\}")
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
    """A file's content, its media type, and its content compressed with gzip."""

    body: bytes
    kind: str
    packed: bytes


class Assets:
    """The files in a folder, by their paths on the server.

    Raises:
        ValueError: A module has an import that `Modules` refuses.
        OSError: The page is missing.
    """

    def __init__(self, folder: Path = FOLDER, branding: Branding = DEFAULT) -> None:
        self._folder = folder
        self.branding = branding
        self._paths: dict[str, str] = {}
        self._files: dict[str, Asset] = {}
        names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.suffix in _KINDS)
        modules = {name: (folder / name).read_text("utf-8") for name in names if name.endswith(".js")}
        texts = {name: _EMPTY_LINES.sub("\n", _COMMENT.sub("", text)).lstrip("\n") for name, text in modules.items()}
        index = (folder / INDEX).read_text("utf-8")
        alone = [name for name in texts if f'"./{name}"' in index and name not in ENTRIES]
        self._modules = Modules({name: text for name, text in texts.items() if name != EMBED}, ENTRIES, alone)
        self._at_once = {"", *self._modules.together, *alone}
        self._keep_sentences(texts)
        for name in sorted(names, key=_kind_of):  # a file may refer only to files with an earlier suffix
            if name not in (INDEX, EMBED_INDEX) and name not in texts:
                self._keep(name, self._read(name))
        everything = "".join((*texts.values(), *self._paths.values()))
        for name in self._modules.files:
            self._paths[name] = _path_of(name, everything.encode())
        for name in self._modules.files:
            self._keep_module(self._modules, name, self._paths[name])
        pages = [INDEX]
        if EMBED in texts:
            pages.append(EMBED_INDEX)
            self._keep_module(Modules(texts, (EMBED,), ()), EMBED)
        self._pages = {name: self._replace_names(name, (folder / name).read_text("utf-8")) for name in pages}
        self._named = [name for name in self._modules.files if self._paths[name] in self._pages[INDEX]]
        if branding.logo is not None:
            self._keep(*branding.logo)
        if branding != DEFAULT:
            self._keep(_BRANDING_STYLE, self._read(_BRANDING_STYLE) + branding.accent_style.encode())

    def find(self, path: str) -> Asset | None:
        return self._files.get(path)

    def named(self, name: str) -> Asset | None:
        return self._files.get(self._paths.get(name, ""))

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
        sentences = {bundle: self._paths[posixpath.join(bundle, language + _CATALOGUE)] for bundle in self._bundles}
        own = self._bundle_of(module)
        needed = sorted({"", own, LATER if own else ""} & {*self._bundles})
        preloads = [f'<link rel="preload" href="{sentences[one]}" as="fetch" crossorigin>\n' for one in needed]
        styles = (self._paths.get(f"{bundle}.css") for bundle in needed)
        preloads += (f'<link rel="preload" href="{path}" as="style">\n' for path in styles if path is not None)
        preloads += (
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
            "preloads": "".join((card, *preloads)),
            "root": html.escape(root),
            **self._words_of_branding(language),
        }
        page = self._pages[EMBED_INDEX if module == EMBED else INDEX]
        filled = _PLACEHOLDER.sub(lambda found: words[found[1]], page)
        return filled.replace(f'="{PREFIX}', f'="{html.escape(root)}{PREFIX[1:]}').encode()

    def _words_of_branding(self, language: str) -> dict[str, str]:
        branding, words = self.branding, dict.fromkeys(("place", "logo", "imprint"), "")
        if branding != DEFAULT:
            words["place"] = f'<link rel="stylesheet" href="{self._paths[_BRANDING_STYLE]}">\n'
        if branding.logo is not None:
            words["logo"] = f'<img class="logo" src="{self._paths[branding.logo[0]]}" alt="">'
        if branding.imprint:
            address, label = html.escape(branding.imprint), html.escape(open_catalogue(language).say("imprint"))
            words["imprint"] = f'<a class="imprint" href="{address}" rel="noopener">{label}</a>'
        return words | {"brand": html.escape(branding.title) or "tictactoe"}

    def _bundle_of(self, module: str) -> str:
        """Return the name of the bundle with a module's sentences: the module's folder, "" for the page, or `LATER`."""
        return posixpath.dirname(module) or ("" if module in self._at_once else LATER)

    def _keep_sentences(self, texts: Mapping[str, str]) -> None:
        self._bundles = sorted({"", *map(self._bundle_of, texts)})
        uses = {one: _ids_in(texts[name] for name in texts if self._bundle_of(name) == one) for one in self._bundles}
        for language in LANGUAGES:
            rest = open_catalogue(language).sentences
            for bundle in self._bundles:  # that of the page is first, and its sentences are in no other
                chosen = {id: rest[id] for id in rest if (bundle == LATER if _is_rare(id) else uses[bundle](id))}
                rest = rest if bundle else {id: sentence for id, sentence in rest.items() if id not in chosen}
                self._keep(posixpath.join(bundle, language + _CATALOGUE), _to_json(chosen).encode())

    def _keep_module(self, modules: Modules, name: str, path: str = "") -> None:
        text = _INDENT.sub("", modules.render(name, lambda other: _relative(name, self._paths[other])))
        self._keep(name, self._replace_names(name, text).encode(), path)

    def _read(self, name: str) -> bytes:
        """Return a file's content; in a style sheet, imports are replaced by the imported style sheets."""
        body = (self._folder / name).read_bytes()
        return _IMPORTED.sub(lambda found: self._read(found[1].decode()), body) if name.endswith(".css") else body

    def _keep(self, name: str, body: bytes, path: str = "") -> None:
        """Add a file under `path`, by default under its name with a hash of its content."""
        kind = _kind_of(name)
        if kind == ".css":
            body = self._replace_names(name, _STYLE_SPACE.sub(r"\1", body.decode())).encode()
        self._paths[name] = path or _path_of(name, body)
        self._files[self._paths[name]] = Asset(body, _KINDS[kind], gzip.compress(body, mtime=0))

    def _replace_names(self, name: str, text: str) -> str:
        def replace(found: re.Match[str]) -> str:
            path = self._paths.get(_resolve(name, found[1]), found[1])
            is_import = path.startswith(PREFIX) and (_kind_of(name), _kind_of(path)) == (".js", ".js")
            return f'"{_relative(name, path) if is_import or _kind_of(name) == ".css" else path}"'

        return _NAME.sub(replace, text)


class Modules:
    """JavaScript modules, some of which are bundled into one file.

    The `entries` and their imports form the bundle, which is named after the first entry. One file loads faster and
    compresses better than many. In the bundle, each module is wrapped in a function, so that names do not clash, and
    follows the modules that it imports; the first entry comes last. The modules `alone`, and modules that are loaded
    later by ``import(...)``, are separate files that import from the bundle. The page's function `loadLater` gets the
    result of each ``import`` and the name of the bundle with the module's sentences and style.

    Imports and exports must stand at the beginning of a line and have one of these forms: ``import { a, b as c } from
    "./other.js";``, ``import * as other from "./other.js";``, or ``export`` before a declaration. Exported names must
    be constant.

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
        self._imports = {name: tuple(_imported_by(name, text)) for name, text in texts.items()}
        self._needs: dict[str, set[str]] = {}
        try:
            ordered = [*TopologicalSorter(self._imports).static_order()]
        except CycleError as found:
            circle = " ".join(found.args[1])
            raise ValueError(f"Modules of the page import each other in a circle: {circle}.") from None
        for name in ordered:
            self._needs[name] = {name}.union(*(self._needs[other] for other in self._imports.get(name, ())))
        needed = self._needed_by(*entries) - {*alone}
        self.together = sorted((name for name in ordered if name in needed), key=self._entry.__eq__)
        self.files = sorted(name for name in texts if name == self._entry or name not in needed)

    def files_for(self, *names: str) -> list[str]:
        """Return the names of the files that contain these modules and their imports."""
        return sorted({self._entry if name in self.together else name for name in self._needed_by(*names)})

    def render(self, name: str, path_of: Callable[[str], str]) -> str:
        if name != self._entry:
            return self._replace_imports(name, path_of)
        outside = {other for one in self.together for other in self._imports[one] if other not in self.together}
        heads = [f'import * as {_variable(other)} from "{path_of(other)}";' for other in sorted(outside)]
        variables = ", ".join(map(_variable, self.together))
        return "\n".join((*heads, *map(self._wrap, self.together), f"export {{ {variables} }};\n"))

    def _wrap(self, name: str) -> str:
        """Return a module as a declaration of its exports: the result of a function that contains the module."""
        text = self._replace_imports(name, None)
        exported = ", ".join(_EXPORT.findall(text))
        return f"const {_variable(name)} = (() => {{\n{_EXPORT.sub('', text).strip()}\nreturn {{ {exported} }};\n}})();"

    def _replace_imports(self, name: str, path_of: Callable[[str], str] | None) -> str:
        def replace(found: re.Match[str]) -> str:
            other = _resolve(name, found["file"])
            taken = found["all"] or f"{{{found['names'].replace(' as ', ': ')}}}"
            if path_of is None:
                return f"const {taken} = {_variable(other)};"
            if other in self.together:
                head = f'import {{ {_variable(other)} }} from "{path_of(self._entry)}";'
                return f"{head} const {taken} = {_variable(other)};"
            return found[0].replace(found["file"], path_of(other))

        def load_later(found: re.Match[str]) -> str:
            other = _resolve(name, found[1])
            if path_of is None and other in self.together:
                return f"Promise.resolve({_variable(other)})"
            return f'globalThis.loadLater({found[0]}, "{posixpath.dirname(other) or LATER}")'

        return _LATER.sub(load_later, _IMPORT.sub(replace, self._texts[name]))

    def _needed_by(self, *names: str) -> set[str]:
        return set[str]().union(*(self._needs.get(name, ()) for name in names)) & self._texts.keys()


def _imported_by(name: str, text: str) -> Iterator[str]:
    other = _OTHER.search(_EXPORT.sub("", _IMPORT.sub("", text)))
    if other:
        raise ValueError(f"This is no import or export of the page's modules, in {name}: {other[0]}")
    for found in _IMPORT.finditer(text):
        yield _resolve(name, found["file"])


def _resolve(name: str, file: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), file))


def _variable(name: str) -> str:
    return "$" + re.sub(r"\W", "_", posixpath.splitext(name)[0])


def _to_json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _kind_of(name: str) -> str:
    return posixpath.splitext(name)[1]


def _path_of(name: str, content: bytes) -> str:
    stem, suffix = posixpath.splitext(name)
    return f"{PREFIX}{stem}.{blake2b(content, digest_size=6).hexdigest()}{suffix}"


def _is_rare(id: str) -> bool:
    """Return True for the sentences about malformed messages, which the page never sends."""
    return id.startswith(("refused bad_json", "refused bad_message", "refused unknown_type"))


def _relative(name: str, path: str) -> str:
    """Return a path on the server as a path relative to the file `name`."""
    relative = posixpath.relpath(path, posixpath.dirname(PREFIX + name))
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
