"""The representatives that compiled code finds, held against every renaming of a state."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator
from itertools import permutations, product
from unittest.mock import patch

from modelcheck.explicit.codegen.states.canonical import canonical
from modelcheck.explicit.codegen.states.layout import Words, layout
from modelcheck.explicit.native.arena import words_of
from modelcheck.explicit.native.compiling import Tier, compiled, loaded
from modelcheck.explicit.native.writing import text_of
from modelcheck.search.symmetry import Orbits
from spec.meaning.semantics import CutOff, Machine, State
from spec.model.interchangeable import symmetric_sorts
from spec.model.ir import Kind, Model, Scope
from spec.model.values import ModelError


def reached(model: Model, scope: Scope, most: int) -> list[State]:
    """The first states without faults, breadth first."""
    machine = Machine(model, scope)
    actions = [action.name for action in model.actions if action.kind is not Kind.FAULT]
    states, seen = [], set()
    for state in machine.initial():
        if state not in seen:
            seen.add(state)
            states.append(state)
    for state in states:
        if len(states) >= most:
            break
        try:
            for step in machine.steps(state, None, actions):
                if not isinstance(step, CutOff) and step.state not in seen:
                    seen.add(step.state)
                    states.append(step.state)
        except ModelError:
            continue
    return states[:most]


def renamed_states(model: Model, scope: Scope, state: State) -> Iterator[State]:
    """A state under every renaming of the members of the symmetric sorts."""
    sorts = symmetric_sorts(model)
    orbits = Orbits(Machine(model, scope), sorts)
    choices = [[(sort, one) for one in permutations(range(len(scope.sorts[sort])))] for sort in sorts]
    return (orbits._renamed(state, chosen) for chosen in product(*choices))


def representing(model: Model, scope: Scope) -> Callable[[State], tuple[Words, Words]]:
    """A function from a state to its words and those of its representative, by signatures. Raises TooWide."""
    packed = layout(model, scope, {})
    with patch("modelcheck.explicit.codegen.states.canonical.WRITTEN_OUT", 0):
        functions = canonical(model, scope, packed, symmetric_sorts(model))
    engine = loaded(compiled(text_of(functions, ["represent"]), Tier.QUICK))
    represent = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(
        engine.get_function_address("represent")
    )

    def of(state: State) -> tuple[Words, Words]:
        words = packed.pack(state)
        found = words_of((0,) * len(words))
        assert engine, "the code is there as long as this function"
        represent(words_of(words), found)
        return words, tuple(found)

    return of


def representatives_differ(model: Model, scope: Scope, states: Iterable[State]) -> str:
    """What is wrong with the representative of one of the states, by either engine; empty: nothing."""
    of = representing(model, scope)
    key = Orbits(Machine(model, scope), symmetric_sorts(model)).key
    for state in states:
        same = [*renamed_states(model, scope, state)]
        orbit = [of(each) for each in same]
        found, keys = {representative for _, representative in orbit}, {key(each) for each in same}
        if len(found) > 1 or len(keys) > 1:
            return f"{len(found)} representatives and {len(keys)} keys of {state}"
        if not found <= {words for words, _ in orbit}:
            return f"the representative of {state} is none of its orbit"
    return ""
