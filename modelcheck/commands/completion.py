"""What a shell needs to complete a command line: written by shtab, from the options that there are."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import shtab

from modelcheck.commands.registry import TABLE, Command

Adds = Callable[[str, Command, argparse.ArgumentParser], None]  # adds the options of a command


def completion(shell: str, whole: argparse.ArgumentParser, add_arguments: Adds) -> str:
    """A script that teaches a shell (bash, zsh or tcsh) all groups and commands, their options and values.

    `whole` has the options of modelcheck itself; groups and commands are added to it.
    Costs the import of every command.
    """
    parsers = whole.add_subparsers()
    for name, entry in TABLE.items():
        parser = parsers.add_parser(name, help=entry.summary, description=entry.summary)
        if isinstance(entry, Command):
            _complete(parser, name, entry, add_arguments)
            continue
        inner = parser.add_subparsers()
        for word, command in entry.commands.items():
            one = inner.add_parser(word, help=command.summary, description=command.summary)
            _complete(one, f"{name} {word}", command, add_arguments)
    return shtab.complete(whole, shell)


def _complete(parser: argparse.ArgumentParser, name: str, command: Command, add_arguments: Adds) -> None:
    """Add the options of a command, with files or folders where one takes them."""
    add_arguments(name, command, parser)
    for action in parser._actions:  # noqa: SLF001 - argparse has no other way to list them
        _complete_paths(action)


def _complete_paths(action: argparse.Action) -> None:
    """Let the shell offer files or folders where an option takes one."""
    word = str(action.metavar or "")
    if "DIR" in word or "FOLDER" in word:
        action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    elif action.type is Path or "FILE" in word or "TRACE" in word:
        action.complete = shtab.FILE  # type: ignore[attr-defined]
