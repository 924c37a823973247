"""What a change of files makes better and worse: two reviews of each topic, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from modelcheck.kafka.questions.answers import Answer, ask_mixed, find_answer
from modelcheck.kafka.questions.cases import survived
from modelcheck.kafka.questions.partition import PartitionModel, counted_min_isr, with_spares
from modelcheck.kafka.questions.question import ANY, GUARANTEES, Guarantee
from modelcheck.kafka.questions.review import Review
from modelcheck.kafka.questions.search import Asking
from modelcheck.kafka.settings.keys.catalogue import FACTOR
from modelcheck.kafka.settings.keys.releases import entry
from modelcheck.kafka.settings.resolution.precedence import Effective
from spec.frozen import frozen

_REPLICAS, _WANTED = "replicas", "min_isr"


@frozen
class CellChange:
    """The answers about a guarantee under a kind of fault, before and after."""

    guarantee: Guarantee
    kind: str
    before: Answer | None
    after: Answer | None

    @property
    def is_worse(self) -> bool:
        """Whether fewer faults are survived for certain, or none is known to be where some were."""
        return survived(self.after) < survived(self.before)

    @property
    def is_better(self) -> bool:
        """Whether more faults are survived."""
        return survived(self.after) > survived(self.before)


@frozen
class SettingChange:
    """The value of a key before and after; None where a side has no such key."""

    key: str
    before: Effective | None
    after: Effective | None


@frozen
class TopicChange:
    """A topic's reviews before and after, None where a side has no such topic.

    `causes` are for each guarantee that is worse the settings that made it so: taken back alone, each
    of them undoes that.
    """

    topic: str
    before: Review | None
    after: Review | None
    causes: Mapping[str, tuple[SettingChange, ...]]

    @property
    def cells(self) -> tuple[CellChange, ...]:
        """Every guarantee under every kind of fault that either side has, any mixture first."""
        if self.before is None or self.after is None:
            return ()
        kinds = dict.fromkeys((ANY, *self.after.rows, *self.before.rows))
        return tuple(
            CellChange(
                guarantee, kind, _answer(self.before, guarantee, kind), _answer(self.after, guarantee, kind)
            )
            for guarantee in GUARANTEES
            for kind in kinds
        )

    @property
    def worse(self) -> tuple[CellChange, ...]:
        """What became worse, the most important guarantee first."""
        return tuple(each for each in self.cells if each.is_worse)

    @property
    def better(self) -> tuple[CellChange, ...]:
        """What became better."""
        return tuple(each for each in self.cells if each.is_better)

    @property
    def differs(self) -> bool:
        """Whether an answer differs, or the topic is on one side only."""
        return bool(self.worse or self.better) or self.before is None or self.after is None

    @property
    def settings(self) -> tuple[SettingChange, ...]:
        """The modelled keys whose values differ."""
        if self.before is None or self.after is None:
            return ()
        return tuple(setting_changes(self.before, self.after))


def _answer(review: Review, guarantee: Guarantee, kind: str) -> Answer | None:
    """The answer in the worst of the cases that are possible."""
    return review.verdict(guarantee.name)[0] if kind == ANY else review.answer(guarantee.name, kind)


def setting_changes(before: Review, after: Review) -> Iterator[SettingChange]:
    """The modelled keys whose effective values differ."""
    old = {each.key: each for each in before.settings.values}
    new = {each.key: each for each in after.settings.values}
    for key in dict.fromkeys((*new, *old)):
        one, other = old.get(key), new.get(key)
        if (None if one is None else one.value) != (None if other is None else other.value):
            yield SettingChange(key, one, other)


def compared(
    before: Mapping[str, Review], after: Mapping[str, Review], asking: Callable[[], Asking]
) -> tuple[TopicChange, ...]:
    """The change of each topic, those that became worse first.

    Costs the searches for causes: for each guarantee that is worse under any mixture one for each switch
    of the model that differs, if several do.
    """
    found = []
    for topic in dict.fromkeys((*after, *before)):
        old, new = before.get(topic), after.get(topic)
        change = TopicChange(topic, old, new, {})
        if change.worse and old is not None and new is not None:
            with asking() as more:
                change = replace(change, causes=dict(_causes(more, change, old, new)))
        found.append(change)
    return tuple(sorted(found, key=lambda each: (_gravity(each), each.topic)))


def _gravity(change: TopicChange) -> tuple[float, ...]:
    """A sort key: the gravest worsening first, then what is new, then the rest."""
    if change.before is None or change.after is None:
        return (len(GUARANTEES), 0)
    order = {guarantee: place for place, guarantee in enumerate(GUARANTEES)}
    worse = [(order[each.guarantee], survived(each.after)) for each in change.worse]
    return min(worse, default=(len(GUARANTEES) + 1, 0))


def _causes(
    asking: Asking, change: TopicChange, old: Review, new: Review
) -> Iterator[tuple[str, tuple[SettingChange, ...]]]:
    """For each guarantee that is worse, the settings that made it so."""
    differing = tuple(_differing(old.partition, new.partition))
    settings = {each.key: each for each in change.settings}
    for guarantee in dict.fromkeys(each.guarantee for each in change.worse):
        guilty = differing
        wanted = survived(old.verdict(guarantee.name)[0])
        if len(differing) > 1 and survived(new.verdict(guarantee.name)[0]) < wanted:
            guilty = tuple(
                name
                for name in differing
                if _survived(asking, reverted(new.partition, old.partition, name), guarantee, new.faults)
                >= wanted
            )
        keys = (FACTOR if name == _REPLICAS else entry(name).key_name for name in guilty or differing)
        yield guarantee.name, tuple(settings[key] for key in dict.fromkeys(keys) if key in settings)


def _survived(asking: Asking, subject: PartitionModel, guarantee: Guarantee, faults: int) -> float:
    """The faults that a guarantee survives in any mixture."""
    answers = (answer for group in ask_mixed(asking, subject, faults) for answer in group)
    return survived(find_answer(answers, guarantee.name))


def _differing(old: PartitionModel, new: PartitionModel) -> Iterator[str]:
    """The switches of the model that differ, and `replicas`."""
    if old.replicas != new.replicas:
        yield _REPLICAS
    yield from (name for name, value in new.config.items() if old.config[name] != value)


def reverted(new: PartitionModel, old: PartitionModel, switch: str) -> PartitionModel:
    """The new configuration with one switch as it was."""
    names, config, wanted = new.names, dict(new.config), new.in_sync_wanted
    if switch == _REPLICAS:
        names = with_spares(names, old.replicas)[: old.replicas]
    else:
        config[switch] = old.config[switch]
    if switch == _WANTED:
        wanted = old.in_sync_wanted
    config[_WANTED] = counted_min_isr(wanted, len(names), strict=bool(config["strict_min_isr"]))
    return replace(new, names=names, config=config, in_sync_wanted=wanted)


def any_worse(changes: Iterable[TopicChange]) -> bool:
    """Whether a guarantee of some topic survives fewer faults than before."""
    return any(each.worse for each in changes)
