"""The random models that tests compare engines on are models: each of them is well typed."""

from __future__ import annotations

from random import Random

from spec.load import loads
from tests.model_texts import model_text

QUICK, MANY = 150, 1_200
ILL_TYPED_ONCE = (
    470,
    556,
    962,
    1157,
    1190,
    1847,
    2206,
    2360,
    2530,
    2963,
    3882,
    3963,
    12880,
    13634,
    13807,
    14685,
)


def load_each(*seeds: int) -> None:
    for seed in seeds:
        loads(model_text(Random(seed).randrange), f"seed {seed}")  # noqa: S311 - no secret


def test_random_models_are_well_typed() -> None:
    load_each(*range(QUICK), *ILL_TYPED_ONCE)


def test_many_random_models_are_well_typed() -> None:
    load_each(*range(QUICK, MANY))
