"""`python -m modelcheck`."""

from __future__ import annotations

import sys

from modelcheck.cli import main

if __name__ == "__main__":
    sys.exit(main())
