"""A command that a program asks: its words → the exit code, what it prints, and what it tells."""

from __future__ import annotations

import argparse
import io
import json
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, NoReturn

from modelcheck.commands.limited import limited
from modelcheck.contract.exits import Exit
from modelcheck.storage.output import Output
from spec.diagnostics import mistyped


def asked(command: ModuleType, words: Iterable[str], memory: int | None = None) -> tuple[Exit, str, str]:
    """What a command answers in this process, within a number of bytes. Raises SpecError."""
    args = parsed(command, words)
    return captured(lambda to: limited(lambda: command.run(args, to), memory, to))


def asked_for_data(command: ModuleType, words: Iterable[str]) -> tuple[Exit, Any, str]:
    """The exit code of a command, the data that it prints, and what it tells. Raises SpecError."""
    code, printed, told = asked(command, ["--json", *words])
    return code, json.loads(printed) if printed else None, told


def captured(run: Callable[[Output], int]) -> tuple[Exit, str, str]:
    """The exit code of a command, what it printed, and what it told on standard error."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    code = Exit(run(Output(out, err)))
    out.seek(0)
    err.seek(0)
    return code, out.read(), err.read()


def parsed(command: ModuleType, words: Iterable[str]) -> argparse.Namespace:
    """The arguments of a command. Raises SpecError."""
    parser = _StrictParser(prog=command.__name__.rpartition(".")[2], add_help=False)
    command.add_arguments(parser)
    parser.set_defaults(followups=())  # which are for people
    return parser.parse_args([*words])


class _StrictParser(argparse.ArgumentParser):
    """A parser that raises SpecError where a program would exit."""

    def error(self, message: str) -> NoReturn:
        """Raise the error about the arguments."""
        raise mistyped("arguments", self.prog, message)
