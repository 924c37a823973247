"""The command line: reads arguments, runs the command they name, and returns an exit code.

The one module that prints.  For the exit codes see `modelcheck.contract.exits`.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import NoReturn

from modelcheck.commands.limited import limited
from modelcheck.commands.parsers import add_arguments
from modelcheck.commands.registry import (
    ALIASES,
    COMMANDS,
    SCRIPTS,
    TABLE,
    Command,
    CommandGroup,
    renamed,
)
from modelcheck.contract.exits import Exit, worst
from modelcheck.contract.version import VERSION
from modelcheck.storage.output import Output, own_streams
from spec.diagnostics import SpecError, as_json, nearest, suggest
from spec.reading import reason_of

TITLE = "Model checking for replicated logs."
LAST_WORDS = {name.split()[-1]: name for name in COMMANDS}
SHELLS = ("bash", "zsh", "tcsh")
EXITS = (
    "exit codes: 0 as expected, 1 a property is violated, 2 the input is wrong, 3 unknown,"
    " 70 a bug in modelcheck"
)


OURS = {"spec", "counterexamples", "modelcheck", "spark_explore"}


class _Quit(Exception):  # noqa: N818 - not an error
    """Raised in place of a program exit by the argument parser."""

    def __init__(self, code: int) -> None:
        self.code = code
        super().__init__(code)


class _Parser(argparse.ArgumentParser):
    """An argument parser that raises _Quit instead of exiting."""

    meant: Mapping[str, str] = {}  # what to write in place of words that were perhaps meant

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Print a message, and raise _Quit."""
        if message:
            print(message, end="", file=sys.stderr)
        raise _Quit(status)

    def error(self, message: str) -> NoReturn:
        """Print an error about the arguments in a few lines, and raise _Quit."""
        named = (action.metavar or action.dest for action in self._actions if not action.option_strings)
        short = f"{self.prog} [OPTION ...] {' '.join(map(str, named))}   (details: {self.prog} --help)"
        near = self._near(message)
        help_ = f"  help: {near}\n" if near else ""
        self.exit(Exit.WRONG, f"usage: {self.usage or short}\n{self.prog}: error: {message}\n{help_}")

    def _near(self, message: str) -> str:
        """Advice with a similar option or command."""
        _, _, missing = message.partition("arguments are required: ")
        wanted = [a for a in self._actions if a.option_strings and a.option_strings[0] in missing.split(", ")]
        if wanted:
            return f"add {' '.join(f'{a.option_strings[0]} {_value(a)}' for a in wanted)}"
        said, _, choices = message.partition(" (choose from ")
        options = [option for action in self._actions for option in action.option_strings]
        known = [choice.strip(" ')") for choice in choices.split(",")] if choices else options
        word = said.rpartition(": ")[2].split(" ")[0].strip("'")
        initial = [option for option in options if len(word) == 2 and option.startswith(f"-{word}")]
        if initial:  # elsewhere a letter is short for such an option
            return f"did you mean `{initial[0]}`?"
        if ": " not in said:
            return ""
        if not (choices and self.meant):
            return suggest(word, known)
        near = word if word in self.meant else nearest(word, self.meant)
        return f"did you mean `{self.meant[near]}`?" if near else ""


def _value(option: argparse.Action) -> str:
    """The placeholder for an option's value: its name, or all its choices."""
    return str(option.metavar or "|".join(map(str, option.choices or (option.dest.upper(),))))


class _Completion(argparse.Action):
    """An argparse action that prints a completion script."""

    def __call__(
        self, parser: argparse.ArgumentParser, _namespace: object, shell: object, _option: str | None = None
    ) -> None:
        """Print the script; imports every command for its options."""
        from modelcheck.commands.completion import completion  # noqa: PLC0415 - no other needs it

        whole = argparse.ArgumentParser(prog="modelcheck", description=TITLE)
        whole.add_argument("--version", action="store_true", help="show the version and exit")
        print(completion(str(shell), whole))
        parser.exit()


