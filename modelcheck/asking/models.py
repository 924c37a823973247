"""Finding by name what a file holds: one of its models, one of a model's checks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NoReturn

from counterexamples.pictures.roles import NAMES, NamedPart, parts_of, roles
from spec.diagnostics import mistyped, suggest
from spec.model.ir import Action, Check, Model, Property


def pick_model(models: tuple[Model, ...], name: str | None) -> Model:
    """The model with a name; the base protocol without one. Raises SpecError."""
    if name is None:
        return models[0]
    found = next((model for model in models if model.name == name), None)
    return found or _unknown("--of", f"{models[0].source.name} has no protocol or variant", name, models)


def pick_check(model: Model, name: str) -> Check:
    """The check with a name. Raises SpecError."""
    found = next((check for check in model.checks if check.name == name), None)
    return found or _unknown("--check", f"{model.name} has no check", name, model.checks)


def pick_property(model: Model, name: str) -> Property:
    """The property with a name. Raises SpecError."""
    found = next((prop for prop in model.properties if prop.name == name), None)
    return found or _unknown("--property", f"{model.name} has no property", name, model.properties)


def insist_on_actions(models: Sequence[Model], option: str, names: Iterable[str]) -> None:
    """Raise SpecError for a name that no action of the models has."""
    actions = [action for model in models for action in model.actions]
    for name in names:
        if all(action.name != name for action in actions):
            _unknown(option, f"{models[0].name} has no action", name, actions)


def pick_checks(models: tuple[Model, ...], names: list[str]) -> list[tuple[Model, Check]]:
    """The checks with these names (all without names), each with its model, in textual order."""
    found = [(model, check) for model in models for check in model.checks]
    found.sort(key=lambda pair: pair[1].span.start)
    for name in names:
        if name not in {check.name for _, check in found}:
            what = f"{models[0].source.name} has no check"
            _unknown("--check", what, name, tuple(check for _, check in found))
    return [(model, check) for model, check in found if not names or check.name in names]


def pick_parts(model: Model, option: str, names: Iterable[str]) -> tuple[NamedPart, ...]:
    """The parts of the state with these names: `isr`, `quorum.isr`, `Replica.log`, `log`, or a role.

    Raises SpecError for a name that no part has, or several.
    """
    parts = [*parts_of(model)]
    return tuple(dict.fromkeys(part for name in names for part in _parts(model, parts, option, name)))


def _parts(model: Model, parts: list[NamedPart], option: str, name: str) -> tuple[NamedPart, ...]:
    """The part with a name, else the only one whose name ends in it, else those with that role."""
    spelt = {part.spelt(model): part for part in parts}
    ending = [full for full in spelt if full.endswith(f".{name}")]
    if name in spelt or len(ending) == 1:
        return (spelt[name if name in spelt else ending[0]],)
    found = roles(model)
    playing = [found.whole.get(name), *(found.field(sort, name) for sort in found.sorts)]
    if not ending and any(playing):
        return tuple(part for part in playing if part is not None)
    if ending:
        what = f"{model.name} has several parts `{name}`"
        help_ = f"write one of {', '.join(ending)}"
    else:
        what = f"{model.name} has no variable, field or role `{name}`"
        help_ = suggest(name, [*spelt, *NAMES]) or f"it has {', '.join(spelt)}"
    raise mistyped(option, name, what, help_, "R0902")


def _unknown(
    option: str, what: str, name: str, known: Sequence[Model | Check | Property | Action]
) -> NoReturn:
    """Raise SpecError for an unknown name."""
    names = list(dict.fromkeys(each.name for each in known))
    help_ = suggest(name, names) or (f"it has {', '.join(names)}" if names else "")
    raise mistyped(option, name, f"{what} `{name}`", help_, "R0902")
