"""What `modelcheck check` is asked: checks of the files, with what was typed in place of their own."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from counterexamples.pictures.selection import selected
from modelcheck.asking.models import pick_checks, pick_model
from modelcheck.asking.overrides import free_check, only, put
from modelcheck.commands.check.arguments import keep
from modelcheck.commands.options.given import given_by
from spec.diagnostics import Diagnostic, SpecError
from spec.load import load
from spec.model.ir import Check, ExpectVerdict, Model

Question = tuple[Model, Check]


def questions(args: argparse.Namespace) -> list[Question]:
    """All checks to run; every file is read and its mistakes reported before the first search."""
    found = [each for name in args.files for each in _of_file(args, name)]
    for model, check in found if args.show or args.hide else ():
        selected(model, check.scope, args.show, args.hide)
    if keep(args) is not None:
        refuse_several(found, "a checkpoint")
    if args.certificate is not None:
        refuse_several(found, "a certificate")
    return found


def _of_file(args: argparse.Namespace, name: str) -> list[Question]:
    """The checks of one file."""
    given, models = given_by(args), load(name)
    if not any(model.checks for model in models):
        model = pick_model(models, args.of)
        return [(model, free_check(model, given))]
    found = []
    for model, check in pick_checks(models, args.check):
        asked, question = put(models, model, check, args.of, given)
        question = only(asked, question, args.property)
        is_other = args.symmetry not in {None, question.symmetry} or bool(args.partial_order)
        found.append((asked, _uncounted(question) if is_other else question))
    return found


def _uncounted(check: Check) -> Check:
    """The check without expected counts, which are of its own way to count states."""
    return replace(check, expect=tuple(e for e in check.expect if isinstance(e, ExpectVerdict)))


def refuse_several(found: Sequence[Question], what: str) -> None:
    """Exit with an error if there are several checks, for options that need one."""
    if len(found) > 1:
        names = ", ".join(check.name for _, check in found)
        message = f"{what} is of one check, and these are {len(found)}: {names}"
        raise SpecError(
            [Diagnostic("R0910", found[0][0].source, None, message, help="name one with --check")]
        )
