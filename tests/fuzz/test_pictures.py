"""Whether all that pictures say of the runs of random models is true, and an untruth is noticed."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from counterexamples.messages import Message, Needs
from counterexamples.pictures.depict import picture
from counterexamples.pictures.picture import ArrowKind
from tests.fuzz.cases import Case, TooLarge, case_of, text_of
from tests.fuzz.of_pictures import pictures, random_run, untruths
from tests.message_models import message_model


def talking(seed: int) -> Case:
    """A random model that exchanges messages."""
    return case_of(seed, message_model(Random(seed)))  # noqa: S311 - no secret


@pytest.mark.parametrize("seed", range(30))
def test_all_that_a_picture_says_of_messages_is_true(seed: int) -> None:
    assert untruths(random_run(talking(seed))) == []


@pytest.mark.parametrize("seed", range(30))
def test_all_that_a_picture_says_of_any_model_is_true(seed: int) -> None:
    try:
        found = pictures(case_of(seed, text_of(seed)))
    except TooLarge:
        return

    assert not found


def test_random_models_have_messages_that_are_counted() -> None:
    rows = [row for seed in range(30) for row in picture(random_run(talking(seed))).rows]
    received = [[arrow for arrow in row.arrows if arrow.mark is ArrowKind.MESSAGE] for row in rows]

    assert sum(len(each) > 0 for each in received) > 20
    assert sum(len(each) > 1 for each in received) > 1


def everything(self: Needs, number: int) -> Iterator[Message]:
    return iter(self._under_way(number))


def nothing(_self: Needs, _number: int) -> Iterator[Message]:
    return iter(())


@pytest.mark.parametrize("needed", [everything, nothing])
def test_an_arrow_too_many_or_too_few_is_noticed(needed: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Needs, "_needed", needed)

    assert [each for seed in range(10) for each in untruths(random_run(talking(seed)))]
