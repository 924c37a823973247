"""How a partition's files become a configuration of the model: what Kafka did, by its metadata version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import spec.ir as ir
from broker_files.metadata_image import MetadataImage
from modelcheck.asking.overrides import Overrides, as_typed, free_check
from modelcheck.review.explain_log.observations import Decided, Observed
from spec.frozen import frozen
from spec.load import loads, read

# The level of the feature metadata.version from which on a cluster is of that release.
RELEASES: tuple[tuple[int, str], ...] = (
    (1, "3.0-IV1"),
    (2, "3.1-IV0"),
    (3, "3.2-IV0"),
    (4, "3.3-IV0"),
    (7, "3.3-IV3"),
    (8, "3.4-IV0"),
    (9, "3.5-IV0"),
    (12, "3.6-IV0"),
    (15, "3.7-IV0"),
    (17, "3.7-IV2"),
    (20, "3.8-IV0"),
    (21, "3.9-IV0"),
    (22, "4.0-IV0"),
    (26, "4.1-IV0"),
)
MOST_MIN_ISR = 9  # of the model
ACKS = {"0": "zero", "1": "one", "all": "all", "-1": "all"}


@frozen
class Setting:
    """The model within the scope and configuration of the files, and sentences on what was assumed."""

    model: ir.Model
    scope: ir.Scope
    release: str
    assumed: tuple[str, ...]


@cache
def model() -> ir.Model:
    """The model of a partition with what an operator does."""
    path = Path(__file__).with_name("observed.rsm")
    (found,) = loads(read(path), str(path), only=("observed",))
    return found


def setting(
    observed: Observed,
    image: MetadataImage,
    topic: str,
    acks: str,
    given: tuple[str, ...] = (),
    said: str | None = None,
) -> Setting:
    """The model for the observations.

    `given` are config entries that somebody knows better, and `said` is the release as logs name it, for
    where there is no metadata log.
    """
    level = image.features.get("metadata.version", 0)
    release = max((each for each in RELEASES if each[0] <= level), default=RELEASES[0])[1]
    assumed = []
    if level == 0 and said is not None:
        release = said
    elif level == 0:
        assumed.append(f"Nothing says which release it was; taken as {release.partition('-')[0]}.")
    least = image.setting(topic, "min.insync.replicas")
    if least is None:
        assumed.append(
            "min.insync.replicas is in no record of the metadata, so 1 (--config min_isr=N says more)"
        )
    number = int(least) if least is not None and least.isdecimal() else 1
    unclean = _was_unclean(observed)
    config: Mapping[str, str | int | bool] = {
        "acks": ACKS[acks],
        "min_isr": max(1, min(number, len(observed.brokers), MOST_MIN_ISR)),
        "unclean": unclean or image.setting(topic, "unclean.leader.election.enable") == "true",
        "moves": _moves(observed),
        "elr": image.features.get("eligible.leader.replicas.version", 0) > 0,
    }
    words = tuple(f"{name}={as_typed(value)}" for name, value in config.items())
    scope = (
        f"Broker={len(observed.brokers)}",
        f"Epoch={observed.epochs}",
        f"Offset={len(observed.intervals)}",
        f"Record={len(observed.shown)}",
    )
    check = free_check(model(), Overrides(scope, (*words, *given), None, release.partition("-")[0]))
    named = replace(check.scope, sorts={"Broker": observed.brokers})
    return Setting(model(), named, release, tuple(assumed))


def _was_unclean(observed: Observed) -> bool:
    """Whether somebody was made the leader who was neither in sync nor eligible, nor led last."""
    decided = [each for each in observed.events if isinstance(each, Decided)]
    led: int | None = None
    for before, after in pairwise(decided):
        led = before.leader if before.leader is not None else led
        if after.epoch == before.epoch or after.leader is None:
            continue
        last = led if not before.isr and not before.eligible else None
        if after.leader not in {*before.isr, *before.eligible, last}:
            return True
    return False


def _moves(observed: Observed) -> int:
    """How often the leadership can have been moved at most: as often as it went from one to another."""
    decided = [each for each in observed.events if isinstance(each, Decided)]
    return min(9, sum(a.epoch != b.epoch for a, b in pairwise(decided)))
