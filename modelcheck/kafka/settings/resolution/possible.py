"""The settings in each release, and with each controller, that the files leave possible.

What no file shows is never assumed to be the better case: a review asks about all of these.
"""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.kafka.settings.keys.versions import LINES, Version
from modelcheck.kafka.settings.readings import Reading
from modelcheck.kafka.settings.resolution.cluster import possible_releases
from modelcheck.kafka.settings.resolution.settings import AssumedCluster, Settings, resolve
from modelcheck.kafka.settings.resolution.switches import Controller
from spec.diagnostics import SpecError


def resolve_possible(
    readings: Sequence[Reading],
    *,
    kafka: str | None = None,
    client: str | None = None,
    brokers: int | None = None,
    topic: str | None = None,
) -> tuple[Settings, ...]:
    """The settings of one topic in each case that the files leave possible, the likeliest first.

    The likeliest is what `resolve` assumes.  A release in which the settings are a mistake is not possible.
    Raises SpecError, as `resolve` does, if they are one in the likeliest.
    """

    def resolved(possible: AssumedCluster | None = None) -> Settings:
        return resolve(readings, kafka=kafka, client=client, brokers=brokers, topic=topic, possible=possible)

    likeliest = resolved()
    releases = possible_releases(readings, kafka)
    if len(releases) == 1 and len(likeliest.controllers) == 1:
        return (likeliest,)
    found = []
    for release in reversed(releases):
        try:
            own = resolved(AssumedCluster(release))
            found += [resolved(AssumedCluster(release, controller)) for controller in own.controllers]
        except SpecError:
            if release == likeliest.version.value:
                raise
    found.sort(key=lambda each: each.version.value != likeliest.version.value)
    return tuple(found)


def in_words(cases: Sequence[Settings], among: Sequence[Settings]) -> str:
    """The releases and controllers of some cases: "Kafka 3.3 to 3.8 with KRaft, 3.0 to 3.9 with ZooKeeper".

    A controller is named where `among` all cases there are both in the same releases.
    """
    both = len({each.switches.controller.value for each in among}) > 1
    parts: list[str] = []
    by_releases: dict[tuple[Version, ...], list[Controller]] = {}
    for controller in Controller:
        releases = tuple(sorted(_releases(cases, controller)))
        if releases:
            by_releases.setdefault(releases, []).append(controller)
    for releases, controllers in by_releases.items():
        for first, last in _runs(releases):
            span = str(first) if first == last else f"{first} to {last}"
            wanted = both and _is_open(among, first, last) and len(controllers) == 1
            parts.append(f"{span} with {_NAMES[controllers[0]]}" if wanted else span)
    return "Kafka " + ", ".join(parts)


_NAMES = {Controller.ZOOKEEPER: "ZooKeeper", Controller.KRAFT: "KRaft"}


def _releases(cases: Sequence[Settings], controller: Controller) -> set[Version]:
    """The releases of the cases with a controller."""
    return {each.version.value for each in cases if each.switches.controller.value is controller}


def _is_open(among: Sequence[Settings], first: Version, last: Version) -> bool:
    """Whether some release from the first to the last may have either controller."""
    either = _releases(among, Controller.ZOOKEEPER) & _releases(among, Controller.KRAFT)
    return any(first <= release <= last for release in either)


def _runs(releases: Sequence[Version]) -> list[tuple[Version, Version]]:
    """The runs of releases that follow one another, each by its first and last."""
    runs: list[tuple[Version, Version]] = []
    for release in releases:
        if runs and LINES.index(release.line) == LINES.index(runs[-1][1].line) + 1:
            runs[-1] = (runs[-1][0], release)
        else:
            runs.append((release, release))
    return runs
