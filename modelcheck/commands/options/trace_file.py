"""The trace that a command line names, and the model that it is a run of."""

from __future__ import annotations

import argparse

from counterexamples.itf.read import Document, document
from modelcheck.asking.models import pick_check, pick_model
from modelcheck.asking.overrides import Overrides, apply, free_check
from modelcheck.commands.options.given import MODEL
from modelcheck.storage.files import LARGEST_TRACE, read_text
from spec.load import load
from spec.model.ir import Model, Scope


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for a trace, its model and scope."""
    parser.add_argument(
        "trace",
        metavar="TRACE",
        help="a trace in the Informal Trace Format (.itf.json); `-` reads stdin",
    )
    parser.add_argument("file", metavar="FILE", help=f"the model of the trace: {MODEL}")
    add_model_arguments(parser)


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for the model in a file, and its scope."""
    parser.add_argument(
        "--of", metavar="NAME", help="use this protocol or variant of the file (default: as in the trace)"
    )
    parser.add_argument(
        "--check", metavar="NAME", help="take the scope from this check (for traces of other tools)"
    )
    parser.add_argument(
        "--scope", nargs="+", default=[], metavar="NAME=N", help="set the scope (for traces of other tools)"
    )
    parser.add_argument("--config", nargs="+", default=[], metavar="NAME=VALUE", help="set the configuration")


def read(args: argparse.Namespace) -> tuple[Document, Model, Scope | None]:
    """The trace's document, its model, and the scope if given; else the trace has it."""
    return read_of(args.trace, load(args.file), args)


def read_of(
    name: str, models: tuple[Model, ...], args: argparse.Namespace
) -> tuple[Document, Model, Scope | None]:
    """The same for a trace in another file, of one of the models."""
    found = document(read_text(name, largest=LARGEST_TRACE), name)
    model = pick_model(models, args.of or found.model)
    return found, model, _scope(model, args)


def _scope(model: Model, args: argparse.Namespace) -> Scope | None:
    """The scope in the options, if any."""
    given = Overrides(tuple(args.scope), tuple(args.config))
    if args.check is not None:
        return apply(model, pick_check(model, args.check), given).scope
    return free_check(model, given).scope if given else None
