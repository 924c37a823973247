"""Questions about Kafka as DataFrames: the topics of many clusters, and many configurations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import MapType, StringType

from modelcheck.asking.overrides import as_typed
from modelcheck.asking.sweep import Axis
from modelcheck.commands.kafka.frontier import STATES as STATES_OF_CELL
from modelcheck.commands.kafka.frontier import USUAL_GUARANTEES
from modelcheck.commands.kafka.review import STATES as STATES_OF_REVIEW
from modelcheck.commands.kafka.topic_reviews import TopicReviews, Wanted, topic_question, topics_to_review
from modelcheck.kafka.frontier.configurations import Base, grid, is_key
from modelcheck.kafka.frontier.findings import Frontier
from modelcheck.kafka.frontier.grid import Grid
from modelcheck.kafka.frontier.limits import FaultLimits
from modelcheck.kafka.frontier.search import Answered, answer_of
from modelcheck.kafka.questions.cases import PossibleCase, cases
from modelcheck.kafka.questions.question import GUARANTEES
from modelcheck.kafka.questions.search import Asking, Effort, Unwatched
from modelcheck.kafka.report.topics_csv import (
    ANSWERS,
    SETTINGS,
    TODAY,
    answer_values,
    settings_values,
    today_values,
)
from modelcheck.kafka.settings.keys.releases import kafka
from modelcheck.kafka.settings.readers.recognition import read_files
from modelcheck.kafka.settings.readings import Reading
from modelcheck.kafka.settings.resolution.of_topic import ReadingsOfTopics
from modelcheck.kafka.settings.resolution.possible import resolve_possible
from modelcheck.kafka.settings.resolution.settings import Settings
from modelcheck.processes.workers import Mail
from spark_explore.questions.answered import Asked, TableQuestion, answered, insist_on_type, no_question, said
from spec.diagnostics import Diagnostic, SpecError, mistyped
from spec.frozen import frozen
from spec.source import Source

FILES = "files"
GIVEN = ("kafka", "client", "brokers")  # columns that are the options of the command, where they are there
OPTIONS = tuple(f"--{name}" for name in GIVEN)
NUMBERS = ("brokers", "replicas", "min_insync_replicas", "faults_tried")
FAULTS = 2  # as the commands try
PART, PARTS = 250, 64  # topics that one task reads, but not more parts of a row: each has the files' texts
CELL = pa.schema(
    [
        ("guarantee", pa.string()),
        ("faults_of", pa.string()),
        ("survives", pa.int64()),
        ("survives_any", pa.bool_()),
        ("lost_with", pa.int64()),
        ("run", pa.list_(pa.string())),
        ("complete", pa.bool_()),
        ("states", pa.int64()),
        ("problem", pa.string()),
    ]
)


def reviews(clusters: DataFrame, *, faults: int = FAULTS, states: int = STATES_OF_REVIEW) -> DataFrame:
    """A row for each topic of each cluster: its settings, and the fewest faults that break each guarantee.

    A row of `clusters` has its files in the column `files`, a map from their names to their texts, and
    may have `kafka`, `client` and `brokers`, as the options of `kafka review`; other
    columns are carried along.  The columns are those of `kafka review --csv` that are of the files alone,
    and `problem`.  Topics of the same question are reviewed once, whatever cluster they are of.
    Costs some 2 ms to read a topic, by as many tasks as there are hundreds of them, and a review on one core
    for each distinct question.
    """
    if FILES not in clusters.columns:
        message = "no column has the files of a cluster"
        raise mistyped("columns", ", ".join(clusters.columns), message, f"call a map of them `{FILES}`")
    insist_on_type(clusters, FILES, MapType(StringType(), StringType()))
    columns = [FILES, *(name for name in GIVEN if name in clusters.columns)]
    return answered(clusters, columns, TopicAsker(faults, states), keeps=False)


def frontier(
    configurations: DataFrame,
    *,
    guarantees: Sequence[str] = USUAL_GUARANTEES,
    faults: int = FAULTS,
    states: int = STATES_OF_CELL,
) -> DataFrame:
    """For each configuration, a row for each guarantee and kind of faults: how many it survives.

    Columns with the names of keys of Kafka, `replication.factor` or `kafka` (the release) are its values,
    null what Kafka does by default; others are carried along.  `problem` says why one cannot be.
    Configurations of the same question are asked once, with up to `states` states in each search.
    Raises SpecError for columns of which none is a key.
    """
    keys = [name for name in configurations.columns if is_key(name)]
    if not keys:
        message = "no column is a key of Kafka"
        raise mistyped("columns", ", ".join(configurations.columns), message, "such as `min.insync.replicas`")
    known = {each.name for each in GUARANTEES}
    if strange := [name for name in guarantees if name not in known]:
        raise mistyped("guarantees", strange[0], f"there is no guarantee `{strange[0]}`", ", ".join(known))
    return answered(configurations, keys, ConfigurationAsker(tuple(guarantees), faults, states))


def _type(name: str) -> pa.DataType:
    """The type of a column of a review."""
    return pa.int64() if name in NUMBERS else pa.string()


# ------------------------------------------------------------------------------ topics


@frozen
class TopicsOfCluster:
    """Some topics of a cluster, the readings of its files as far as they bear on these, and its options."""

    topics: Sequence[str | None]
    readings: Sequence[Reading]
    kafka: str | None
    client: str | None
    brokers: int | None

    def settings(self, among: ReadingsOfTopics, topic: str | None) -> tuple[Settings, ...]:
        """The settings of a topic in all cases that the files leave possible. Raises SpecError."""
        own = among.of(topic)
        return resolve_possible(own, kafka=self.kafka, client=self.client, brokers=self.brokers, topic=topic)

    def parts(self, among: ReadingsOfTopics) -> Iterator[TopicsOfCluster]:
        """The same topics, some at a time."""
        named = [name for name in self.topics if name is not None and name in among]
        many = max(PART, -(-len(named) // PARTS))
        if len(named) <= many:
            yield self
            return
        for first in range(0, len(named), many):
            some = named[first : first + many]
            yield replace(self, topics=some, readings=among.among(set(some)))
        if others := [name for name in self.topics if name not in among]:
            yield replace(self, topics=others)  # what all topics are like bears on these


@frozen
class TopicAsker:
    """Asks for the review of each topic of a cluster."""

    faults: int
    states: int
    wanted: Wanted = ((), ())

    @property
    def told(self) -> pa.Schema:
        """The topic and its settings."""
        return pa.schema([("topic", pa.string()), *((name, _type(name)) for name in SETTINGS)])

    @property
    def answer(self) -> pa.Schema:
        """What breaks each guarantee."""
        own = ((name, _type(name)) for name in (*ANSWERS, *TODAY))
        return pa.schema([*own, ("complete", pa.bool_()), ("problem", pa.string())])

    @property
    def mail(self) -> Mail:
        """How reviews are sent: without Kafka's models, and the texts of files, which no answer quotes."""
        return Mail(tuple(kafka().values()), {Source: _without_text})

    def parts(self, values: Asked) -> Iterator[TopicsOfCluster]:
        """The topics of the files, some at a time. Raises SpecError."""
        files: Mapping[str, str | None] = values.get(FILES, {})
        if not files:
            raise mistyped(FILES, "", "the row has no file")
        readings = read_files(files, load=lambda name: (name, _bytes(name, files[name])))
        release, client = (as_typed(values[name]) if name in values else None for name in GIVEN[:2])
        brokers = _brokers(values.get(GIVEN[2]))
        topics = topics_to_review(readings, release)
        whole = TopicsOfCluster(topics, readings, release, client, brokers)
        among = ReadingsOfTopics(readings)
        try:
            whole.settings(among, whole.topics[0])
        except SpecError as error:
            if all(each.source.name in OPTIONS for each in error.diagnostics):
                raise  # of no topic, but of all
        yield from whole.parts(among)

    def read(self, values: TopicsOfCluster) -> Iterator[TableQuestion]:
        """A question for each topic; one whose settings cannot be has a problem."""
        among = ReadingsOfTopics(values.readings)
        for name in values.topics:
            try:
                each = values.settings(among, name)
            except SpecError as error:
                yield no_question(said(error), {"topic": name or ""})
                continue
            possible, topic = cases(each), each[0].topic
            settings = zip(SETTINGS, settings_values(each[0]), strict=True)
            told = {"topic": topic.name if topic else "", **dict(_typed(settings))}
            yield TableQuestion(topic_question(possible, self.wanted), possible, told)

    def ask(self, question: tuple[PossibleCase, ...]) -> Iterator[Mapping[str, Any]]:
        """The row of a review."""
        found = TopicReviews((question,), self.faults, self.wanted, Effort(self.states))(0)
        answers = zip(ANSWERS, answer_values(found), strict=True)
        today = zip(TODAY, today_values(found), strict=True)
        yield {**dict(_typed(answers)), **dict(_typed(today)), "complete": found.complete}


