"""Files as reviewers have them → readings: decoded, recognised by content, read."""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from types import MappingProxyType

from counterexamples.lines import count
from modelcheck.kafka.settings.provenance import NEEDED
from modelcheck.kafka.settings.readers.commands import is_script, read_script
from modelcheck.kafka.settings.readers.deployments.ansible import is_ansible, read_ansible
from modelcheck.kafka.settings.readers.deployments.compose import is_compose, read_compose
from modelcheck.kafka.settings.readers.deployments.environment import (
    file_variables,
    is_environment,
    read_environment,
)
from modelcheck.kafka.settings.readers.deployments.helm import read_values
from modelcheck.kafka.settings.readers.deployments.kubernetes import is_resource, read_kubernetes
from modelcheck.kafka.settings.readers.deployments.spring import is_spring, read_spring, spring_documents
from modelcheck.kafka.settings.readers.deployments.terraform import read_terraform
from modelcheck.kafka.settings.readers.describe import (
    kind_of_output,
    read_configs,
    read_features,
    read_topics,
)
from modelcheck.kafka.settings.readers.formats.hcl import is_hcl
from modelcheck.kafka.settings.readers.formats.tree import MappingNode, Node
from modelcheck.kafka.settings.readers.gathered import Gathered
from modelcheck.kafka.settings.readers.layers import FileLayer, Merged, describes_twice, is_layer, merge
from modelcheck.kafka.settings.readers.logs import is_log, read_log
from modelcheck.kafka.settings.readers.own_topics import own_topics
from modelcheck.kafka.settings.readers.products import another_product
from modelcheck.kafka.settings.readers.property_files import is_code, read_settings
from modelcheck.kafka.settings.readers.quorum import is_quorum, read_quorum
from modelcheck.kafka.settings.readers.unread import aside, unread
from modelcheck.kafka.settings.readings import FileKind, Reading
from spec.diagnostics import Diagnostic, SpecError
from spec.frozen import frozen
from spec.reading import bytes_of
from spec.source import Source, Span

STDIN = "-"
LARGEST = 32 * 1024 * 1024  # bytes; a describe of ten thousand topics stays well below
LARGEST_YAML = 1024 * 1024  # characters; YAML is slow to read, and no cluster's resources come near

_YAML = re.compile(
    r"^(?:apiVersion|kind|services|spring|version)[ \t]*:(?:[ \t\r]|$)"  # what begins a document of its kind
    r"|^---[ \t]*\r?$"
    r"|^[A-Za-z][\w.-]*:[ \t]*\r?\n(?:[ \t]+[\w\"'-][^\n=]*:|[ \t]*- )"  # a key, below it more
    r"|\A[ \t]*(?:\{|\[(?!\[?[\w .:-]+\]{1,2}[ \t]*\r?\n)|- \w)",  # and no section of another form
    re.MULTILINE,
)
_DOTENV = re.compile(r"(?:^|/)\.env[\w.-]*$|\.env$")
NO_VARIABLES: Mapping[str, str] = MappingProxyType({})
_FEWEST = 2  # files of which one may lie over another
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_files(
    names: Iterable[str],
    stdin: Callable[[], bytes] | None = None,
    load: Callable[[str], tuple[str, bytes]] | None = None,
) -> tuple[Reading, ...]:
    """The contents of each file, in order; `-` is the standard input. Raises SpecError.

    `load` finds the name to show and the bytes of a file elsewhere than on disk.

    Files that their tool lays over each other are read as one: values of Helm, services of Compose,
    resources of Kubernetes with their patches, profiles of Spring.
    Raises SpecError with everything that makes a file unusable, in all files.
    """
    readings: list[Reading] = []
    problems: list[Diagnostic] = []
    texts: list[_Text] = []
    seen: set[str] = set()
    for name in names:
        if name in seen:
            problems.append(_whole(name, "R0702", "the same file is given twice", "give each file once"))
            continue
        seen.add(name)
        try:
            shown, data = load(name) if load else (name, _load(name, stdin or _input))
            texts.append(_text(shown, data))
        except SpecError as error:
            problems += error.diagnostics
    nothing_in: list[Diagnostic] = []
    for together in _laid_over(texts):
        try:
            readings.append(_read_together(together))
        except SpecError as error:
            (nothing_in if _has_nothing(error) else problems).extend(error.diagnostics)
    problems += [problem for reading in readings for problem in reading.problems]
    if problems or not readings:
        raise SpecError(problems or nothing_in)
    if nothing_in:
        readings[0] = replace(readings[0], warnings=(*readings[0].warnings, _passed_over(nothing_in)))
    return tuple(readings)


