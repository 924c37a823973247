"""What an extra of the package brings, which a user may not have installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from modelcheck.contract.engine import CannotStart

OURS = ("modelcheck", "spec", "counterexamples", "spark_explore")


@contextmanager
def needing(extra: str, who: str) -> Iterator[None]:
    """A context for imports of an optional extra's packages; raises CannotStart on behalf of `who`.

    Raises CannotStart with what is missing and how to install it; a module of our own that is
    missing is a mistake of ours, and raises as it does.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] in OURS:
            raise
        advice = f"`python -m pip install 'modelcheck[{extra}]'` installs it"
        raise CannotStart(f"{who} needs {missing.name}, which is not here: {advice}") from None
