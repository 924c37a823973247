"""Configurations of Kafka as the rows of a frontier: keys over values, in one or several releases.

NOTE(alike): `min.insync.replicas` is read by no step and no property of the model unless the producer
waits for all replicas, the high watermark stops below it, or eligible leader replicas hang
on it.  Configurations that differ in nothing else have the same answers, and are asked about once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

import spec.model.ir as ir
from counterexamples.lines import count
from modelcheck.asking.sweep import MOST_POINTS, Axis
from modelcheck.kafka.frontier.grid import NOT_READ, SETTING, ConfigurationRow, Grid, Job, RowCase
from modelcheck.kafka.frontier.limits import FaultLimits, near, wrong
from modelcheck.kafka.questions.cases import PossibleCase, cases
from modelcheck.kafka.questions.partition import PartitionModel
from modelcheck.kafka.questions.question import (
    ANY,
    KINDS,
    MOVE,
    FaultKind,
    Guarantee,
    Posed,
    Question,
    fault_kinds,
    groups,
    posed,
    under_moves,
    varying_family,
)
from modelcheck.kafka.settings.keys.catalogue import FACTOR, find, meant
from modelcheck.kafka.settings.keys.key import BadValueError, CatalogueKey, Reader, Standing, Type, parse
from modelcheck.kafka.settings.keys.versions import BadVersionError, Version, of, version
from modelcheck.kafka.settings.provenance import ResolutionDiagnostics
from modelcheck.kafka.settings.readings import FileKind, Given, Reading, SettingLayer
from modelcheck.kafka.settings.resolution.clients import stated_client
from modelcheck.kafka.settings.resolution.cluster import stated_version
from modelcheck.kafka.settings.resolution.possible import in_words, may_lack_elr, resolve_possible
from modelcheck.kafka.settings.resolution.settings import Settings
from spec.diagnostics import SpecError
from spec.frozen import frozen
from spec.source import Source, Span

OVER = "--over"
RELEASE = "kafka"
_NAMES = {"replication.factor": FACTOR}
ONE_REPLICA = (
    "there is 1 replica, the default where nothing gives replication.factor: --over replication.factor=3"
)
_BEGAN = (
    "with Kafka 4.1 or later: a cluster that began with it; one that was upgraded has no eligible leader"
    " replicas (eligible.leader.replicas.version) of itself"
)
_HEADS = {
    FACTOR: "replicas",
    "min.insync.replicas": "min ISR",
    "unclean.leader.election.enable": "unclean",
    "eligible.leader.replicas.version": "ELR",
}
PEERS = "of the same release with as many replicas or fewer"
DEFAULT = "default"  # as a value: what the release or the client takes where it is not given
_WORDS = {"true": "yes", "false": "no"}
USUAL = (  # what is varied by default
    "replication.factor=1..3",
    "min.insync.replicas=1..3",
    "acks=0,1,all",
    "unclean.leader.election.enable=true,false",
)


AS_IT_COMES = "as it comes"  # the first row of a star
STAR = (  # what the other rows change, one at a time
    ("acks", ("0", "1", "all")),
    ("min.insync.replicas", ("1", "2", "3")),
    ("unclean.leader.election.enable", ("true", "false")),
    ("eligible.leader.replicas.version", ("0", "1")),
    ("log.flush.interval.messages", ("1",)),
)
THREE = "3"  # replicas, where systems with as many servers are compared


@frozen
class Base:
    """What all configurations share: the files, and the options given with them."""

    readings: tuple[Reading, ...] = ()
    kafka: str | None = None
    client: str | None = None
    brokers: int | None = None
    topic: str | None = None


def grid(base: Base, axes: Sequence[Axis], guarantees: Sequence[Guarantee], asked: FaultLimits) -> Grid:
    """A row for each combination of values on the axes; impossible ones are left out, with the reason.

    Raises SpecError for a key that decides nothing here, a value that no release takes, and too many rows.
    """
    axes = [_known(axis) for axis in axes]
    twice = next((axis for n, axis in enumerate(axes) if axis.name in {each.name for each in axes[:n]}), None)
    if twice is not None:
        text = f"{twice.name}={','.join(twice.values)}"
        wrong(OVER, text, twice.name, f"`{twice.name}` is given twice", "give all its values at once")
    many = math.prod(len(axis.values) for axis in axes)
    if many > MOST_POINTS:
        text = " ".join(axis.name for axis in axes)
        wrong(OVER, text, "", f"{many:,} configurations are too many, more than {MOST_POINTS:,}")
    _insist_on_values(base, axes)
    names = [axis.name for axis in axes]
    made = [
        _made(base, dict(zip(names, values, strict=True)), guarantees, asked)
        for values in product(*(axis.values for axis in axes))
    ]
    rows = {each.row.values: each.row for each in reversed(made)}  # of several with the same values the first
    in_order = tuple(rows[values] for values in dict.fromkeys(each.row.values for each in made))
    _insist_on_one(in_order)
    releases = {each.release for each in made}
    notes = [ONE_REPLICA] if not base.readings and FACTOR not in names else []
    notes += [note for each in made for note in each.notes]
    return _grid(
        f"Kafka {releases.pop()}" if len(releases) == 1 else "Kafka",
        tuple(_HEADS.get(name, name) for name in names),
        in_order,
        guarantees,
        asked,
        tuple(dict.fromkeys(notes)),
    )


def star(base: Base, guarantees: Sequence[Guarantee], asked: FaultLimits) -> Grid:
    """A row for three replicas as they come, and one for each other value of one key; none is unread."""
    first = _made(base, {FACTOR: THREE}, guarantees, asked)
    rows, defaults = [replace(first.row, values=(AS_IT_COMES,))], []
    for name, values in STAR:
        *_, default = _made(base, {FACTOR: THREE, name: DEFAULT}, guarantees, asked).row.values
        if default == NOT_READ:
            continue
        defaults.append(f"{name}={next((v for v in values if _shown(name, v) == default), default)}")
        for value in values:
            if _shown(name, value) != default:
                row = _made(base, {FACTOR: THREE, name: value}, guarantees, asked).row
                rows.append(replace(row, values=(f"{name}={value}",)))
    return _grid(
        f"Kafka {first.release}",
        (SETTING,),
        rows,
        guarantees,
        asked,
        (*first.notes, f"{AS_IT_COMES}: Kafka {first.release}, three replicas, {', '.join(defaults)}"),
    )


def is_key(name: str) -> bool:
    """Whether configurations of Kafka can be varied over a name."""
    key = find(_NAMES.get(name, name))
    return name == RELEASE or (key is not None and key.standing is Standing.MODELLED)


def of_three(base: Base, axes: Sequence[Axis], guarantees: Sequence[Guarantee], asked: FaultLimits) -> Grid:
    """The grid of three replicas, whose heads are keys, unless the axes vary how many there are."""
    given = [_NAMES.get(axis.name, axis.name) for axis in axes]
    if FACTOR in given:
        return replace(grid(base, axes, guarantees, asked), heads=tuple(given))
    made = grid(base, [Axis(FACTOR, (THREE,)), *axes], guarantees, asked)
    return replace(
        made, heads=tuple(given), rows=tuple(replace(row, values=row.values[1:]) for row in made.rows)
    )


def _grid(
    title: str,
    heads: tuple[str, ...],
    rows: Sequence[ConfigurationRow],
    guarantees: Sequence[Guarantee],
    asked: FaultLimits,
    notes: tuple[str, ...],
) -> Grid:
    """The grid of these rows, with the kinds of faults that are asked of them."""
    there = {posed.question.kind for row in rows for job in row.jobs for posed in job.alone}
    known = {MOVE: "leadership is moved, and nothing is wrong"} | {kind.name: kind.title for kind in KINDS}
    kinds = {name: title for name, title in known.items() if name in there}
    is_star = heads == (SETTING,)
    return Grid(title, heads, tuple(rows), tuple(guarantees), kinds, asked.faults, notes, PEERS, is_star)


@frozen
class _Made:
    """The row of a configuration with its release, or the first and the last, and notes for the table."""

    row: ConfigurationRow
    release: str
    notes: tuple[str, ...] = ()


def _made(base: Base, point: Mapping[str, str], guarantees: Sequence[Guarantee], asked: FaultLimits) -> _Made:
    """The row of the configuration at a point of the grid."""
    release = _release(base, point)
    named = point.get(RELEASE, base.kafka)
    try:
        possible = resolve_possible(
            _readings(base, point, release),
            kafka=named or (None if base.readings else str(release)),  # without files the title names it
            client=base.client,
            brokers=base.brokers,
            topic=base.topic,
            is_new=not base.readings,
        )
    except SpecError as error:
        shown = tuple(_shown(name, value) for name, value in point.items())
        return _Made(ConfigurationRow(shown, left_out=error.diagnostics[0].message), str(release))
    settings = possible[0]
    unread = _unread(settings, point)
    shown = tuple(_counts(settings, name, value, unread) for name, value in point.items())
    notes = tuple(f"{NOT_READ} Kafka {release} has no {name}{_instead(settings, name)}" for name in unread)
    if not base.readings and may_lack_elr(settings):
        notes = (*notes, _BEGAN)
    found = cases(possible)
    why = next(filter(None, (_impossible(case.settings[0], case.partition, point) for case in found)), "")
    if why:
        return _Made(ConfigurationRow(shown, left_out=why), str(release), notes)
    replicas = found[0].partition.replicas
    asked_cases = tuple(_case(case, possible, guarantees, asked) for case in found)
    row = ConfigurationRow(shown, asked_cases, (replicas,), (str(release),))
    releases = [each.version.value for each in possible]
    first, last = min(releases), max(releases)
    return _Made(row, str(release) if first == last else f"{first} to {last}", notes)


def _case(
    case: PossibleCase, among: Sequence[Settings], guarantees: Sequence[Guarantee], asked: FaultLimits
) -> RowCase:
    """A case that is possible, with its jobs; `among` are the settings of all cases."""
    own = {"min_isr": case.partition.scope(0).config["min_isr"]}
    return RowCase(
        tuple(_jobs(_alike(case.partition), guarantees, asked)), own, in_words(case.settings, among)
    )


# ------------------------------------------------------------------ what is typed


def _known(axis: Axis) -> Axis:
    """The axis under its key's name. Raises SpecError for a name that does not affect the answer."""
    name = _NAMES.get(axis.name, axis.name)
    key = find(name)
    if name == RELEASE:
        return axis
    if key is not None and key.standing is Standing.MODELLED:
        return replace(axis, name=key.name)
    text = f"{axis.name}={','.join(axis.values)}"
    if key is not None:
        message = f"`{axis.name}` is outside the model: all configurations would have the same answers"
        wrong(OVER, text, axis.name, message, key.why, code="R0902")
    known = (RELEASE, "replication.factor", "min.insync.replicas", "acks", "unclean.leader.election.enable")
    slip = meant(axis.name)
    help_ = f"did you mean `{slip}`?" if slip else near(axis.name, known)
    message = f"`{axis.name}` is no key that decides what Kafka loses"
    return wrong(OVER, text, axis.name, message, help_, code="R0902")


