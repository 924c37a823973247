"""A random model with its question, and what the reference engine finds, which is the measure."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from unittest.mock import patch

from modelcheck.contract.engine import Limits
from modelcheck.contract.families import looked_at
from modelcheck.contract.result import Findings
from modelcheck.explicit.engine import ExplicitEngine
from spec.load import loads
from spec.model.ir import Check, Model
from tests.agreement import Found, found_by
from tests.model_texts import model_text

FEW = 4  # states of a tiny model, and those that are expanded at once so that two threads have work
MOST = Limits(states=400, seconds=4)  # of the reference engine


def small_chunks() -> AbstractContextManager[object]:
    """A context in which a level of few states is cut into many parts."""
    return patch("modelcheck.explicit.search.rounds.CHUNK", FEW)


class TooLarge(Exception):  # noqa: N818 - then the next one is tried
    """There is too much to search, or it takes too long."""


@dataclass
class Case:
    """A model, the check that is asked of it, and the number that decides what else is random about it."""

    seed: int
    text: str
    model: Model
    asked: Check

    @cached_property
    def known(self) -> Found:
        """What the reference engine finds. Raises TooLarge."""
        return self.by_reference(self.asked)

    @property
    def findings(self) -> Findings | None:
        """The same, where the model can start."""
        return self.known.findings

    @property
    def is_tiny(self) -> bool:
        """Whether there is hardly a state. Raises TooLarge."""
        return self.findings is None or self.findings.stats.states < FEW

    @cached_property
    def explicit(self) -> ExplicitEngine:
        """An explicit engine for all questions about this model, which compiles each kernel once."""
        return ExplicitEngine()

    def by_reference(self, asked: Check, **options: bool) -> Found:
        """What the reference engine finds for another question, with some options. Raises TooLarge."""
        found = found_by(self.model, asked, "reference", limits=MOST, **options)
        assert found is not None, "the reference engine refuses nothing"
        if found.findings is not None and found.findings.end.partial:
            raise TooLarge
        return found

    def random(self, what: str) -> Random:
        """Where the decisions about something come from: the same for the same seed."""
        return Random(f"{self.seed} {what}")  # noqa: S311 - no secret


def text_of(seed: int) -> str:
    """The text of the random model of a number."""
    return model_text(Random(seed).randrange, whole=True)  # noqa: S311 - no secret


def case_of(seed: int, text: str) -> Case:
    """The model of a text with its last check. Raises SpecError."""
    model, asked = [(model, asked) for model in loads(text) for asked in model.checks][-1]
    names = tuple(prop.name for prop in looked_at(model, asked))
    return Case(seed, text, model, replace(asked, only=names))
