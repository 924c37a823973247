"""A run of the model tried on a real cluster, as often as wished, and what came of it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path

from modelcheck.kafka.reproduce.client import Unanswered
from modelcheck.kafka.reproduce.cluster import Cluster, NotStarted
from modelcheck.kafka.reproduce.driver import Driver, How, Run
from modelcheck.kafka.reproduce.installation import Home
from modelcheck.kafka.reproduce.observed_state import Ending
from modelcheck.kafka.reproduce.plan import CannotForce, Plan
from modelcheck.kafka.reproduce.prediction import Predicted, predict
from modelcheck.kafka.reproduce.settings import ClusterSettings
from spec.diagnostics import Diagnostic, SpecError
from spec.frozen import frozen
from spec.model.ir import Model, Scope
from spec.source import Source


class Came(Enum):
    """The result of an attempt, compared with the model's prediction."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    SURVIVED = "nothing was lost"
    LOST = "lost after all"
    COULD_NOT = "could not"


@frozen
class ReproductionTask:
    """A plan to try on a cluster, with the model and scope whose configuration the cluster gets.

    `under` is the name of their check where it is another one than the plan's, whose steps may be
    impossible there: only the steps that are done are taken from the plan.  The same where `read` names
    settings that the release understands differently from the check.
    """

    plan: Plan
    model: Model
    scope: Scope
    settings: ClusterSettings
    under: str | None = None
    read: str = ""

    @property
    def freely(self) -> bool:
        """Whether only forced steps follow the plan, and the cluster chooses the others."""
        return self.under is not None or self.read != ""

    @property
    def predicted(self) -> frozenset[Ending]:
        """The possible endings according to the model."""
        if not self.freely:
            return frozenset({Ending.LOST})
        return predict(self.plan.phases, self.model, self.scope, self.plan.trace.states[0])


@frozen
class Attempt:
    """A reproduction task and its runs; `problem` is the reason if some are missing."""

    asked: ReproductionTask
    version: str
    predicted: frozenset[Ending]
    runs: tuple[Run, ...]
    problem: CannotForce | None = None

    @property
    def came(self) -> Came:
        """The result of all runs; one run that lost a record is enough."""
        if not self.runs:
            return Came.COULD_NOT
        lost = any(run.lost for run in self.runs)
        if self.asked.freely:
            return Came.LOST if lost else Came.SURVIVED
        return Came.REPRODUCED if lost else Came.NOT_REPRODUCED

    @property
    def is_as_predicted(self) -> bool:
        """Whether the cluster behaved like the model, where the model covers it."""
        if not self.asked.freely:
            return self.came is Came.REPRODUCED
        strange = any(end.how is How.OTHERWISE for run in self.runs for end in run.ends)
        return bool(self.runs) and not strange and all(run.ending in self.predicted for run in self.runs)


def attempt(
    asked: ReproductionTask, home: Home, *, times: int, keep: Path | None, tell: Callable[[str], None]
) -> Iterator[Run]:
    """Run the plan `times` times, each in its own folder. Raises SpecError if the cluster does not start."""
    for number in range(1, times + 1):
        with _folder(keep, number, times) as folder:
            cluster = Cluster(
                home,
                folder,
                len(asked.plan.order),
                settings=asked.settings.brokers,
                controllers=asked.settings.controller,
                features=asked.settings.features,
            )
            predicted = Predicted(asked.model, asked.scope, asked.plan.trace.states[0])
            try:
                with cluster:
                    driver = Driver(
                        asked.plan, predicted, cluster, asked.settings, freely=asked.freely, tell=tell
                    )
                    yield driver.run()
            except NotStarted as ended:
                raise ended.diagnostic() from None
            except (TimeoutError, Unanswered) as late:
                source = Source("--kafka-home", "")
                raise SpecError([Diagnostic("R0932", source, None, str(late))]) from None


@contextmanager
def _folder(keep: Path | None, number: int, times: int) -> Iterator[Path]:
    """A context with the folder of a run's cluster: kept, or temporary."""
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="modelcheck-kafka-") as name:
            yield Path(name)
        return
    folder = keep if times == 1 else keep / str(number)
    folder.mkdir(parents=True, exist_ok=True)
    yield folder.resolve()
