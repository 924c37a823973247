"""Commands as questions of a DataFrame, a row has the words of one: rates, simulations, logs to explain."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, StringType

from modelcheck.commands.asked import asked_for_data
from modelcheck.commands.registry import COMMANDS
from modelcheck.processes.workers import Mail
from spark_explore.questions.answered import Asked, TableQuestion, answered, insist_on_type
from spec.diagnostics import mistyped, suggest
from spec.frozen import frozen

WORDS = "words"
ANSWER = pa.schema(
    [("exit", pa.int32()), ("data", pa.string()), ("says", pa.string()), ("problem", pa.string())]
)
KNOWN = ("rates", "check", "kafka explain-log", "kafka inspect", "necessity")


def commands(questions: DataFrame, command: str) -> DataFrame:
    """Each row with what a command answers to its words: exit code, data as JSON, what it says.

    `command` is as on the command line, such as `rates` or `kafka explain-log`; its words after that
    are in the column `words`, an array, without --json; others are carried along.  `data` is what --json
    prints, for Spark's `get_json_object`; `problem` is why there is none.  Equal words are asked once.
    Files and directories that words name must be there on every machine; random runs need a `--seed`, else a
    task that is done again has others.  Raises SpecError for another command, and without such a column.
    """
    if command not in KNOWN:
        help_ = suggest(command, KNOWN) or f"there are {', '.join(KNOWN)}"
        raise mistyped("command", command, f"`{command}` is not asked of a table", help_)
    if WORDS not in questions.columns:
        message = "no column has the words of a command"
        raise mistyped("columns", ", ".join(questions.columns), message, f"call an array of them `{WORDS}`")
    insist_on_type(questions, WORDS, ArrayType(StringType()))
    return answered(questions, [WORDS], CommandAsker(command))


@frozen
class CommandAsker:
    """Asks a command with the words of a row."""

    command: str
    told: pa.Schema = pa.schema([])
    answer: pa.Schema = ANSWER

    @property
    def mail(self) -> Mail:
        """How words are sent: as they are."""
        return Mail(())

    def read(self, values: Asked) -> Iterator[TableQuestion]:
        """The question of the words. Raises SpecError for a null."""
        words = values.get(WORDS, ())
        if None in words:
            raise mistyped(WORDS, "", f"word {1 + words.index(None)} of {len(words)} is null")
        yield TableQuestion(tuple(words), tuple(words), {})

    def ask(self, question: tuple[str, ...]) -> Iterator[Mapping[str, Any]]:
        """The row of the answer. Raises SpecError."""
        command = import_module(COMMANDS[self.command].module)
        code, data, says = asked_for_data(command, question)
        yield {"exit": int(code), "data": None if data is None else json.dumps(data), "says": says}
