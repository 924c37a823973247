"""Commands: `kafka-topics --create`, `kafka-configs --alter`, and what brokers are started with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import modelcheck.kafka.settings.keys.levels as levels
from modelcheck.kafka.settings.keys.catalogue import is_modelled
from modelcheck.kafka.settings.readers.formats.tree import (
    Node,
    ScalarNode,
    get,
    items,
    text_of,
    walk,
)
from modelcheck.kafka.settings.readers.gathered import PAIR, Gathered
from modelcheck.kafka.settings.readers.loops import in_each_turn
from modelcheck.kafka.settings.readers.unread import comments, covers
from modelcheck.kafka.settings.readings import (
    About,
    Fact,
    FileKind,
    Reading,
    SettingLayer,
    Topic,
    is_template,
)
from spec.diagnostics import Diagnostic
from spec.source import Source, Span

_CREATE = re.compile(r"kafka-topics(?:\.sh)?\b(?P<rest>(?:\\\r?\n|[^\n;&|])*)")
_TOPIC = re.compile(r"--topic[= ]+[\"']?([^\s\"'\\]+)")
_FACTOR = re.compile(r"--replication-factor[= ]+[\"']?(\d{1,5})\b")
_ZOOKEEPER = re.compile(r"--zookeeper\b")
_PARTITIONS = re.compile(r"--partitions[= ]+[\"']?(\d{1,5})\b")
_ALTER = re.compile(r"kafka-configs(?:\.sh)?\b(?P<rest>(?:\\\r?\n|[^\n;&|])*)")
_ENTITY = re.compile(r"--entity-type[= ]+(topic|broker)s?\b|--(topic|broker)[= ]|--broker-defaults\b")
_ENTITY_NAME = re.compile(r"--(?:entity-name|topic|broker)[= ]+[\"']?([^\s\"'\\]+)")
_ADDED = re.compile(r"--add-config[= ]+[\"']?([^\s\"'\\]+)")
_ADDED_FILE = re.compile(r"--add-config-file\b[= ]*(\S*)")
_DELETED = re.compile(r"--delete-config[= ]+[\"']?([^\s\"'\\]+)")
_NAME = re.compile(r"[\w.-]+")
_ASSIGNMENT = re.compile(r"--replica-assignment[= ]+[\"']?(\d+(?::\d+)*)")  # of the first partition
_CONFIG = re.compile(r"--config[= ]+[\"']?([\w.-]+)=([^\s\"'\\]+)")
_LEVELS = re.compile(r"kafka-(?:features|storage)(?:\.sh|\.bat)?\b(?P<rest>(?:\\\r?\n|[^\n;&|])*)")
_LEVEL = re.compile(r"--(metadata|release-version|feature)[= ]+[\"']?(?:([\w.]+)=)?([^\s\"'\\]+)")
_VERB = re.compile(r"\b(?:upgrade|downgrade|disable|format)\b")
_COMMANDS = ("entrypoint", "command", "args")
_PRINTED = re.compile(r"(?:^|[\n;&|(])[ \t]*(?:echo|printf)\b[^\n;&|]*\Z")  # and not run
_LINE = 500  # characters before a command that show whether it is printed
_BRANCH = re.compile(r"^[ \t]*(?:else|elif)\b|;;|\|\|", re.MULTILINE)
_TOOL = re.compile(
    r"\bkafka-(?:topics|configs|acls|features|console-\w+|broker-api-versions|consumer-groups|get-offsets"
    r"|(?:producer|consumer)-perf-test|verifiable-\w+|reassign-partitions|leader-election|mirror-maker)\b"
    r"|\bzookeeper-(?:server-start|shell)\b|\bconnect-(?:distributed|standalone)\b"
)
_START = re.compile(r"kafka-server-start|start-kafka|docker/(?:run|launch)\b|kafka/(?:run|entrypoint)\.sh")
_OVERRIDE = re.compile(r"--override[= ]+[\"']?([\w.-]+)=([^\s\"'\\]+)")


def read_commands(gathered: Gathered, below: Node, entity: str = "") -> None:
    """Add the settings in command lines found in a tree, each at its place in the source."""
    for node in walk(below):
        if isinstance(node, ScalarNode):
            _topics(gathered, node)
            _removals(gathered, node)
            _overrides(gathered, node, entity)
        for option, argument in pairwise(items(node)):
            if text_of(option) == "--override" and isinstance(argument, ScalarNode):
                _argument(gathered, argument, entity)


def starts_a_broker(below: Node) -> bool:
    """Whether some command in a tree starts a broker."""
    return any(isinstance(node, ScalarNode) and "kafka-server-start" in node.text for node in walk(below))


def runs_a_tool(container: Node) -> bool:
    """Whether a container runs another Kafka command and starts no broker."""
    told = [one for name in _COMMANDS if (one := get(container, name)) is not None]
    texts = [node.text for one in told for node in walk(one) if isinstance(node, ScalarNode)]
    return any(map(_TOOL.search, texts)) and not any(map(_START.search, texts))


def is_script(source: Source) -> bool:
    """Whether a text is a script of a shell, by its first line or its file's name."""
    return source.text.startswith("#!") or source.name.endswith((".sh", ".bash"))