def _insist_on_values(base: Base, axes: Sequence[Axis]) -> None:
    """Raise SpecError for an invalid value, in any release on the axes."""
    said = next((axis.values for axis in axes if axis.name == RELEASE), (base.kafka,) if base.kafka else ())
    releases = []
    for text in said:
        try:
            releases.append(version(text))
        except BadVersionError as error:
            wrong(OVER, f"{RELEASE}={','.join(said)}", text, error.message, error.advice, code="R0710")
    releases = releases or [_release(base, {})]
    for axis in axes:
        key = find(axis.name)
        for value in axis.values:
            if key is None or value == DEFAULT:
                continue
            problems = [_problem(key, value, release) for release in releases]
            if all(problem is not None for problem in problems) and problems[0] is not None:
                text = f"{axis.name}={','.join(axis.values)}"
                wrong(OVER, text, value, problems[0].message, problems[0].advice)


def _insist_on_one(rows: Sequence[ConfigurationRow]) -> None:
    """Raise SpecError if every configuration is left out."""
    reasons = list(dict.fromkeys(row.left_out for row in rows))
    if "" not in reasons:
        wrong(OVER, OVER, "", f"none of these can be had: {reasons[0]}", "; ".join(reasons[1:4]))


def _problem(key: CatalogueKey, value: str, release: Version) -> BadValueError | None:
    """The error in a value for a key in a release, or None."""
    try:
        parse(key, _spelt(key, value, release), release)
    except BadValueError as error:
        return error
    return None


