"""The settings in each release, with each controller, with and without ELR, that the files leave possible.

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
    is_new: bool = False,
    among_others: bool = False,
) -> tuple[Settings, ...]:
    """The settings of one topic in each case that the files leave possible, the likeliest first.

    The likeliest is what `resolve` assumes.  A cluster that `is_new` has the features that its release has
    by default; another may have been upgraded, and be without.  A release in which the settings are a
    mistake is not possible.  Raises SpecError, as `resolve` does, if they are one in the likeliest;
    `among_others` is as there.
    """

    def resolved(possible: AssumedCluster | None = None) -> Settings:
        return resolve(
            readings,
            kafka=kafka,
            client=client,
            brokers=brokers,
            topic=topic,
            possible=possible,
            among_others=among_others,
        )

    likeliest = resolved()
    releases = possible_releases(readings, kafka)
    if len(releases) == 1 and len(likeliest.controllers) == 1 and (is_new or not may_lack_elr(likeliest)):
        return (likeliest,)
    found = []
    for release in reversed(releases):
        try:
            own = likeliest if release == likeliest.version.value else resolved(AssumedCluster(release))
            for controller in own.controllers:
                found.append(resolved(AssumedCluster(release, controller)))
                if not is_new and may_lack_elr(found[-1]):
                    found.append(resolved(AssumedCluster(release, controller, upgraded=True)))
        except SpecError:
            if release == likeliest.version.value:
                raise
    found.sort(key=lambda each: each.version.value != likeliest.version.value)
    return tuple(found)


def may_lack_elr(settings: Settings) -> bool:
    """Whether eligible leader replicas are taken to be on, and only by the default of new clusters."""
    elr = settings.switches.eligible_leader_replicas
    return elr.value and elr.assumed


def elr_is_open(among: Sequence[Settings], release: Version) -> bool:
    """Whether `among` the cases of a release there are some with and some without ELR."""
    of_release = [each for each in among if each.version.value == release]
    return len({each.switches.eligible_leader_replicas.value for each in of_release}) > 1


def in_words(cases: Sequence[Settings], among: Sequence[Settings]) -> str:
    """The releases and controllers of some cases: "Kafka 3.3 to 3.8 with KRaft, 3.0 to 3.9 with ZooKeeper".

    A controller, and whether there is ELR (eligible leader replicas), is named where `among` all cases there
    are both in the same releases.
    """
    both = len({each.switches.controller.value for each in among}) > 1
    parts: list[str] = []
    by_releases: dict[tuple[tuple[Version, ...], str], list[Controller]] = {}
    for controller in Controller:
        by_elr: dict[str, list[Version]] = {}
        for release in sorted(_releases(cases, controller)):
            by_elr.setdefault(_elr(cases, among, release), []).append(release)
        for elr, same in by_elr.items():
            by_releases.setdefault((tuple(same), elr), []).append(controller)
    for (releases, elr), controllers in by_releases.items():
        for first, last in _runs(releases):
            span = str(first) if first == last else f"{first} to {last}"
            wanted = both and _is_open(among, first, last) and len(controllers) == 1
            parts.append((f"{span} with {_NAMES[controllers[0]]}" if wanted else span) + elr)
    return "Kafka " + ", ".join(parts)


_NAMES = {Controller.ZOOKEEPER: "ZooKeeper", Controller.KRAFT: "KRaft"}


def _elr(cases: Sequence[Settings], among: Sequence[Settings], release: Version) -> str:
    """Whether some cases of a release are those with ELR, or without, if `among` all there are both."""
    if not elr_is_open(among, release) or elr_is_open(cases, release):
        return ""
    found = next(each for each in cases if each.version.value == release)
    return " with ELR" if found.switches.eligible_leader_replicas.value else " without ELR"


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
