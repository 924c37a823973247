"""Random numbers that are the same in every language and on every machine: splitmix64."""

from __future__ import annotations

MASK = (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15  # what the state grows by for each number
SHIFTS = (30, 27, 31)
FACTORS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


def mixed(word: int) -> int:
    """A word of 64 bits, mixed one to one: the last step of splitmix64 (Steele, Lea, Flood 2014)."""
    for shift, factor in zip(SHIFTS, FACTORS, strict=False):
        word = (word ^ word >> shift) * factor & MASK
    return word ^ word >> SHIFTS[-1]


class Chance:
    """The random numbers of one run, which depend on the seed (modulo 2^64) and on the run's number only.

    NOTE(chance): compiled code draws the same numbers in the same order, one to choose the
    initial state and one for each step, so a run is the same whoever makes it.
    """

    def __init__(self, seed: int, run: int) -> None:
        self._word = mixed(mixed(seed & MASK) + run & MASK)

    def below(self, count: int) -> int:
        """A number from 0 to below `count`; of two, neither is likelier by more than `count` in 2^64."""
        self._word = self._word + STEP & MASK
        return mixed(self._word) * count >> 64
