"""A protocol without variants → `ir.Model`: all declarations, in the order of the text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import spec.elaboration.bindings as bindings
import spec.model.ir as ir
import spec.model.types as t
import spec.syntax.tree as s
from spec.diagnostics import Diagnostic, SpecError
from spec.elaboration.builtins import flush_type
from spec.elaboration.checks import Checks, labels
from spec.elaboration.constants import constant
from spec.elaboration.display import display
from spec.elaboration.expressions import ExpressionElaborator
from spec.elaboration.labels import by_label
from spec.elaboration.names import Declarations, DeclaredVariable, declare
from spec.elaboration.networks import network_faults
from spec.elaboration.problems import Problems
from spec.elaboration.scopes import Binding, SlotFrame, TypeEnv, Use
from spec.elaboration.statements import StatementElaborator
from spec.model.versions import Order, order
from spec.source import Source, Span
from spec.syntax.parser import parse_expression


def elaborate(
    protocol: s.Protocol, checks: tuple[s.CheckDecl, ...], source: Source, problems: Problems
) -> ir.Model:
    """The model of a protocol, with its checks; mistakes are added to `problems`.

    Reports into `problems`; when there are any, the result is not to be used.
    """
    declared = declare(protocol, problems)
    declared.labels = labels(checks)
    return _Protocol(declared, protocol, source, problems).model(checks)


class _Protocol:
    """Elaborates one protocol."""

    def __init__(
        self, declared: Declarations, protocol: s.Protocol, source: Source, problems: Problems
    ) -> None:
        self.declared, self.protocol, self.source, self.problems = declared, protocol, source, problems
        self._first_slots = 1  # the most that any first value needs

    def model(self, checks: tuple[s.CheckDecl, ...]) -> ir.Model:
        """The model, with its checks."""
        self._functions()
        declared, configs, variables = self.declared, self._configs(), self._variables()
        init, init_slots = self._init()
        actions = (*(self._action(a) for a in declared.actions.values()), *network_faults(declared))
        properties = (*(self._property(p) for p in declared.properties.values()), *self._asserted())
        types = dict.fromkeys(declared.types.values())  # a type may have several names
        model = ir.Model(
            name=self.protocol.name.text,
            source=self.source,
            sorts=tuple(of for of in types if isinstance(of, t.Sort)),
            nats=tuple(of for of in types if isinstance(of, t.Nat)),
            enums=tuple(of for of in types if isinstance(of, t.Enum)),
            records=tuple(of for of in types if isinstance(of, t.Record)),
            unions=tuple(of for of in types if isinstance(of, t.Union)),
            configs=configs,
            assumes=self._assumes(),
            variables=variables,
            init=init,
            init_slots=init_slots,
            actions=actions,
            properties=properties,
            checks=(),
            display=display(declared, self.protocol),
        )
        self.problems.variant = None  # checks are outside of variants
        return Checks(declared, model, self.problems).attach(checks)

    # -------------------------------------------------------------- places with rules of their own

    def _only(self, frame: SlotFrame, allowed: set[Use], where: str) -> None:
        """Report uses in an expression that are not allowed where it is."""
        for use, span, name in frame.uses:
            if use in allowed:
                continue
            match use:
                case Use.GHOST:
                    self.problems.ghost(span, name, f"{where} cannot see the ghost `{name}`")
                case Use.STATE:
                    message = f"{where} cannot depend on the state (`{name}`)"
                    self.problems.add("R0408", span, message, help="only configs and sizes are known there")
                case Use.OLD:
                    message, help_ = (
                        f"`{name}(…)` has no meaning in {where}",
                        "it belongs in a `step` property",
                    )
                    self.problems.add("R0409", span, message, help=help_)
                case Use.ENABLED:
                    message = f"`enabled(…)` has no meaning in {where}"
                    self.problems.add("R0409", span, message, help="it belongs in a property")

    def _functions(self) -> None:
        """Elaborate every function once, so that mistakes are reported even if nothing calls it."""
        for fun in self.declared.functions.values():
            frame, env = SlotFrame(), TypeEnv()
            elaborator = ExpressionElaborator(self.declared, frame)
            for param in fun.params or ():
                bindings.fresh(elaborator, param.name, env)
                env = env.bind(param.name.text, Binding(self.declared.resolve(param.type), frame.slot()))
            frame.inlining.append((fun.name.text, fun.name.span))
            elaborator.check(fun.body, self.declared.resolve(fun.result), env, "as the function's value")

    # -------------------------------------------------------------- data

    def _configs(self) -> tuple[ir.ConfigEntry, ...]:
        """The configuration entries."""
        made = []
        for item in self.protocol.items:
            if not isinstance(item, s.ConfigDecl) or item.name.text not in self.declared.configs:
                continue
            of = self.declared.configs[item.name.text]
            value = constant(self.declared, item.value, of)
            defaults = tuple((d.version.text, constant(self.declared, d.value, of)) for d in item.defaults)
            self._versions(item.defaults)
            key, note = (x.text if x is not None else None for x in (item.key, item.note))
            made.append(ir.ConfigEntry(item.name.text, of, value, key, note, defaults, span=item.span))
        return tuple(made)

    def _versions(self, defaults: tuple[s.ConfigDefault, ...]) -> None:
        """Check the releases of defaults: known form, ascending."""
        last: Order | None = None
        for default in defaults:
            text = default.version.text
            now = order(text)
            if now is None:
                help_ = 'a version is numbers and dots: "0.11.0"'
                self.problems.add("R0507", default.version.span, f"`{text}` is not a version", help=help_)
                continue
            if last is not None and now <= last:
                message = "the versions do not ascend"
                self.problems.add("R0507", default.version.span, message, help="write the oldest first")
            last = now

    def _assumes(self) -> tuple[ir.Assume, ...]:
        """The assumptions."""
        made = []
        for item in self.protocol.items:
            if isinstance(item, s.AssumeDecl):
                frame = SlotFrame()
                test = ExpressionElaborator(self.declared, frame).check(item.test, t.BOOL, TypeEnv())
                self._only(frame, set(), "an assumption")
                made.append(ir.Assume(item.name.text, test, frame.slots, span=item.span))
        return tuple(made)

    def _variables(self) -> tuple[ir.Variable, ...]:
        """The state variables."""
        every = [
            *self.declared.variables.values(),
            *(v for fs in self.declared.fields.values() for v in fs.values()),
        ]
        made: list[ir.Variable] = []
        for var in every:
            made.append(self._variable(var))
            if var.storage == "cached" and isinstance(var.type, t.Seq):
                made.append(_flushed(var, made[-1]))
        indexed = sorted(zip(_indices(every), made, strict=False), key=lambda pair: pair[0])
        return tuple(v for _, v in indexed)

    def _variable(self, var: DeclaredVariable) -> ir.Variable:
        """A state variable."""
        network = self.declared.networks.get(var.name)
        storage = (
            ir.Storage(var.storage) if var.storage in {"durable", "volatile", "cached"} else ir.Storage.NONE
        )
        of: t.Type = t.Map(t.Sort(var.owner), var.type) if var.owner else var.type
        if network is not None:
            init = _empty(var.type, var.span)
        else:
            assert var.init is not None
            frame = SlotFrame()
            elaborator = ExpressionElaborator(self.declared, frame)
            inner = by_label(elaborator, var) or elaborator.check(
                var.init, var.type, TypeEnv(), "as the first value"
            )
            self._only(frame, set(), "a first value")
            init = ir.Fit(inner, type=var.type, span=inner.span)
            self._first_slots = max(self._first_slots, frame.slots)
        if var.owner:
            init = ir.MapOf(_FAR, "r", init, type=of, span=var.span)
        mode = network.mode.text if network is not None else None
        return ir.Variable(var.name, of, init, storage, var.ghost, var.owner, mode, span=var.span)

    def _init(self) -> tuple[tuple[ir.Stmt, ...], int]:
        """The statements of `init`, and the number of slots they use."""
        blocks = [item for item in self.protocol.items if isinstance(item, s.InitDecl)]
        for extra in blocks[1:]:
            first = (blocks[0].span, "the first is here")
            self.problems.add(
                "R0201", extra.span, "there are two `init` blocks", help="write one", notes=(first,)
            )
        if not blocks:
            return (), self._first_slots
        frame = SlotFrame()
        made = StatementElaborator(self.declared, frame, no_step=True).block(blocks[0].body, TypeEnv())
        self._only(frame, {Use.STATE, Use.GHOST}, "`init`")
        return made, max(self._first_slots, frame.slots)

    # -------------------------------------------------------------- behaviour

    def _action(self, item: s.ActionDecl) -> ir.Action:
        """An action."""
        frame, env = SlotFrame(), TypeEnv()
        statements = StatementElaborator(self.declared, frame)
        params = []
        for binder in item.params:
            env, slot, domain, case, of = bindings.bind(statements.expressions, binder, env)
            params.append(ir.Param(binder.name.text, slot, of, domain, case, span=binder.span))
        self._only(frame, {Use.STATE}, "a parameter")
        frame.uses.clear()
        with_params = env
        head, rest, env = self._head(item, statements, env)
        self._only(frame, {Use.STATE}, "a guard")
        frame.uses.clear()
        body = statements.block(rest, env)
        self._only(frame, {Use.STATE, Use.GHOST}, "an action")
        frame.uses.clear()
        says = self._says(item.says, with_params, statements.expressions)
        self._only(frame, {Use.STATE, Use.GHOST}, "a `says` text")
        kind, fairness = ir.Kind(item.kind), ir.Fairness(item.fairness)
        if kind is ir.Kind.FAULT and fairness is not ir.Fairness.NONE:
            help_ = "fairness is for steps that must happen eventually; a fault does not have to happen"
            self.problems.add("R0410", item.name.span, "a fault cannot be fair", help=help_)
        return ir.Action(
            item.name.text, kind, fairness, tuple(params), head, body, frame.slots, says, span=item.span
        )  # fmt: skip

    def _head(
        self, item: s.ActionDecl, statements: StatementElaborator, env: TypeEnv
    ) -> tuple[tuple[ir.Guard | ir.Bound, ...], tuple[s.Stmt, ...], TypeEnv]:
        """The guards and `let` at an action's start, the other statements, and the environment."""
        made: list[ir.Guard | ir.Bound] = []
        names: dict[str, Span] = {}
        for position, statement in enumerate(item.body):
            match statement:
                case s.Require(name, test):
                    if name is not None and name.text in names:
                        first = (names[name.text], "the first is here")
                        what = f"two guards are called `{name.text}`"
                        self.problems.add("R0201", name.span, what, help="rename one", notes=(first,))
                    if name is not None:
                        names[name.text] = name.span
                    found = statements.expressions.check(test, t.BOOL, env)
                    made.append(ir.Guard(name.text if name else None, found, span=statement.span))
                    env = env.knowing(statements.expressions.facts(test, env, truth=True))
                case s.LetStmt(name, value):
                    env, slot, bound = bindings.let(statements.expressions, name, value, env)
                    made.append(ir.Bound(slot, name.text, bound, span=statement.span))
                case _:
                    return tuple(made), item.body[position:], env
        return tuple(made), (), env

    def _says(self, text: s.Text | None, env: TypeEnv, expressions: ExpressionElaborator) -> ir.Says | None:
        """A sentence split at its `{…}`, each an expression."""
        if text is None:
            return None
        parts: list[str | ir.Expr] = []
        end = 0
        for found in re.finditer(r"\{([^{}]*)\}", text.text):
            parts.append(text.text[end : found.start()])
            end = found.end()
            at = Span(text.span.start + 1 + found.start(1), text.span.start + 1 + found.end(1))
            try:
                parts.append(expressions.infer(parse_expression(self.source, at), env))
            except SpecError as error:
                for d in error.diagnostics:
                    self._wrong_part(d, at)
        parts.append(text.text[end:])
        lone = re.search(r"[{}]", re.sub(r"\{[^{}]*\}", lambda part: " " * len(part[0]), text.text))
        if lone is not None:
            at = Span(text.span.start + 1 + lone.start(), text.span.start + 2 + lone.start())
            help_ = "write a value between braces: `{r}`"
            self.problems.add("R0101", at, f"this `{lone[0]}` has no partner", help=help_)
        return tuple(part for part in parts if part != "")

    def _wrong_part(self, found: Diagnostic, at: Span) -> None:
        """Report a syntax error inside the braces of a sentence."""
        if found.span is None or found.span.end >= at.end:
            help_ = "write a value between braces: `{r}`"
            self.problems.add("R0101", at, "there is no whole expression between these braces", help=help_)
        else:
            self.problems.add(found.code, found.span, found.message, help=found.help)

    def _property(self, item: s.PropertyDecl) -> ir.Property:
        """A property."""
        frame = SlotFrame()
        expressions = ExpressionElaborator(self.declared, frame)
        kind = ir.PropertyKind(item.kind)
        expr = None if item.expr is None else expressions.check(item.expr, t.BOOL, TypeEnv())
        goal = None if item.goal is None else expressions.check(item.goal, t.BOOL, TypeEnv())
        timed = {Use.OLD} if kind is ir.PropertyKind.STEP else set()
        article = "an" if item.kind[0] in "aeiou" else "a"
        self._only(frame, {Use.STATE, Use.GHOST, Use.ENABLED} | timed, f"{article} `{item.kind}` property")
        frame.uses.clear()
        says = self._sentence(item.says, expressions)
        return ir.Property(item.name.text, kind, expr, goal, frame.slots, says, span=item.span)

    def _asserted(self) -> Iterator[ir.Property]:
        """A property for each name of an `assert`, with the sentence of one of them."""
        found: dict[str, list[s.AssertStmt]] = {}
        for action in self.declared.actions.values():
            for each in _asserts(action.body):
                found.setdefault(each.name.text, []).append(each)
        for name, asserts in found.items():
            sentences = [each.says for each in asserts if each.says is not None]
            for extra in sentences[1:]:
                first = (sentences[0].span, "the first is here")
                what, help_ = f"`{name}` has two sentences", "write it at one of its asserts"
                self.problems.add("R0201", extra.span, what, help=help_, notes=(first,))
            frame, said = SlotFrame(), sentences[0] if sentences else None
            says = self._sentence(said, ExpressionElaborator(self.declared, frame))
            kind = ir.PropertyKind.ASSERT
            yield ir.Property(name, kind, None, None, frame.slots, says, span=asserts[0].span)

    def _sentence(self, text: s.Text | None, expressions: ExpressionElaborator) -> ir.Says | None:
        """The sentence of a property, which sees the state and nothing else."""
        says = self._says(text, TypeEnv(), expressions)
        self._only(expressions.frame, {Use.STATE, Use.GHOST}, "a `says` text")
        return says


