"""The server: tools with their schemas, each request answered by a process of its own within its time.

The protocol is that of https://modelcontextprotocol.io, by its official Python SDK.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resources import TextResource
from pydantic import Field

import modelcheck.commands.serve.mcp.asked as asked
from modelcheck.contract.exits import Exit
from modelcheck.contract.version import VERSION
from spec.diagnostics import suggest
from spec.reading import resource

SECONDS = 30.0  # for a request that does not say
OWN = "model.rsm"  # the name of a model that is given as a text
MEANINGS = {
    Exit.EXPECTED: "as expected",
    Exit.VIOLATED: "a property is violated, or something else is not as expected",
    Exit.WRONG: "the input is wrong",
    Exit.UNKNOWN: "unknown: the search did not finish, so no property was verified",
    Exit.BUG: "a bug of modelcheck",
}
ABOUT = (
    "Model checking for replicated logs. A verdict is for its scope only (`scope` of the answer says "
    "which): quote it with the verdict. A run in an answer was replayed by the definition of the language."
)

File = Annotated[
    str | None,
    Field(description="a model file (.rsm), or the name of a protocol that comes with it, such as kafka"),
]
Text = Annotated[str | None, Field(description="in place of a file: the text of a model")]
Check = Annotated[str | None, Field(description="which check of it, where it has several")]
Of = Annotated[str | None, Field(description="which protocol or variant of the file to put it to")]
Seconds = Annotated[float, Field(gt=0, description="time limit; less is searched where it is not enough")]
Files = Annotated[
    list[str] | None,
    Field(description="configuration files: properties, Compose, Helm, Strimzi, Terraform, describe …"),
]
Texts = Annotated[
    dict[str, str] | None, Field(description="in place of files: texts by their file names, such as a.yaml")
]
Release = Annotated[str | None, Field(description="Kafka's release, such as 3.7, if no file shows it")]
Client = Annotated[str | None, Field(description="the producer's library or release, such as librdkafka")]
Brokers = Annotated[int | None, Field(gt=0, description="how many brokers the cluster has")]
Topic = Annotated[str | None, Field(description="which topic, where the files configure several")]
Faults = Annotated[int | None, Field(ge=0, le=5, description="the most faults to try (2)")]
Directories = Annotated[
    list[str],
    Field(description="directories of stopped brokers and controllers, or copies; NODE=DIR names the owner"),
]
Data = Annotated[bool, Field(description="JSON in `data`, as --json prints it, in place of a text in `says`")]


@dataclass(frozen=True)  # without slots, in which pydantic takes fields for defaults
class ToolAnswer:
    """An answer: an exit code as on the command line, what it means, its text, its scope, and its data."""

    exit: int
    meaning: str
    says: str
    scope: str
    seconds: float
    data: dict[str, Any]


def serve(folders: Sequence[Path], most_seconds: float, memory: int | None) -> None:
    """Answer requests on the standard streams until the input ends; files are read below the folders only."""
    tools = _Tools(folders, most_seconds, memory)
    where = f"Files are read below {', '.join(map(str, folders))}." if folders else "No files are read."
    about = f"{ABOUT} {where}"
    server = _StrictServer("modelcheck", instructions=about, version=VERSION, log_level="WARNING")
    server.add_tool(tools.check)
    server.add_tool(tools.explain)
    server.add_tool(tools.replay)
    server.add_tool(tools.certificate)
    server.add_tool(tools.certify)
    server.add_tool(tools.review)
    server.add_tool(tools.frontier)
    server.add_tool(tools.inspect)
    server.add_tool(tools.explain_log)
    server.add_tool(tools.necessity)
    server.add_tool(tools.protocols)
    server.add_tool(tools.protocol)
    for page in _pages():
        server.add_resource(page)
    server.run("stdio")


def _pages() -> Iterator[TextResource]:
    """The manual of the language, and the codes of mistakes."""
    for name, title in (("language", "The modelling language"), ("codes", "The codes of mistakes")):
        yield TextResource(
            uri=f"modelcheck://{name}",
            name=name,
            title=title,
            mime_type="text/markdown",
            text=resource("spec", f"{name}.md"),
        )


class _StrictServer(MCPServer):
    """A server for which a call that is wrong is an error: arguments that a tool does not have, too."""

    async def list_tools(self) -> list[Any]:
        """The tools, which take no other arguments than they say."""
        tools = await super().list_tools()
        for tool in tools:
            tool.input_schema["additionalProperties"] = False
        return list(tools)

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:  # noqa: ANN401 - of the SDK
        """What a tool answers; an error where the call or the input was wrong, or we have a bug."""
        schemas = {tool.name: tool.input_schema for tool in await self.list_tools()}
        known: list[str] = list(schemas[name]["properties"]) if name in schemas else list(arguments)
        for argument in arguments:
            if argument not in known:
                near = suggest(argument, known) or f"there are {', '.join(known)}"
                raise ToolError(f"`{argument}` is no argument of {name}: {near}")
        result = await super().call_tool(name, arguments, context)
        answer = getattr(result, "structured_content", None) or {}
        is_wrong = answer.get("exit") in {Exit.WRONG, Exit.BUG}
        return result.model_copy(update={"is_error": True}) if is_wrong else result


class _Tools:
    """What can be asked; one search at a time, since each takes all the cores that there are."""

    def __init__(self, folders: Sequence[Path], most_seconds: float, memory: int | None) -> None:
        self._folders, self._here = [str(folder) for folder in folders], Path.cwd()
        self._most, self._memory = most_seconds, memory
        self._turn = asyncio.Lock()

    async def check(  # noqa: PLR0913, PLR0917 - as they are asked
        self,
        file: File = None,
        text: Text = None,
        check: Check = None,
        of: Of = None,
        properties: Annotated[list[str] | None, Field(description="only these properties")] = None,
        scope: Annotated[
            dict[str, int | str] | None, Field(description="sizes, such as {'Broker': 3, 'Epoch': 'any'}")
        ] = None,
        config: Annotated[dict[str, bool | int | str] | None, Field(description="switches")] = None,
        faults: Annotated[str | None, Field(description="how many: 2, any, or crash=1,isolate=any")] = None,
        engine: Annotated[str | None, Field(description="explicit, bmc, induction, ic3, prove …")] = None,
        traces: Annotated[bool, Field(description="the runs in the Informal Trace Format too")] = False,  # noqa: FBT002 - asked by its name
        seconds: Seconds = SECONDS,
    ) -> ToolAnswer:
        """Run a check of a model: whether its properties hold within a scope, or the run that breaks them."""
        question: dict[str, Any] = {
            "check": check,
            "of": of,
            "properties": properties,
            "scope": scope,
            "config": config,
        }
        question |= {"faults": faults, "engine": engine, "traces": traces}
        return await self._asked("check", question, seconds, file, text)

    async def explain(
        self, code: Annotated[str, Field(description="the code of a mistake, such as R0101")]
    ) -> ToolAnswer:
        """Say more about the code of a mistake in a model: what it means and what to try."""
        return await self._asked("explain", {"code": code}, SECONDS, "", None)

    async def replay(
        self,
        trace: Annotated[dict[str, Any] | str, Field(description="a trace in ITF: its JSON, or a file")],
        file: File = None,
        text: Text = None,
        check: Check = None,
        of: Of = None,
    ) -> ToolAnswer:
        """Replay a trace on a model, step by step: its story, or the place where the model does otherwise."""
        return await self._asked("replay", {"trace": trace, "check": check, "of": of}, SECONDS, file, text)

    async def certificate(
        self,
        check: Annotated[str, Field(description="which check of it")],
        file: File = None,
        text: Text = None,
        seconds: Seconds = SECONDS,
    ) -> ToolAnswer:
        """Prove the claims of a check for every scope, and give a certificate that others can check."""
        return await self._asked("certificate", {"check": check}, seconds, file, text)

    async def certify(
        self,
        certificate: Annotated[str, Field(description="a file that a proof was written to")],
        file: File = None,
        seconds: Seconds = SECONDS,
    ) -> ToolAnswer:
        """Check a certificate again, by other means than made it."""
        return await self._asked("certify", {"certificate": certificate, "file": file}, seconds, "", None)

    async def review(  # noqa: PLR0913, PLR0917 - as they are asked
        self,
        files: Files = None,
        texts: Texts = None,
        kafka: Release = None,
        client: Client = None,
        brokers: Brokers = None,
        topic: Topic = None,
        all_topics: Annotated[bool, Field(description="every topic, the weakest first")] = False,  # noqa: FBT002 - asked by its name
        faults: Faults = None,
        require: Annotated[
            list[str] | None, Field(description="what must survive, as GUARANTEE:N[:KIND]: durable:1")
        ] = None,
        also: Annotated[
            list[str] | None, Field(description="racks, rolling, directories, links, transactions …, or all")
        ] = None,
        against: Annotated[list[str] | None, Field(description="files before a change, to compare")] = None,
        data: Data = False,  # noqa: FBT002 - asked by its name
        seconds: Seconds = SECONDS,
    ) -> ToolAnswer:
        """Find what a Kafka configuration can lose, the fewest faults that lose it, and what prevents it."""
        question: dict[str, Any] = {"kafka": kafka, "client": client, "brokers": brokers, "topic": topic}
        question |= {"faults": faults, "all_topics": all_topics, "require": require, "also": also}
        question |= {"against": against, "data": data}
        return await self._job("review", question, seconds, "files", files, texts)

    async def frontier(  # noqa: PLR0913, PLR0917 - as they are asked
        self,
        files: Files = None,
        texts: Texts = None,
        over: Annotated[
            list[str] | None, Field(description="keys over values: min.insync.replicas=1,2; kafka=3.7,4.1")
        ] = None,
        guarantee: Annotated[
            list[str] | None, Field(description="of durable, committed, read, writable, consistent")
        ] = None,
        kinds: Annotated[list[str] | None, Field(description="only these kinds: crash, disk:1")] = None,
        kafka: Release = None,
        client: Client = None,
        brokers: Brokers = None,
        topic: Topic = None,
        faults: Faults = None,
        data: Data = False,  # noqa: FBT002 - asked by its name
        seconds: Seconds = SECONDS,
    ) -> ToolAnswer:
        """Compare Kafka configurations by the faults that each survives; ['kafka'] are the defaults."""
        question: dict[str, Any] = {"kafka": kafka, "client": client, "brokers": brokers, "topic": topic}
        question |= {"faults": faults, "over": over, "guarantee": guarantee, "kinds": kinds, "data": data}
        return await self._job("frontier", question, seconds, "files", files, texts)

    async def inspect(
        self,
        directories: Directories,
        lost: Annotated[list[int] | None, Field(description="brokers whose disk is lost for good")] = None,
        all: Annotated[bool, Field(description="a table for every partition with a problem")] = False,  # noqa: A002, FBT002 - as the option is called
        copy: Annotated[bool, Field(description="they are copies; look for no lock")] = False,  # noqa: FBT002 - asked by its name
        data: Data = False,  # noqa: FBT002 - asked by its name
        seconds: Seconds = SECONDS,
    ) -> ToolAnswer:
        """Find what the directories of stopped brokers have lost, and which broker to start first."""
        question = {"lost": lost, "all": all, "copy": copy, "data": data}
        return await self._job("inspect", question, seconds, "directories", directories, None)

    async def explain_log(  # noqa: PLR0913, PLR0917 - as they are asked
        self,
        directories: Directories,
        partition: Annotated[str | None, Field(description="only this one, such as orders-0")] = None,
        lost: Annotated[list[int] | None, Field(description="brokers whose disk is lost for good")] = None,
        acks: Annotated[str | None, Field(description="of the producers: 0, 1 or all")] = None,
        from_epoch: Annotated[int | None, Field(ge=0, description="explain only from this epoch on")] = None,
        from_offset: Annotated[
            int | None, Field(ge=0, description="explain only from this offset on")
        ] = None,
        faults: Annotated[int | None, Field(ge=0, description="the most faults to allow")] = None,
        copy: Annotated[bool, Field(description="they are copies; look for no lock")] = False,  # noqa: FBT002 - asked by its name
        gaps: Annotated[bool, Field(description="brokers may have restarted without a line")] = False,  # noqa: FBT002 - asked by its name
        data: Data = False,  # noqa: FBT002 - asked by its name
        seconds: Seconds = SECONDS,
    ) -> ToolAnswer:
        """Find the sequence of failures that explains the directories and logs of brokers."""
        question: dict[str, Any] = {"partition": partition, "lost": lost, "acks": acks, "faults": faults}
        question |= {"from_epoch": from_epoch, "from_offset": from_offset}
        question |= {"copy": copy, "gaps": gaps, "data": data}
        return await self._job("explain_log", question, seconds, "directories", directories, None)

    async def necessity(
        self,
        file: File = None,
        text: Text = None,
        check: Annotated[list[str] | None, Field(description="only these checks")] = None,
        kind: Annotated[list[str] | None, Field(description="of guard, quorum, durable, reset")] = None,
        data: Data = False,  # noqa: FBT002 - asked by its name
        seconds: Seconds = SECONDS,
    ) -> ToolAnswer:
        """Find the guards and fields of a model that no check needs."""
        return await self._asked(
            "necessity", {"check": check, "kind": kind, "data": data}, seconds, file, text
        )

    async def protocols(self, data: Data = False) -> ToolAnswer:  # noqa: FBT002 - asked by its name
        """List the protocols that come with modelcheck, and the verdicts of their checks."""
        return await self._job("protocols", {"data": data}, SECONDS, "", None, None)

    async def protocol(
        self,
        name: Annotated[str, Field(description="a name that `protocols` lists, such as raft")],
        source: Annotated[bool, Field(description="the text of its model in place of its checks")] = False,  # noqa: FBT002 - asked by its name
    ) -> ToolAnswer:
        """Show a protocol that comes with modelcheck: what its checks expect, or its model."""
        return await self._job("protocol", {"source": source}, SECONDS, "name", [name], None)

    async def _job(
        self,
        tool: str,
        question: Mapping[str, Any],
        seconds: float,
        argument: str,
        paths: Sequence[str] | None,
        texts: Mapping[str, str] | None,
    ) -> ToolAnswer:
        """The answer of a command to files, or to texts that are written to a folder of their own."""
        if argument and not (paths or texts):
            return _answer(Exit.WRONG, f"give {argument}", seconds)
        seconds = min(seconds, self._most)
        request = {"tool": tool, "seconds": seconds, "memory": self._memory, "folders": self._folders}
        request |= {key: value for key, value in question.items() if value is not None}
        async with self._turn:
            if not texts:
                return await _answered(request | {argument: paths}, seconds, None)
            if wrong := [name for name in texts if Path(name).name != name]:
                return _answer(Exit.WRONG, f"`{wrong[0]}` is no name of a file", seconds)
            with tempfile.TemporaryDirectory() as folder:
                for name, text in texts.items():
                    (Path(folder) / name).write_text(text, encoding="utf-8")
                beside = [str(self._here / each) for each in paths or ()]
                own = {argument: [*beside, *texts], "folders": [*self._folders, folder]}
                return await _answered(request | own, seconds, folder)

    async def _asked(
        self, tool: str, question: Mapping[str, Any], seconds: float, file: str | None, text: str | None
    ) -> ToolAnswer:
        """The answer of a process that is ended when its time is over by far."""
        if (file is None) == (text is None):
            return _answer(Exit.WRONG, "give a file or a text, and not both", seconds)
        seconds = min(seconds, self._most)
        request = {"tool": tool, "file": file, "seconds": seconds, "memory": self._memory} | {
            key: value for key, value in question.items() if value is not None
        }
        request["folders"] = self._folders
        async with self._turn:
            if text is None:
                return await _answered(request, seconds, None)
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / OWN).write_text(text, encoding="utf-8")
                own = {"file": OWN, "folders": [*self._folders, folder]}
                return await _answered(request | own, seconds, folder)


async def _answered(request: Mapping[str, Any], seconds: float, folder: str | None) -> ToolAnswer:
    """The answer of a work process to a request; if it gives none, one with exit code unknown."""
    try:
        found = await asked.answer(request, seconds, folder)
    except asked.NoAnswer as none:
        return _answer(Exit.UNKNOWN, str(none), seconds)
    return ToolAnswer(**found, meaning=MEANINGS[Exit(found["exit"])], seconds=seconds)


def _answer(exit_: Exit, says: str, seconds: float) -> ToolAnswer:
    """A tool's answer that is only an exit code with a text."""
    return ToolAnswer(int(exit_), MEANINGS[exit_], says, "", seconds, {})
