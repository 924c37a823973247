"""Reading the Informal Trace Format back: every mistake is told with its place in the text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn

from counterexamples.itf.values import Json, Mismatch, Path, decode
from counterexamples.itf.write import KINDS, digest
from counterexamples.trace import Ending, Erred, Lasso, Stops, Trace
from spec.diagnostics import Diagnostic, SpecError, suggest
from spec.execute import Choice
from spec.ir import Action, Branch, Choose, Each, Model, Scope, Stmt, Value
from spec.semantics import Machine, State, Step, Taken
from spec.source import Source, Span
from spec.types import Bag, Option, Seq, Set, Type

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def read(text: str, model: Model, *, name: str = "trace", scope: Scope | None = None) -> Trace:
    """The trace in an ITF text, as a run of the model; nothing says yet that it replays.

    A trace of another tool has no scope, so `scope` is needed; its steps are
    found by looking which step of the model leads from state to state.  Names
    beyond the model's variables are passed over.  Raises SpecError with the
    place of what is malformed, unknown or of another type.
    """
    return _Reader(Source(name, text), model, scope).trace()


def written_for(text: str) -> str | None:
    """The name of the model that an ITF text says it is a run of, if it does."""
    try:
        name = json.loads(text)["#meta"]["modelcheck"]["model"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return name if isinstance(name, str) else None


def is_of(text: str, model: Model) -> bool:
    """Whether an ITF text says that it was written for exactly this text of the model."""
    try:
        return bool(json.loads(text)["#meta"]["modelcheck"]["text"] == digest(model.source))
    except (ValueError, KeyError, TypeError, RecursionError):
        return False


def find(text: str, path: Path) -> Span:
    """Where the value at a path stands in a JSON text that is known to be well formed."""
    at = _skip(text, 0)
    for key in path:
        at = _skip(text, at + 1)
        for index in _numbers():
            if isinstance(key, str):
                found, at = _DECODER.raw_decode(text, at)
                at = _skip(text, _skip(text, at) + 1)
                here = found == key
            else:
                here = index == key
            if here:
                break
            _, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
    return Span(at, _DECODER.raw_decode(text, at)[1])


def _numbers() -> Iterator[int]:
    index = 0
    while True:
        yield index
        index += 1


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


@dataclass(frozen=True, slots=True)
class _Reader:
    """One text on its way to a trace of one model."""

    source: Source
    model: Model
    scope: Scope | None

    def fail(self, code: str, path: Path, message: str, help_: str = "") -> NoReturn:
        span = find(self.source.text, path)
        raise SpecError([Diagnostic(code, self.source, span, f"{_spell(path)}{message}", help=help_)])

    def trace(self) -> Trace:
        whole = self.json()
        if not isinstance(whole, dict):
            self.fail("R0802", (), "a trace is an object with `vars` and `states`")
        for key in ("vars", "states"):
            if not isinstance(whole.get(key), list):
                self.fail("R0802", (), f"a trace has a list `{key}`, this has none")
        about = self.member(self.member(whole, "#meta"), "modelcheck")
        self.variables(whole["vars"])
        scope = self.scope or self.read_scope(about)
        states = tuple(self.state(scope, i, state) for i, state in enumerate(whole["states"]))
        if not states:
            self.fail("R0802", ("states",), "a trace has at least one state")
        steps = tuple(self.steps(scope, states, whole["states"]))
        ending = self.ending(scope, about, whole, len(states))
        named = about.get("property")
        if named is not None and named not in [prop.name for prop in self.model.properties]:
            path = ("#meta", "modelcheck", "property")
            self.fail("R0804", path, f"the model has no property {named!r}", self.near(named, "properties"))
        check = about.get("check")
        return Trace(
            self.model, scope, states, steps, ending, named, check if isinstance(check, str) else None
        )

    def json(self) -> Json:
        text = self.source.text
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
            message = "the text ends in the middle of a value" if cut else f"this is not JSON: {error.msg}"
            span = Span(error.pos, error.pos + 1)
            raise SpecError([Diagnostic("R0801", self.source, span, message)]) from None
        except (RecursionError, ValueError):
            message = "this is no trace: its JSON is nested too deep or has a number too long"
            raise SpecError([Diagnostic("R0801", self.source, None, message)]) from None

    @staticmethod
    def member(of: Json, key: str) -> dict[str, Json]:
        found = of.get(key) if isinstance(of, dict) else None
        return found if isinstance(found, dict) else {}

    def near(self, name: object, what: str) -> str:
        known = {thing.name for thing in getattr(self.model, what)}
        return suggest(str(name), known) or f"the model has {', '.join(sorted(known)) or 'none'}"

    def variables(self, found: list[Json]) -> None:
        for variable in self.model.variables:
            if variable.name not in found:
                message = f"`{variable.name}` of the model is missing: this is a trace of another model"
                self.fail("R0804", ("vars",), message)

    # ----------------------------------------------------------------- scope

    def read_scope(self, about: Mapping[str, Json]) -> Scope:
        base: Path = ("#meta", "modelcheck", "scope")
        found = about.get("scope")
        if not isinstance(found, dict):
            help_ = "give one, with the check it belongs to (--check) or by itself (--scope)"
            self.fail("R0805", (), "the trace does not say for which scope it is", help_)
        parts = {key: self.member(found, key) for key in ("sorts", "nats", "networks")}
        sorts = {}
        for sort in self.model.sorts:
            names = parts["sorts"].get(sort.name)
            if (
                not isinstance(names, list)
                or not all(isinstance(n, str) for n in names)
                or len(set(names)) < len(names)
            ):
                self.fail("R0805", base, f"the members of {sort.name} are a list of different names")
            sorts[sort.name] = tuple(names)
        limits = [nat.name for nat in self.model.nats]
        networks = [variable.name for variable in self.model.variables if variable.network]
        for name, part in [(n, "nats") for n in limits] + [(n, "networks") for n in networks]:
            value = parts[part].get(name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                self.fail("R0805", base, f"the scope of {name} is a number")
        scope = Scope(
            sorts, {n: parts["nats"][n] for n in limits}, {n: parts["networks"][n] for n in networks}, {}
        )
        return Scope(scope.sorts, scope.nats, scope.networks, self.config(scope, about))

    def config(self, scope: Scope, about: Mapping[str, Json]) -> dict[str, Value]:
        found = self.member(about, "config")
        path: Path = ("#meta", "modelcheck", "config")
        return {
            entry.name: self.value(scope, entry.type, found[entry.name], (*path, entry.name))
            if entry.name in found
            else entry.default
            for entry in self.model.configs
        }

    # ---------------------------------------------------------- states, steps

    def state(self, scope: Scope, index: int, found: Json) -> State:
        path: Path = ("states", index)
        if not isinstance(found, dict):
            self.fail("R0802", path, "a state is an object")
        for variable in self.model.variables:
            if variable.name not in found:
                self.fail("R0802", path, f"a state gives every variable a value; `{variable.name}` has none")
        return tuple(
            self.value(scope, variable.type, found[variable.name], (*path, variable.name))
            for variable in self.model.variables
        )

    def steps(self, scope: Scope, states: tuple[State, ...], found: list[Json]) -> Iterator[Step]:
        machine = Machine(self.model, scope)
        for index in range(1, len(states)):
            meta = self.member(found[index], "#meta")
            if "action" in meta:
                yield self.step(scope, meta, ("states", index, "#meta"))
                continue
            taken = (t for t in machine.steps(states[index - 1]) if isinstance(t, Taken))
            step = next((t.step for t in taken if t.state == states[index]), None)
            if step is None:
                self.fail("R0806", ("states", index), "no step of the model leads here from the state before")
            yield step

    def step(self, scope: Scope, meta: Mapping[str, Json], path: Path) -> Step:
        action = next((a for a in self.model.actions if a.name == meta["action"]), None)
        if action is None:
            message = f"the model has no action {meta['action']!r}"
            self.fail("R0804", (*path, "action"), message, self.near(meta["action"], "actions"))
        params = self.member(meta, "params")
        for param in action.params:
            if param.name not in params:
                self.fail("R0802", path, f"parameter `{param.name}` of {action.name} has no value")
        args = tuple(
            self.value(scope, _member(p.domain.type), params[p.name], (*path, "params", p.name))
            for p in action.params
        )
        choices = meta.get("choices", [])
        if not isinstance(choices, list):
            self.fail("R0802", (*path, "choices"), "choices are a list of objects with `name` and `value`")
        return Step(
            action.name,
            args,
            tuple(self.choice(scope, action, c, (*path, "choices", i)) for i, c in enumerate(choices)),
        )

    def choice(self, scope: Scope, action: Action, found: Json, path: Path) -> Choice:
        if not isinstance(found, dict) or not {"name", "value"} <= set(found):
            self.fail("R0802", path, "a choice is an object with `name` and `value`")
        of = next((of for name, of in _chooses(action.body) if name == found["name"]), None)
        if of is None:
            self.fail("R0804", (*path, "name"), f"{action.name} chooses no {found['name']!r}")
        return Choice(found["name"], of, self.value(scope, of, found["value"], (*path, "value")))

    def ending(
        self, scope: Scope, about: Mapping[str, Json], whole: Mapping[str, Json], states: int
    ) -> Ending:
        loop = whole.get("loop")
        if loop is not None:
            if isinstance(loop, bool) or not isinstance(loop, int) or not 0 <= loop < states:
                self.fail("R0802", ("loop",), f"the loop starts at one of the states 0 to {states - 1}")
            return Lasso(loop)
        found = self.member(about, "ending")
        if not found:
            return Stops()
        path: Path = ("#meta", "modelcheck", "ending")
        kind = found.get("kind")
        if kind not in list(KINDS) or kind == "lasso":
            self.fail("R0802", path, f"an ending of kind {kind!r} is not known")
        if kind == "error":
            span = found.get("span")
            if not isinstance(span, list) or len(span) != 2 or not all(isinstance(n, int) for n in span):
                self.fail("R0802", path, "an error has a span, two numbers")
            step = found.get("step")
            return Erred(
                str(found.get("code")),
                str(found.get("message")),
                Span(*span),
                self.step(scope, step, (*path, "step"))
                if isinstance(step, dict) and "action" in step
                else None,
            )
        result: Ending = KINDS[kind]()
        return result

    def value(self, scope: Scope, of: Type, found: Json, path: Path) -> Value:
        try:
            return decode(of, found, scope, path)
        except Mismatch as mismatch:
            self.fail("R0803", mismatch.path, mismatch.message)


def _spell(path: Path) -> str:
    """A path as people write it: `states[3].isr: `."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")
    return f"{text}: " if text else ""


def _chooses(body: tuple[Stmt, ...]) -> Iterator[tuple[str, Type]]:
    """The names that `choose` statements bind, and the types of their values."""
    for stmt in body:
        match stmt:
            case Choose():
                yield stmt.name, _member(stmt.domain.type)
            case Branch():
                yield from _chooses((*stmt.then, *stmt.other))
            case Each():
                yield from _chooses(stmt.body)
            case _:
                pass


def _member(domain: Type) -> Type:
    """The type of a collection's members; the whole union, also where a name is bound to one case of it."""
    return domain.of if isinstance(domain, Set | Bag | Seq | Option) else domain
