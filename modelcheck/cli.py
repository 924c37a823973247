"""The command line: reads arguments, runs the command they name, and returns an exit code.

The one module that prints.  For the exit codes see `modelcheck.contract.exits`.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import NoReturn

from modelcheck.contract.exits import Exit, worst
from modelcheck.contract.version import VERSION
from modelcheck.storage.output import Output, own_streams
from spec.diagnostics import SpecError, as_json, suggest

# What each command does, and the module whose `add_arguments` and `run` do it.  A module is
# loaded only for the command that was given, so that `--help` answers at once.
COMMANDS = {
    "check": ("run the checks of model files", "modelcheck.commands.check.command"),
    "sweep": ("answer many checks or configurations, as one table", "modelcheck.commands.sweep"),
    "rates": (
        "say how long until the first loss, where faults and repairs have rates",
        "modelcheck.commands.rates",
    ),
    "necessity": ("say which parts of a protocol its checks need", "modelcheck.commands.necessity"),
    "review": ("say what a Kafka configuration can lose, and how", "modelcheck.commands.kafka.review"),
    "frontier": (
        "say how many faults each of many configurations survives",
        "modelcheck.commands.kafka.frontier",
    ),
    "at-rest": (
        "say what the directories of stopped Kafka brokers hold, and whom to start first",
        "modelcheck.commands.kafka.at_rest",
    ),
    "explain-log": (
        "say which run of the model explains what Kafka brokers left in their directories",
        "modelcheck.commands.kafka.explain_log",
    ),
    "reproduce": (
        "drive a run of the model of Kafka on a real cluster, and compare",
        "modelcheck.commands.kafka.reproduce",
    ),
    "show": ("replay a trace (ITF JSON) on its model and show it", "modelcheck.commands.trace.show"),
    "diff": ("say what two traces, or two states of one, have in common", "modelcheck.commands.trace.diff"),
    "graph": (
        "draw the states and steps of a check, or those around a run",
        "modelcheck.commands.trace.graph",
    ),
    "play": (
        "write a page in which a check's model is played, step by step",
        "modelcheck.commands.trace.play",
    ),
    "shrink": ("make a trace minimal: fewer faults, members and steps", "modelcheck.commands.trace.shrink"),
    "certify": ("check a proof in a file again, by other means", "modelcheck.commands.certify"),
    "export": ("write a model for TLC, SPIN or Murphi", "modelcheck.commands.export"),
    "protocols": (
        "list the protocols that come with it, and what they expect",
        "modelcheck.commands.library.protocols",
    ),
    "compare": (
        "ask several protocols the same, and put the answers in one table",
        "modelcheck.commands.library.compare",
    ),
    "claims": ("say which sentences on quorums and ISRs are true", "modelcheck.commands.library.claims"),
    "grade": ("say what a file is worth as an exercise of the course", "modelcheck.commands.library.grade"),
    "spark": ("say how far a run on Spark is, or what settings it has", "modelcheck.commands.spark"),
    "mcp": ("answer agents: an MCP server on the standard streams", "modelcheck.commands.serve.mcp.command"),
    "lsp": (
        "help an editor with model files: a language server on the standard streams",
        "modelcheck.commands.serve.lsp.command",
    ),
    "bench": ("race other model checkers on one machine", "tools.bench"),
    "fmt": ("format model files", "modelcheck.commands.fmt"),
    "explain": ("say more about the code of an error", "modelcheck.commands.explain"),
}
FOLLOWUPS = {"check": ("modelcheck.commands.kafka.check_reproduction",)}  # see `commands/check/followups.py`
SHELLS = ("bash", "zsh", "tcsh")
EXITS = (
    "exit codes: 0 as expected, 1 a property is violated, 2 the input is wrong, 3 unknown,"
    " 70 a bug in modelcheck"
)


OURS = {"spec", "counterexamples", "modelcheck", "spark_explore"}


class _Quit(Exception):  # noqa: N818 - not an error
    """The parser of arguments has said all there is to say."""

    def __init__(self, code: int) -> None:
        self.code = code
        super().__init__(code)


class _Parser(argparse.ArgumentParser):
    """A parser that returns to `main` where argparse would leave the program."""

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Say a last word, and quit."""
        if message:
            print(message, end="", file=sys.stderr)
        raise _Quit(status)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the arguments, in a few lines."""
        named = (action.metavar or action.dest for action in self._actions if not action.option_strings)
        short = f"{self.prog} [OPTION ...] {' '.join(map(str, named))}   ({self.prog} --help tells more)"
        near = self._near(message)
        help_ = f"  help: {near}\n" if near else ""
        self.exit(Exit.WRONG, f"usage: {self.usage or short}\n{self.prog}: error: {message}\n{help_}")

    def _near(self, message: str) -> str:
        """What may have been meant by the word that argparse did not know, or the options that it misses."""
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
        return suggest(word, known) if ": " in said else ""


def _value(option: argparse.Action) -> str:
    """How the value of an option is told: by its name, or by all that it may be."""
    return str(option.metavar or "|".join(map(str, option.choices or (option.dest.upper(),))))


class _Completion(argparse.Action):
    """Writes a script for a shell, and quits."""

    def __call__(
        self, parser: argparse.ArgumentParser, _namespace: object, shell: object, _option: str | None = None
    ) -> None:
        """Import every command, for its options."""
        from modelcheck.commands.completion import completion  # noqa: PLC0415 - no other needs it

        commands = {name: (summary, partial(_add_arguments, name)) for name, (summary, _) in COMMANDS.items()}
        whole = argparse.ArgumentParser(prog="modelcheck", description="Model checking for replicated logs.")
        whole.add_argument("--version", action="store_true", help="say which version this is")
        print(completion(str(shell), commands, whole))
        parser.exit()


def console() -> int:
    """The exit code of the command line that this process was given; lost output is a failure.

    A closed pipe is not a failure.
    """
    out = own_streams()
    code = main()
    sys.stdout.flush()
    if out.problem is None or isinstance(out.problem, ConnectionError):
        return code
    why = (out.problem.strerror or str(out.problem)).lower()
    print(f"modelcheck: the output cannot be written: {why}", file=sys.stderr)
    return worst([code, Exit.WRONG])


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code of a command line; nothing that a user types shows a traceback."""
    given = list(sys.argv[1:] if argv is None else argv)
    try:
        return _run(given, Output(sys.stdout, sys.stderr))
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