def _bytes(name: str, text: str | None) -> bytes:
    """The bytes of a file. Raises SpecError for one without a text."""
    if text is None:
        raise SpecError([Diagnostic("R0702", Source(name, ""), None, f"`{name}` has no text")])
    return text.encode()


def _brokers(value: str | int | None) -> int | None:
    """A number of brokers, of whatever type its column is. Raises SpecError."""
    if value is None:
        return None
    text = as_typed(value)
    if not re.fullmatch(r"-?[0-9]{1,9}", text):
        raise mistyped("--brokers", text, f"`{text}` is not a whole number of brokers")
    return int(text)


def _without_text(source: Source) -> tuple[Any, ...]:
    """How a file is sent: its name."""
    return Source, (source.name, "", (), source.is_file)


def _typed(values: Any) -> Iterator[tuple[str, object]]:  # noqa: ANN401 - pairs
    """The values by the types of their columns; what is empty is null."""
    for name, value in values:
        yield name, None if value == "" else value if name in NUMBERS else str(value)


# ---------------------------------------------------------------------- configurations


@frozen(slots=False)
class ConfigurationAsker:
    """Asks how many faults a configuration survives."""

    guarantees: tuple[str, ...]
    faults: int
    states: int
    told: pa.Schema = pa.schema([])
    answer: pa.Schema = CELL

    @property
    def mail(self) -> Mail:
        """How configurations are sent: without Kafka's models."""
        return Mail(tuple(kafka().values()))

    def read(self, values: Asked) -> Iterator[TableQuestion]:
        """The question of a configuration. Raises SpecError for one that cannot be."""
        axes = [Axis(name, (str(value).lower(),)) for name, value in values.items()]
        wanted = [each for each in GUARANTEES if each.name in self.guarantees]
        asked = grid(Base(), axes, wanted, FaultLimits(self.faults))
        (row,) = asked.rows
        key = tuple((case.own, case.words, [job.key for job in case.jobs]) for case in row.cases)
        yield TableQuestion(key, asked, {})

    def ask(self, question: Grid) -> Iterator[Mapping[str, Any]]:
        """A row for each guarantee and kind of faults that can happen."""
        (row,) = question.asked
        answers = {job.key: answer_of(self._asking, job) for job in row.jobs}
        found = Frontier(question, Answered(answers, "", 0.0))
        (line,) = found.lines
        for guarantee, kind, answer in found.cells(line):
            if answer is not None:
                survives = None if answer.survived is None or answer.survived < 0 else answer.survived
                yield {
                    "guarantee": guarantee.name,
                    "faults_of": kind,
                    "survives": survives,
                    "survives_any": answer.survived is None,
                    "lost_with": answer.lost_with,
                    "run": None if answer.loss is None else [step.action for step in answer.loss.steps],
                    "complete": answer.complete,
                    "states": answer.states,
                    "problem": answer.why or None,
                }

    @cached_property
    def _asking(self) -> Asking:
        """What searches, in this process."""
        return Asking(Effort(each=self.states, threads=1), Unwatched())
