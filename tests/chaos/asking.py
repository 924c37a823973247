"""What the commands say of a round's directories, asked as a user asks."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

MOST = 120  # seconds for an answer about one partition


def inspect(folder: Path) -> dict[str, Any]:
    """What `inspect` says of a round's directories; kept beside them."""
    return _answered(folder / "inspect.json", ["inspect", *_directories(folder), "--json"])


def explain(folder: Path, topic: str, acks: str, lost: Sequence[int], *, with_logs: bool) -> dict[str, Any]:
    """What `explain-log` says of a partition; kept beside the directories."""
    logs = [str(folder / "logs")] if with_logs else []
    given = ["explain-log", *_directories(folder), *logs, "--partition", f"{topic}-0", "--acks", acks]
    given += [part for node in lost for part in ("--lost", str(node))]
    kept = folder / f"explain-{topic}{'-logs' if with_logs else ''}.json"
    return _answered(kept, [*given, "--json", "--max-time", str(MOST)])


def _directories(folder: Path) -> list[str]:
    """The directories of all nodes that have one."""
    return [str(each) for each in sorted((folder / "data").iterdir())]


def _answered(kept: Path, given: list[str]) -> dict[str, Any]:
    """The JSON that a command prints, with its CPU seconds; what went wrong, if it prints none."""
    command = [sys.executable, "-m", "modelcheck", "kafka", *given]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=4 * MOST)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = {"problem": (done.stderr or done.stdout)[-500:]}
    answer["seconds"] = round(seconds, 1)
    kept.write_text(json.dumps(answer, indent=1) + "\n")
    return dict(answer)