def _run(given: list[str], output: Output) -> int:
    """The exit code of the command that the arguments name."""
    top = _Parser(prog="modelcheck", description=_about(), epilog=EXITS, formatter_class=_Raw, usage=_usage())
    top.add_argument("--version", action="version", version=f"modelcheck {VERSION}")
    top.add_argument(
        "--completion",
        choices=SHELLS,
        action=_Completion,
        help="write what this shell needs to complete command lines, and exit",
    )
    top.add_argument("command", choices=COMMANDS, metavar="COMMAND", help=argparse.SUPPRESS)
    top.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    if not given:
        top.print_help(sys.stderr)
        return Exit.WRONG
    named = top.parse_args(given[: 1 + (given[0] == "--completion")])
    summary, module_name = COMMANDS[named.command]
    module = import_module(module_name)
    parser = _Parser(prog=f"modelcheck {named.command}", description=summary, epilog=EXITS)
    _add_arguments(named.command, parser)
    args = parser.parse_args(given[1:])
    return _limited(module.run, args, output)


def _add_arguments(command: str, parser: argparse.ArgumentParser) -> None:
    """The arguments of a command, with those that others add to it."""
    import_module(COMMANDS[command][1]).add_arguments(parser)
    followups = [import_module(name) for name in FOLLOWUPS.get(command, ())]
    for each in followups:
        each.add_options(parser)
    parser.set_defaults(followups=followups)


def _limited(
    run: Callable[[argparse.Namespace, Output], int], args: argparse.Namespace, output: Output
) -> int:
    """The exit code of a command, which has no more memory than it may, and perhaps a limit of time."""
    from modelcheck.contract.report import Stopped  # noqa: PLC0415 - as above
    from modelcheck.contract.result import End  # noqa: PLC0415 - as above
    from modelcheck.processes.memory import memory_limit  # noqa: PLC0415 - `--help` answers at once
    from modelcheck.processes.signals import requests_to_end  # noqa: PLC0415 - as above
    from modelcheck.processes.watch import watched  # noqa: PLC0415 - as above
    from spec.reading import OutOfTime  # noqa: PLC0415 - as above

    limit = memory_limit(getattr(args, "max_memory", None))
    try:
        with requests_to_end(), watched(None, limit, output.give_up):
            return int(run(args, output))
    except Stopped as stopped:
        output.tell(f"modelcheck: {stopped}; no verdict")
        return Exit.UNKNOWN
    except OutOfTime:
        output.tell(f"modelcheck: {End.SECONDS.value}; no verdict")
        return Exit.UNKNOWN


_Raw = argparse.RawDescriptionHelpFormatter


def _usage() -> str:
    return "modelcheck COMMAND ...   (modelcheck COMMAND --help tells more)"


def _about() -> str:
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name:<{width}}  {summary}" for name, (summary, _) in COMMANDS.items())
    return f"Model checking for replicated logs.\n\ncommands:\n{commands}"


def _tell_mistakes(error: SpecError, output: Output, *, as_data: bool) -> None:
    """What is wrong with the input: as JSON on the output, or for people beside it."""
    if as_data:
        output.json({"errors": [as_json(each) for each in error.diagnostics]})
    else:
        output.mistakes(error)
