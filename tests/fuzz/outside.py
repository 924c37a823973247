"""Inputs that are no model: files of brokers, requests of agents and editors, exercises, grids."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from modelcheck.teaching.course.exercises import exercise, names, written
from tests.fuzz.mutate import NUMBERS, VALUES, mutated, mutated_json

ROOT = Path(__file__).parents[2]
CLUSTERS = ROOT / "tests" / "modelcheck" / "kafka" / "files" / "clusters"
LIMITS = ("--max-time", "3", "--max-states", "2000")
REQUEST = "request of an agent"  # in place of a command: what stands on the input is answered in this process
Files = dict[str, bytes]
Outside = tuple[Files, tuple[str, ...], bytes]
PATHS = ("m.rsm", "quorum", "../m.rsm", "/etc/passwd", "-", "/dev/stdin", "no", "", "m\0", "t.itf.json", ".")


# ------------------------------------------------------------------ brokers


def _inspect(chance: Random) -> Outside:
    files, _ = _cluster(chance)
    more = chance.choice(((), ("--json",), ("--all",), ("--every-checksum",), ("--copy",)))
    return files, ("kafka", "inspect", "c", "--max-time", "3", *more), b""


def _explain_log(chance: Random) -> Outside:
    files, logs = _cluster(chance)
    given = [name for name in sorted(logs) if chance.random() < 0.4]
    packed = [name for name in given if chance.random() < 0.3]
    files |= {name: _damaged(logs[name], chance) if chance.random() < 0.5 else logs[name] for name in given}
    files |= {f"{name}.gz": _cut(gzip.compress(files.pop(name), 1), chance) for name in packed}
    if chance.random() < 0.1:
        files["server.log.gz"] = _bomb(chance.choice((b"\0", b"\n", b"[2026-11-24 22:24:32,012] INFO x\n")))
    own = [name for name in files if not name.startswith("c/")]
    where = chance.choice((["c"], ["c"], ["c", *own], own or ["c"]))
    more = chance.choice(((), ("--json",), ("--gaps",), ("--acks", "0"), ("--lost", "1"), ("--faults", "0")))
    named = () if chance.random() < 0.3 else ("--partition", chance.choice(("orders-0", "quiet-0", "x")))
    return files, ("kafka", "explain-log", *where, *named, *LIMITS, *more), b""


def _cluster(chance: Random) -> tuple[Files, Files]:
    """The directories of a cluster, one to four files of them damaged; and its logs."""
    found = {name: dict(files) for name, files in _clusters().items()}[chance.choice(sorted(_clusters()))]
    logs = {name: data for name, data in found.items() if "/logs/" in name}
    files = {name: data for name, data in found.items() if name not in logs}
    for _ in range(chance.choice((1, 1, 2, 4))):
        name = chance.choice(sorted(files))
        if chance.random() < 0.1:
            del files[name]
        else:
            files[name] = _damaged(files[name], chance)
    return files, {Path(name).parent.name + "-" + Path(name).name: data for name, data in logs.items()}


@cache
def _clusters() -> Mapping[str, Files]:
    return {
        folder.name: {
            f"c/{path.relative_to(folder)}": path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
        for folder in sorted(CLUSTERS.iterdir())
    }


def _damaged(data: bytes, chance: Random) -> bytes:
    """The file with a mistake: as a text where it is one, else among its bytes."""
    if chance.random() < 0.3:
        return _cut(data, chance)
    try:
        if len(data) < 2_000 and data:
            return mutated(data.decode(), chance).encode(errors="surrogatepass")
    except UnicodeDecodeError:
        pass
    at = chance.randrange(len(data) + 1)
    match chance.choice(("byte", "byte", "zeros", "ones", "twice", "lost")):
        case "byte":
            return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
        case "zeros":
            return data[:at] + bytes(chance.choice((1, 8, 100)))
        case "ones":
            return data[:at] + b"\xff" * chance.choice((1, 4, 8)) + data[at + 8 :]
        case "twice":
            return data[:at] + data
        case _:
            return data[:at] + data[at + chance.choice((1, 7, 61, 100)) :]


def _cut(data: bytes, chance: Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


@cache
def _bomb(what: bytes) -> bytes:
    """Half a gigabyte of the same, packed."""
    piece = gzip.compress(what * ((1 << 24) // len(what)), 1)
    return piece * 32  # members that follow each other are one file


# ------------------------------------------------------------------ agents and editors


def _request(chance: Random) -> Outside:
    """What the server of agents hands on: half of them with one value that is silly, and of its type."""
    own: dict[str, Any] = {
        "tool": chance.choice(("check", "check", "check", "explain", "replay", "certificate", "certify")),
        "file": "m.rsm",
        "check": chance.choice(("as_expected", "surprise")),
        "seconds": chance.choice((1, 2, 0.01)),
        "code": "R0101",
        "trace": "t.itf.json",
        "certificate": "c.json",
    }
    more: tuple[dict[str, Any], ...] = ({}, {"scope": {"Epoch": 2}}, {"faults": "crash=1"}, {"of": "tiny"})
    own |= chance.choice(more)
    if chance.random() < 0.5:
        name = chance.choice(("Replica", "Epoch", "unclean", "x", ""))
        silly: dict[str, tuple[Any, ...]] = {
            **dict.fromkeys(("file", "trace", "certificate"), PATHS),
            **dict.fromkeys(("check", "of", "code", "engine", "faults"), (*NUMBERS, "bmc", "x", "a,b", "é")),
            "scope": tuple({name: number} for number in (0, 1, 3, -1, 10**30)),
            "config": tuple({name: value} for value in (True, False, 0, "x", "")),
            "properties": ([], ["safe"], ["x"], ["", "safe", "safe"]),
            "traces": (True,),
        }
        key = chance.choice(sorted(silly))
        own[key] = chance.choice(silly[key])
    if own["tool"] == "replay" and chance.random() < 0.5:
        own["trace"] = chance.choice([value for value in VALUES if isinstance(value, dict)])
    return _models(chance), (REQUEST,), json.dumps(own).encode()


def _mcp(chance: Random) -> Outside:
    """A session of an agent; after it the input ends."""
    call = {"name": chance.choice(("check", "explain", "x")), "arguments": _arguments(chance)}
    messages = [
        _message(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "x", "version": "1"},
        ),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        _message("tools/list", 2),
        {**_message("tools/call", 3), "params": call},
    ]
    lines = [json.dumps(each) for each in messages]
    at = chance.randrange(len(lines))
    lines[at] = mutated_json(lines[at], chance).replace("\n", " ")
    return _models(chance), ("serve", "mcp"), "\n".join([*lines, ""]).encode(errors="surrogatepass")


def _arguments(chance: Random) -> dict[str, Any]:
    asked = {"file": chance.choice(PATHS), "check": "surprise", "seconds": 1, "code": "R0101", "x": 1}
    return {name: asked[name] for name in chance.sample(sorted(asked), chance.choice((1, 2, 3)))}


def _lsp(chance: Random) -> Outside:
    """A session of an editor with a wrong text and questions about places in it; then the input ends."""
    text, uri = mutated(_tiny(), chance), chance.choice(("file:///m.rsm", "untitled:x", "x", "file:///%00"))
    line, character = chance.choice((0, 5, 30, 10**6)), chance.choice((0, 3, 17, 10**6))
    place = {"line": line, "character": character}
    of = {"textDocument": {"uri": chance.choice((uri, uri, uri, "file:///other.rsm"))}}
    asked = [
        _message(f"textDocument/{name}", number, **of, **{key: _VALUES[key] for key in keys}, position=place)
        for number, (name, keys) in enumerate(chance.sample(sorted(QUESTIONS.items()), 4), 2)
    ]
    command = chance.choice(("run", "stop", "story", "page", "x"))
    given = [chance.choice((uri, *VALUES)), chance.choice(("surprise", *VALUES))][: chance.choice((0, 1, 2))]
    session = [
        _message("initialize", processId=None, rootUri=None, capabilities={}),
        {"jsonrpc": "2.0", "method": "initialized", "params": {}},
        {
            "jsonrpc": "2.0",
            "method": "textDocument/didOpen",
            "params": {"textDocument": {"uri": uri, "languageId": "rsm", "version": 1, "text": text}},
        },
        *asked,
        _message("workspace/executeCommand", 9, command=f"modelcheck.{command}", arguments=given),
    ]  # after `shutdown` pygls looks through what has no answer yet while that changes
    return {}, ("serve", "lsp", "--background", "none"), b"".join(_framed(each) for each in session)


_PLACE = {"line": 3, "character": 4}
_VALUES: Mapping[str, Any] = {
    "newName": "named",
    "context": {"includeDeclaration": True, "diagnostics": []},
    "range": {"start": _PLACE, "end": {"line": 50, "character": 0}},
    "options": {"tabSize": 2, "insertSpaces": True},
}
QUESTIONS: Mapping[str, tuple[str, ...]] = {  # and what each is asked with beside a place
    **dict.fromkeys(("hover", "completion", "definition", "prepareRename", "documentSymbol", "codeLens"), ()),
    "references": ("context",),
    "rename": ("newName",),
    "formatting": ("options",),
    "codeAction": ("range", "context"),
    "inlayHint": ("range",),
}


def _message(method: str, number: int = 1, **params: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def _framed(message: Any) -> bytes:  # noqa: ANN401 - JSON
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def _models(chance: Random) -> Files:
    text = _tiny()
    return {
        "m.rsm": (mutated(text, chance) if chance.random() < 0.5 else text).encode(errors="surrogatepass")
    }


@cache
def _tiny() -> str:
    return (ROOT / "tests" / "modelcheck" / "tiny.rsm").read_text(encoding="utf-8")


# ------------------------------------------------------------------ the others


def _grade(chance: Random) -> Outside:
    asked = exercise(chance.choice(names()))
    parts = {part.name: chance.choice(EXPRESSIONS) for part in asked.parts}
    text = written(asked, parts) if chance.random() < 0.7 else asked.source.text
    if chance.random() < 0.5:
        text = mutated(text, chance)
    more = chance.choice(((), ("--json",)))
    words = ("library", "grade", "h.rsm", "--exercise", asked.name, "--max-time", "3", *more)
    return {"h.rsm": text.encode(errors="surrogatepass")}, words, b""


EXPRESSIONS = ("true", "false", "1 / 0 == 1", "size({}) > 0", "forall x in {1, 2}. x > 0", "x", "1", "")


def _frontier(chance: Random) -> Outside:
    """A grid of few configurations, some with values that no release takes."""
    over = {
        "replication.factor": ("2", "3"),
        "kafka": ("0.8.1", "2.8", "4.1"),
        "min.insync.replicas": ("1", "2", "default"),
        "acks": ("0", "1", "all"),
        "unclean.leader.election.enable": ("true", "false"),
    }
    words = [f"{key}={chance.choice(values)}" for key, values in over.items() if chance.random() < 0.8]
    if chance.random() < 0.2:
        wrong = ("kafka=9.9", "acks=2", "replication.factor=0", "no.such.key=1", "x", "=", "acks=")
        words.append(chance.choice(wrong))
    given = [word for each in words for word in ("--over", each)]
    more = chance.choice(([], ["--json"], ["--csv", "f.csv"], ["--draw", "f.svg"], ["--kinds", "crash:1"]))
    limits = ["--faults", chance.choice(("0", "1")), "--max-time", "3", "--max-states", "2000"]
    name = chance.choice(("kafka", "kafka", "kafka", "c.properties", "m.rsm"))
    files = {"c.properties": b"acks=1\nbootstrap.servers=b:1\n", **_models(chance)}
    return files, ("kafka", "frontier", name, *given, *limits, *more), b""


OUTSIDE: Mapping[str, Callable[[Random], Outside]] = {
    "inspect": _inspect,
    "explain-log": _explain_log,
    "request": _request,
    "mcp": _mcp,
    "lsp": _lsp,
    "grade": _grade,
    "frontier": _frontier,
}