def console() -> int:
    """The exit code for this process's command line; lost output is a failure.

    A closed pipe is not a failure.
    """
    out = own_streams()
    code = main()
    sys.stdout.flush()
    if out.problem is None or isinstance(out.problem, ConnectionError):
        return code
    why = reason_of(out.problem)
    print(f"modelcheck: the output cannot be written: {why}", file=sys.stderr)
    return worst([code, Exit.WRONG])


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code of a command line; wrong input never shows a traceback."""
    given = list(sys.argv[1:] if argv is None else argv)
    return _guarded(partial(_run, given), given)


def script(name: str, given: Sequence[str]) -> int:
    """The exit code of a script of the repository, with the same error handling."""
    return _guarded(partial(_run_command, name, name, SCRIPTS[name], given), given)


def _guarded(run: Callable[[Output], int], given: Sequence[str]) -> int:
    """The exit code of `run`, with failures reported in a line or two."""
    try:
        return run(Output(sys.stdout, sys.stderr))
    except _Quit as quit_:
        return quit_.code
    except SpecError as error:
        _tell_mistakes(error, Output(sys.stdout, sys.stderr), as_data="--json" in given)
        return Exit.WRONG
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] in OURS:
            raise
        print(f"modelcheck: {missing.name} is not installed, and needed for this", file=sys.stderr)
        return Exit.WRONG
    except KeyboardInterrupt:
        print("modelcheck: interrupted", file=sys.stderr)
        return Exit.UNKNOWN
    except MemoryError:
        print("modelcheck: out of memory; no verdict", file=sys.stderr)
        return Exit.UNKNOWN
    except Exception:  # noqa: BLE001 - whatever gets here is a bug, and is reported as one
        traceback.print_exc()
        print(
            "modelcheck: this is a bug in modelcheck, please report it with the text above", file=sys.stderr
        )
        return Exit.BUG


def _run(given: Sequence[str], output: Output) -> int:
    """The exit code of the command that the arguments name."""
    if (found := renamed(given)) is not None:
        output.tell(found.notice)
        if found.name in SCRIPTS:
            return _run_command(found.name, found.name, SCRIPTS[found.name], found.words, output)
        given = [*found.name.split(), *found.words]
    if not given:
        _top().print_help(sys.stderr)
        return Exit.WRONG
    name = str(_top().parse_args(given[: 1 + (given[0] == "--completion")]).command)
    words, entry = given[1:], TABLE[name]
    if isinstance(entry, CommandGroup):
        group = _group(name, entry)
        if not words:
            group.print_help(sys.stderr)
            return Exit.WRONG
        inner = str(group.parse_args(words[:1]).command)
        name, words, entry = f"{name} {inner}", words[1:], entry.commands[inner]
    return _run_command(name, f"modelcheck {name}", entry, words, output)


def _run_command(name: str, prog: str, command: Command, words: Sequence[str], output: Output) -> int:
    """The exit code of a command."""
    from modelcheck.processes.signals import requests_to_end  # noqa: PLC0415 - `--help` answers at once

    parser = _Parser(prog=prog, description=f"{command.summary}.", epilog=EXITS)
    add_arguments(name, command, parser)
    args = parser.parse_args(words)
    run = import_module(command.module).run
    with requests_to_end():
        return limited(partial(run, args, output), getattr(args, "max_memory", None), output)


def _top() -> _Parser:
    """The parser for the first word: a command, group or global option."""
    top = _chooser("modelcheck", TITLE, TABLE, LAST_WORDS | ALIASES | {name: name for name in TABLE})
    top.add_argument(
        "--version", action="version", version=f"modelcheck {VERSION}", help="show the version and exit"
    )
    top.add_argument(
        "--completion",
        choices=SHELLS,
        action=_Completion,
        metavar="SHELL",
        help=f"write a completion script for {', '.join(SHELLS[:-1])} or {SHELLS[-1]}",
    )
    return top


def _group(name: str, group: CommandGroup) -> _Parser:
    """The parser for the word after a group's name."""
    elsewhere = {word: f"modelcheck {whole}" for word, whole in (LAST_WORDS | ALIASES).items()}
    own = {word: f"{name} {word}" for word in group.commands}
    return _chooser(f"modelcheck {name}", f"{group.summary}.", group.commands, elsewhere | own)


def _chooser(
    prog: str, about: str, table: Mapping[str, Command | CommandGroup], meant: Mapping[str, str]
) -> _Parser:
    """A parser for one word of a table; `meant` has corrections for near misses."""
    width = max(map(len, table))
    commands = "\n".join(f"  {name:<{width}}  {entry.summary}" for name, entry in table.items())
    parser = _Parser(
        prog=prog,
        usage=f"{prog} COMMAND ...   (details: {prog} COMMAND --help)",
        description=f"{about}\n\ncommands:\n{commands}",
        epilog=EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.meant = meant
    parser.add_argument("command", choices=table, metavar="COMMAND", help=argparse.SUPPRESS)
    return parser


def _tell_mistakes(error: SpecError, output: Output, *, as_data: bool) -> None:
    """Print diagnostics: as JSON on the output, or for people on standard error."""
    if as_data:
        output.json({"errors": [as_json(each) for each in error.diagnostics]})
    else:
        output.mistakes(error)