def _shown(name: str, value: str) -> str:
    """A value as tables show it."""
    key = find(name)
    if key is not None and key.type is Type.BOOLEAN:
        return _WORDS.get(value.lower(), value)
    return "all" if key is not None and key.type is Type.ACKS and value == "-1" else value


def _counts(settings: Settings, name: str, value: str, unread: Sequence[str]) -> str:
    """The effective value of a key, as tables show it."""
    if name in unread:
        return NOT_READ
    return _shown(name, str(settings.value(name).value).lower() if value == DEFAULT else value)


# ------------------------------------------------------------------ one configuration


def _release(base: Base, point: Mapping[str, str]) -> Version:
    """The release at a point of the grid."""
    return stated_version(base.readings, point.get(RELEASE, base.kafka), ResolutionDiagnostics()).value


def _readings(base: Base, point: Mapping[str, str], release: Version) -> tuple[Reading, ...]:
    """The contents of the files, with the values at one point of the grid replacing theirs."""
    names = {name for name in point if name != RELEASE}
    keys = {key.name: key for name in names if (key := find(name)) is not None}
    kept = tuple(_without(reading, keys) for reading in base.readings)
    client = stated_client(base.readings, base.client, release, ResolutionDiagnostics()).value
    given = []
    for name, key in keys.items():
        if point[name] == DEFAULT:
            continue
        is_producers = key.readers == (Reader.PRODUCER,)
        given.append(_given(key, point[name], client.release or release if is_producers else release))
    return (*kept, Reading(Source(OVER, ""), FileKind.UNKNOWN, tuple(given)))


