"""Kernels that another process makes before they are asked for.

Each test is a program of its own: a process that has threads, as one that runs many tests may
have, makes no copy of itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="copies of a process are made on Linux")

BEGIN = """
import os, signal, time
import modelcheck.explicit.native.kernel as kernels
from modelcheck.api import check, task_of
from modelcheck.explicit.engine import ExplicitEngine
from modelcheck.explicit.native.ahead import Ahead
from modelcheck.explicit.native.functions import Codes
from modelcheck.explicit.native.kernel import Kernel, shared_name
from spec.library import text
from spec.load import loads

model = next(each for each in loads(text("kisr")) if each.name == "counted")
asked = next(each for each in model.checks if each.name == "xs")
task, other = task_of(model, asked), task_of(model, asked, symmetry=True)
made = []  # by this process
make = Kernel._make
Kernel._make = lambda self, **how: (made.append(shared_name(self._task)), make(self, **how))
engine = ExplicitEngine(series=True)
"""


def run(program: str, folder: Path, **environment: str) -> str:
    """What a program prints. It must not fail."""
    given = {**os.environ, "MODELCHECK_CACHE": str(folder), **environment}
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + program],
        capture_output=True,
        text=True,
        env=given,
        check=False,
        timeout=60,
    )

    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def test_what_was_foreseen_is_made_by_another_process(tmp_path: Path) -> None:
    program = """
engine.foresee([task])
engine._ahead[0]._child.pipe.poll(None)  # until it is begun
found = check(model, asked, engine=engine).findings
engine.close()
print(len(made), found.stats.states == check(model, asked, engine="reference").findings.stats.states)
"""

    assert run(program, tmp_path) == "0 True"


def test_what_is_not_begun_yet_is_made_here(tmp_path: Path) -> None:
    program = """
engine.foresee([other, task])
check(model, asked, engine=engine)
print(made == [shared_name(task)])
engine.close()
"""

    assert run(program, tmp_path) == "True"


def test_nothing_is_made_twice_and_no_process_starts_where_all_is_there(tmp_path: Path) -> None:
    program = """
Kernel(task, Codes())
ahead = Ahead([task], Codes())
print(ahead._child)
"""

    assert run(program, tmp_path) == "None"


@pytest.mark.parametrize("when", ["0", "0.1"])
def test_where_the_process_is_killed_the_code_is_made_here(tmp_path: Path, when: str) -> None:
    program = f"""
engine.foresee([task])
time.sleep({when})
os.kill(engine._ahead[0]._child.process.pid, signal.SIGKILL)
found = check(model, asked, engine=engine).findings
print(found.end.name)
"""

    assert run(program, tmp_path) == "COMPLETE"


def test_where_nothing_can_be_kept_the_code_is_made_here(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    program = """
engine.foresee([task])
print(check(model, asked, engine=engine).findings.end.name, len(made))
"""

    assert run(program, tmp_path / "file" / "folder") == "COMPLETE 1"


def test_the_process_ends_with_the_one_that_started_it(tmp_path: Path) -> None:
    program = """
engine.foresee([task, other])
print(engine._ahead[0]._child.process.pid, flush=True)
os._exit(0)
"""
    child = int(run(program, tmp_path))

    for _ in range(100):
        if not Path(f"/proc/{child}").exists():
            break
        time.sleep(0.1)
    assert not Path(f"/proc/{child}").exists()
