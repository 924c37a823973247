"""Reading the Informal Trace Format: every mistake is reported with its place in the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import takewhile
from typing import NoReturn

from counterexamples.certify import Certified, NotReplayable, certify
from counterexamples.itf.decode import Decoder, Path, TypeMismatch, decoder
from counterexamples.itf.encode import Json
from counterexamples.itf.json_text import find, parse, spell
from counterexamples.itf.write import KINDS, digest
from counterexamples.nearest import leading, no_step
from counterexamples.trace import Ending, Erred, Lasso, Stops, Trace
from spec.diagnostics import Diagnostic, SpecError, suggest
from spec.frozen import frozen
from spec.meaning.execute import Choice
from spec.meaning.semantics import Machine, State, Step
from spec.model.bounds import ANY, of_runs
from spec.model.ir import Action, Choose, Model, Scope, Value
from spec.model.types import Bag, Option, Seq, Set, Type
from spec.model.walk import walk_statements
from spec.source import Source, Span

HINT = "\n        "  # between the lines of a help
MANY = 6  # names that are listed
SCOPE: Path = ("#meta", "modelcheck", "scope")
ACTION = "mbt::actionTaken"  # the variable in which Quint names the action that led to a state


@frozen
class Document:
    """A parsed ITF text, not yet checked against a model."""

    source: Source
    whole: Json

    @property
    def model(self) -> str | None:
        """The name of the model, if the text has one."""
        name = self.about.get("model")
        return name if isinstance(name, str) else None

    @property
    def about(self) -> dict[str, Json]:
        """The metadata that this tool wrote; empty in other tools' traces."""
        return _member(_member(self.whole, "#meta"), "modelcheck")

    def is_of(self, model: Model) -> bool:
        """Whether the metadata names exactly this text of the model."""
        return bool(self.about.get("text") == digest(model.source))

    def trace(self, model: Model, scope: Scope | None = None) -> Trace:
        """The trace as a run of the model, not yet replayed. Raises SpecError.

        A trace of another tool has no scope, so `scope` is needed; its steps are
        found by looking which step of the model leads from state to state.
        Variables beyond the model's are passed over.  Raises SpecError with the
        place of what is malformed, unknown or of another type.
        """
        return _Reader(self, model, scope).trace()

    def replayed(self, model: Model, scope: Scope | None = None) -> Certified:
        """The replayed trace. Raises SpecError with the place of what is wrong."""
        trace = self.trace(model, scope)
        try:
            return certify(trace)
        except NotReplayable as refusal:
            _Reader(self, model, scope).refuse(refusal)


def document(text: str, name: str = "trace") -> Document:
    """The text as a document. Raises SpecError where it is no JSON."""
    source = Source(name, text)
    return Document(source, parse(source))


def read(text: str, model: Model, *, name: str = "trace", scope: Scope | None = None) -> Trace:
    """The trace in an ITF text; see `Document.trace`."""
    return document(text, name).trace(model, scope)


