"""`--draw FORMAT[,FORMAT] --out FOLDER`: each run that was found, as a file in each of the formats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from counterexamples.pictures.rendered import NoRenderer
from counterexamples.trace import Trace
from modelcheck.answers.formats import FORMATS, RunView, as_file, remarks
from modelcheck.contract.report import Stopped
from modelcheck.processes.watch import watched
from modelcheck.storage.output import Output
from modelcheck.storage.written import Files


def formats(text: str) -> tuple[str, ...]:
    """The formats in a comma-separated text. Raises ValueError for an unknown name."""
    names = tuple(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in FORMATS:
            raise ValueError(f"`{name}` is none of the formats {', '.join(FORMATS)}")
    return names


def draw(
    views: Iterable[RunView],
    forms: Sequence[str],
    folder: Path,
    files: Files,
    output: Output,
    *,
    seconds: float | None = None,
) -> None:
    """Write a file for each view and format, named by model, check and property; each within `seconds`."""
    found = tuple(views)
    if not found:
        output.tell("modelcheck: there is no run to draw")
        return
    with suppress(OSError):  # `put` says what is wrong
        folder.mkdir(parents=True, exist_ok=True)
    for asked in found:
        for form in forms:
            _draw(asked, form, folder, files, output, seconds)


def _name(trace: Trace) -> str:
    """The file name for a trace, without suffix."""
    shows = trace.property or "error"
    if trace.is_run:
        return f"{trace.model.name}.{trace.check or 'run'}.{shows}"
    return f"{trace.model.name}.no_run.{shows}.after_{trace.steps[-1].action}"


def _draw(
    asked: RunView, form: str, folder: Path, files: Files, output: Output, seconds: float | None
) -> None:
    """Write one file; a failure is reported, and the other files are still written."""
    target = folder / f"{_name(asked.trace)}{FORMATS[form].suffixes[0]}"
    try:
        with watched(seconds, None, output.give_up):
            content = FORMATS[form].draw(asked)
    except (NoRenderer, OSError, Stopped) as refusal:
        files.fail(target, refusal)
        return
    files.put(target, form, as_file(content))
    for remark in remarks(form, asked, content):
        output.tell(f"modelcheck: {target.name}: {remark}")
