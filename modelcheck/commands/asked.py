"""A command that a program asks: its words → the exit code, what it prints, and what it tells."""

from __future__ import annotations

import argparse
import io
import json
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, NoReturn

from modelcheck.commands.limited import limited
from modelcheck.commands.parsers import add_arguments
from modelcheck.commands.registry import COMMANDS
from modelcheck.contract.exits import Exit
from modelcheck.storage.output import Output
from spec.diagnostics import mistyped


def asked(name: str, words: Iterable[str], memory: int | None = None) -> tuple[Exit, str, str]:
    """What a command answers in this process, within so many bytes.

    `name` is as on the command line, such as `kafka review`.  Raises SpecError.
    """
    args, command = parsed(name, words), import_module(COMMANDS[name].module)
    return captured(lambda to: limited(lambda: command.run(args, to), memory, to))


def asked_for_data(name: str, words: Iterable[str]) -> tuple[Exit, Any, str]:
    """The exit code of a command, the data that it prints, and what it tells. Raises SpecError."""
    code, printed, told = asked(name, ["--json", *words])
    return code, json.loads(printed) if printed else None, told


def captured(run: Callable[[Output], int]) -> tuple[Exit, str, str]:
    """The exit code of a command, what it printed, and what it told on standard error."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    code = Exit(run(Output(out, err)))
    out.seek(0)
    err.seek(0)
    return code, out.read(), err.read()


def parsed(name: str, words: Iterable[str]) -> argparse.Namespace:
    """The arguments of a command. Raises SpecError."""
    parser = _StrictParser(prog=name)
    add_arguments(name, COMMANDS[name], parser)
    return parser.parse_args([*words])


class _StrictParser(argparse.ArgumentParser):
    """A parser that raises SpecError where a program would exit."""

    def error(self, message: str) -> NoReturn:
        """Raise the error about the arguments."""
        raise mistyped("arguments", self.prog, message)
