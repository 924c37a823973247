"""What other parts of modelcheck add to `check`: options, and work on its outcomes."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Protocol

from modelcheck.commands.check.questions import Question
from modelcheck.contract.exits import Exit
from modelcheck.contract.result import Outcome
from modelcheck.storage.output import Output

Result = tuple[dict[str, object], Exit]  # what is added to the JSON of each outcome, and an exit code
Followup = Callable[[Sequence[Outcome], Output], Result]


class FollowupProvider(Protocol):
    """A module that `modelcheck.commands.registry` registers for `check`."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options that ask for the followup."""

    def refuse_conflicts(self, args: argparse.Namespace) -> None:
        """Refuse options that do not go together, by `args.refuse`."""

    def followup(self, args: argparse.Namespace, asked: Sequence[Question]) -> Followup | None:
        """The action after all checks, if the options ask for one.

        Raises SpecError where it cannot be done with what is asked.
        """
