"""What a command line changes of a check: its scope, its configuration, its budget of faults."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from string import ascii_lowercase, ascii_uppercase
from typing import NoReturn

from modelcheck.asking.models import pick_checks, pick_model, pick_property
from spec.diagnostics import Diagnostic, SpecError, suggest
from spec.elaboration.checks import LARGEST_NAT, LARGEST_SORT, member_names
from spec.frozen import frozen
from spec.model.bounds import ANY
from spec.model.ir import Budget, Check, Model, Scope, Value
from spec.model.ordinals import obstacles
from spec.model.types import Bool, Enum, Int, Nat, Option, Range, Sort, Type
from spec.model.versions import default_of, order
from spec.source import Source, Span


@frozen
class Overrides:
    """Changes to a check as typed: `k=v` texts for scope and configuration, faults, a release.

    Of a release every config entry has its default there, where the model gives one;
    what `config` sets comes before.
    """

    scope: tuple[str, ...] = ()
    config: tuple[str, ...] = ()
    faults: str | None = None
    release: str | None = None

    def __bool__(self) -> bool:
        return bool(self.scope or self.config or self.faults is not None or self.release is not None)


def apply(model: Model, check: Check, given: Overrides) -> Check:
    """The check with the changes.

    When anything differs it loses its `says` text and its expectations.
    Raises SpecError for a name the model does not have and a value that does not fit.
    """
    scope = _scope(model, check.scope, given.scope)
    changed = replace(
        check,
        scope=_config(model, _of_release(model, scope, given), given.config),
        budget=check.budget if given.faults is None else _budget(model, given.faults, check.budget),
        exact=tuple(
            name
            for name in check.exact
            if name not in scope.unbounded and scope.size(name) == check.scope.size(name)
        ),
    )
    return check if changed == check else replace(changed, expect=(), says=None)


def names_to_give(models: Iterable[Model]) -> set[str]:
    """The names of the scopes and the configurations of these models."""
    found: set[str] = set()
    for model in models:
        found |= {each.name for part in (model.sorts, model.nats, model.configs) for each in part}
        found |= {variable.name for variable in model.variables if variable.network}
    return found


def free_check(model: Model, given: Overrides) -> Check:
    """A check made only from the changes, for a model without checks.

    Raises SpecError when a sort, a nat or a network has no bound.
    """
    scope = _scope(model, Scope({s.name: () for s in model.sorts}, {}, {}, {}), given.scope)
    networks = [variable.name for variable in model.variables if variable.network]
    missing = [name for name, members in scope.sorts.items() if not members]
    missing += [
        nat.name for nat in model.nats if nat.name not in scope.nats and nat.name not in scope.unbounded
    ]
    missing += [name for name in networks if name not in scope.networks]
    if missing:
        message = f"{model.name} has no check, and no scope for {', '.join(missing)}"
        help_ = f"add `--scope {' '.join(f'{name}=3' for name in missing)}`"
        raise SpecError([Diagnostic("R0901", model.source, None, message, help=help_)])
    defaults = {entry.name: entry.default for entry in model.configs}
    scope = _config(model, _of_release(model, replace(scope, config=defaults), given), given.config)
    budget = Budget(None) if given.faults is None else _budget(model, given.faults, Budget(None))
    return Check("command line", scope, budget, None, (), None, span=Span(0, 0))


def one_check(
    models: tuple[Model, ...],
    check: str | None,
    of: str | None,
    given: Overrides,
    use: str,
    *,
    bounded: bool = True,
) -> tuple[Model, Check]:
    """The model and the check that the options select, with the changes.

    Raises SpecError where the file has several and none is named, and where the check leaves a nat
    without a bound and must be `bounded`; `use` names what belongs to one check.
    """
    model, found = _one_check(models, check, of, given, use)
    if bounded:
        refuse_unbounded(model, found, use)
    return model, found


def refuse_unbounded(model: Model, check: Check, use: str) -> None:
    """Raise SpecError where a check leaves a nat without a bound, which `use` needs."""
    if check.scope.unbounded:
        nats = sorted(check.scope.unbounded)
        listed = " and ".join(f"`{nat}`" for nat in nats)
        message = f"{use} needs a bound for {listed}, which `{check.name}` leaves without one"
        help_ = f"add `--scope {' '.join(f'{nat}=3' for nat in nats)}`"
        raise SpecError([Diagnostic("R0503", model.source, None, message, help=help_)])


def _one_check(
    models: tuple[Model, ...], check: str | None, of: str | None, given: Overrides, use: str
) -> tuple[Model, Check]:
    if not any(model.checks for model in models):
        model = pick_model(models, of)
        return model, free_check(model, given)
    found = pick_checks(models, [] if check is None else [check])
    if len(found) > 1:
        names = ", ".join(each.name for _, each in found)
        message = f"{models[0].source.name} has {len(found)} checks, and {use} is of one"
        raise SpecError(
            [Diagnostic("R0908", models[0].source, None, message, help=f"add --check with one of {names}")]
        )
    ((model, own),) = found
    return put(models, model, own, of, given)


def put(
    models: tuple[Model, ...], model: Model, check: Check, of: str | None, given: Overrides
) -> tuple[Model, Check]:
    """The check moved to the model named (if any), with the changes."""
    asked = model if of is None else pick_model(models, of)
    return asked, apply(asked, check if asked is model else _moved(check, asked), given)


def only(model: Model, check: Check, names: Sequence[str]) -> Check:
    """The check with only some properties and without expectations; unchanged without names.

    Raises SpecError for a name that the model does not have.
    """
    if not names:
        return check
    for name in names:
        pick_property(model, name)
    return replace(check, only=tuple(names), expect=())


def _moved(check: Check, model: Model) -> Check:
    """The check on another variant, with the switches that both have.

    It loses its `says` text and its expectations.
    """
    known = {entry.name: entry.default for entry in model.configs}
    config = known | {name: value for name, value in check.scope.config.items() if name in known}
    return replace(check, scope=replace(check.scope, config=config), expect=(), says=None)


def _scope(model: Model, base: Scope, given: Sequence[str]) -> Scope:
    """The scope with the bounds that were typed."""
    sorts, nats, networks = dict(base.sorts), dict(base.nats), dict(base.networks)
    unbounded = set(base.unbounded)
    names = {variable.name for variable in model.variables if variable.network}
    for option, name, text in _pairs("--scope", given):
        if name in {sort.name for sort in model.sorts}:
            sorts[name] = members(name, _number(option, text, 1, LARGEST_SORT), sorts)
        elif name in {nat.name for nat in model.nats} and text == ANY:
            _refuse_bounded(model, name)
            nats.pop(name, None)
            unbounded.add(name)
        elif name in {nat.name for nat in model.nats}:
            nats[name] = _number(option, text, 0, LARGEST_NAT)
            unbounded.discard(name)
        elif name in names:
            networks[name] = _number(option, text, 0, LARGEST_NAT)
        else:
            known = (*sorts, *(nat.name for nat in model.nats), *names)
            _unknown(option, f"{model.name} has no sort, nat or network `{name}`", name, known)
    return Scope(sorts, nats, networks, base.config, frozenset(unbounded))


def _refuse_bounded(model: Model, nat: str) -> None:
    """Raise SpecError where more than the order of a nat's values matters."""
    if (found := next(obstacles(model, nat), None)) is not None:
        message, help_ = found.refusal(nat, f"--scope {nat}=3")
        raise SpecError([Diagnostic("R0514", model.source, found.span, message, help=help_)])


