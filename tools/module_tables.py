"""Every module with the first sentence of its docstring, by folder: `docs/reference/modules.md`.

`python -m tools.module_tables` writes the page; a test holds it to the tree.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "modules.md"
PACKAGES = ("spec", "counterexamples", "modelcheck", "spark_explore", "tools")
ABOUT = """\
# Modules

For readers of the code: every module of the five packages with the first sentence of its docstring.
The packages are in an order of imports, and so is each table: a module imports only modules above it.
[Architecture](../architecture.md) says where to begin.
`python -m tools.module_tables` writes this page.
"""


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    return 0


def page() -> str:
    """The page as Markdown, made from the files of the packages."""
    return ABOUT + "".join(part for package in PACKAGES for part in _of_package(ROOT / package))


def in_order(folder: Path) -> tuple[Path, ...]:
    """The modules and folders of a folder, each behind those that it imports, else by name."""
    order = TopologicalSorter({path: sorted(others) for path, others in needed(folder).items()})
    return tuple(order.static_order())


def needed(folder: Path) -> Mapping[Path, set[Path]]:
    """The modules and folders of a folder by name, each with the others there that it imports."""
    inside = [path for path in sorted(folder.iterdir()) if _is_listed(path)]
    owners = {_dotted(path): path for path in inside}
    return {path: set(_imported_of(path, owners)) - {path} for path in inside}


def _is_listed(path: Path) -> bool:
    if path.is_dir():
        return (path / "__init__.py").exists()
    return path.suffix == ".py" and path.stem != "__init__"


def _of_package(package: Path) -> Iterator[str]:
    """A heading and a table for the package, then for each folder in it."""
    folders = [package]
    level = "##"
    while folders:
        folder = folders.pop(0)
        inside = in_order(folder)
        name = folder.relative_to(ROOT).as_posix()
        rows = "".join(f"| `{_name(path)}` | {_about(path)} |\n" for path in inside)
        yield f"\n{level} `{name}/`\n\n{_about(folder)}\n\n| place | contents |\n| --- | --- |\n{rows}"
        level = "###"
        folders = [path for path in inside if path.is_dir()] + folders


def _name(path: Path) -> str:
    return f"{path.name}/" if path.is_dir() else path.name


def _about(path: Path) -> str:
    """The first paragraph of a docstring, fit for a cell of a table."""
    text = (path / "__init__.py" if path.is_dir() else path).read_text(encoding="utf-8")
    head = text.partition("\nfrom __future__ import")[0]  # parsing the whole takes a hundred times as long
    first = (ast.get_docstring(ast.parse(head)) or "").partition("\n\n")[0]
    return first.replace("\n", " ").replace("|", "\\|")


def _dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def _imported_of(path: Path, owners: Mapping[str, Path]) -> Iterator[Path]:
    """What a module, or all modules of a folder, import of their neighbours."""
    for file in sorted(path.rglob("*.py")) if path.is_dir() else (path,):
        for name in _imports(file):
            parts = name.split(".")
            known = (".".join(parts[:length]) for length in range(1, len(parts) + 1))
            yield from (owners[each] for each in known if each in owners)


@cache
def _imports(file: Path) -> tuple[str, ...]:
    """The modules that a module imports, also within functions, each on a line of its own."""
    found = re.findall(
        r"^\s*(?:from (\S+) import|import (\S+))", file.read_text(encoding="utf-8"), re.MULTILINE
    )
    return tuple(sorted({one or other for one, other in found}))


if __name__ == "__main__":
    main()
