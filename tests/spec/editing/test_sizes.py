"""How many values types have: as many as are listed, and at once, however large the scope."""

from __future__ import annotations

import pytest

from spec.editing.sizes import size, size_words, weight
from spec.load import loads
from tests.hostile_files import patience

TYPES = {  # with a value, and how many values there are where N is 3 and S has one member
    "seq[bool; N]": ("[]", 1 + 2 + 4 + 8),
    "seq[S; N]": ("[]", 4),
    "set[0..4]": ("{}", 2**5),
    "bag[bool; N]": ("{}", 1 + 2 + 3 + 4),
    "map[bool, 0..2]": ("[b: bool -> 0]", 3**2),
    "(bool, 0..2)?": ("none", 7),
}
LARGE = {"seq[bool; N]": "[]", "seq[S; N]": "[]", "set[N]": "{}", "bag[N; N]": "{}", "seq[N; N]": "[]"}


def model(type_: str, value: str, bound: int) -> str:
    return f"""
        protocol sized
        sort S
        nat N
        state {{ x: {type_} = {value} }}
        action go {{ }}
        check it {{ scope S = 1, N = {bound} }}
    """


@pytest.mark.parametrize("type_", TYPES)
def test_a_size_is_how_many_values_there_are(type_: str) -> None:
    value, count = TYPES[type_]
    (found,) = loads(model(type_, value, 3))

    assert size(found.variables[0].type, found.checks[0].scope) == count


@pytest.mark.parametrize("type_", LARGE)
@pytest.mark.parametrize("bound", [10**4, 10**5, 10**6])
def test_a_scope_of_any_size_is_weighed_at_once(type_: str, bound: int) -> None:
    (found,) = loads(model(type_, LARGE[type_], bound))

    with patience():
        assert weight(found, found.checks[0]) > 0
        assert size_words(found.variables[0].type, found.checks[0].scope)
