"""One self-contained page that runs a model: its kernel, its words, and the scripts that drive it."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from counterexamples.html.templates import asset, environment, hashed, policy, styles
from counterexamples.lines import clean
from counterexamples.pictures.drawing import measures
from counterexamples.trace import Trace
from spec.meaning.semantics import Machine

Json = Any
PACKAGE = "counterexamples.play"
ENGINE = (
    "values.js",
    "table.js",
    "engine.js",
    "search.js",
    "worker.js",
)  # what a search in a worker needs too
SHOWN = ("picture.js", "runs.js", "traces.js", "page.js")


def play_page(code: bytes, description: Json) -> str:
    """The HTML page to play a model; equal models give equal bytes.

    `code` is the kernel as WebAssembly or a table of states as JSON, `description` what `described` and
    either say of it.  The page's content security policy lets it run its own scripts, workers that it
    makes itself, and WebAssembly where it has any.
    """
    engine, script = ("\n".join(asset(name, PACKAGE) for name in names) for names in (ENGINE, SHOWN))
    style = f"{styles('page.css')}\n{asset('play.css', PACKAGE)}"
    known = _clean({**description, "version": _version(description), "widths": measures()})
    evaluated = [] if description["kernel"].get("table") else ["'wasm-unsafe-eval'"]
    template = environment(PACKAGE).get_template("play.jinja")
    return template.render(
        title=f"{description['model']} · {description['check']}",
        says=description["says"],
        model=f"{description['model']} · {description['itf']['source']}",
        scope=description["scope"],
        config=description["config"],
        table=description["kernel"] if description["kernel"].get("table") else None,
        description=json.dumps(known, separators=(",", ":")).replace("<", "\\u003c"),
        kernel=b64encode(gzip.compress(code, 9, mtime=0)).decode(),
        engine=engine,
        script=script,
        style=style,
        policy=policy(
            style,
            "worker-src blob:",
            " ".join(["script-src", *(f"'{hashed(each)}'" for each in (engine, script)), *evaluated]),
        ),
    )


def address(trace: Trace) -> str:
    """The part of a page's address behind `#` that opens it with a run: model, check, start, and its steps.

    Steps have their names there, so that it does not depend on what else can happen; a page writes the same
    shorter.  Raises LookupError for a run from where the model does not start.
    """
    machine = Machine(trace.model, trace.scope)
    start = next((n for n, state in enumerate(machine.initial()) if state == trace.states[0]), None)
    if start is None:
        raise LookupError(f"{trace.model.name} does not start so")
    names = [quote(machine.name(step), safe="(),").replace("~", "%7E") for step in trace.steps]
    return f"{trace.model.name}.{trace.check}/{';'.join((str(start), *names))}"


def _version(description: Json) -> str:
    """A hash of the model, scope and texts for the page's address: step numbers depend on these."""
    kernel = description["kernel"]
    parts = [
        description[name] for name in ("model", "check", "scope", "config", "actions", "properties", "itf")
    ]
    limits = {each["name"]: each["most"] for each in kernel["counters"]}
    text = json.dumps([parts, kernel["actions"], limits], sort_keys=True)
    return sha256(text.encode()).hexdigest()[:8]


def _clean(part: Json) -> Json:
    """The data with control characters removed from all texts."""
    match part:
        case str():
            return clean(part)
        case dict():
            return {key: _clean(value) for key, value in part.items()}
        case list() | tuple():
            return [_clean(each) for each in part]
        case _:
            return part
