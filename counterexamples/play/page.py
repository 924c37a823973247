"""One self-contained page that runs a model: its kernel, its words, and the scripts that drive it."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from importlib import resources
from typing import Any

from counterexamples.html.page import content_hash, environment
from counterexamples.lines import clean
from counterexamples.pictures.drawing import STYLE

Json = Any
ENGINE = ("values.js", "engine.js", "search.js", "worker.js")  # what a search in a worker needs too
SHOWN = ("picture.js", "runs.js", "traces.js", "page.js")


def play_page(code: bytes, told: Json) -> str:
    """The page, as the text of an HTML file; the same model gives the same bytes.

    `code` is the kernel as WebAssembly, `told` what `described` and the kernel say of it.  The page's
    content security policy lets it run its own scripts, WebAssembly, and workers that it makes itself.
    """
    engine, script = ("\n".join(map(_text, names)) for names in (ENGINE, SHOWN))
    dark = STYLE.replace("@media (", "@media screen and (")
    style = "\n".join([_text("page.css", "counterexamples.html"), dark, _text("play.css")])
    template = environment("counterexamples.play").get_template("play.jinja")
    return template.render(
        title=f"{told['model']} · {told['check']}",
        says=told["says"],
        model=f"{told['model']} · {told['itf']['source']}",
        scope=told["scope"],
        config=told["config"],
        told=json.dumps(_clean(told), separators=(",", ":")).replace("<", "\\u003c"),
        kernel=b64encode(gzip.compress(code, 9, mtime=0)).decode(),
        engine=engine,
        script=script,
        style=style,
        policy=f"default-src 'none'; style-src '{content_hash(style)}'; worker-src blob:; "
        f"script-src '{content_hash(engine)}' '{content_hash(script)}' 'wasm-unsafe-eval'; "
        "img-src data:; base-uri 'none'; form-action 'none'",
    )


def _clean(told: Json) -> Json:
    """The same, with nothing in its texts that moves or hides others."""
    match told:
        case str():
            return clean(told)
        case dict():
            return {key: _clean(value) for key, value in told.items()}
        case list() | tuple():
            return [_clean(each) for each in told]
        case _:
            return told


def _text(name: str, package: str = "counterexamples.play") -> str:
    return (resources.files(package) / name).read_text(encoding="utf-8").strip()