def _without(reading: Reading, keys: Mapping[str, CatalogueKey]) -> Reading:
    """A file's contents without its values for some keys; for replicas, also without topics' own."""
    given = tuple(
        one
        for one in reading.given
        if one.layer is SettingLayer.DEFAULT or (key := find(one.key)) is None or key.name not in keys
    )
    topics = reading.topics
    if FACTOR in keys:
        topics = tuple(
            replace(topic, replication_factor=None, left_at=None, partitions=()) for topic in topics
        )
    return replace(reading, given=given, topics=topics)


def _given(key: CatalogueKey, value: str, release: Version) -> Given:
    """A setting as if a file gave it, at the layer that takes precedence."""
    if key.type is Type.ACKS:
        name = "request.required.acks" if release < of(0, 8, 2) else key.name
    else:
        name = key.topic_name if key.topic_name and Reader.TOPIC in key.readers else key.name
    layer = SettingLayer.BROKER_STATIC
    if key.readers == (Reader.PRODUCER,):
        layer = SettingLayer.PRODUCER
    elif Reader.TOPIC in key.readers:
        layer = SettingLayer.TOPIC
    text = f"{name}={_spelt(key, value, release)}"
    split = len(name)
    return Given(
        name, text[split + 1 :], layer, Source(OVER, text), Span(0, split), Span(split + 1, len(text))
    )


def _spelt(key: CatalogueKey, value: str, release: Version) -> str:
    """A value as a release spells it: `all` was `-1` before 0.8.2."""
    return "-1" if key.type is Type.ACKS and value == "all" and release < of(0, 8, 2) else value


def _unread(settings: Settings, point: Mapping[str, str]) -> list[str]:
    """The keys among those set that the release does not read."""
    found = {name: settings.value(name) for name in point if name != RELEASE}
    return [
        name
        for name, value in point.items()
        if name != RELEASE and found[name].origin is None and (value != DEFAULT or found[name].value is None)
    ]


def _instead(settings: Settings, name: str) -> str:
    """What the release does instead of reading a key, as the end of a sentence."""
    absent = settings.value(name).absent
    return f": {absent}" if absent else ""


def _impossible(settings: Settings, subject: PartitionModel, point: Mapping[str, str]) -> str:
    """Why the configuration cannot exist, or is not modelled exactly; empty if neither."""
    conflict = next((each for each in settings.warnings if each.code == "R0716"), None)
    if conflict is not None and {FACTOR, "min.insync.replicas"} & point.keys():
        return conflict.message
    if subject.approximations:
        return f"coarser than the configuration: {subject.approximations[0]}"
    factor, brokers = settings.switches.replication_factor.value, settings.brokers
    if factor > brokers.value and not brokers.assumed:
        return f"{count(factor, 'replica')} need as many brokers, and there are {brokers.value}"
    return ""


def _alike(subject: PartitionModel) -> PartitionModel:
    """The configuration with irrelevant values normalized, so that searches are shared: NOTE(alike)."""
    config = {**subject.config}
    if config["acks"] != "all" and not config["strict_min_isr"] and not config["elr"]:
        config["min_isr"] = 1
    return replace(subject, config=config)


# ------------------------------------------------------------------ what is asked of it


def _jobs(subject: PartitionModel, guarantees: Sequence[Guarantee], asked: FaultLimits) -> Iterator[Job]:
    """A job for each group of the guarantees."""
    kinds = [kind for kind in fault_kinds(subject) if asked.allows(kind.name)] if asked.faults else []
    counted = {kind.fault: most for kind in KINDS if (most := asked.most(kind.name)) is not None}
    for group in groups():
        wanted = tuple(each for each in group if each in guarantees)
        if wanted:
            yield _job(subject, wanted, kinds, counted, asked)


def _job(
    subject: PartitionModel,
    wanted: tuple[Guarantee, ...],
    kinds: Sequence[FaultKind],
    counted: Mapping[str, int],
    asked: FaultLimits,
) -> Job:
    """The job that decides a group of guarantees under these faults."""
    family = varying_family(subject, wanted, counted)

    def of_kinds(name: str, some: Sequence[FaultKind], faults: int, moves: int = 0) -> Posed:
        most = {kind.fault: counted.get(kind.fault) if len(some) > 1 else None for kind in some}
        budget = ir.Budget(faults, most) if most else ir.Budget(0)
        return posed(subject, Question(wanted, name, budget, moves), family)

    alone = [of_kinds(kind.name, [kind], counted.get(kind.fault, asked.faults)) for kind in kinds]
    if subject.moves and asked.allows(MOVE):
        alone = [posed(subject, under_moves(subject, wanted), family), *alone]
    moves = subject.moves_among_faults if asked.allows(MOVE) else 0
    mixture = of_kinds(ANY, kinds, asked.faults, moves)
    return Job(mixture, tuple(alone))
