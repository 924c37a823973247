"""A request of an agent, answered: in a process of its own, which may be ended at any time.

It reads one request, a line of JSON, and writes one answer.  Whatever happens, the answer has no traceback:
that of a bug goes to standard error.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from counterexamples.lines import plain
from counterexamples.text import WIDTH
from counterexamples.trace import Trace
from modelcheck.answers.card import card
from modelcheck.answers.outcome_json import as_json
from modelcheck.answers.pipelines.outcomes import run_text, scope_of
from modelcheck.api import Unsupported, traces
from modelcheck.commands.asked import captured
from modelcheck.commands.certify import run as run_certify
from modelcheck.commands.check.files import certificate_of
from modelcheck.commands.serve.mcp.jobs import JOBS, done
from modelcheck.contract.assessment import assess
from modelcheck.contract.exits import Exit
from modelcheck.contract.result import Outcome
from modelcheck.contract.wording import scope_words
from modelcheck.python_api import check, replay
from spec.codes import codes, find
from spec.diagnostics import SpecError, mistyped, suggest
from spec.diagnostics import as_json as mistake_json
from spec.reading import only_below

Json = dict[str, Any]
LARGEST = 200_000  # characters of a certificate that an answer may have
TRACES = ("trace", "not_a_run")


def main() -> int:
    """Answer the request on the standard input."""
    request = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_leave_with_input, daemon=True).start()
    sys.stdout.write(json.dumps(answered(request)))
    return 0


def answered(request: Mapping[str, Any]) -> Json:
    """The answer to a request, which reads files below its `folders` only, if it has any."""
    folders = request.get("folders")
    kept = nullcontext() if folders is None else only_below(map(Path, folders))
    try:
        with kept:
            job = JOBS.get(request["tool"])
            return TOOLS[request["tool"]](request) if job is None else done(job, request)
    except SpecError as error:
        mistakes = [mistake_json(each) for each in error.diagnostics]
        return _answer(Exit.WRONG, str(error), "", {"errors": mistakes})
    except Unsupported as unsupported:
        return _answer(Exit.UNKNOWN, str(unsupported), "", {})
    except MemoryError:
        return _answer(Exit.UNKNOWN, "out of memory; no verdict", "", {})
    except Exception as error:  # noqa: BLE001 - whatever gets here is a bug, and is reported as one
        traceback.print_exc()
        text = f"this is a bug in modelcheck ({type(error).__name__}); the server's error output has more"
        return _answer(Exit.BUG, text, "", {})


def _leave_with_input() -> None:
    """Exit when the input closes, since the caller has ended."""
    while os.read(0, 1):
        pass
    os._exit(1)


def _answer(exit_: Exit, says: str, scope: str, data: Json) -> Json:
    """An answer as JSON data."""
    return {"exit": int(exit_), "says": says, "scope": scope, "data": data}


def _check(request: Mapping[str, Any]) -> Json:
    """Answer a request to check."""
    outcome = check(
        request["file"],
        request.get("check"),
        of=request.get("of"),
        properties=request.get("properties") or (),
        scope=request.get("scope"),
        config=request.get("config"),
        faults=request.get("faults"),
        seconds=request["seconds"],
        memory=request.get("memory"),
        engine=request.get("engine"),
    )
    answer = _outcome_answer(outcome, is_whole=bool(request.get("traces")))
    if request.get("page"):
        from modelcheck.answers.html_report import outcomes_page  # noqa: PLC0415 - jinja2 is loaded only for pages

        answer["data"]["page"] = outcomes_page([outcome], [""])
    return answer


def _outcome_answer(outcome: Outcome, *, is_whole: bool) -> Json:
    """The answer with card and stories; the data without runs unless `is_whole`."""
    stories = [run_text(run) for run in traces(outcome.findings)]
    says = "\n".join([plain(card(outcome, width=WIDTH)), *stories])
    data = as_json(outcome)
    return _answer(assess(outcome).exit, says, scope_of(outcome), data if is_whole else _without_runs(data))


def _without_runs(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """The data without runs."""
    match value:
        case dict():
            return {key: _without_runs(each) for key, each in value.items() if key not in TRACES}
        case list():
            return [_without_runs(each) for each in value]
        case _:
            return value


def _explain(request: Mapping[str, Any]) -> Json:
    """Answer a request to explain a code."""
    code = str(request["code"])
    entry = find(code)
    if entry is None:
        message, help_ = f"there is no code `{code}`", suggest(code.upper(), codes())
        raise mistyped("code", code, message, help_, "R0902")
    data = {"code": entry.code, "title": entry.title}
    return _answer(Exit.EXPECTED, f"{entry.code}: {entry.title}\n\n{entry.text}", "every model", data)


def _replay(request: Mapping[str, Any]) -> Json:
    """Answer a request to replay a trace."""
    run = replay(request["trace"], request["file"], of=request.get("of"), check=request.get("check"))
    data = {"model": run.model.name, "steps": len(run.steps), "faults": run.faults, "property": run.property}
    return _answer(Exit.EXPECTED, run_text(run), _bounds(run), data)


def _bounds(run: Trace) -> str:
    """The scope of a run in words."""
    return f"one run of {run.model.name}: {', '.join(scope_words(run.scope))}"


def _certificate(request: Mapping[str, Any]) -> Json:
    """Answer a request for a certificate."""
    outcome = check(request["file"], request["check"], seconds=request["seconds"], engine="prove")
    text = certificate_of(outcome)
    answer = _outcome_answer(outcome, is_whole=False)
    if text is None:
        answer["says"] += "\nnot everything is proved, so there is no certificate"
        answer["data"]["certificate"] = None
        return answer
    answer["data"]["characters"] = len(text)
    answer["data"]["certificate"] = text if len(text) <= LARGEST else None
    if len(text) > LARGEST:
        command = f"modelcheck check {request['file']} --check {outcome.check.name} --engine prove"
        answer["says"] += f"\nthe certificate is too long to be sent: {command} --certificate FILE writes it"
    return answer


def _certify(request: Mapping[str, Any]) -> Json:
    """Answer a request to check a certificate."""
    given = {key: request.get(key) for key in ("certificate", "file", "seconds")}
    code, printed, told = captured(lambda output: run_certify(argparse.Namespace(**given), output))
    return _answer(code, f"{printed}{told}", "what the certificate is of; each line says how far", {})


TOOLS: Mapping[str, Callable[[Mapping[str, Any]], Json]] = {
    "check": _check,
    "explain": _explain,
    "replay": _replay,
    "certificate": _certificate,
    "certify": _certify,
}

if __name__ == "__main__":
    sys.exit(main())