def _has_nothing(error: SpecError) -> bool:
    """Whether a file has nothing of Kafka in it, and so decides nothing; a program may."""
    sources = [each.source for each in error.diagnostics if each.code == "R0706"]
    programs = [source for source in sources if is_code(source) and not is_hcl(source.text)]
    return len(sources) == len(error.diagnostics) and not programs


def _passed_over(nothing_in: Sequence[Diagnostic]) -> Diagnostic:
    """The warning (R0751) about files that were passed over, for each reason the files."""
    reasons: dict[str, list[str]] = {}
    for each in nothing_in:
        reasons.setdefault(each.message, []).append(each.source.name)
    files = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())
    message = f"nothing was read from {count(len(nothing_in), 'file')}"
    help_ = f"if one decides something, give it in another form: {NEEDED}"
    return Diagnostic("R0751", nothing_in[0].source, None, f"{message}: {files}", help=help_)


@frozen
class _Text:
    """A file's text; `bom` is whether a byte order mark was before it."""

    source: Source
    bom: bool


def read_bytes(name: str, data: bytes) -> Reading:
    """The contents of one file. Raises SpecError if it is no text of a known kind.

    Mistakes inside a file of a known kind are in `problems`.
    """
    text = _text(name, data)
    return read_text(text.source, bom=text.bom)


def _text(name: str, data: bytes) -> _Text:
    """The text of a file. Raises SpecError if it is none, or too long."""
    if len(data) > LARGEST:
        size = f"{len(data) / 1024 / 1024:.0f} MB"
        advice = "give the broker's, the topic's or the producer's configuration alone"
        raise SpecError([_whole(name, "R0708", f"{size} are too much for a configuration", advice)])
    text = decoded(name, data)
    if not text.strip():
        advice = "was the command that should have written it successful?"
        raise SpecError([_whole(name, "R0703", "the file is empty", advice)])
    return _Text(Source(name, text), bom=data.startswith(codecs.BOM_UTF8))


def read_text(source: Source, *, bom: bool = False) -> Reading:
    """The contents of a text, by the kind it is recognized as. Raises SpecError (R0706).

    A setting in it that decides the answer and was not read is a problem (R0734).
    """
    if (other := another_product(source)) is not None:
        raise SpecError([other])
    return _searched(source, lambda: _reading(source, bom=bom))


def _searched(source: Source, read: Callable[[], Reading]) -> Reading:
    """The contents of a text, with a problem for each setting that decides and was not read."""
    try:
        reading = read()
    except SpecError as error:
        raise SpecError(tuple(unread(Reading(source, FileKind.UNKNOWN))) or error.diagnostics) from None
    except RecursionError:
        raise SpecError([_nested(source)]) from None
    reading = replace(reading, own_topics=tuple(own_topics(reading.source)))
    if reading.problems:
        return reading
    return replace(reading, problems=tuple(unread(reading)), notes=(*reading.notes, *aside(reading)))


def _nested(source: Source) -> Diagnostic:
    """The error about a text that is nested too deeply."""
    return Diagnostic("R0707", source, None, "the YAML is nested too deeply")


def _reading(source: Source, *, bom: bool) -> Reading:
    """The contents by the first reader that recognizes the text."""
    found = (read(source) for read in FORMS)
    return next((one for one in found if one is not None), None) or read_settings(source, bom=bom)


def _is_tree(source: Source) -> bool:
    """Whether a text is YAML or JSON, by its first lines or its file's name."""
    return _YAML.search(source.text) is not None or source.name.endswith((".yaml", ".yml", ".json"))


def decoded(name: str, data: bytes) -> str:
    """The bytes as text: UTF-8, or Latin-1 as Java reads .properties. Raises SpecError."""
    if data.startswith(_UTF16):
        advice = "Kafka cannot read it either; save it as UTF-8 or Latin-1"
        raise SpecError([_whole(name, "R0705", "the file is UTF-16", advice)])
    if len(_CONTROLS.findall(data[:65536].decode("latin-1"))) > 0 and _is_binary(data):
        advice = "give text: properties, YAML, or the output of Kafka's tools"
        raise SpecError([_whole(name, "R0704", "the file is binary, not text", advice)])
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text if "\n" in text else text.replace("\r", "\n")