def members(sort: str, count: int, sorts: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The names of `count` members of a sort: those that it has, then further ones of the same form.

    >>> members("Broker", 4, {"Broker": ("A", "B"), "Topic": ("C",)})
    ('A', 'B', 'D', 'E')
    >>> members("Server", 3, {"Server": ("s01", "s02")}), members("Copy", 2, {"Copy": ("old",)})
    (('s01', 's02', 's03'), ('old', 'copy1'))
    >>> members("S0", 2, {"S0": ("s01",)})  # which is the first one where members are only counted
    ('s01', 's02')
    """
    names, taken = sorts.get(sort, ()), {name for own in sorts.values() for name in own}
    counted = member_names(sort, count + len(names))
    further = counted if names == counted[: len(names)] else chain(_continued(names), counted)
    return (*names, *(name for name in further if name not in taken))[:count]


def _continued(names: tuple[str, ...]) -> Iterator[str]:
    """What follows names that are letters, or that end in numbers."""
    for letters in (ascii_uppercase, ascii_lowercase):
        if names and all(name in letters and len(name) == 1 for name in names):
            yield from letters[letters.index(max(names)) + 1 :]
    numbered = [re.fullmatch(r"(.*?)(\d+)", name) for name in names]
    stems = {found and found[1] for found in numbered}
    if len(stems) == 1 and (stem := stems.pop()) is not None:
        digits = max((found[2] for found in numbered if found), key=int)
        following = range(int(digits) + 1, int(digits) + 1 + LARGEST_SORT)
        yield from (f"{stem}{number:0{len(digits)}}" for number in following)


def _of_release(model: Model, scope: Scope, given: Overrides) -> Scope:
    """The scope with the configuration defaults of a release, as far as the model knows them."""
    if given.release is None:
        return scope
    option = Source("--release", given.release)
    if order(given.release) is None:
        _wrong(option, f"`{given.release}` is not a version", "a version is numbers and dots: `2.1.0`")
    known = {entry.name: default_of(entry, given.release) for entry in model.configs if entry.defaults}
    if not known:
        _wrong(option, f"{model.name} declares no defaults for releases")
    found = {name: default for name, default in known.items() if default is not None}
    return replace(scope, config={**scope.config, **found})


def _config(model: Model, scope: Scope, given: Sequence[str]) -> Scope:
    """The scope with the configuration values that were typed."""
    types = {entry.name: entry.type for entry in model.configs}
    config = dict(scope.config)
    for option, name, text in _pairs("--config", given):
        if name not in types:
            _unknown(option, f"{model.name} has no config entry `{name}`", name, types)
        config[name] = _value(option, types[name], text, scope)
    return replace(scope, config=config)


def _value(option: Source, of: Type, text: str, scope: Scope) -> Value:
    """The value of a scalar type, or an option of one, in a text."""
    match of:
        case Bool():
            return _one_of(option, ("false", "true"), text) == 1
        case Enum(_, members):
            return _one_of(option, members, text)
        case Sort(name):
            return _one_of(option, scope.sorts[name], text)
        case Range(lo, hi):
            return _number(option, text, lo, hi)
        case Nat(name):
            return _number(option, text, 0, scope.limit(name))
        case Int():
            return _number(option, text, -(2**63), 2**63)
        case Option(inner):
            return None if text == "none" else _value(option, inner, text, scope)
        case _:
            return _wrong(option, f"a value of type {of} cannot be given here; write it in a check")


def _budget(model: Model, text: str, own: Budget) -> Budget:
    """The fault budget in `any`, a number, or `crash=1,isolate=any`.

    A number is of the kinds that the check allows of its `own`, where it names some.
    """
    option = Source("--faults", text)
    if "=" not in text:
        total = None if text == "any" else _number(option, text, 0, 2**31)
        named = [name for name in own.kinds or () if own.allows(name)]
        return Budget(total, dict.fromkeys(named) if named and total != 0 else None)
    faults = model.faults
    kinds: dict[str, int | None] = {}
    for _, name, most in _pairs("--faults", text.split(",")):
        if name not in faults:
            _unknown(option, f"{model.name} has no fault `{name}`", name, faults)
        kinds[name] = None if most == "any" else _number(option, most, 0, 2**31)
    return Budget(None, kinds)


def _pairs(option: str, given: Iterable[str]) -> Iterable[tuple[Source, str, str]]:
    """The key and value of each `k=v`; a text may have several, separated by commas."""
    for text in given:
        source = Source(option, text)
        for part in text.split(","):
            name, sign, value = (side.strip() for side in part.partition("="))
            if not sign or not name or not value:
                _wrong(source, f"`{part.strip()}` is not of the form name=value")
            yield source, name, value


def _one_of(option: Source, names: Sequence[str], text: str) -> int:
    """The index of a name in a list."""
    if text not in names:
        _wrong(option, f"`{text}` is none of {', '.join(names)}", suggest(text, names))
    return names.index(text)


def as_typed(value: str | int | bool) -> str:  # noqa: FBT001 - a value
    """A value as it is typed on the command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _number(option: Source, text: str, least: int, most: int) -> int:
    """Parse a number within bounds."""
    if not (text.removeprefix("-").isdecimal() and len(text) < 20 and least <= int(text) <= most):
        _wrong(option, f"`{text}` is not a whole number from {least} to {most}")
    return int(text)


def _unknown(
    option: Source, message: str, name: str, known: Iterable[str] | Mapping[str, object]
) -> NoReturn:
    """Raise SpecError for an unknown name."""
    names = sorted(known)
    help_ = suggest(name, names) or (f"known are {', '.join(names)}" if names else "")
    raise SpecError([Diagnostic("R0902", option, _find(option, name), message, help=help_)])


def _wrong(option: Source, message: str, help_: str = "") -> NoReturn:
    """Raise SpecError for an option."""
    raise SpecError([Diagnostic("R0903", option, Span(0, len(option.text)), message, help=help_)])


def _find(option: Source, name: str) -> Span:
    """The span of a name in an option."""
    at = max(0, option.text.find(name))
    return Span(at, at + len(name))
