"""The commands of the command line, by group: the one table of their names, modules and former names.

Imports none of them, so that `--help` costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spec.frozen import frozen


@frozen
class Command:
    """A command: its help sentence, its module, and its former name.

    The module has `add_arguments(parser)` and `run(args, output)`, which returns the exit code.
    """

    summary: str
    module: str
    formerly: str = ""


@frozen
class CommandGroup:
    """A group of commands with one subject."""

    summary: str
    commands: Mapping[str, Command]


TABLE: Mapping[str, Command | CommandGroup] = {
    "check": Command("Check the properties of a model", "modelcheck.commands.check.command"),
    "prove": Command("Prove properties for every scope, finding the lemmas", "modelcheck.commands.prove"),
    "sweep": Command("Check a model over many configurations, as one table", "modelcheck.commands.sweep"),
    "necessity": Command(
        "Find the guards and fields that no check needs (mutation testing)", "modelcheck.commands.necessity"
    ),
    "rates": Command(
        "Estimate the mean time to data loss from fault and repair rates", "modelcheck.commands.rates"
    ),
    "export": Command("Translate a check for TLC, SPIN or Murphi", "modelcheck.commands.export"),
    "certify": Command(
        "Re-check a proof certificate with independent solvers", "modelcheck.commands.certify"
    ),
    "fmt": Command("Format model files", "modelcheck.commands.fmt"),
    "explain": Command("Explain an error code", "modelcheck.commands.explain"),
    "kafka": CommandGroup(
        "Review Kafka configurations, and explain what brokers left on disk",
        {
            "review": Command(
                "Find what a Kafka configuration can lose, and the fewest faults that lose it",
                "modelcheck.commands.kafka.review",
                "review",
            ),
            "frontier": Command(
                "Compare configurations by the number of faults that each survives",
                "modelcheck.commands.kafka.frontier",
                "frontier",
            ),
            "inspect": Command(
                "Inspect the log directories of stopped brokers, and recommend a start order",
                "modelcheck.commands.kafka.inspect",
                "at-rest",
            ),
            "explain-log": Command(
                "Reconstruct the sequence of failures that explains the files of brokers",
                "modelcheck.commands.kafka.explain_log",
                "explain-log",
            ),
            "reproduce": Command(
                "Drive a counterexample on a real Kafka cluster, and compare",
                "modelcheck.commands.kafka.reproduce",
                "reproduce",
            ),
        },
    ),
    "trace": CommandGroup(
        "Show, compare, shrink and draw counterexamples",
        {
            "show": Command(
                "Replay a trace on its model, and show it as a story or a picture",
                "modelcheck.commands.trace.show",
                "show",
            ),
            "diff": Command(
                "Compare two traces, or two states of one trace", "modelcheck.commands.trace.diff", "diff"
            ),
            "shrink": Command(
                "Minimise a trace: fewer faults, members and steps",
                "modelcheck.commands.trace.shrink",
                "shrink",
            ),
            "graph": Command(
                "Draw the state graph of a check, or the part around a trace",
                "modelcheck.commands.trace.graph",
                "graph",
            ),
            "play": Command(
                "Write a page to step through a model in the browser",
                "modelcheck.commands.trace.play",
                "play",
            ),
        },
    ),
    "library": CommandGroup(
        "Browse and compare the protocols, claims and exercises that come with modelcheck",
        {
            "list": Command(
                "List the protocols and the verdicts of their checks",
                "modelcheck.commands.library.list",
                "protocols",
            ),
            "show": Command(
                "Show a protocol: its file, or what each of its checks expects",
                "modelcheck.commands.library.show",
            ),
            "compare": Command(
                "Compare protocols on the same questions", "modelcheck.commands.library.compare", "compare"
            ),
            "claims": Command(
                "Verify textbook claims about quorums and in-sync replicas",
                "modelcheck.commands.library.claims",
                "claims",
            ),
            "grade": Command("Grade a course exercise", "modelcheck.commands.library.grade", "grade"),
        },
    ),
    "spark": CommandGroup(
        "Follow a run on Spark, write its states as a table, and list the settings of Spark",
        {
            "status": Command(
                "Show the progress of a run, while it works or afterwards", "modelcheck.commands.spark.status"
            ),
            "table": Command(
                "Write the states or transitions of a run as Parquet or a table",
                "modelcheck.commands.spark.table",
            ),
            "settings": Command(
                "List the settings that a check starts Spark with", "modelcheck.commands.spark.settings"
            ),
        },
    ),
    "serve": CommandGroup(
        "Run the language server for editors, or the MCP server for agents",
        {
            "lsp": Command(
                "Run the language server over stdio", "modelcheck.commands.serve.lsp.command", "lsp"
            ),
            "mcp": Command("Run the MCP server over stdio", "modelcheck.commands.serve.mcp.command", "mcp"),
        },
    ),
}
BENCH = "python -m tools.bench"  # a script of the repository, which the wheel does not have
SCRIPTS = {BENCH: Command("Race modelcheck against other model checkers", "tools.bench", "bench")}
FOLLOWUPS = {"check": ("modelcheck.commands.kafka.check_reproduction",)}  # see `commands/check/followups.py`


def _flat(table: Mapping[str, Command | CommandGroup]) -> dict[str, Command]:
    """The commands by full name."""
    found: dict[str, Command] = {}
    for name, entry in table.items():
        if isinstance(entry, CommandGroup):
            found |= {f"{name} {inner}": command for inner, command in entry.commands.items()}
        else:
            found[name] = entry
    return found


COMMANDS = _flat(TABLE)  # by their whole names, such as `kafka review`
ALIASES = {each.formerly: name for name, each in (COMMANDS | SCRIPTS).items() if each.formerly}


@frozen
class FormerCall:
    """A command line with a former name: that name, the new one, and the other words."""

    formerly: str
    name: str
    words: Sequence[str]

    @property
    def notice(self) -> str:
        """The message with the new name."""
        return f"modelcheck: `{self.formerly}` is now `{self.name}`"


def renamed(given: Sequence[str]) -> FormerCall | None:
    """A command line with a former name, rewritten to the new one; None if it has none.

    >>> renamed(["at-rest", "--json", "DIR"])
    FormerCall(formerly='at-rest', name='kafka inspect', words=['--json', 'DIR'])
    >>> renamed(["protocols", "show", "raft"]).notice
    'modelcheck: `protocols show` is now `library show --source`'
    """
    if not given or given[0] not in ALIASES:
        return None
    formerly, *words = given
    if formerly == "protocols" and (named := [word for word in words if not word.startswith("-")]):
        if named[0] != "show":
            return FormerCall("protocols NAME", "library show", words)
        words.remove("show")
        return FormerCall("protocols show", "library show --source", words)
    return FormerCall(formerly, ALIASES[formerly], words)