def _is_binary(data: bytes) -> bool:
    """Whether bytes are binary: a NUL near the start, or over 1 % control characters."""
    head = data[:65536]
    controls = len(_CONTROLS.findall(head.decode("latin-1")))
    return b"\x00" in head or controls * 100 > len(head)


def _read_tree(source: Source) -> Reading:
    """The contents of the documents of a YAML or JSON text."""
    if len(source.text) > LARGEST_YAML:
        message = f"{len(source.text) // 1024} KB of YAML are too much for a review"
        advice = "give the Kafka, KafkaNodePool and KafkaTopic resources in question"
        raise SpecError([_whole(source.name, "R0708", message, advice)])
    from modelcheck.kafka.settings.readers.formats.yaml import documents  # noqa: PLC0415 - takes its time, and most is properties

    return _read_documents(source, *documents(source))


def _read_documents(
    source: Source,
    found: Sequence[Node],
    problems: Sequence[Diagnostic] = (),
    variables: Mapping[str, str] = NO_VARIABLES,
) -> Reading:
    """The contents of documents, each by the reader of its kind."""
    sorted_: dict[int, list[Node]] = {}
    for document in found:
        form = _form(document)
        if form is not None:
            sorted_.setdefault(form, []).append(document)
    kinds = [TREES[form].kind for form in sorted_] or [FileKind.HELM]
    gathered = Gathered(source, kinds[0], problems=list(problems), variables=variables)
    for form, same in sorted_.items():
        TREES[form].read(gathered, same)
    for document in found:
        gathered.repeated(document)
    reading = gathered.reading()
    if reading.says_nothing:
        message = "there is no Kafka resource in this YAML"
        raise SpecError([Diagnostic("R0706", source, Span(0, 1), message, help=NEEDED)])
    return reading


def _form(document: Node) -> int | None:
    """The kind of a document, as an index of TREES; None if it is of none."""
    return next((at for at, form in enumerate(TREES) if form.fits(document)), None)


# --- files that are laid over each other


def _laid_over(texts: Sequence[_Text]) -> list[list[_Opened]]:
    """The files in groups of which each is read as one, in the order of their first files."""
    if len(texts) < _FEWEST:
        return [[_Opened(text)] for text in texts]
    groups: dict[object, list[_Opened]] = {}
    for at, text in enumerate(texts):
        one = _opened(text)
        groups.setdefault(one.kind if one.kind is not None else at, []).append(one)
    _fill_in(groups)
    resources = groups.get(FileKind.KUBERNETES, [])
    if describes_twice([one.layer for one in resources if one.layer is not None]):
        del groups[FileKind.KUBERNETES]
        return [*groups.values(), *([one] for one in resources)]
    return list(groups.values())


def _fill_in(groups: dict[object, list[_Opened]]) -> None:
    """Give Compose files the variables of .env files; what is nothing else than that is read by this."""
    services = groups.get(FileKind.COMPOSE, [])
    variables: dict[str, str] = {}
    for key, (one, *_) in list(groups.items()) if services else []:
        source = one.text.source
        if _DOTENV.search(source.name) is None:
            continue
        found = {each.name.text: each.value.text for each in file_variables(source)}
        variables |= found
        used = any(f"${{{name}" in each.text.source.text for name in found for each in services)
        if used and not is_environment(source):
            del groups[key]
    if variables:
        groups[FileKind.COMPOSE] = [replace(each, variables=variables) for each in services]


def _opened(text: _Text) -> _Opened:
    """A file with its documents, and their kind if its tool may lay it over another."""
    source = text.source
    if any(fits(source) for fits in NO_TREES) or another_product(source) is not None:
        return _Opened(text)
    if (found := spring_documents(source)) is not None:
        return _Opened(text, FileLayer(source, found), FileKind.SPRING)
    if not _is_tree(source) or len(source.text) > LARGEST_YAML:
        return _Opened(text)
    from modelcheck.kafka.settings.readers.formats.yaml import documents  # noqa: PLC0415 - as above

    found, problems = documents(source)
    layer = FileLayer(source, found)
    forms = {_form(document) for document in found}
    form = forms.pop() if len(forms) == 1 and not problems else None
    kind = None if form is None else TREES[form].kind
    return _Opened(text, None if problems else layer, kind if kind and is_layer(kind, layer) else None)


