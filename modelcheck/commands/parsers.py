"""The arguments of each command, and all commands below one parser."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib import import_module

from modelcheck.commands.registry import FOLLOWUPS, TABLE, Command


def add_arguments(name: str, command: Command, parser: argparse.ArgumentParser) -> None:
    """Add a command's arguments, and those that others add to it. Costs importing its module."""
    import_module(command.module).add_arguments(parser)
    followups = [import_module(module) for module in FOLLOWUPS.get(name, ())]
    for each in followups:
        each.add_options(parser)
    parser.set_defaults(followups=followups)


def add_commands(whole: argparse.ArgumentParser) -> tuple[argparse.ArgumentParser, ...]:
    """Add all groups and commands to a parser; returns the commands' parsers.

    Costs the import of every command.
    """
    return tuple(_added(whole))


def _added(whole: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parsers of all commands."""
    parsers = whole.add_subparsers()
    for name, entry in TABLE.items():
        parser = parsers.add_parser(name, help=entry.summary, description=entry.summary)
        if isinstance(entry, Command):
            add_arguments(name, entry, parser)
            yield parser
            continue
        inner = parser.add_subparsers()
        for word, command in entry.commands.items():
            one = inner.add_parser(word, help=command.summary, description=command.summary)
            add_arguments(f"{name} {word}", command, one)
            yield one
