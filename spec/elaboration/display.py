"""`display` blocks: which part of a state plays which role in a picture.

What a block leaves open is decided by the drawing; what it says is held against
the declarations, so that a picture never has to guess what was meant.
"""

from __future__ import annotations

from collections.abc import Iterator

import spec.model.types as t
import spec.syntax.expressions as se
import spec.syntax.tree as s
from spec.diagnostics import suggest
from spec.elaboration.names import Declarations, DeclaredVariable
from spec.frozen import frozen
from spec.model.roles import HIDDEN, LABEL, ROLES, WORDS, RoleSpec, Shown
from spec.source import Span
from spec.wording import an, listed


def display(declared: Declarations, protocol: s.Protocol) -> tuple[Shown, ...]:
    """The entries of a protocol's `display` block in order.

    Reports unknown roles and parts, parts that cannot play their role, and duplicate entries.
    """
    blocks = [item for item in protocol.items if isinstance(item, s.DisplayDecl)]
    for extra in blocks[1:]:
        first = (blocks[0].span, "the first is here")
        what, help_ = "there are two `display` blocks", "write one; in a variant, `replace display { … }`"
        declared.problems.add("R0201", extra.span, what, help=help_, notes=(first,))
    return _Display(declared).shown(blocks[0].parts) if blocks else ()


@frozen
class _ShownPart:
    """A part of the state that can be shown: a variable, or a field of a record variable."""

    variable: DeclaredVariable
    field: str | None
    type: t.Type

    def spelt(self) -> str:
        """The unambiguous name of the part."""
        return self.variable.name if self.field is None else f"{self.variable.name}.{self.field}"

    def plays(self, role: RoleSpec) -> bool:
        """Whether a role is possible for a part with this type and owner."""
        owner = self.variable.owner
        return (role.of_state if owner is None else role.of_process) and role.fits(self.type, owner)