def _read_together(together: Sequence[_Opened]) -> Reading:
    """The contents of files that are laid over each other, or of one file. Raises SpecError."""
    layers = [one.layer for one in together if one.layer is not None]
    kind = together[0].kind
    if len(together) == 1 or kind is None:
        text, layer = together[0].text, together[0].layer
        if layer is None or kind is FileKind.SPRING:
            return read_text(text.source, bom=text.bom)
        given = together[0].variables
        return _searched(layer.source, lambda: _read_documents(layer.source, layer.documents, (), given))
    try:
        merged = merge(kind, layers)
    except RecursionError:
        raise SpecError([_nested(layers[-1].source)]) from None
    return _searched(merged.source, lambda: _read_merged(kind, merged, together[0].variables))


def _read_merged(kind: FileKind, merged: Merged, variables: Mapping[str, str]) -> Reading:
    """The contents of merged files."""
    reading = _read_documents(merged.source, merged.documents, (), variables)
    passed, notes = (*reading.passed, *merged.replaced), (*reading.notes, *merged.notes)
    return replace(reading, kind=kind, passed=passed, notes=notes)


@frozen
class _Opened:
    """A file with its documents; `kind` if its tool may lay it over others of the kind."""

    text: _Text
    layer: FileLayer | None = None
    kind: FileKind | None = None
    variables: Mapping[str, str] = field(default_factory=dict)


@frozen
class Tree:
    """A kind of YAML or JSON document, and its reader."""

    kind: FileKind
    fits: Callable[[Node], bool]
    read: Callable[[Gathered, Sequence[Node]], None]


TREES = (
    Tree(FileKind.KUBERNETES, is_resource, read_kubernetes),
    Tree(FileKind.COMPOSE, is_compose, read_compose),
    Tree(FileKind.SPRING, is_spring, read_spring),
    Tree(FileKind.ANSIBLE, is_ansible, read_ansible),
    Tree(FileKind.HELM, lambda node: isinstance(node, MappingNode), read_values),
)

PRINTED = {FileKind.CONFIGS: read_configs, FileKind.TOPICS: read_topics, FileKind.FEATURES: read_features}


def _printed(source: Source) -> Reading | None:
    """The contents of the output of a Kafka tool; None if it is none."""
    kind = kind_of_output(source.text)
    return None if kind is None else PRINTED[kind](source)


def _where(
    fits: Callable[[Source], bool], read: Callable[[Source], Reading | None]
) -> Callable[[Source], Reading | None]:
    """A reader for texts for which `fits` is true."""
    return lambda source: read(source) if fits(source) else None


# What is no tree for certain, whatever its first lines look like.
NO_TREES: tuple[Callable[[Source], bool], ...] = (
    lambda source: is_log(source.text),
    lambda source: is_quorum(source.text),
    lambda source: kind_of_output(source.text) is not None,
    lambda source: is_hcl(source.text),
    is_script,
)

# The readers of each form, the most telling first; what is none of them is taken for properties.
FORMS: tuple[Callable[[Source], Reading | None], ...] = (
    _where(lambda source: is_log(source.text), read_log),
    _where(lambda source: is_quorum(source.text), read_quorum),
    _printed,
    _where(lambda source: is_hcl(source.text), read_terraform),
    _where(is_script, read_script),
    _where(_is_tree, _read_tree),
    _where(is_environment, read_environment),
)


def _input() -> bytes:
    """The bytes of the standard input."""
    return sys.stdin.buffer.read(LARGEST + 1)


def _load(name: str, stdin: Callable[[], bytes]) -> bytes:
    """The bytes of a file. Raises SpecError."""
    if name == STDIN:
        return stdin()
    path = Path(name)
    try:
        if path.is_dir():
            advice = "give the files in it, for instance its server.properties"
            raise SpecError([_whole(name, "R0702", "this is a directory", advice)])
        return bytes_of(path, LARGEST + 1)
    except FileNotFoundError:
        raise SpecError([_whole(name, "R0701", "there is no such file", _nearest(path))]) from None
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise SpecError([_whole(name, "R0702", f"the file cannot be read: {reason}", "")]) from None


def _nearest(path: Path) -> str:
    """The only file in the folder whose name differs just in case or ending; empty if none."""
    try:
        near = [f.name for f in path.parent.iterdir() if f.stem.lower() == path.stem.lower()]
    except OSError:
        return ""
    return f"there is `{path.with_name(near[0])}`" if len(near) == 1 else ""


def _whole(name: str, code: str, message: str, advice: str) -> Diagnostic:
    """An error about a file as a whole."""
    shown = "standard input" if name == STDIN else name
    return Diagnostic(code, Source(shown, ""), None, message, help=advice)