_FAR = 0  # the slot of a process field's first value: no other name is bound next to it


def _indices(every: list[DeclaredVariable]) -> list[int]:
    """The index of each variable in the state, counting the flushed copies."""
    found = []
    for var in every:
        found.append(var.index)
        if var.storage == "cached" and isinstance(var.type, t.Seq):
            found.append(var.index + 1)
    return found


def _flushed(var: DeclaredVariable, of: ir.Variable) -> ir.Variable:
    """The variable with the flushed length of a cached variable."""
    assert isinstance(var.type, t.Seq)
    count = flush_type(var.type)
    whole = t.Map(t.Sort(var.owner or ""), count)
    zero = ir.Const(0, type=count, span=var.span)
    init = ir.MapOf(_FAR, "r", zero, type=whole, span=var.span)
    return ir.Variable(f"{of.name}.flushed", whole, init, ir.Storage.DURABLE, False, var.owner, span=var.span)  # noqa: FBT003


def _empty(of: t.Type, span: Span) -> ir.Expr:
    """The initial value of a network: empty, in every channel."""
    match of:
        case t.Map(_, value):
            return ir.MapOf(_FAR, "c", _empty(value, span), type=of, span=span)
        case t.Seq():
            return ir.Const((), type=of, span=span)
        case _:
            return ir.Const(frozenset(), type=of, span=span)


def _asserts(body: Iterable[s.Stmt]) -> Iterator[s.AssertStmt]:
    """The `assert` statements of a body, in the order of the text."""
    for statement in body:
        match statement:
            case s.AssertStmt():
                yield statement
            case s.IfStmt(_, then, other):
                yield from _asserts((*then, *other))
            case s.ForStmt(_, inner):
                yield from _asserts(inner)
            case _:
                pass
