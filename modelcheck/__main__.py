"""`python -m modelcheck`, and where the command `modelcheck` begins."""

from __future__ import annotations

import sys

from modelcheck.starting import leave_at_once


def main() -> int:
    """The exit code of the command line that this process was given."""
    leave_at_once()
    from modelcheck.cli import console  # noqa: PLC0415 - Ctrl-C may come while all else is loaded

    return console()


if __name__ == "__main__":
    sys.exit(main())
