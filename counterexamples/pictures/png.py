"""An SVG picture as PNG, by a renderer that is installed: none comes with this project."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

SCALE = 2  # dots for each unit of the picture, so that it can be printed
PATIENCE = 60  # seconds


class NoRenderer(Exception):  # noqa: N818 - an answer to the user, not a bug
    """No program that draws SVG is installed."""

    def __str__(self) -> str:
        return f"nothing that turns SVG into PNG is installed: install one of {', '.join(RENDERERS)}"


def png(svg: str) -> bytes:
    """The picture at twice its size.

    Takes the first of the known renderers that is on the path and does it.
    Raises NoRenderer when none is, OSError when none of them could do it.
    """
    found = {name: path for name in RENDERERS if (path := shutil.which(name))}
    if not found:
        raise NoRenderer
    problem = ""
    with TemporaryDirectory(prefix="modelcheck-") as folder:
        source, target = Path(folder, "picture.svg"), Path(folder, "picture.png")
        source.write_text(svg, encoding="utf-8")
        for name, path in found.items():
            command = [path, *RENDERERS[name](source, target, _size(svg))]
            try:
                done = subprocess.run(  # noqa: S603 - a known renderer by its path, on a file of ours
                    command, capture_output=True, timeout=PATIENCE, check=False
                )
            except subprocess.TimeoutExpired:
                problem = f"{name} took more than {PATIENCE} seconds"
                continue
            if target.exists() and target.stat().st_size:
                return target.read_bytes()
            problem = f"{name}: {done.stderr.decode(errors='replace').strip()[-200:] or 'it wrote nothing'}"
    raise OSError(f"the picture could not be drawn as PNG: {problem}")


Size = tuple[int, int]


def _size(svg: str) -> Size:
    found = re.search(r'width="([\d.]+)" height="([\d.]+)"', svg)
    if found is None:
        raise ValueError("this is not one of our pictures: it has no size")
    return int(float(found[1])) + 1, int(float(found[2])) + 1


def _rsvg(source: Path, target: Path, _size: Size) -> list[str]:
    return [f"--zoom={SCALE}", "--unlimited", "--output", str(target), str(source)]


def _inkscape(source: Path, target: Path, size: Size) -> list[str]:
    return [f"--export-width={SCALE * size[0]}", f"--export-filename={target}", str(source)]


def _resvg(source: Path, target: Path, _size: Size) -> list[str]:
    return [f"--zoom={SCALE}", str(source), str(target)]


def _chromium(source: Path, target: Path, size: Size) -> list[str]:
    return [
        "--headless",
        "--no-sandbox",  # it is shown nothing but our own file
        "--disable-gpu",
        "--hide-scrollbars",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        f"--user-data-dir={target.parent / 'profile'}",
        f"--force-device-scale-factor={SCALE}",
        f"--window-size={size[0]},{size[1]}",
        f"--screenshot={target}",
        source.as_uri(),
    ]


RENDERERS: Mapping[str, Callable[[Path, Path, Size], list[str]]] = {
    "rsvg-convert": _rsvg,
    "resvg": _resvg,
    "inkscape": _inkscape,
    "chromium": _chromium,
    "chromium-browser": _chromium,
    "google-chrome": _chromium,
    "chrome": _chromium,
}
