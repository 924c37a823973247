"""The random models that engines are compared on have everything that the language has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from random import Random

import spec.model.ir as ir
import spec.model.types as t
from spec.load import loads
from spec.model.kinds import OF_FAIR_RUNS
from spec.model.op import Op, Quantifier
from tests.model_texts import model_text

MODELS = 300
STATEMENTS = (ir.Assign, ir.Bound, ir.Branch, ir.Each, ir.Choose, ir.Assert)
EXPRESSIONS = (ir.And, ir.Or, ir.Implies, ir.If, ir.Let, ir.Members, ir.Bind, ir.MapOf, ir.Make, ir.Part)
OTHERS = (ir.Is, ir.Fit, ir.Old, ir.Did, ir.Config, ir.Const, ir.Key, ir.At)
TYPES = (t.Bool, t.Int, t.Range, t.Nat, t.Enum, t.Sort, t.Option, t.Record, t.Union, t.Tuple)
COLLECTIONS = (t.Set, t.Bag, t.Seq, t.Map)


def parts(node: object) -> Iterator[object]:
    """Everything in a model but its places in the text: kinds as they are, nodes by their class."""
    if isinstance(node, tuple):
        for each in node:
            yield from parts(each)
    elif isinstance(node, Enum):
        yield node
    elif is_dataclass(node):
        yield type(node)
        for field in fields(node):
            if field.name not in {"span", "source"}:
                yield from parts(getattr(node, field.name))


def test_random_models_have_everything_that_the_language_has() -> None:
    seen: set[object] = set()
    for seed in range(MODELS):
        (model,) = loads(model_text(Random(seed).randrange))  # noqa: S311 - no secret
        seen.update(parts((model.variables, model.actions, model.properties, model.init)))
    kinds = {*Op, *Quantifier, *ir.PropertyKind, *ir.Kind, *ir.Storage} - OF_FAIR_RUNS

    assert kinds - seen == set()
    assert {*STATEMENTS, *EXPRESSIONS, *OTHERS, *TYPES, *COLLECTIONS} - seen == set()
