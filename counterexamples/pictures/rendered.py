"""An SVG picture as PNG or PDF, by a renderer that is installed: none comes with this project."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from spec.reading import bytes_of, text_of

SCALE = 2  # dots for each unit of the picture, so that it can be printed
PATIENCE = 60  # seconds
LARGEST = 1 << 30  # bytes of a picture


class NoRenderer(Exception):  # noqa: N818 - an answer to the user, not a bug
    """Raised if no installed program converts SVG to the wanted format."""

    def __init__(self, form: str) -> None:
        self._form = form

    def __str__(self) -> str:
        names = ", ".join(RENDERERS[self._form])
        return f"nothing that turns SVG into {self._form} is installed: install one of {names}"


def png(svg: str) -> bytes:
    """The SVG picture as PNG at twice its size. Raises NoRenderer.

    Takes the first of the known renderers that is on the path and does it.
    Raises NoRenderer when none is, OSError when none of them could do it.
    """
    return _rendered(svg, "PNG")


def pdf(svg: str) -> bytes:
    """The SVG picture as one page of PDF, with text as text. Raises NoRenderer."""
    return _rendered(svg, "PDF")


def _rendered(svg: str, form: str) -> bytes:
    """The SVG converted by the first program that is installed."""
    known = RENDERERS[form]
    found = {name: path for name in known if (path := shutil.which(name))}
    if not found:
        raise NoRenderer(form)
    problem = ""
    with TemporaryDirectory(prefix="modelcheck-") as folder:
        source, target = Path(folder, "picture.svg"), Path(folder, f"picture.{form.lower()}")
        source.write_text(svg, encoding="utf-8")
        for name, path in found.items():
            command = [path, *known[name](source, target, _size(svg))]
            try:
                done = subprocess.run(  # noqa: S603 - a known renderer by its path, on a file of ours
                    command, capture_output=True, timeout=PATIENCE, check=False
                )
            except subprocess.TimeoutExpired:
                problem = f"{name} took more than {PATIENCE} seconds"
                continue
            if target.exists() and target.stat().st_size:
                return bytes_of(target, LARGEST)
            problem = f"{name}: {done.stderr.decode(errors='replace').strip()[-200:] or 'it wrote nothing'}"
    raise OSError(f"the picture could not be drawn as {form}: {problem}")


Size = tuple[int, int]


def _size(svg: str) -> Size:
    """The width and height of an SVG."""
    found = re.search(r'width="([\d.]+)" height="([\d.]+)"', svg)
    if found is None:
        raise ValueError("this is not one of our pictures: it has no size")
    return int(float(found[1])) + 1, int(float(found[2])) + 1


def _rsvg(source: Path, target: Path, _size: Size) -> list[str]:
    """The command line of rsvg-convert."""
    return [f"--zoom={SCALE}", "--unlimited", "--output", str(target), str(source)]


def _inkscape(source: Path, target: Path, size: Size) -> list[str]:
    """The command line of Inkscape."""
    return [f"--export-width={SCALE * size[0]}", f"--export-filename={target}", str(source)]


def _resvg(source: Path, target: Path, _size: Size) -> list[str]:
    """The command line of resvg."""
    return [f"--zoom={SCALE}", str(source), str(target)]


def _chromium(source: Path, target: Path, size: Size) -> list[str]:
    """The command line of Chromium."""
    return [
        *_quiet(target),
        f"--force-device-scale-factor={SCALE}",
        f"--window-size={size[0]},{size[1]}",
        f"--screenshot={target}",
        source.as_uri(),
    ]


def _quiet(target: Path) -> tuple[str, ...]:
    """Chromium's options for a run without user interface or profile."""
    return (
        "--headless",
        "--no-sandbox",  # it is shown nothing but our own file
        "--disable-gpu",
        "--hide-scrollbars",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        f"--user-data-dir={target.parent / 'profile'}",
    )


def _rsvg_pdf(source: Path, target: Path, _size: Size) -> list[str]:
    """The command line of rsvg-convert for PDF."""
    return ["--format=pdf", "--unlimited", "--output", str(target), str(source)]


def _inkscape_pdf(source: Path, target: Path, _size: Size) -> list[str]:
    """The command line of Inkscape for PDF."""
    return [f"--export-filename={target}", str(source)]


def _chromium_pdf(source: Path, target: Path, size: Size) -> list[str]:
    """The command line of Chromium for PDF, by a page of the picture's size."""
    across, down = size
    page = source.with_suffix(".html")
    style = f"@page{{size:{across}px {down}px;margin:0}}body{{margin:0}}svg{{display:block}}"
    text = text_of(source, LARGEST)
    page.write_text(f'<!doctype html><meta charset="utf-8"><style>{style}</style>{text}', encoding="utf-8")
    return [*_quiet(target), "--no-pdf-header-footer", f"--print-to-pdf={target}", page.as_uri()]


Renderer = Callable[[Path, Path, Size], list[str]]
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "chrome")
RENDERERS: Mapping[str, Mapping[str, Renderer]] = {
    "PNG": {
        "rsvg-convert": _rsvg,
        "resvg": _resvg,
        "inkscape": _inkscape,
        **dict.fromkeys(CHROMIUM, _chromium),
    },
    "PDF": {
        "rsvg-convert": _rsvg_pdf,
        "inkscape": _inkscape_pdf,
        **dict.fromkeys(CHROMIUM, _chromium_pdf),
    },
}
"""By the form of the file: the programs, the best first, and what to ask of each."""
