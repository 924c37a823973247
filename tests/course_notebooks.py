"""A lesson of the course as a notebook: its text, with Python in place of its commands, run from above."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

BLOCK = re.compile(
    r"^```sh\n(?P<commands>.*?)^```$(?:\n\n<!-- says -->\n```\n(?P<says>.*?)^```$)?"
    r"|^<!-- (?P<file>\w+)\.rsm: (?P<part>\w+) -->\n```rsm\n(?P<text>.*?)\n```$",
    re.MULTILINE | re.DOTALL,
)
Cell = tuple[str, str]  # its kind and its text


def commands_of(block: re.Match[str]) -> list[str]:
    """The commands of a block, one after another."""
    return [each.strip() for line in block["commands"].splitlines() for each in line.split("&&")]


def notebook(lesson: Path) -> str:
    """The notebook of a lesson, with what its cells say: they are run in the current folder."""
    made, names = list[dict[str, object]](), dict[str, object]()
    for number, (kind, text) in enumerate(cells(lesson.read_text(encoding="utf-8"))):
        cell: dict[str, object] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}}
        cell |= {"source": text.splitlines(keepends=True)}
        if kind == "code":
            said = run(text, names).splitlines(keepends=True)
            shown = {"name": "stdout", "output_type": "stream", "text": said}
            cell |= {"execution_count": None, "outputs": [shown] if said else []}
        made.append(cell)
    about = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    whole = {"cells": made, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def run(text: str, names: dict[str, object]) -> str:
    """What a cell says: what it prints, and the value of its last line, where that is an expression."""
    out, tree = io.StringIO(), ast.parse(text)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(out):
        exec(compile(tree, "cell", "exec"), names)  # noqa: S102 - our own documents
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307 - as above
            out.write("" if value is None else f"{value!r}\n")
    return out.getvalue()


def cells(text: str) -> Iterator[Cell]:
    """The cells of a lesson, in order."""
    yield "code", "import modelcheck\nfrom pathlib import Path"
    at = 0
    for block in BLOCK.finditer(text):
        yield from _words(text[at : block.start()])
        at = block.end()
        if block["file"] is not None:
            yield "code", _edit(block)
        else:
            for command in commands_of(block):
                yield _call(command)
    yield from _words(text[at:])


def _words(text: str) -> Iterator[Cell]:
    if text.strip():
        yield "markdown", text.strip()


def _edit(block: re.Match[str]) -> str:
    name = block["file"]
    parts = f'mine = {{\n    "{block["part"]}": "{block["text"]}",\n}}'
    return f'{parts}\n_ = Path("{name}.rsm").write_text(modelcheck.begin("{name}", mine))'


def _call(command: str) -> Cell:
    """A command of modelcheck as Python; what Python does not have stays a command."""
    match shlex.split(command)[1:]:
        case ["library", "grade", "--exercise", name, "--begin", file]:
            return "code", f'_ = Path("{file}").write_text(modelcheck.begin("{name}"))'
        case ["library", "grade", file, "--exercise", name]:
            grade = f'grade = modelcheck.grade("{file}", "{name}")'
            return "code", f'{grade}\nprint(grade, *grade.hints, sep="\\n")'
        case ["check", file, *options] if "--check" in options:
            return "code", _check(file, options)
        case _:
            return "markdown", f"In a terminal:\n\n```sh\n{command}\n```"


def _check(file: str, options: Sequence[str]) -> str:
    named = {word: options[n + 1] for n, word in enumerate(options) if word in {"--check", "--property"}}
    checks = [options[n + 1] for n, word in enumerate(options) if word == "--check"]
    asked = ", ".join(f'"{each}"' for each in (file, *checks[:1]))
    if "--property" in named:
        name = named["--property"]
        outcome = f'outcome = modelcheck.check({asked}, properties=["{name}"])\nprint(outcome)'
        return f'{outcome}\nprint(modelcheck.draw(outcome.trace("{name}"), "text"))'
    return "\n".join(f'print(modelcheck.check("{file}", "{check}"))' for check in checks)
