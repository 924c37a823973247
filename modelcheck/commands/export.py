"""`modelcheck export FILE --to TARGET`: one check of a model, for another checker."""

from __future__ import annotations

import argparse
from contextlib import suppress
from pathlib import Path

from modelcheck.asking.overrides import one_check, only
from modelcheck.asking.unmet import refuse_unstartable
from modelcheck.commands.options.given import MODEL, add_overrides, given_by
from modelcheck.contract.exits import Exit
from modelcheck.contract.inexpressible import Inexpressible
from modelcheck.export.exported import Exported
from modelcheck.export.targets import TARGETS, target
from modelcheck.storage.output import Output
from modelcheck.storage.written import Files, add_force
from spec.diagnostics import Diagnostic, SpecError
from spec.load import load


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments and options to its parser."""
    add = parser.add_argument
    add("file", metavar="FILE", help=MODEL)
    add("--to", required=True, choices=TARGETS, help="select the target language")
    add("--out", type=Path, metavar="DIR", help="write the files to this folder (default: stdout)")
    add_force(parser)
    what = parser.add_argument_group("selection")
    what.add_argument("--check", metavar="NAME", help="use this check; required if the file has several")
    what.add_argument("--of", metavar="NAME", help="use this protocol or variant of the file")
    what.add_argument(
        "--property", action="append", default=[], metavar="NAME", help="check only this property; repeatable"
    )
    add_overrides(what)


def run(args: argparse.Namespace, output: Output) -> int:
    """Export the model; notes and the command to run the result go to standard error."""
    given = given_by(args)
    model, check = one_check(load(args.file), args.check, args.of, given, "an export")
    check = only(model, check, args.property)
    refuse_unstartable(model, check)
    try:
        exported = target(args.to)(model, check)
    except Inexpressible as refusal:
        raise SpecError(
            Diagnostic("R0909", model.source, each.span, f"{args.to} cannot say {each.what}")
            for each in refusal.constructs
        ) from None
    for note in exported.notes:
        output.tell(f"note: {note}")
    if args.out is None:
        output.write(_shown(exported))
        return Exit.EXPECTED
    files = Files(output, [args.file], force=args.force)
    _save(args.out, exported, files)
    output.tell(f"to run it, in {args.out}:")
    for line in exported.command:
        output.tell(f"  {line}")
    return files.exit()


def _shown(exported: Exported) -> str:
    """All exported files as one text, each but the main one after its name."""
    first, *others = exported.files.items()
    return first[1] + "".join(f"\n-------- {name}\n{text}" for name, text in others)


def _save(folder: Path, exported: Exported, files: Files) -> None:
    """Write all files, or none if one may not be written."""
    with suppress(OSError):  # the next line says what is wrong
        folder.mkdir(parents=True, exist_ok=True)
    kinds = {folder / name: name.rpartition(".")[2] for name in exported.files}
    for path, kind in kinds.items():
        files.refuse(kind, path)
    for (path, kind), text in zip(kinds.items(), exported.files.values(), strict=True):
        files.put(path, kind, text)