@frozen
class _Reader:
    """Reads one document as a trace of one model."""

    document: Document
    model: Model
    scope: Scope | None

    def fail(self, code: str, path: Path, message: str, help_: str = "") -> NoReturn:
        """Raise SpecError at a path."""
        place = f"{spell(path)}: " if path else ""
        if self.document.about and not self.document.is_of(self.model):
            other = f"the trace was written for another text of {self.model.name}"
            help_ = HINT.join(filter(None, [other, help_]))
        raise SpecError(
            [Diagnostic(code, self.document.source, self.span(path), place + message, help=help_)]
        )

    def refuse(self, refusal: NotReplayable) -> NoReturn:
        """Raise SpecError (R0807) at the refused state: a well-formed trace, but not a run of the model."""
        ending: Path = ("#meta", "modelcheck", "ending") if "ending" in self.document.about else ()
        path = ending if refusal.at is None else ("states", refusal.at)
        message = f"this is not a run of {self.model.name}: {refusal}"
        self.fail("R0807", path, message, HINT.join(refusal.hints))

    def span(self, path: Path) -> Span | None:
        """The span of the value at a path; of a list or object only the first character."""
        text = self.document.source.text
        try:
            found = find(text, path)
        except RecursionError:
            return None
        return Span(found.start, found.start + 1) if text[found.start] in "[{" else found

    def trace(self) -> Trace:
        """The trace."""
        whole, about = self.document.whole, self.document.about
        if not isinstance(whole, dict):
            self.fail("R0802", (), "a trace is an object with `vars` and `states`")
        for key in ("vars", "states"):
            if not isinstance(whole.get(key), list):
                self.fail("R0802", (), f"a trace has a list `{key}`, this has none")
        if not whole["states"]:
            self.fail("R0802", ("states",), "a trace has at least one state")
        names = self.variables(whole["vars"])
        scope = self.scope or self.read_scope(about)
        states = tuple(self.states(scope, names, whole["states"]))
        steps = tuple(self.steps(scope, states, whole["states"]))
        ending = self.ending(scope, about, whole, len(states))
        named = about.get("property")
        if named is not None and named not in [prop.name for prop in self.model.properties]:
            path = ("#meta", "modelcheck", "property")
            self.fail("R0804", path, f"the model has no property {named!r}", self.near(named, "properties"))
        check = about.get("check")
        return Trace(
            self.model,
            scope,
            states,
            steps,
            ending,
            named,
            check if isinstance(check, str) else None,
            is_run=about.get("run") is not False,
        )

    def near(self, name: object, what: str) -> str:
        """Advice with the nearest known name."""
        known = {thing.name for thing in getattr(self.model, what)}
        return suggest(str(name), known) or f"the model has {', '.join(sorted(known)) or 'none'}"

    def variables(self, found: list[Json]) -> list[str]:
        """The name in the trace of each variable of the model."""
        for i, name in enumerate(found):
            if not isinstance(name, str):
                self.fail("R0802", ("vars", i), "the name of a variable is a string")
        known = [variable.name for variable in self.model.variables]
        called = {name: there for name in known if (there := _called(name, known, found)) is not None}
        lost = [name for name in known if name not in called]
        if lost:
            others = [name for name in found if name not in called.values()]
            near = next(filter(None, (suggest(name, others) for name in lost)), "")
            what = "a variable" if len(lost) == 1 else "variables"
            self.fail(
                "R0804",
                ("vars",),
                f"the trace lacks {_listed(lost)}, {what} of the model",
                near or _has(others),
            )
        return list(called.values())

    # ----------------------------------------------------------------- scope

    def read_scope(self, about: Mapping[str, Json]) -> Scope:
        """The scope in the metadata."""
        found = about.get("scope")
        if not isinstance(found, dict):
            checks = _listed([check.name for check in self.model.checks])
            help_ = f"give one, by a check{f' ({checks})' if checks else ''} with --check, or with --scope"
            self.fail("R0805", (), "the trace does not give its scope", help_)
        sorts = {sort.name: self.members(_member(found, "sorts"), sort.name) for sort in self.model.sorts}
        nats = [nat.name for nat in self.model.nats]
        networks = [variable.name for variable in self.model.variables if variable.network]
        given = _member(found, "nats")
        unbounded = frozenset(name for name in nats if given.get(name) == ANY)
        scope = Scope(
            sorts,
            {name: self.limit(given, "nats", name) for name in nats if name not in unbounded},
            {name: self.limit(_member(found, "networks"), "networks", name) for name in networks},
            {},
            unbounded,
        )
        scope = of_runs(scope)
        return replace(scope, config=self.config(scope, about))

    def members(self, found: Mapping[str, Json], sort: str) -> tuple[str, ...]:
        """The members of a sort in the metadata."""
        names = found.get(sort)
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            self.no_scope(found, "sorts", sort, "a list of names")
        if len(set(names)) < len(names):
            self.no_scope(found, "sorts", sort, "different names")
        return tuple(names)

    def limit(self, found: Mapping[str, Json], kind: str, name: str) -> int:
        """A bound in the metadata."""
        value = found.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            self.no_scope(found, kind, name, "a number")
        return value

    def no_scope(self, found: Mapping[str, Json], kind: str, name: str, what: str) -> NoReturn:
        """Raise SpecError for a missing or invalid entry of the scope."""
        if name in found:
            self.fail("R0805", (*SCOPE, kind, name), f"the scope of {name} is {what}")
        model = self.model
        known = {each.name for of in (model.sorts, model.nats, model.variables) for each in of}
        others = set(found) - known
        self.fail(
            "R0805", SCOPE, f"it has no entry for `{name}`", suggest(name, others) or _has(sorted(others))
        )

    def config(self, scope: Scope, about: Mapping[str, Json]) -> dict[str, Value]:
        """The configuration in the metadata."""
        found = _member(about, "config")
        path: Path = ("#meta", "modelcheck", "config")
        known = {entry.name for entry in self.model.configs}
        for name in found:
            if name not in known:
                message = f"the model has no config entry `{name}`"
                self.fail("R0804", (*path, name), message, self.near(name, "configs"))
        return {
            entry.name: self.value(scope, entry.type, found[entry.name], (*path, entry.name), stored=True)
            if entry.name in found
            else entry.default
            for entry in self.model.configs
        }

    # ---------------------------------------------------------- states, steps

    def states(self, scope: Scope, names: list[str], found: list[Json]) -> Iterator[State]:
        """The states."""
        decoders = [decoder(variable.type, scope) for variable in self.model.variables]
        for index, state in enumerate(found):
            yield self.state(names, decoders, state, ("states", index))

    def state(self, names: list[str], decoders: list[Decoder], found: Json, path: Path) -> State:
        """One state."""
        if not isinstance(found, dict):
            self.fail("R0802", path, "a state is an object")
        for name in names:
            if name not in found:
                near = suggest(name, set(found) - set(names))
                self.fail("R0802", path, f"a state gives every variable a value; `{name}` has none", near)
        values: list[Value] = []
        try:
            for name, decode_ in zip(names, decoders, strict=True):
                values.append(decode_(found[name]))
        except TypeMismatch as mismatch:
            where = (*path, names[len(values)], *mismatch.path)
            self.fail("R0803", where, mismatch.message, mismatch.help)
        return tuple(values)

    def steps(self, scope: Scope, states: tuple[State, ...], found: list[Json]) -> Iterator[Step]:
        """The steps, from the metadata of states or found in the model."""
        machine = Machine(self.model, scope)
        for index in range(1, len(states)):
            meta = _member(found[index], "#meta")
            if "action" in meta and self.document.about:
                yield self.step(scope, meta, ("states", index, "#meta"))
                continue
            before, after = states[index - 1 : index + 1]
            step = leading(machine, before, after, found[index].get(ACTION))
            if step is None:
                hints = HINT.join(no_step(machine, index, before, after))
                self.fail("R0806", ("states", index), f"step {index} is not a step of the model", hints)
            yield step

    def step(self, scope: Scope, meta: Mapping[str, Json], path: Path, *, fails: bool = False) -> Step:
        """One step; with `fails` some of its last parameters may be missing."""
        action = next((a for a in self.model.actions if a.name == meta["action"]), None)
        if action is None:
            message = f"the model has no action {meta['action']!r}"
            self.fail("R0804", (*path, "action"), message, self.near(meta["action"], "actions"))
        params = _member(meta, "params")
        known = tuple(takewhile(lambda p: p.name in params, action.params)) if fails else action.params
        for param in known:
            if param.name not in params:
                message = f"parameter `{param.name}` of {action.name} has no value"
                others = [name for name in params if name not in {each.name for each in action.params}]
                self.fail("R0802", path, message, suggest(param.name, others) or _has(others))
        args = tuple(
            self.value(scope, _member_type(p.domain.type), params[p.name], (*path, "params", p.name))
            for p in known
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
        """One choice of a step."""
        if not isinstance(found, dict) or not {"name", "value"} <= set(found):
            self.fail("R0802", path, "a choice is an object with `name` and `value`")
        choices = [each for each in walk_statements(action.body) if isinstance(each, Choose)]
        of = next((_member_type(each.domain.type) for each in choices if each.name == found["name"]), None)
        if of is None:
            known = [each.name for each in choices]
            message = f"{action.name} chooses no {found['name']!r}"
            self.fail("R0804", (*path, "name"), message, f"it chooses {_listed(known)}" if known else "")
        return Choice(found["name"], of, self.value(scope, of, found["value"], (*path, "value")))

    def ending(
        self, scope: Scope, about: Mapping[str, Json], whole: Mapping[str, Json], states: int
    ) -> Ending:
        """The ending in the metadata."""
        loop = whole.get("loop")
        if loop is not None:
            if isinstance(loop, bool) or not isinstance(loop, int) or not 0 <= loop < states:
                self.fail("R0802", ("loop",), f"the loop starts at one of the states 0 to {states - 1}")
            return Lasso(loop)
        found = _member(about, "ending")
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
                self.step(scope, step, (*path, "step"), fails=True)
                if isinstance(step, dict) and "action" in step
                else None,
            )
        result: Ending = KINDS[kind]()
        return result

    def value(self, scope: Scope, of: Type, found: Json, path: Path, *, stored: bool = False) -> Value:
        """One value of a type."""
        try:
            return decoder(of, scope, stored=stored)(found)
        except TypeMismatch as mismatch:
            self.fail("R0803", (*path, *mismatch.path), mismatch.message, mismatch.help)


