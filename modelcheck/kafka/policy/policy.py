"""A policy: what topics must survive, and the exceptions, each up to a day."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from fnmatch import fnmatchcase

from modelcheck.kafka.questions.question import Requirement
from spec.frozen import frozen
from spec.source import Source, Span


@frozen
class Applies:
    """The topics that an entry is for, by patterns; its owner and reason, and its place in the file."""

    topics: tuple[str, ...]
    owner: str
    why: str
    source: Source
    span: Span

    def to(self, topic: str) -> bool:
        """Whether the entry is for a topic; `*` and `?` in a pattern are as in a shell."""
        return any(fnmatchcase(topic, pattern) for pattern in self.topics)

    @property
    def words(self) -> str:
        """The place, owner and reason: "modelcheck.toml:3, payments team: money is booked by them"."""
        owner = f", {self.owner}" if self.owner else ""
        return f"{self.source.at_line(self.span.start)}{owner}" + (f": {self.why}" if self.why else "")


@frozen
class PolicyRule:
    """Requirements of some topics."""

    applies: Applies
    requirements: tuple[Requirement, ...]


@frozen
class Exemption:
    """An exception of some topics from requirements, up to and including a day."""

    applies: Applies
    requirements: tuple[Requirement, ...]
    until: date

    def lifts(self, topic: str, required: Requirement) -> bool:
        """Whether a topic is exempted from a requirement: an exception from N faults is one from more."""
        return self.applies.to(topic) and any(
            (each.guarantee, each.kind) == (required.guarantee, required.kind)
            and each.faults <= required.faults
            for each in self.requirements
        )


@frozen
class Required:
    """The requirements of one topic on one day, and those that it is exempted from, in words."""

    requirements: tuple[Requirement, ...] = ()
    exempted: tuple[str, ...] = ()


@frozen
class Policy:
    """The rules and exemptions of a file."""

    rules: tuple[PolicyRule, ...]
    exemptions: tuple[Exemption, ...]

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """The requirements of all rules, each once."""
        return tuple(dict.fromkeys(each for rule in self.rules for each in rule.requirements))

    def required(self, topic: str, today: date) -> Required:
        """What a topic must meet today: all rules for it count, less the exemptions that have not ended."""
        wanted = dict(self._wanted(topic))
        lifted = {each: by for each in wanted if (by := self._lifting(topic, each)) is not None}
        kept = [
            replace(each, by=_because(rule, lifted.get(each)))
            for each, rule in wanted.items()
            if each not in lifted or lifted[each].until < today
        ]
        exempted = [
            f"{each} until {by.until} ({by.applies.words})"
            for each, by in lifted.items()
            if by.until >= today
        ]
        return Required(tuple(kept), tuple(exempted))

    def _wanted(self, topic: str) -> Iterator[tuple[Requirement, PolicyRule]]:
        """The requirements of all rules for a topic, with their rules."""
        for rule in self.rules:
            if rule.applies.to(topic):
                yield from ((each, rule) for each in rule.requirements)

    def _lifting(self, topic: str, required: Requirement) -> Exemption | None:
        """The exemption that lasts longest of those from a requirement; None if there is none."""
        found = [each for each in self.exemptions if each.lifts(topic, required)]
        return max(found, key=lambda each: each.until, default=None)


def _because(rule: PolicyRule, ended: Exemption | None) -> str:
    """The rule of a requirement in words, and the exemption from it that has ended."""
    if ended is None:
        return rule.applies.words
    line, _ = ended.applies.source.position(ended.applies.span.start)
    return f"{rule.applies.words}; the exception at line {line} ended on {ended.until}"