class _Display:
    """Resolves the roles in a `display` block."""

    def __init__(self, declared: Declarations) -> None:
        self.declared, self.problems = declared, declared.problems
        self.first: dict[tuple[str, str | None], s.ShownDecl] = {}  # who plays a role, for which process
        self.entries: list[t.Type] = []  # what the logs are made of

    def shown(self, parts: tuple[s.ShownDecl, ...]) -> tuple[Shown, ...]:
        """The valid entries in order; others are reported."""
        labels = [node for node in parts if node.role.text == LABEL]
        made = [self._role(node) for node in parts if node.role.text != LABEL]
        has_log = any(node.role.text == "log" for node in parts)
        made += [self._label(node, has_log=has_log) for node in labels]  # the logs are known now
        return tuple(sorted((each for each in made if each is not None), key=lambda each: each.span.start))

    # -------------------------------------------------------------- one role

    def _role(self, node: s.ShownDecl) -> Shown | None:
        """An entry of the block; None if it is wrong (and reported)."""
        name = node.role.text
        if name in WORDS:
            return self._word(node)
        if name not in ROLES:
            known = [*ROLES, LABEL, *WORDS]
            help_ = suggest(name, known) or f"the roles: {listed(known)}"
            self.problems.add("R0411", node.role.span, f"there is no role `{name}`", help=help_)
            return None
        part = self._find(node, ROLES[name])
        if part is None or part.type == t.UNKNOWN or not self._is_first(node, part.variable.owner):
            return None
        if not part.plays(ROLES[name]):
            self._refuse(node, ROLES[name], part)
            return None
        if name == "log" and isinstance(part.type, t.Seq):
            self.entries.append(part.type.of)
        return Shown(name, part.variable.index, part.field, span=node.span)

    def _word(self, node: s.ShownDecl) -> Shown | None:
        """An entry that gives a word; None if it is wrong (and reported)."""
        if len(node.path) > 1:
            what, help_ = f"`{node.role.text}` is one name", f"write `{node.path[-1].text}` alone"
            self.problems.add("R0412", _span(node), what, help=help_)
            return None
        word = node.path[0].text
        return Shown(node.role.text, None, word, span=node.span) if self._is_first(node, None) else None

    def _is_first(self, node: s.ShownDecl, owner: str | None) -> bool:
        """Whether the role is still free, in the process or in the state; reports otherwise."""
        if node.role.text == HIDDEN:
            return True
        earlier = self.first.setdefault((node.role.text, owner), node)
        if earlier is node:
            return True
        what = f"the role `{node.role.text}` is given twice" + ("" if owner is None else f" in {owner}")
        note = (earlier.role.span, "first given here")
        self.problems.add("R0201", node.role.span, what, help="keep one of the two", notes=(note,))
        return False

    def _refuse(self, node: s.ShownDecl, role: RoleSpec, part: _ShownPart) -> None:
        """Report why a part cannot have a role."""
        span, name = _span(node), node.role.text
        owner = part.variable.owner
        if not (role.of_state if owner is None else role.of_process):
            here = "a variable of the state" if owner is None else f"a field of each {owner}"
            what, label = f"`{part.spelt()}` is {here}, and `{name}` is {role.place}", ""
        else:
            what, label = f"`{part.spelt()}` cannot be the `{name}`, which is {role.wants}", str(part.type)
        able = [other.spelt() for other in self._parts() if other.plays(role)]
        help_ = f"what can be: {listed(able)}" if able else f"leave it out: nothing here can be the `{name}`"
        self.problems.add("R0413", span, what, label=label, help=help_)

    def _label(self, node: s.ShownDecl, *, has_log: bool) -> Shown | None:
        """The entry for a label: a field of a log's entries."""
        if not self._is_first(node, None):
            return None
        if not has_log:
            what, help_ = "a `label` is a field of the entries of the `log`", "give the role `log` too"
            self.problems.add("R0413", node.role.span, what, help=help_)
        if not self.entries or t.UNKNOWN in self.entries:  # whose mistake has been reported
            return None
        name, records = node.path[0], [of for of in self.entries if isinstance(of, t.Record)]
        if not records:
            what = f"the entries of the log have no fields: each is {an(self.entries[0])}"
            self.problems.add("R0413", _span(node), what, help="leave out `label`: all of an entry is shown")
        elif len(node.path) > 1:
            help_ = f"write the field alone: `label: {node.path[-1].text}`"
            self.problems.add("R0412", _span(node), "a `label` is one name", help=help_)
        elif all(field.name != name.text for of in records for field in of.fields):
            self._no_field(name, records[0])
        else:
            return Shown(LABEL, None, name.text, span=node.span)
        return None

    # -------------------------------------------------------------- what a path leads to

    def _find(self, node: s.ShownDecl, role: RoleSpec) -> _ShownPart | None:
        """The part that a path names; None if there is none (and reported)."""
        name, *rest = node.path
        fields = self.declared.fields
        if name.text in fields and rest:
            field, *rest = rest
            variable = fields[name.text].get(field.text)
            if variable is None:
                known = list(fields[name.text])
                help_ = suggest(field.text, known) or f"its fields: {listed(known)}"
                self.problems.add(
                    "R0412", field.span, f"a {name.text} has no field `{field.text}`", help=help_
                )
                return None
        else:
            variable = self._alone(name, role)
        return None if variable is None else self._within(variable, rest)

    def _alone(self, name: se.Ident, role: RoleSpec) -> DeclaredVariable | None:
        """The variable that a name without a process before it refers to.

        What the role is declared as comes first, and of both the variable of the state.
        """
        whole = self._variables().get(name.text)
        owned = [own[name.text] for own in self.declared.fields.values() if name.text in own]
        if whole is not None and (role.of_state or not owned):
            return whole
        if len(owned) == 1:
            return owned[0]
        if owned:
            help_ = f"write one of {listed(each.name for each in owned)}"
            self.problems.add("R0412", name.span, f"several processes have a field `{name.text}`", help=help_)
            return None
        self._unknown(name, role)
        return None

    def _unknown(self, name: se.Ident, role: RoleSpec) -> None:
        """Report an unknown name."""
        able = [part.spelt() for part in self._parts() if part.plays(role)]
        short = {spelt.rpartition(".")[2]: spelt for spelt in able}
        near = suggest(name.text, able) or suggest(name.text, short)
        if name.text in self.declared.networks:
            near = "a network is drawn by its messages"
        elif not near and name.text in self.declared.places:
            near = f"it is declared, but as something else than {role.place}"
        help_ = near or (f"what can be: {listed(able)}" if able else f"the role wants {role.place}")
        what = f"there is no variable or field `{name.text}`"
        self.problems.add("R0412", name.span, what, help=help_)

    def _within(self, variable: DeclaredVariable, rest: list[se.Ident]) -> _ShownPart | None:
        """The variable, or the field of it that `rest` names."""
        if not rest or variable.type == t.UNKNOWN:
            return _ShownPart(variable, None, variable.type)
        of = variable.type
        if not isinstance(of, t.Record):
            what = f"`{variable.name}` has no fields: it is {an(of)}"
            self.problems.add("R0412", rest[0].span, what, help=f"write `{variable.name}` alone")
            return None
        found = next((field for field in of.fields if field.name == rest[0].text), None)
        if found is None:
            self._no_field(rest[0], of)
            return None
        if len(rest) > 1:
            what = f"this is a part of `{variable.name}.{found.name}`"
            help_ = "what is shown is a variable, or a field of one"
            self.problems.add("R0412", rest[1].span, what, help=help_)
            return None
        return _ShownPart(variable, found.name, found.type)

    def _no_field(self, name: se.Ident, of: t.Record) -> None:
        """Report an unknown field."""
        known = [field.name for field in of.fields]
        help_ = suggest(name.text, known) or f"its fields: {listed(known) or 'none'}"
        self.problems.add("R0412", name.span, f"{an(of)} has no field `{name.text}`", help=help_)

    def _variables(self) -> dict[str, DeclaredVariable]:
        """The state variables without networks, by name."""
        networks = self.declared.networks
        return {name: each for name, each in self.declared.variables.items() if name not in networks}

    def _parts(self) -> Iterator[_ShownPart]:
        """All parts that can be shown."""
        owned = [each for own in self.declared.fields.values() for each in own.values()]
        for variable in (*self._variables().values(), *owned):
            yield _ShownPart(variable, None, variable.type)
            if isinstance(variable.type, t.Record):
                for field in variable.type.fields:
                    yield _ShownPart(variable, field.name, field.type)


def _span(node: s.ShownDecl) -> Span:
    """The span of an entry's path."""
    return Span(node.path[0].span.start, node.path[-1].span.end)
