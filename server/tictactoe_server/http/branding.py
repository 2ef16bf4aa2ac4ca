"""The branding of a server: title, greeting, imprint, accent colour and logo, which are validated at startup.

Source of the contrast: WCAG 2.2, "relative luminance" and "contrast ratio"; 4.5 is required for text at level AA.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from tictactoe_protocol import clean_text
from tictactoe_server import OperatorError
from tictactoe_server.files import open_regular
from tictactoe_server.settings import Settings

MAX_TITLE: Final = 60
MAX_GREETING: Final = 2_000
MAX_LOGO_BYTES: Final = 100_000
LEAST_CONTRAST: Final = 4.5

_COLOUR: Final = re.compile(r"#[0-9A-Fa-f]{6}", re.ASCII)
_GROUND: Final = re.compile(r"--(?:ground|card|soft): light-dark\((#\w{6}), (#\w{6})\)")
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_SVG: Final = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*|<!DOCTYPE[^>\[]*>\s*)*<svg[\s>]", re.DOTALL)
_STEPS: Final = 20

Colour = tuple[float, ...]
"""Red, green and blue from 0 to 255."""


@dataclass(frozen=True, slots=True)
class Branding:
    """The name and look of a server."""

    title: str = ""
    greeting: str = ""
    imprint: str = ""
    accent: tuple[str, str] | None = None  # the colours for the light and the dark theme
    logo: tuple[str, bytes] | None = None  # the name and the content of the file

    @property
    def accent_style(self) -> str:
        """The style sheet with the accent colour; the high-contrast theme keeps its own."""
        if self.accent is None:
            return ""
        return f':root:not([data-theme="contrast"]) {{ --accent: light-dark({self.accent[0]}, {self.accent[1]}) }}\n'


DEFAULT: Final = Branding()


def load_branding(settings: Settings, style: Path) -> Branding:
    """Validate the branding in the settings and return it. May raise `OperatorError`.

    Args:
        style: The page's style sheet; the accent colour must contrast with its background colours.
    """
    title = clean_text(settings.title or "").strip()
    if len(title) > MAX_TITLE:
        raise OperatorError(f"--title has {len(title)} characters; the maximum is {MAX_TITLE}.")
    return Branding(
        title,
        "" if settings.greeting is None else _read_greeting(settings.greeting),
        "" if settings.imprint is None else _parse_imprint(settings.imprint),
        None if settings.accent is None else _fit_accent(settings.accent, style.read_text("utf-8")),
        None if settings.logo is None else _read_logo(settings.logo),
    )


def _read(path: Path, option: str, most: int) -> bytes:
    try:
        with open_regular(path) as file:
            content = file.read(most + 1)
    except OSError as error:
        raise OperatorError(f"Cannot read {option} {path}: {error.strerror}.") from None
    if len(content) > most:
        raise OperatorError(f"{option} {path} is larger than {most:,} bytes.")
    return content


def _read_greeting(path: Path) -> str:
    try:
        text = _read(path, "--greeting", 4 * MAX_GREETING).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise OperatorError(f"--greeting {path} is not valid UTF-8.") from None
    text = "\n".join(clean_text(line.expandtabs(4)).rstrip() for line in text.splitlines()).strip()
    if len(text) > MAX_GREETING:
        raise OperatorError(f"--greeting {path} has {len(text):,} characters; the maximum is {MAX_GREETING:,}.")
    return text


def _parse_imprint(text: str) -> str:
    try:
        parts = urlsplit(text)
    except ValueError:
        parts = urlsplit("")
    target = parts.path if parts.scheme == "mailto" else parts.hostname
    if parts.scheme not in ("http", "https", "mailto") or not target or clean_text(text) != text or " " in text:
        raise OperatorError(f"--imprint {clean_text(text)!r} is not a URL such as https://… or mailto:….")
    return text


def _read_logo(path: Path) -> tuple[str, bytes]:
    """Return an image's file name on the server and its content. The first bytes determine the type."""
    content = _read(path, "--logo", MAX_LOGO_BYTES)
    if content.startswith(_PNG):
        return "logo.png", content
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "logo.webp", content
    if _SVG.match(content.removeprefix(b"\xef\xbb\xbf")):
        return "logo.svg", content
    raise OperatorError(f"--logo {path} is not a PNG, SVG or WebP image.")


def _fit_accent(text: str, style: str) -> tuple[str, str]:
    """Return a readable colour for the light theme and one for the dark theme.

    The colour `text` must have enough contrast with all backgrounds of a theme, because it is used both for text on
    them and for buttons with text in their colours. For the other theme, it is mixed with black or white until it has
    enough contrast there.
    """
    if not _COLOUR.fullmatch(text):
        raise OperatorError(f"--accent {clean_text(text)!r} is not a colour such as #1f5f8b.")
    colour = _parse_colour(text)
    light, dark = (list(map(_parse_colour, looks)) for looks in zip(*_GROUND.findall(style), strict=True))
    on_light, on_dark = (min(contrast(colour, ground) for ground in grounds) for grounds in (light, dark))
    if max(on_light, on_dark) < LEAST_CONTRAST:
        raise OperatorError(
            f"--accent {text} is not readable: its contrast is {int(on_light * 100) / 100:.2f} on a light background "
            f"and {int(on_dark * 100) / 100:.2f} on a dark one; one of them must be at least {LEAST_CONTRAST}. "
            "Choose a darker or a lighter colour."
        )
    return _mix(colour, 0.0, light), _mix(colour, 255.0, dark)


def _mix(colour: Colour, to: float, grounds: list[Colour]) -> str:
    mixtures = (tuple(round(part + (to - part) * step / _STEPS) for part in colour) for step in range(_STEPS + 1))
    fits = (mixture for mixture in mixtures if all(contrast(mixture, ground) >= LEAST_CONTRAST for ground in grounds))
    return f"#{bytes(next(fits)).hex()}"


def contrast(first: Colour, second: Colour) -> float:
    """Return the contrast ratio of two colours, from 1 to 21.

    >>> contrast((0, 0, 0), (255, 255, 255)), round(contrast((119, 119, 119), (255, 255, 255)), 2)
    (21.0, 4.48)
    """
    darker, lighter = sorted(map(_luminance, (first, second)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: Colour) -> float:
    parts = (value / 255 for value in colour)
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _parse_colour(text: str) -> Colour:
    return tuple(bytes.fromhex(text[1:]))
