"""A command that is asked to end, once what it shows of its progress has come to some point."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import termios
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
LATE = 120.0  # seconds; what does not hear would go on for hours, beside all other tests


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code, its output, and all that its terminal showed beside it."""

    code: int
    out: str
    shown: str


def ended(
    *words: str,
    seen: str,
    signals: tuple[int, ...] = (signal.SIGTERM,),
    to_group: tuple[int, ...] = (),
    folder: Path = ROOT,
    environment: Mapping[str, str] | None = None,
) -> Ended:
    """What comes of a command that gets signals, one right after the other, once `seen` is in its progress.

    Each of `to_group` is for all processes of the command.
    """
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (24, 200))
    running = subprocess.Popen(
        [sys.executable, "-m", "modelcheck", *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", **(environment or {})},
    )
    os.close(theirs)
    late = threading.Timer(LATE, running.kill)
    late.start()
    out: list[bytes] = []
    assert running.stdout is not None
    reader = threading.Thread(target=lambda: out.append(running.stdout.read() if running.stdout else b""))
    reader.start()
    shown, is_sent = b"", False
    try:
        while part := os.read(ours, 65536):
            shown += part
            if not is_sent and re.search(seen, shown.decode(errors="replace")):
                is_sent = True
                for number in signals:
                    running.send_signal(number)
                for number in to_group:
                    os.killpg(running.pid, number)
    except OSError:  # the other side is closed
        pass
    finally:
        code = running.wait()
        late.cancel()
        reader.join()
        running.stdout.close()
        os.close(ours)
    assert is_sent, f"{seen} was never shown: {shown.decode(errors='replace')}"
    return Ended(code, b"".join(out).decode(), shown.decode(errors="replace"))
