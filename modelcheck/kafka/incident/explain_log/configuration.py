"""How a partition's files become a configuration of the model: what Kafka did, by its metadata version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import spec.model.ir as ir
from modelcheck.asking.overrides import Overrides, as_typed, free_check
from modelcheck.kafka.files.metadata.image import MetadataImage
from modelcheck.kafka.incident.explain_log.metadata_timeline import FIRST, TopicSettings
from modelcheck.kafka.incident.explain_log.observations import ALLOWS, FORBIDS, Changed, Decided, Observed
from modelcheck.kafka.settings.keys.levels import RELEASES
from spec.frozen import frozen
from spec.load import loads, read

ACKS = {"0": "zero", "1": "one", "all": "all", "-1": "all"}


@frozen
class Setting:
    """The model with the scope and configuration of the files, and sentences on the assumptions made."""

    model: ir.Model
    scope: ir.Scope
    release: str
    assumed: tuple[str, ...]


@cache
def model(name: str = "observed") -> ir.Model:
    """The model of a partition with an operator's actions; `observed_settings` has settings that change."""
    path = Path(__file__).with_name("observed.rsm")
    (found,) = loads(read(path), str(path), only=(name,))
    return found


def setting(
    observed: Observed,
    image: MetadataImage,
    first: TopicSettings,
    acks: str,
    given: tuple[str, ...] = (),
    said: str | None = None,
) -> Setting:
    """The model for the observations; the topic's settings begin as `first`.

    `given` are config entries that somebody knows better, and `said` is the release as logs name it, for
    where there is no metadata log.
    """
    level = image.features.get("metadata.version", 0)
    release = max((each for each in RELEASES if each[0] <= level), default=RELEASES[0])[1]
    assumed = []
    if level == 0 and said is not None:
        release = said
    elif level == 0:
        assumed.append(f"The release is not known; assumed: {release.partition('-')[0]}.")
    elif level > RELEASES[-1][0]:
        assumed.append(
            f"metadata.version {level} is newer than any known here; assumed: {release.partition('-')[0]}."
        )
    if first.min_isr is None:
        assumed.append(
            "no metadata record sets min.insync.replicas, so 1 is assumed (override: --config min_isr=N)"
        )
    changing = any(isinstance(each, Changed) for each in observed.events)
    behind = FIRST if changing else ""
    config: Mapping[str, str | int | bool] = {
        "acks": ACKS[acks],
        f"min_isr{behind}": first.effective(len(observed.brokers)),
        f"unclean{behind}": first.unclean or _by_hand(observed, allowed=first.unclean),
        "elr": image.features.get("eligible.leader.replicas.version", 0) > 0,
    }
    words = tuple(f"{name}={as_typed(value)}" for name, value in config.items())
    scope = (
        f"Broker={len(observed.brokers)}",
        f"Epoch={observed.epochs}",
        f"Offset={len(observed.intervals)}",
        f"Record={len(observed.shown)}",
    )
    found = model("observed_settings") if changing else model()
    check = free_check(found, Overrides(scope, (*words, *given), None, release.partition("-")[0]))
    named = replace(check.scope, sorts={"Broker": observed.brokers})
    return Setting(found, named, release, tuple(assumed))


def _by_hand(observed: Observed, *, allowed: bool) -> bool:
    """Whether some elected leader, other than the last, was neither in sync nor eligible.

    That is not so where a setting allows it by then; it is `allowed` or not at first.
    """
    led: int | None = None
    before: Decided | None = None
    for after in observed.events:
        if isinstance(after, Changed):
            allowed = after.action == ALLOWS or (allowed and after.action != FORBIDS)
        if not isinstance(after, Decided):
            continue
        if before is not None:
            led = before.leader if before.leader is not None else led
            last = led if not before.isr and not before.eligible else None
            elected = after.epoch != before.epoch and after.leader is not None
            if elected and not allowed and after.leader not in {*before.isr, *before.eligible, last}:
                return True
        before = after
    return False
