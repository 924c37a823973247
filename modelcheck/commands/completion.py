"""What a shell needs to complete a command line: written by shtab, from the options that there are."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

import shtab

Adds = Callable[[argparse.ArgumentParser], None]  # adds the options of a command


def completion(shell: str, commands: Mapping[str, tuple[str, Adds]], whole: argparse.ArgumentParser) -> str:
    """A script that teaches a shell (bash, zsh or tcsh) all commands, their options and their values.

    `commands` has for each what it does and what adds its options; they become commands of `whole`.
    Costs the import of every command.
    """
    parsers = whole.add_subparsers()
    for name, (summary, add_arguments) in commands.items():
        parser = parsers.add_parser(name, help=summary, description=summary)
        add_arguments(parser)
        for action in parser._actions:  # noqa: SLF001 - argparse has no other way to list them
            _complete_paths(action)
    return shtab.complete(whole, shell)


def _complete_paths(action: argparse.Action) -> None:
    """Let the shell offer files or folders where an option takes one."""
    word = str(action.metavar or "")
    if "DIR" in word or "FOLDER" in word:
        action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    elif action.type is Path or "FILE" in word or "TRACE" in word:
        action.complete = shtab.FILE  # type: ignore[attr-defined]