def read_script(source: Source) -> Reading | None:
    """What the commands of Kafka's tools in a script set; None if none of them sets anything."""
    gathered = Gathered(source, FileKind.SCRIPT)
    whole = ScalarNode(source.text, Span(0, len(source.text)))
    _topics(gathered, whole)
    _alterations(gathered, whole)
    _deletions(gathered, whole)
    _removals(gathered, whole)
    _features(gathered, whole)
    reading = gathered.reading()
    return None if reading.says_nothing else reading


def _commands(gathered: Gathered, pattern: re.Pattern[str], node: ScalarNode) -> Iterator[re.Match[str]]:
    """The commands in a text, without those in comments, and without those that are printed and not run."""
    text = gathered.source.text
    left_out = comments(gathered.source, node.span)
    for command in pattern.finditer(text, node.span.start, node.span.end):
        before = text[max(node.span.start, command.start() - _LINE) : command.start()]
        if covers(left_out, Span(*command.span())):
            continue
        if _PRINTED.search(before) and text[command.end() : command.end() + 1] != "|":
            gathered.passed.append(Span(*command.span()))
            continue
        yield command


def _topics(gathered: Gathered, node: ScalarNode) -> None:
    """Add the topics that `kafka-topics --create` commands in a text create.

    Of several commands of one topic the first counts: Kafka refuses the others, unless it is deleted before.
    """
    text = gathered.source.text
    made: dict[str, int] = {}
    for command in _commands(gathered, _CREATE, node):
        named = _TOPIC.search(text, *command.span("rest"))
        factor = _FACTOR.search(text, *command.span("rest"))
        if named is not None and _is_removal(command):
            for name in in_each_turn(text, named[1], command.start()):
                made.pop(name, None)
        if named is None or "--create" not in command["rest"]:
            continue
        if (by := _ZOOKEEPER.search(text, *command.span("rest"))) is not None:
            words = f"`{by[0]}`"
            gathered.facts.append(
                Fact(About.CONTROLLER, "zookeeper", gathered.source, Span(*by.span()), words)
            )
        parts = _PARTITIONS.search(text, *command.span("rest"))
        placed = _ASSIGNMENT.search(text, *command.span("rest"))
        replicas = placed[1].count(":") + 1 if placed else int(factor[1]) if factor else None
        if factor:
            gathered.passed.append(Span(*factor.span()))
        number = int(parts[1]) if parts else None
        for name in in_each_turn(text, named[1], command.start()):
            if (
                name in made
                and not is_template(name)
                and not _BRANCH.search(text, made[name], command.start())
            ):
                _refused(gathered, name, made[name], command)
                continue
            made[name] = command.start()
            gathered.topics.append(Topic(name, gathered.source, Span(*named.span(1)), replicas, number))
            for found in _CONFIG.finditer(text, *command.span("rest")):
                at = (Span(*found.span(1)), Span(*found.span(2)))
                gathered.add(found[1], found[2], SettingLayer.TOPIC, at, name, Span(*command.span()))


