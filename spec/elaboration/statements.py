"""Statements: surface → IR.  What changes the state, and what may not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

import spec.elaboration.bindings as bindings
import spec.elaboration.references as references
import spec.model.ir as ir
import spec.model.types as t
import spec.syntax.expressions as se
import spec.syntax.tree as s
from spec.diagnostics import suggest
from spec.elaboration.builtins import cached_field, flush_type
from spec.elaboration.expressions import ExpressionElaborator
from spec.elaboration.names import Declarations, DeclaredVariable
from spec.elaboration.references import VERBS
from spec.elaboration.scopes import SlotFrame, TypeEnv, Use
from spec.elaboration.sequences import remove_first
from spec.model.op import Op
from spec.model.walk import walk_statements
from spec.source import Span
from spec.wording import an, listed

_MEMBERSHIP = {"contains", "has", "includes"}  # words of other languages between a set and a member

_FOREIGN_WORDS = {  # of other languages, read as a name that is a statement
    "iff": "for `p iff q`, write `(p) == (q)`",
    "as": "leave it out: a plain number has the type that its place wants, and `int(x)` is a plain number",
    **dict.fromkeys(("pass", "skip"), "leave it out: an empty block is `{ }`"),
    "return": "leave it out: the steps of an action end with its block; `fun f(x: T): U = e` has a value",
    **dict.fromkeys(
        ("break", "continue"), "say which members the `for` goes through: `for x in {y in S where P}`"
    ),
    "UNCHANGED": "leave it out: what no statement changes stays as it is",
    "del": "a map keeps all its keys: let its values be of a type `T?`, and write `m[k] := none`",
    "goto": "keep where it is in a variable: `x := e`",
}
_FOREIGN_VERBS = {  # `$` is what they change, `@` the first argument
    **dict.fromkeys(("pushback", "enqueue", "addlast"), "`$.append(@)`"),
    **dict.fromkeys(("discard", "erase", "delete"), "`$.remove(@)`"),
    **dict.fromkeys(("extend", "update", "addall", "union"), "`$ := $ + @`"),
    **dict.fromkeys(("popleft", "popfront", "dequeue"), "`$ := $[1..]`"),
    "pop": "`$ := $[..size($) - 1]`, which leaves out the last entry",
    "clear": "`$ := {}`, or `$ := []` for a sequence",
    "insert": "`$.add(@)`",
}
_SENDS = {"push", "put", "emit", "publish", "enqueue", "insert", "write"}
_OF_A_MAP = {"insert", "put", "set"}  # with a key and a value

_Path = tuple[ir.Key | ir.At, ...]
_Place = tuple[DeclaredVariable, _Path, t.Type]


class StatementElaborator:
    """Elaborates the statements of one action, or of `init` (`no_step`), into IR."""

    def __init__(self, declared: Declarations, frame: SlotFrame, *, no_step: bool = False) -> None:
        self.declared = declared
        self.no_step = no_step
        self.problems = declared.problems
        self.frame = frame
        self.expressions = ExpressionElaborator(declared, frame)
        self._under_ghost: Span | None = None  # inside a branch that depends on a ghost

    def block(self, statements: tuple[s.Stmt, ...], env: TypeEnv) -> tuple[ir.Stmt, ...]:
        """The IR of statements in order; a name bound by one is known in the next."""
        made: list[ir.Stmt] = []
        for statement in statements:
            before = len(made)
            env = self._one(statement, env, made).after(_changed(made[before:]), statement.span)
        return tuple(made)

    def _one(self, node: s.Stmt, env: TypeEnv, made: list[ir.Stmt]) -> TypeEnv:
        """Append the IR of one statement to `made`; returns the environment after it."""
        match node:
            case s.Require():
                help_ = "a step happens whole or not at all: put conditions before the first change"
                self.problems.add(
                    "R0401", node.span, "`require` must come at the start of an action", help=help_
                )
                return env
            case s.LetStmt(name, value):
                inner, slot, found = bindings.let(self.expressions, name, value, env)
                self._note_ghost_value(name.text)
                made.append(ir.Bound(slot, name.text, found, span=node.span))
                return inner
            case s.AssignStmt(place, value):
                self._assign(node.span, place, value, env, made)
                return env
            case s.Do(call):
                self._do(node.span, call, env, made)
                return env
            case s.IfStmt():
                made.append(self._if(node, env))
                return env
            case s.ForStmt(binder, body):
                made.append(self._for(node, binder, body, env))
                return env
            case s.ChooseStmt(binder, where):
                return self._choose(node, binder, where, env, made)
            case s.AssertStmt() if self.no_step:
                message = "an `assert` is about a step, and `init` is none"
                self.problems.add(
                    "R0409",
                    node.span,
                    message,
                    help="write an `invariant`, which is asked of the initial states too",
                )
                return env
            case s.AssertStmt(name, _, test):
                if name.text in self.declared.places:
                    first = (self.declared.places[name.text], "first declared here")
                    what, help_ = f"`{name.text}` is declared twice", "choose another name"
                    self.problems.add("R0201", name.span, what, help=help_, notes=(first,))
                with_ghosts = self.expressions.check(test, t.BOOL, env)
                self._forgive_ghosts()
                made.append(ir.Assert(name.text, with_ghosts, span=node.span))
                return env
            case s.MemberStmt(verb, of):
                self._member(node.span, verb, of, env, made)
                return env
            case _:
                assert_never(node)

    # -------------------------------------------------------------- ghosts

    def _ghosts(self) -> tuple[Span, str] | None:
        """The first ghost read since the last call, if any."""
        found = next(((span, name) for use, span, name in self.frame.uses if use is Use.GHOST), None)
        self._forgive_ghosts()
        return found

    def _forgive_ghosts(self) -> None:
        """Forget which ghosts were read."""
        self.frame.uses[:] = [use for use in self.frame.uses if use[0] is not Use.GHOST]

    def _note_ghost_value(self, name: str) -> None:
        """Record that a bound name has a value from a ghost."""
        ghost = self._ghosts()
        if ghost is not None:
            span, of = ghost
            message = f"`{name}` would carry the ghost `{of}` into the protocol"
            help_ = "write the expression where a ghost is assigned"
            self.problems.add("R0404", span, message, help=help_)

    def _no_ghost(self, what: str) -> None:
        """Report a ghost read where it may not affect the protocol."""
        ghost = self._ghosts()
        if ghost is not None:
            span, name = ghost
            what = f"the protocol cannot see the ghost `{name}`, so {what} cannot depend on it"
            self.problems.ghost(span, name, what)

    def _not_under_ghost(self, what: str, span: Span) -> None:
        """Report a change of the protocol's state under a condition on a ghost."""
        if self._under_ghost is not None:
            message = f"{what} here would depend on a ghost"
            help_ = "under a condition on ghosts only ghosts may change"
            self.problems.add(
                "R0404", self._under_ghost, message, help=help_, notes=((span, "changed here"),)
            )

    # -------------------------------------------------------------- places

    def place(self, node: se.Expr, env: TypeEnv) -> _Place | None:
        """The target of a statement: variable, path and type; None if it is wrong (and reported)."""
        found = self._place(node, env)
        if found is not None:
            self.problems.typed(node.span, found[2])
        return found

    def _place(self, node: se.Expr, env: TypeEnv) -> _Place | None:
        """The target that an expression denotes."""
        match node:
            case se.Name(name) if name in self.declared.variables:
                found = self.declared.variables[name]
                return found, (), found.type
            case se.Get(of, name):
                return self._place_of_field(of, name, env)
            case se.Index(of, index):
                base = self.place(of, env)
                if base is None:
                    return None
                variable, path, inner = base
                if isinstance(inner, t.Map):
                    key = self.expressions.check(index, inner.key, env, "as the key")
                    return variable, (*path, ir.Key(key)), inner.value
                if not isinstance(inner, t.UnknownType):
                    help_ = "change a seq as a whole: `x := x[..i] + [e]`" if isinstance(inner, t.Seq) else ""
                    self.problems.add(
                        "R0405", node.span, f"an entry of {an(inner)} cannot be assigned", help=help_
                    )
                return None
            case se.Name():
                return self._no_place(node, env)
            case _:
                self.problems.add(
                    "R0405", node.span, "this is not a place in the state", help="assign to a variable"
                )
                return None

    def _place_of_field(self, of: se.Expr, name: se.Ident, env: TypeEnv) -> _Place | None:
        """The target `of.name`."""
        if isinstance(of, se.Name) and references.is_type(self.expressions, of):
            references.part_of_a_type(self.expressions, of, name, Span(of.span.start, name.span.end))
            return None
        if not self._is_member(of, env):
            base = self.place(of, env)
            return None if base is None else self._place_of_part(base, name)
        member = self.expressions.infer(of, env)
        if isinstance(member.type, t.UnknownType):
            return None
        if not isinstance(member.type, t.Sort):
            help_ = f"test it first (`… != none`), bind it (`x in …`), or write `the(…).{name.text}`"
            what = f"this may be none, which has no `{name.text}`"
            notes = env.why_unknown(of)
            self.problems.add("R0302", of.span, what, label=str(member.type), help=help_, notes=notes)
            return None
        own = self.declared.fields.get(member.type.name, {})
        if name.text not in own:
            help_ = suggest(name.text, own)
            self.problems.add("R0314", name.span, f"{an(member.type)} has no `{name.text}`", help=help_)
            return None
        found = own[name.text]
        return found, (ir.Key(member),), found.type

    def _is_member(self, of: se.Expr, env: TypeEnv) -> bool:
        """Whether `of` is a member of a sort (or wrong itself), so that `of.field` is a process field."""
        scratch = ExpressionElaborator(self.declared, SlotFrame(self.frame.slots))
        found = scratch.infer(of, env)
        return isinstance(found.type, t.Sort | t.Option | t.UnknownType)

    def _place_of_part(self, base: _Place, name: se.Ident) -> _Place | None:
        """The target that is a field of another."""
        variable, path, inner = base
        if isinstance(inner, t.Record):
            for index, part in enumerate(inner.fields):
                if part.name == name.text:
                    return variable, (*path, ir.At(index)), part.type
        if not isinstance(inner, t.UnknownType):
            names = [f.name for f in inner.fields] if isinstance(inner, t.Record) else []
            help_ = suggest(name.text, names)
            if isinstance(inner, t.Union | t.Case):
                help_ = "a value of a union is assigned as a whole"
            self.problems.add("R0314", name.span, f"{an(inner)} has no `{name.text}` to assign", help=help_)
        return None

    def _no_place(self, node: se.Name, env: TypeEnv) -> _Place | None:
        """Report a name that is no target."""
        name = node.name
        if name in env.names:
            what = f"`{name}` is a bound name: it keeps its value"
            self.problems.add("R0405", node.span, what, help="bind a new one with `let`")
        elif name in self.declared.configs:
            help_ = "what steps change is declared in `state`"
            self.problems.add(
                "R0405", node.span, f"`{name}` is a config: checks set it, steps do not", help=help_
            )
        elif name in self.declared.places:
            help_ = "assign to what is declared in `state`, or to a field of a process"
            self.problems.add("R0405", node.span, f"`{name}` is not a variable", help=help_)
        elif name in self.declared.members:
            references.named(self.expressions, node, env, None)
        else:
            references.unknown_name(self.expressions, node, self.declared.variables)
        return None

    # -------------------------------------------------------------- changes

    def _assign(self, span: Span, place: se.Expr, value: se.Expr, env: TypeEnv, made: list[ir.Stmt]) -> None:
        """Append the IR of an assignment."""
        target = self.place(place, env)
        if target is None:
            self.expressions.infer(value, env)
            return
        found = self.expressions.check(value, target[2], env, "as the new value")
        self._store(span, target, found, made)

    def _store(
        self, span: Span, target: _Place, value: ir.Expr, made: list[ir.Stmt], *, grows: bool = False
    ) -> None:
        """Append an assignment with the check of bounds; adjusts the flushed length."""
        variable, path, of = target
        if variable.ghost:
            self._forgive_ghosts()
        else:
            self._no_ghost(f"`{variable.name}`")
            self._not_under_ghost(f"whether `{variable.name}` changes", span)
        if variable.storage == "cached" and len(path) == 1 and not grows:
            self._forget_flushed(span, variable, path, value, made)
            return
        made.append(ir.Assign(variable.index, path, ir.Fit(value, type=of, span=value.span), span=span))

    def _forget_flushed(
        self, span: Span, variable: DeclaredVariable, path: _Path, value: ir.Expr, made: list[ir.Stmt]
    ) -> None:
        """Append the reduction of the flushed length to the common prefix of old and new log."""
        (key,) = path
        assert isinstance(variable.type, t.Seq)
        assert isinstance(key, ir.Key)
        path = (ir.Key(self._once(key.key, made)),)
        slot, count = self.frame.slot(), flush_type(variable.type)
        made.append(ir.Bound(slot, variable.name, value, span=span))
        new = ir.Local(slot, type=variable.type, span=span)
        kept = ir.Apply(Op.COMMON, (self._read(variable, path, span), new), type=count, span=span)
        flushed = self._read(_flushed(variable), path, span)
        least = ir.Apply(Op.MIN2, (flushed, kept), type=count, span=span)
        made.append(ir.Assign(variable.index + 1, path, least, span=span))
        made.append(
            ir.Assign(variable.index, path, ir.Fit(new, type=variable.type, span=value.span), span=span)
        )

    def _read(self, variable: DeclaredVariable, path: _Path, span: Span) -> ir.Expr:
        """The IR of a target's current value."""
        owner = variable.owner
        of: t.Type = t.Map(t.Sort(owner), variable.type) if owner else variable.type
        found: ir.Expr = ir.Var(variable.index, type=of, span=span)
        for step in path:
            match step, found.type:
                case ir.Key(key), t.Map(_, value):
                    found = ir.Apply(Op.LOOKUP, (found, key), type=value, span=span)
                case ir.At(index), t.Record(_, fields):
                    found = ir.Part(found, index, type=fields[index].type, span=span)
                case _:
                    raise AssertionError(step)  # `place` builds only these
        return found

    def _do(self, span: Span, call: se.Expr, env: TypeEnv, made: list[ir.Stmt]) -> None:
        """Append the IR of `place.verb(args)`."""
        if not isinstance(call, se.Method):
            help_ = "a statement changes the state: `x := e`, `log.append(e)`, `set.add(e)`"
            if isinstance(call, se.Name) and call.name in _MEMBERSHIP:
                help_ = f"for `s {call.name} x`, write `x in s`"
            if isinstance(call, se.Name):
                help_ = _FOREIGN_WORDS.get(call.name, help_)
            if isinstance(call, se.Call) and call.name.text in VERBS and len(call.args) == 2:
                of, value = (self.problems.shown(arg.value.span) for arg in call.args)
                help_ = f"write `{of}.{call.name.text}({value})`"
            self.problems.add("R0406", call.span, "this does nothing", help=help_)
            return
        verb = call.name.text
        if verb not in VERBS:
            help_ = self._verb_here(call) or suggest(verb, VERBS) or f"there are {listed(VERBS)}"
            self.problems.add("R0208", call.name.span, f"there is no statement `.{verb}(…)`", help=help_)
            return
        target = self.place(call.of, env)
        if target is None or len(call.args) != 1 or call.args[0].name is not None:
            if target is not None:
                self.problems.add("R0313", call.span, f"`{verb}` takes one value", help=f"write `.{verb}(e)`")
            for arg in call.args:
                self.expressions.infer(arg.value, env)
            return
        self._change(span, verb, target, call, env, made)

    def _verb_here(self, call: se.Method) -> str:
        """The advice for a statement of another language, such as `log.push(e)`; empty if it is unknown."""
        verb = references.plain(call.name.text)
        shown = [self.problems.shown(arg.value.span) for arg in call.args]
        of = self.problems.shown(call.of.span)
        if verb in _OF_A_MAP and len(shown) == 2 and not isinstance(call.args[0].value, se.IntLit):
            return f"write `{of}[{shown[0]}] := {shown[1]}`"
        root = call.of.of if isinstance(call.of, se.Index) else call.of
        if isinstance(root, se.Name) and root.name in self.declared.networks and len(shown) == 1:
            return f"write `{of}.send({shown[0]})`" if verb in _SENDS else ""
        form = _FOREIGN_VERBS.get(verb)
        if form is None or len(shown) != ("@" in form):
            return ""
        return f"write {form.replace('$', of).replace('@', shown[0] if shown else '')}"

    def _change(
        self, span: Span, verb: str, target: _Place, call: se.Method, env: TypeEnv, made: list[ir.Stmt]
    ) -> None:
        """Append the IR of a verb applied to a target."""
        variable, path, of = target
        networked = variable.name in self.declared.networks
        inner = t.element(of)
        suits = {
            "append": isinstance(of, t.Seq) and not networked,
            "add": isinstance(of, t.Set | t.Bag) and not networked,
            "remove": isinstance(of, t.Set | t.Bag) and not networked,
        }.get(verb, networked)
        if isinstance(of, t.UnknownType):
            self.expressions.infer(call.args[0].value, env)
            return
        if not suits or inner is None:
            self._unsuited(verb, variable, of, call)
            return
        value = self.expressions.check(call.args[0].value, inner, env, f"to {verb}")
        now = self._read(variable, path, span)
        made_value = self._changed(verb, now, of, value, span)
        self._store(span, target, made_value, made, grows=verb == "append")

    def _unsuited(self, verb: str, variable: DeclaredVariable, of: t.Type, call: se.Method) -> None:
        """Report a verb that the type does not have."""
        shown = an(of)
        verbs = [name for name, takes in VERBS.items() if type(of).__name__.lower() in takes.split()]
        help_ = f"{an(type(of).__name__.lower())} has {listed(verbs)}" if verbs else ""
        if variable.name in self.declared.networks:
            shown = "all channels at once" if isinstance(of, t.Map) else "a network"
            where = f"{variable.name}[…]" if isinstance(of, t.Map) else variable.name
            help_ = f"write `{where}.send(…)` or `{where}.receive(…)`"
        message = f"`{verb}` is for {VERBS[verb]}, and this is {shown}"
        self.problems.add("R0322", call.name.span, message, help=help_)

    def _changed(self, verb: str, now: ir.Expr, of: t.Type, value: ir.Expr, span: Span) -> ir.Expr:
        """The IR of a target's value after a verb."""
        match of, verb:
            case t.Seq(inner), "append" | "send":
                one = ir.Make((value,), type=t.Seq(inner, None), span=span)
                return ir.Apply(Op.CONCAT, (now, one), type=of, span=span)
            case t.Seq(), _:
                return remove_first(self.frame, now, value, span)
            case t.Set(inner), _:
                one = ir.Make((value,), type=t.Set(inner), span=span)
            case t.Bag(inner), _:
                one = ir.Make((value,), type=t.Bag(inner, None), span=span)
            case _:
                raise AssertionError(of)  # `_change` lets only these through
        op = Op.UNION if verb in {"add", "send"} else Op.MINUS
        return ir.Apply(op, (now, one), type=of, span=span)

    # -------------------------------------------------------------- control

    def _if(self, node: s.IfStmt, env: TypeEnv) -> ir.Stmt:
        """The IR of an `if`."""
        test = self.expressions.check(node.test, t.BOOL, env)
        ghost, outer = self._ghosts(), self._under_ghost
        if ghost is not None:
            self._under_ghost = ghost[0]
        yes, no = (
            env.knowing(self.expressions.facts(node.test, env, truth=truth)) for truth in (True, False)
        )
        then, other = self.block(node.then, yes), self.block(node.other, no)
        self._under_ghost = outer
        return ir.Branch(test, then, other, span=node.span)

    def _for(self, node: s.ForStmt, binder: se.Binder, body: tuple[s.Stmt, ...], env: TypeEnv) -> ir.Stmt:
        """The IR of a `for`."""
        inner, slot, domain, case, _ = bindings.bind(self.expressions, binder, env)
        ghost, outer = self._ghosts(), self._under_ghost
        if ghost is not None:
            self._under_ghost = ghost[0]
        made = self.block(body, inner)
        repeated = inner.after(_changed(made), node.span)
        if repeated is not inner:  # an earlier round may have changed what was known at first
            made = self.block(body, repeated)
        self._under_ghost = outer
        return ir.Each(slot, binder.name.text, domain, made, case, span=node.span)

    def _choose(
        self, node: s.ChooseStmt, binder: se.Binder, where: se.Expr | None, env: TypeEnv, made: list[ir.Stmt]
    ) -> TypeEnv:
        """Append the IR of a `choose`; returns the environment after it."""
        inner, slot, domain, case, _ = bindings.bind(self.expressions, binder, env)
        test = None if where is None else self.expressions.check(where, t.BOOL, inner)
        self._no_ghost("a choice")
        self._not_under_ghost("what is chosen", node.span)
        made.append(ir.Choose(slot, binder.name.text, domain, test, case, span=node.span))
        return inner if where is None else inner.knowing(self.expressions.facts(where, inner, truth=True))

    # -------------------------------------------------------------- crashes

    def _member(self, span: Span, verb: str, of: se.Expr, env: TypeEnv, made: list[ir.Stmt]) -> None:
        """Append the IR of `wipe`, `lose` or `flush`."""
        if verb == "flush":
            self._flush(span, of, env, made)
            return
        member = self.expressions.infer(of, env)
        self._no_ghost(f"`{verb}`")
        self._not_under_ghost(f"whether `{verb}` happens", span)
        if not isinstance(member.type, t.Sort) or member.type.name not in self.declared.fields:
            if not isinstance(member.type, t.UnknownType):
                message = f"`{verb}` takes a member of a process, and this is {an(member.type)}"
                help_ = (
                    f"write `{verb} r`, with `r` a member of {listed(self.declared.fields) or 'a process'}"
                )
                self.problems.add("R0322", of.span, message, label=str(member.type), help=help_)
            return
        fields = self.declared.fields[member.type.name].values()
        member = self._once(member, made)
        self._wipe(span, member, fields, made)
        if verb == "lose":
            self._lose(span, of, member, fields, made)

    def _once(self, member: ir.Expr, made: list[ir.Stmt]) -> ir.Expr:
        """The member bound to a name, since several assignments use it and may change it."""
        if isinstance(member, ir.Local):
            return member
        slot = self.frame.slot()
        made.append(ir.Bound(slot, "member", member, span=member.span))
        return ir.Local(slot, type=member.type, span=member.span)

    def _wipe(self, span: Span, member: ir.Expr, fields: object, made: list[ir.Stmt]) -> None:
        """Append the reset of a member's volatile fields."""
        for var in fields:  # type: ignore[attr-defined]
            if var.storage == "volatile" and var.init is not None:
                init = self.expressions.check(var.init, var.type, TypeEnv())
                self._store(span, (var, (ir.Key(member),), var.type), init, made)

    def _lose(self, span: Span, of: se.Expr, member: ir.Expr, fields: object, made: list[ir.Stmt]) -> None:
        """Append the loss of cached entries: a branch for each length from the flushed one on.

        What survived was on the disk, so from now on it counts as flushed.
        """
        cached = [var for var in fields if var.storage == "cached"]  # type: ignore[attr-defined]
        if not cached:
            sort = member.type
            help_ = "`lose` drops unflushed suffixes; with nothing `cached` it is `wipe`"
            self.problems.add("R0407", of.span, f"no field of {sort} is `cached`", help=help_)
        for var in cached:
            if not isinstance(var.type, t.Seq):
                continue
            path: _Path = (ir.Key(member),)
            now, count = self._read(var, path, span), flush_type(var.type)
            size = ir.Apply(Op.SIZE, (now,), type=count, span=span)
            lengths = ir.Apply(
                Op.RANGE, (self._read(_flushed(var), path, span), size), type=t.Set(count), span=span
            )
            slot = self.frame.slot()
            name = "kept" if len(cached) == 1 else f"kept of {var.name.partition('.')[2]}"
            made.append(ir.Choose(slot, name, lengths, None, span=span))
            kept = ir.Apply(Op.TAKE, (now, ir.Local(slot, type=count, span=span)), type=var.type, span=span)
            made.append(ir.Assign(var.index, path, kept, span=span))
            made.append(ir.Assign(var.index + 1, path, ir.Local(slot, type=count, span=span), span=span))

    def _flush(self, span: Span, of: se.Expr, env: TypeEnv, made: list[ir.Stmt]) -> None:
        """Append the flush of a cached field."""
        found = cached_field(self.expressions, of, env)
        self._no_ghost("`flush`")
        self._not_under_ghost("whether `flush` happens", span)
        if found is None:
            help_ = "write `flush r.log` where `log` is declared `cached`"
            self.problems.add("R0322", of.span, "`flush` takes a cached field of a process", help=help_)
            return
        var, member = found
        assert isinstance(var.type, t.Seq)
        path: _Path = (ir.Key(member),)
        size = ir.Apply(Op.SIZE, (self._read(var, path, span),), type=flush_type(var.type), span=span)
        made.append(ir.Assign(var.index + 1, path, size, span=span))


def _changed(statements: Iterable[ir.Stmt]) -> frozenset[int]:
    """The state variables that statements may change."""
    return frozenset(each.var for each in walk_statements(statements) if isinstance(each, ir.Assign))


def _flushed(var: DeclaredVariable) -> DeclaredVariable:
    """The variable with the flushed length of a cached variable."""
    assert isinstance(var.type, t.Seq)
    return replace(
        var, index=var.index + 1, name=f"{var.name}.flushed", type=flush_type(var.type), storage="durable"
    )