def _member(of: Json, key: str) -> dict[str, Json]:
    """The object at a key of an object; empty if there is none."""
    found = of.get(key) if isinstance(of, dict) else None
    return found if isinstance(found, dict) else {}


def _called(name: str, known: list[str], found: list[str]) -> str | None:
    """The name in a trace of a variable of the model; None if it is missing.

    Other tools have no process fields and may have modules: `Replica.log` is
    `Replica_log` or `log` there, or `cluster::log`.
    """
    short = name.rpartition(".")[2]
    spellings = [name, name.replace(".", "_")]
    if [other.rpartition(".")[2] for other in known].count(short) == 1:
        spellings.append(short)
    for spelled in spellings:
        for there in (
            {other for other in found if other == spelled},
            {other for other in found if other.rpartition("::")[2] == spelled},
        ):
            if len(there) == 1:
                return there.pop()
    return None


def _has(names: Iterable[str]) -> str:
    """A phrase with the names that are there instead; empty if there are none."""
    found = list(names)
    return f"it has {_listed(found)}, which the model does not have" if found else ""


def _listed(names: list[str]) -> str:
    """Names as one line."""
    return ", ".join(f"`{name}`" for name in names[:MANY]) + (", …" if len(names) > MANY else "")


def _member_type(domain: Type) -> Type:
    """The type of a collection's members; for a case of a union the whole union."""
    return domain.of if isinstance(domain, Set | Bag | Seq | Option) else domain
