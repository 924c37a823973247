"""Who does many jobs at once, by the name of an engine; each is imported at its first use."""

from __future__ import annotations

from modelcheck.asking.crew import Crew
from modelcheck.engines.registry import loaded

CREWS = {
    "explicit": "modelcheck.asking.crew:Processes",
    "spark": "spark_explore.workers:SparkWorkers",
}


def crew(name: str, **options: object) -> Crew:
    """The crew with a name and options, imported on demand. Raises CannotStart as an engine does."""
    made: Crew = loaded(name, CREWS[name])(**options)
    return made
