"""Requests of an agent that are commands of the command line: their words, and what the command prints.

A path of a request is looked at before the command sees it, so that no folder elsewhere is listed; what the
command reads goes through `spec.reading`, as everything does.  No option that writes a file can be asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import modelcheck.commands.kafka.explain_log as explain_log
import modelcheck.commands.kafka.frontier as frontier
import modelcheck.commands.kafka.inspect as inspect
import modelcheck.commands.kafka.review as review
import modelcheck.commands.library.list as listing
import modelcheck.commands.library.show as show
import modelcheck.commands.necessity as necessity
from modelcheck.commands.asked import asked
from spec.diagnostics import Diagnostic, SpecError
from spec.frozen import frozen
from spec.library import is_meant
from spec.reading import refuse_elsewhere
from spec.source import Source

Json = dict[str, Any]


@frozen
class AgentJob:
    """A command, and how a request's arguments are written for it.

    `paths` is the argument with files or folders, which are its positional ones; `options` are the arguments
    written as options, `lists` those that are written once for each value, `flags` those without a value.
    """

    command: ModuleType
    paths: str = ""
    options: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    scope: str = ""
    is_timed: bool = True
    is_of_paths: bool = True

    def words(self, request: Mapping[str, Any]) -> Iterator[str]:
        """The words of the command line for a request. Raises SpecError for a path that may not be read."""
        for name in self.options:
            if (value := request.get(name)) is not None:
                yield f"{_option(name)}={value}"
        for name in self.lists:
            yield from (f"{_option(name)}={value}" for value in request.get(name) or ())
        yield from (_option(name) for name in self.flags if request.get(name))
        if self.is_timed:
            yield f"--max-time={request['seconds']}s"
        if against := request.get("against"):
            yield from ("--against", *map(_readable, against))
        if self.paths:
            given = request.get(self.paths) or ()
            words = [given] if isinstance(given, str) else given
            yield from ("--", *(map(_readable, words) if self.is_of_paths else words))


JOBS: Mapping[str, AgentJob] = {
    "review": AgentJob(
        review,
        "files",
        ("kafka", "client", "brokers", "topic", "faults"),
        ("require", "also"),
        ("all_topics",),
        "the files that were given, and what the answer says it assumes",
    ),
    "frontier": AgentJob(
        frontier,
        "files",
        ("kafka", "client", "brokers", "topic", "faults"),
        ("over", "kinds", "guarantee"),
        scope="each configuration, up to the faults that were tried",
    ),
    "inspect": AgentJob(
        inspect, "directories", (), ("lost",), ("all", "copy"), "the directories that were given"
    ),
    "explain_log": AgentJob(
        explain_log,
        "directories",
        ("partition", "acks", "faults", "from_epoch", "from_offset"),
        ("lost",),
        ("copy", "gaps"),
        "the files that were given, up to the faults that were tried",
    ),
    "necessity": AgentJob(
        necessity, "file", (), ("check", "kind"), scope="the scopes of the checks that were asked"
    ),
    "protocols": AgentJob(listing, scope="the protocols that come with modelcheck", is_timed=False),
    "protocol": AgentJob(
        show,
        "name",
        flags=("source",),
        scope="the protocol that was named",
        is_timed=False,
        is_of_paths=False,
    ),
}


def done(job: AgentJob, request: Mapping[str, Any]) -> Json:
    """The answer to a request: what the command prints, or its data where the request has `data`."""
    is_data = bool(request.get("data"))
    words = [*(["--json"] if is_data else ()), *job.words(request)]
    code, printed, told = asked(job.command, words, request.get("memory"))
    data = json.loads(printed) if is_data and printed else {}
    says = "\n".join(text for text in (told, "" if is_data else printed) if text)
    return {
        "exit": int(code),
        "says": says,
        "scope": job.scope,
        "data": data if isinstance(data, dict) else {"found": data},
    }


def _option(name: str) -> str:
    """The option of the command line for an argument."""
    return f"--{name.replace('_', '-')}"


def _readable(path: str) -> str:
    """A path that may be read, as a word that is no option and no standard input. Raises SpecError."""
    if is_meant(path):
        return path
    for part in {path, path.rpartition("=")[2]}:  # NODE=DIR
        try:
            refuse_elsewhere(part)
        except OSError as error:
            raise SpecError([Diagnostic("R0904", Source(path, ""), None, error.strerror or "")]) from None
    return f"./{path}" if path.startswith("-") else path
