"""What a shell needs to complete a command line: written by shtab, from the options that there are."""

from __future__ import annotations

import argparse
from pathlib import Path

import shtab

from modelcheck.commands.parsers import add_commands


def completion(shell: str, whole: argparse.ArgumentParser) -> str:
    """The completion script for a shell (bash, zsh or tcsh).

    `whole` has the options of modelcheck itself; groups and commands are added to it.
    Costs the import of every command.
    """
    for parser in add_commands(whole):
        for action in parser._actions:  # noqa: SLF001 - argparse has no other way to list them
            _complete_paths(action)
    return shtab.complete(whole, shell)


def _complete_paths(action: argparse.Action) -> None:
    """Make an option complete file or folder names."""
    word = str(action.metavar or "")
    if "DIR" in word or "FOLDER" in word:
        action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    elif action.type is Path or "FILE" in word or "TRACE" in word:
        action.complete = shtab.FILE  # type: ignore[attr-defined]
