"""`python -m modelcheck`, and where the command `modelcheck` begins."""

import os
import sys

# Python has the current folder first on its path here.  Nothing may be imported before that is taken away,
# not even `__future__`; `sys` and `os` are there already.  In a clone it is where we are.  NOTE(safe-path)
own = os.path.join(sys.path[0], "modelcheck", "__main__.py")  # noqa: PTH118 - pathlib is not loaded yet
if __name__ == "__main__" and not sys.flags.safe_path and __file__ != own:
    del sys.path[0]

import gc  # noqa: E402

from modelcheck.processes.starting import leave_at_once  # noqa: E402

OBJECTS = 50_000  # that are made before Python looks for those in circles: models and texts live to the end


def main() -> int:
    """The exit code of the command line that this process was given."""
    leave_at_once()
    gc.set_threshold(OBJECTS)
    from modelcheck.cli import console  # noqa: PLC0415 - Ctrl-C may come while all else is loaded

    code = console()
    # An interrupt within `exec` of a text, as in the making of a dataclass, ends Python by a signal of its
    # own, even where it was caught: unless such a text is run afterwards.
    exec("")  # noqa: S102 - nothing
    return code


if __name__ == "__main__":
    sys.exit(main())
