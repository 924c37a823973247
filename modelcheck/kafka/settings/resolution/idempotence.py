"""What a producer of Kafka refuses together with idempotence, and what switches it off.

By KafkaProducer and ProducerConfig of Kafka, tags 0.11.0.0 to 3.9.0, and of release 4.1.0 (KAFKA-5494,
KAFKA-13673, KAFKA-17927).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from modelcheck.kafka.settings.keys.versions import Version, of
from modelcheck.kafka.settings.provenance import Remark, ResolutionDiagnostics, Stated
from modelcheck.kafka.settings.readings import FileKind, Given, Reading, SettingLayer
from modelcheck.kafka.settings.resolution.clients import JAVA, Client
from modelcheck.kafka.settings.resolution.precedence import Effective
from spec.diagnostics import Diagnostic, Note

_FIRST = of(0, 11, 0)
_SEVERAL_IN_FLIGHT = of(1, 0)  # only one before
_ALWAYS_REFUSED = of(4, 0)  # with the default of idempotence too
_MOST_IN_FLIGHT = 5
_IDEMPOTENCE, _TRANSACTIONAL = "enable.idempotence", "transactional.id"
_RETRIES, _IN_FLIGHT = "retries", "max.in.flight.requests.per.connection"


def find_refused_producers(
    client: Stated[Client],
    values: Mapping[str, Effective],
    readings: Sequence[Reading],
    findings: ResolutionDiagnostics,
) -> None:
    """Add a diagnostic (R0718) for each producer that does not start, for another reason than its acks.

    One that printed its configuration in a log has started: what it prints are defaults as well.
    """
    release = client.value.release
    if client.value.library != JAVA or release is None or release < _FIRST:
        return
    logs = {reading.source.name for reading in readings if reading.kind is FileKind.LOG}
    for home, own in _producers(values, findings.outside).items():
        if home[0] not in logs:
            _find_refused(own, release, findings)


def switches_idempotence_off(acks: Given | None, outside: Sequence[Remark]) -> Given | None:
    """The setting that switches idempotence off where no file asks for it; None if there is none.

    With `acks`, one of the same producer.
    """
    for one in (remark.given for remark in outside):
        if (acks is None or acks.home == one.home) and (_has_no_retries(one) or _has_many_in_flight(one)):
            return one
    return None


def _find_refused(own: Mapping[str, Given], release: Version, findings: ResolutionDiagnostics) -> None:
    """Add what is wrong with one producer."""
    said, transactional = own.get(_IDEMPOTENCE), own.get(_TRANSACTIONAL)
    is_off = said is not None and said.value.strip().lower() == "false"
    asking = said if said is not None and not is_off else transactional
    if said is not None and is_off:
        if transactional is not None:
            _refused(said, transactional, "take one of them out: transactions need idempotence", findings)
        return
    off = "`enable.idempotence=false` and no transactional.id"
    retries, in_flight = own.get(_RETRIES), own.get(_IN_FLIGHT)
    if retries is not None and asking is not None and _has_no_retries(retries):
        _refused(retries, asking, f"leave it out, or write {off}", findings)
    most = _MOST_IN_FLIGHT if release >= _SEVERAL_IN_FLIGHT else 1
    if in_flight is None or not _has_many_in_flight(in_flight, most):
        return
    advice = f"write at most {most}, or {off}"
    if asking is not None:
        _refused(in_flight, asking, advice, findings)
    elif release >= _ALWAYS_REFUSED:
        message = (
            f"`{_written(in_flight)}` contradicts idempotence, which is the default: "
            f"from Kafka {_ALWAYS_REFUSED} on such a producer does not start"
        )
        findings.warn("R0718", in_flight, message, advice=advice)


def _producers(
    values: Mapping[str, Effective], outside: Sequence[Remark]
) -> Mapping[tuple[str, str], Mapping[str, Given]]:
    """What decides about idempotence in each producer: for each key the last setting."""
    homes: dict[tuple[str, str], dict[str, Given]] = {}
    for key in (_IDEMPOTENCE, _TRANSACTIONAL):
        for one in (*values[key].overridden, values[key].origin):
            if one is not None and one.value.strip():
                homes.setdefault(one.home, {})[key] = one
    for one in (remark.given for remark in outside):
        if one.key in (_RETRIES, _IN_FLIGHT) and one.layer is SettingLayer.PRODUCER:
            homes.setdefault(one.home, {})[one.key] = one
    return homes


def _has_no_retries(one: Given) -> bool:
    """Whether a setting is of a producer that never retries."""
    return one.layer is SettingLayer.PRODUCER and one.key == _RETRIES and int(one.value) == 0


def _has_many_in_flight(one: Given, most: int = _MOST_IN_FLIGHT) -> bool:
    """Whether a setting is of a producer with more requests under way than idempotence allows."""
    return one.layer is SettingLayer.PRODUCER and one.key == _IN_FLIGHT and int(one.value) > most


def _refused(one: Given, asking: Given, advice: str, findings: ResolutionDiagnostics) -> None:
    """Add the error that a setting contradicts another."""
    message = f"`{_written(one)}` contradicts `{_written(asking)}`: such a producer does not start"
    note = Note(asking.source, asking.span, "this needs idempotence")
    found = Diagnostic("R0718", one.source, one.span, message, help=advice, notes=(note,))
    findings.errors.append(found)


def _written(one: Given) -> str:
    """A setting as properties have it."""
    return f"{one.key}={one.value.strip()}"