def _refused(gathered: Gathered, topic: str, made: int, command: re.Match[str]) -> None:
    """Pass over a command that creates a topic which is there, with a note."""
    lines = [gathered.source.place(at)[1] for at in (made, command.start())]
    gathered.passed.append(Span(*command.span()))
    gathered.notes.append(
        f"topic {topic} is created in line {lines[0]}; Kafka refuses to create it again in line {lines[1]}:"
        " nothing of that counts"
    )


def _is_removal(command: re.Match[str]) -> bool:
    """Whether a command of kafka-topics deletes a topic."""
    return re.search(r"--delete(?!-)\b", command["rest"]) is not None


def _removals(gathered: Gathered, node: ScalarNode) -> None:
    """Take away the topics that commands in a text delete, with what was set of them before.

    A topic that is not made again stays, since it is a topic of the files.
    """
    text, start = gathered.source.text, node.span.start
    removals = [*filter(_is_removal, _commands(gathered, _CREATE, node))]
    last = {topic.name: topic.span.start for topic in gathered.topics} if removals else {}
    ends: dict[str, int] = {}
    for command in removals:
        named = _TOPIC.search(text, *command.span("rest"))
        for name in in_each_turn(text, named[1], command.start()) if named else ():
            if last.get(name, 0) > command.end():
                ends[name] = command.start()
    if not ends:
        return

    def is_over(name: str, at: int) -> bool:
        return start <= at < ends.get(name, 0)

    old = [one for one in gathered.topics if is_over(one.name, one.span.start)]
    gathered.topics = [one for one in gathered.topics if not is_over(one.name, one.span.start)]
    own = (one for one in gathered.given if one.layer is SettingLayer.TOPIC)
    gone = dict.fromkeys(one for one in own if is_over(one.entity, one.key_span.start))
    gathered.given = [one for one in gathered.given if one not in gone]
    gathered.passed += [*(one.span for one in old), *(one.key_span for one in gone)]


def _alterations(gathered: Gathered, node: ScalarNode) -> None:
    """Add what `kafka-configs --alter` commands in a text set, and the topics that they name."""
    text = gathered.source.text
    for command in _commands(gathered, _ALTER, node):
        owner = _owner(text, command)
        if owner is None:
            continue
        layer, named = owner
        if file := _ADDED_FILE.search(text, *command.span("rest")):
            gathered.problems.append(_unread_file(gathered.source, file))
        added = _ADDED.search(text, *command.span("rest"))
        pairs = [] if added is None else [*_pairs(added)]
        for entity in in_each_turn(text, named[1], command.start()) if named else ("",):
            known = {topic.name for topic in gathered.topics}
            if layer is SettingLayer.TOPIC and named and entity not in known:
                gathered.topics.append(Topic(entity, gathered.source, Span(*named.span(1))))
            for key, value, at in pairs:
                gathered.add(key, value, layer, at, entity, Span(*command.span()))


def _unread_file(source: Source, file: re.Match[str]) -> Diagnostic:
    """The error that a command takes settings from a file."""
    message = f"`{file[0].strip()}` sets what is in another file, which was not read here"
    advice = (
        "write its settings behind --add-config, or give what kafka-configs --describe prints for the script"
    )
    return Diagnostic("R0734", source, Span(*file.span()), message, help=advice)


def _pairs(added: re.Match[str]) -> Iterator[tuple[str, str, tuple[Span, Span]]]:
    """The keys and values that `--add-config` adds, with their places."""
    for one in PAIR.finditer(added[1]):
        key, value = (Span(*(added.start(1) + at for at in one.span(part))) for part in (1, 2))
        yield one[1], one[2], (key, value)


