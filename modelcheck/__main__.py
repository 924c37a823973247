"""`python -m modelcheck`, and where the command `modelcheck` begins."""

from __future__ import annotations

import gc
import sys

from modelcheck.processes.starting import leave_at_once

OBJECTS = 50_000  # that are made before Python looks for those in circles: models and texts live to the end


def main() -> int:
    """The exit code of the command line that this process was given."""
    leave_at_once()
    gc.set_threshold(OBJECTS)
    from modelcheck.cli import console  # noqa: PLC0415 - Ctrl-C may come while all else is loaded

    return console()


if __name__ == "__main__":
    sys.exit(main())
