"""Questions about models as a DataFrame: the checks of a model with the values of each row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from modelcheck.asking.models import pick_checks
from modelcheck.asking.overrides import Overrides, as_typed, names_to_give
from modelcheck.asking.sweep import FAULTS, Axis, Orders, PointSearch, SweepPoint, points
from modelcheck.asking.sweep_rows import rows_of
from modelcheck.processes.workers import Mail
from spark_explore.questions.answered import Asked, TableQuestion, answered
from spec.diagnostics import mistyped
from spec.frozen import frozen
from spec.load import load
from spec.model.ir import Model

ANSWERS = pa.schema(
    [
        ("property", pa.string()),
        ("verdict", pa.string()),
        ("run_faults", pa.int64()),
        ("run_steps", pa.int64()),
        ("states", pa.int64()),
        ("transitions", pa.int64()),
        ("seconds", pa.float64()),
        ("problem", pa.string()),
    ]
)
NAMES = pa.schema([("model", pa.string()), ("check", pa.string())])


def sweep(
    questions: DataFrame,
    model: str | Path | Sequence[Model],
    check: str | None = None,
    *,
    given: Overrides | None = None,
    properties: Sequence[str] = (),
    orders: Orders | None = None,
) -> DataFrame:
    """Each row with the answers of its check: a row for each property, with `NAMES` and `ANSWERS`.

    Columns with names of the scope, of the configuration, or `faults`, are the values there, null for
    those of the check; others are carried along.  `problem` says which value does not fit.
    Lazy: every action asks again, unless the result is cached or written.  Costs a search on one core
    for each distinct question.  Raises SpecError for what is wrong with the model, the check, or the columns.
    """
    models = load(model) if isinstance(model, str | Path) else tuple(model)
    checked = pick_checks(models, [] if check is None else [check]) if any(m.checks for m in models) else []
    known = {FAULTS, *names_to_give(models)}
    varied = [name for name in questions.columns if name in known]
    if not varied:
        message = f"no column is one of: {', '.join(sorted(known))}"
        raise mistyped("columns", ", ".join(questions.columns), message)
    asker = PointAsker(models, tuple(checked), given or Overrides(), tuple(properties), orders or Orders())
    return answered(questions, varied, asker)


@frozen(slots=False)
class PointAsker:
    """Asks the checks of a model with the values of a row."""

    models: tuple[Model, ...]
    checks: tuple[Any, ...]
    given: Overrides
    properties: tuple[str, ...]
    orders: Orders
    told: pa.Schema = NAMES
    answer: pa.Schema = ANSWERS

    @cached_property
    def mail(self) -> Mail:
        """How points are sent, without the models."""
        return Mail(self.models)

    def read(self, values: Asked) -> Iterator[TableQuestion]:
        """A question for each check. Raises SpecError for a value that does not fit."""
        axes = [Axis(name, (as_typed(value),)) for name, value in values.items()]
        for point in points(self.models, self.checks, axes, self.given, properties=self.properties):
            model, check = point.model, point.check
            key = (model.name, check.scope, check.budget, check.only, check.symmetry)
            yield TableQuestion(key, point, {"model": model.name, "check": check.name})

    def ask(self, question: SweepPoint) -> Iterator[Mapping[str, Any]]:
        """A row for each property."""
        for row in rows_of(question, {}, self._search(question)):
            yield {name: row[name] for name in ANSWERS.names}

    @cached_property
    def _search(self) -> PointSearch:
        """What answers points, in this process."""
        return PointSearch(self.orders)