def _owner(text: str, command: re.Match[str]) -> tuple[SettingLayer, re.Match[str] | None] | None:
    """The layer of the settings that a command alters, and the name in it; None where it alters none."""
    span = command.span("rest")
    named = _ENTITY_NAME.search(text, *span)
    if "--alter" not in command["rest"]:
        return None
    if command.re is _CREATE:  # kafka-topics, until 2.8
        return (SettingLayer.TOPIC, named) if named else None
    kind = _ENTITY.search(text, *span)
    if kind is None or ("topic" in kind[0] and named is None):
        return None
    of_brokers = SettingLayer.BROKER_DYNAMIC if named else SettingLayer.CLUSTER_DYNAMIC
    return SettingLayer.TOPIC if "topic" in kind[0] else of_brokers, named


def _deletions(gathered: Gathered, node: ScalarNode) -> None:
    """Take away what commands in a text delete of what was set before them, with a note.

    Which topic a name is that is filled in is not known: what is deleted there counts as not read.
    """
    text = gathered.source.text
    for command in (one for pattern in (_ALTER, _CREATE) for one in _commands(gathered, pattern, node)):
        owner = _owner(text, command)
        if owner is None:
            continue
        layer, named = owner
        for entity in in_each_turn(text, named[1], command.start()) if named else ("",):
            if not is_template(entity):
                for deleted in _DELETED.finditer(text, *command.span("rest")):
                    _delete(gathered, deleted, layer, entity)


def _delete(gathered: Gathered, deleted: re.Match[str], layer: SettingLayer, entity: str) -> None:
    """Take away what a command deletes of one topic or broker, with a note."""
    keys = frozenset(_NAME.findall(deleted[1]))
    gone = [
        one
        for one in gathered.given
        if (one.layer, one.entity) == (layer, entity)
        and one.key in keys
        and one.key_span.start < deleted.start()
    ]
    gathered.given = [one for one in gathered.given if one not in gone]
    gathered.passed += [one.key_span for one in gone]
    gathered.passed.append(Span(*deleted.span(1)))
    whose = f"topic {entity}" if layer is SettingLayer.TOPIC else f"broker {entity or 'default'}"
    line = gathered.source.place(deleted.start())[1]
    gathered.notes += [
        f"`{key}` of {whose} is deleted in line {line}; where another file sets it, that counts"
        for key in sorted(keys)
        if is_modelled(key)
    ]


def _features(gathered: Gathered, node: ScalarNode) -> None:
    """Add the features that `kafka-features` and `kafka-storage format` commands in a text set."""
    text = gathered.source.text
    for command in _commands(gathered, _LEVELS, node):
        if _VERB.search(command["rest"]) is None or "--dry-run" in command["rest"]:
            continue
        for found in _LEVEL.finditer(text, *command.span("rest")):
            name, level, span = found[2] or "metadata.version", found[3], Span(*found.span(3))
            at = (Span(*found.span(2)) if found[2] else span, span)
            if found[1] == "feature" and not found[2]:  # disable --feature NAME
                name, level, at = found[3], "0", (span, span)
            if name == "metadata.version" and level.isdecimal():
                level = levels.named(int(level))
            if is_modelled(name):
                gathered.add(name, level, SettingLayer.CLUSTER_DYNAMIC, at)


def _overrides(gathered: Gathered, node: ScalarNode, entity: str) -> None:
    """Add the settings of `--override key=value` in a command."""
    text = gathered.source.text
    for found in _OVERRIDE.finditer(text, node.span.start, node.span.end):
        at = (Span(*found.span(1)), Span(*found.span(2)))
        gathered.add(found[1], found[2], SettingLayer.BROKER_STATIC, at, entity)


def _argument(gathered: Gathered, node: ScalarNode, entity: str) -> None:
    """Add the setting of a `key=value` that is an argument of its own, behind its option."""
    key, sign, value = node.text.partition("=")
    if sign and "\n" not in value:
        start = gathered.source.text.find(key, node.span.start, node.span.end)
        at = (Span(start, start + len(key)), Span(start + len(key) + 1, start + len(node.text)))
        gathered.add(key, value, SettingLayer.BROKER_STATIC, at, entity)
