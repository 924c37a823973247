"""The roles that parts of a state play in a picture, and what may play them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from spec.frozen import frozen
from spec.model.types import Bag, Bool, Enum, Map, Option, Seq, Set, Sort, Type, is_number
from spec.source import Node


@frozen
class Shown(Node):
    """A part of the state with a role in pictures; engines ignore it.

    `variable` is its number in `Model.variables`, and `field` names a field of
    the record that it is; None when it is shown whole.  The role `label` has no
    variable: its field is one of the entries of what plays `log`.  Those of `WORDS` have
    none either: what they give is a word.
    """

    role: str
    variable: int | None
    field: str | None


@frozen
class RoleSpec:
    """The parts that can have a role: their type and owner."""

    wants: str
    fits: Callable[[Type, str | None], bool]
    of_process: bool = False
    of_state: bool = False

    @property
    def place(self) -> str:
        """Where a part with the role is declared, in words."""
        if self.of_process and self.of_state:
            return "a field of a process or a variable of the state"
        return "a field of a process" if self.of_process else "a variable of the state"


def _is_bool(of: Type, _owner: str | None) -> bool:
    return isinstance(of, Bool)


def _is_anything(_of: Type, _owner: str | None) -> bool:
    return True


def _is_number(of: Type, _owner: str | None) -> bool:
    return is_number(of)


def _holds_entries(of: Type, _owner: str | None) -> bool:
    """Whether the type is a sequence, set or bag of entries, or a map from numbers to them."""
    return isinstance(of, Seq | Set | Bag) or (isinstance(of, Map) and is_number(of.key))


def _is_collection(of: Type, _owner: str | None) -> bool:
    return isinstance(of, Set | Bag | Seq)


def _is_set_of_members(of: Type, _owner: str | None) -> bool:
    return isinstance(of, Set) and isinstance(of.of, Sort)


def _is_member(of: Type, owner: str | None) -> bool:
    """Whether the type is a sort, or an option of one; in a process its own sort."""
    inner = of.of if isinstance(of, Option) else of
    return isinstance(inner, Sort) and owner in {None, inner.name}


def _tells_who_leads(of: Type, owner: str | None) -> bool:
    """Whether the type can show who leads: Boolean, a member of its sort, or an enum with `leader`."""
    return isinstance(of, Bool) or _is_member(of, owner) or (isinstance(of, Enum) and "leader" in of.members)


HIDDEN = "hidden"  # is not drawn; the only role that several parts may have
LABEL = "label"  # of a log: which field of its entries is shown
CONTROLLER, CLIENT, SET = "controller", "client", "set"
WORDS: Mapping[str, str] = {
    CONTROLLER: "who decides what no member owns",
    CLIENT: "who sends records and gets the acknowledgements",
    SET: "what the `membership` is called",
}
"""The roles that give a word of the picture, not a part of the state."""
ROLES: Mapping[str, RoleSpec] = {
    "log": RoleSpec("a sequence, a set, a bag, or a map from numbers", _holds_entries, of_process=True),
    "high_watermark": RoleSpec("a number", _is_number, of_process=True),
    "flushed": RoleSpec("a number", _is_number, of_process=True),
    "up": RoleSpec("a bool", _is_bool, of_process=True),
    "leads": RoleSpec(
        "a bool, a member of the process's sort, an option of one, or an enum with a member `leader`",
        _tells_who_leads,
        of_process=True,
    ),
    "leader": RoleSpec("a member of a sort, or an option of one", _is_member, of_state=True),
    "membership": RoleSpec("a set of members of a sort", _is_set_of_members, of_state=True),
    "epoch": RoleSpec("a number", _is_number, of_process=True, of_state=True),
    "acknowledged": RoleSpec("a set, bag or sequence", _is_collection, of_state=True),
    HIDDEN: RoleSpec("anything", _is_anything, of_process=True, of_state=True),
}
