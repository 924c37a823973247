"""`modelcheck library grade FILE --exercise NAME`: the points of a student's file; the files of exercises."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import modelcheck.commands.options.amounts as amounts
from modelcheck.answers.progress import ProgressLine
from modelcheck.contract.exits import Exit
from modelcheck.storage.output import Output
from modelcheck.storage.written import Files, add_force
from modelcheck.teaching.course.exercises import exercise, names
from modelcheck.teaching.course.grading import Grade
from modelcheck.teaching.course.guarded import MEMORY, SECONDS, graded
from modelcheck.teaching.course.text import as_json, exercise_lines, grade_lines
from spec.diagnostics import SpecError
from spec.load import read
from spec.source import Source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments and options to its parser."""
    parser.usage = "modelcheck library grade [FILE] [--exercise NAME] [OPTION ...]"
    add = parser.add_argument
    add("file", nargs="?", metavar="FILE", help="the file to grade (default: list the exercises)")
    add("--exercise", metavar="NAME", help="select the exercise of the course")
    add("--json", action="store_true", help="print JSON")
    add(
        "--max-time",
        type=amounts.seconds,
        default=SECONDS,
        metavar="T",
        help="stop grading after this time (default: 60s)",
    )
    # Of the process that grades: this one, which only waits for it, has what every command has.
    add(
        "--max-memory",
        dest="grading_memory",
        type=amounts.bytes_,
        default=MEMORY,
        metavar="M",
        help="limit the memory of the grading (default: 1G)",
    )
    files = parser.add_argument_group("the files of an exercise")
    files.add_argument("--begin", type=Path, metavar="FILE", help="write the file that a student starts from")
    files.add_argument(
        "--whole",
        type=Path,
        metavar="FILE",
        help="for teachers: write the exercise with its solution and mutants",
    )
    add_force(files)
    parser.set_defaults(refuse=parser.error)


def run(args: argparse.Namespace, output: Output) -> int:
    """Grade a file: exit 0 with all points, 1 with fewer, 2 for wrong input, 3 at a limit."""
    writes = args.begin is not None or args.whole is not None
    if args.exercise is None and (writes or args.file is not None):
        args.refuse("name the exercise with --exercise NAME; `modelcheck library grade` lists all")
    if writes and args.file is not None:
        args.refuse("either grade a FILE, or write one with --begin or --whole")
    if writes:
        return _write(args, output)
    if args.file is None:
        _list(args, output)
        return Exit.EXPECTED
    exercise(args.exercise)  # an unknown name is refused before anything is read
    source = _handed_in(args.file, args.exercise)
    progress = ProgressLine(output.err, "", columns=shutil.get_terminal_size().columns)
    progress.begin(f"{args.exercise}: reading {args.file}")

    def tell(grade: Grade) -> None:
        looked = sum(item.met is not None for item in grade.items)
        progress.begin(f"{grade.exercise}: {looked} of {grade.of} looked at")

    try:
        grade = graded(args.exercise, source, seconds=args.max_time, memory=args.grading_memory, tell=tell)
    finally:
        progress.clear()
    if args.json:
        output.json(as_json(grade))
    else:
        output.lines(grade_lines(grade, output.width))
    return grade.exit


def _handed_in(file: str, name: str) -> Source:
    """The text of a file; if there is none, the error shows how to begin."""
    try:
        return Source(file, read(file))
    except SpecError as error:
        if os.path.exists(file):  # noqa: PTH110 - which takes names that no file can have
            raise
        command = f"modelcheck library grade --exercise {name} --begin {shlex.quote(file)}"
        begin = f"`{command}` writes what to begin with"
        raise SpecError(tuple(replace(each, help=begin) for each in error.diagnostics)) from None


def _write(args: argparse.Namespace, output: Output) -> int:
    """Write the file to begin an exercise with."""
    files, asked = Files(output, [], force=args.force), exercise(args.exercise)
    files.refuse("rsm", args.begin, args.whole)
    for path, text in ((args.begin, asked.begin), (args.whole, asked.source.text)):
        if path is not None:
            files.put(path, "rsm", text)
    return files.exit()


def _list(args: argparse.Namespace, output: Output) -> None:
    """Print the exercises."""
    found = [exercise(name) for name in (names() if args.exercise is None else (args.exercise,))]
    if args.json:
        output.json(
            [
                {
                    "exercise": each.name,
                    "title": each.title,
                    "asked": [*map(str, each.parts)],
                    "of": each.points,
                }
                for each in found
            ]
        )
    else:
        output.lines(exercise_lines(found, output.width))
