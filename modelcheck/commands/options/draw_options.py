"""`--draw FORMAT,… --out FOLDER`: the options of commands that write each run they find, and the writing."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from pathlib import Path

from counterexamples.pictures.options import PictureOptions
from counterexamples.trace import Trace
from modelcheck.storage.output import Output
from modelcheck.storage.written import Files, add_force


def add_draw_options(parser: argparse._ActionsContainer, what: str) -> None:
    """Add the options for pictures of runs; `what` is the help of `--draw`."""
    parser.add_argument("--draw", type=_formats, default=(), metavar="FORMAT,…", help=what)
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="write to this folder (default: the current one)"
    )
    parser.add_argument(
        "--steps", type=steps, metavar="A-B", help="draw only these steps, after the state before them"
    )
    add_picture_options(parser)
    add_force(parser)


def add_picture_options(parser: argparse._ActionsContainer) -> None:
    """Add the options for the look of pictures."""
    parser.add_argument("--title", type=_title, metavar="TEXT", help="set the title of pictures")
    parser.add_argument(
        "--columns",
        type=_columns,
        metavar="N",
        help="put N frames in a row of a storyboard (default: up to 4)",
    )
    parser.add_argument(
        "--no-caption",
        dest="is_captioned",
        action="store_false",
        help="draw pictures without the caption below the title",
    )
    parser.add_argument(
        "--show",
        type=_names,
        default=(),
        metavar="NAME,…",
        help="show in pictures only these variables, fields or roles (leader, log, hw), and only these "
        "members; `ghost` and `messages` are all of them",
    )
    parser.add_argument(
        "--hide", type=_names, default=(), metavar="NAME,…", help="show in pictures all but these"
    )


def refuse_unused(args: argparse.Namespace) -> None:
    """Exit with an error for a folder, or an option of pictures, without effect."""
    if args.out is not None and not args.draw:
        args.refuse("--out is where --draw FORMAT writes")
    if args.steps is not None and not args.draw:
        args.refuse("--steps are those that --draw FORMAT draws")
    if args.steps is not None:
        from modelcheck.answers.formats import FORMATS  # noqa: PLC0415 - as below

        if whole := [form for form in args.draw if not FORMATS[form].parts]:
            args.refuse(f"--steps: {whole[0]} has the whole run")
    refuse_unused_options(args, args.draw)


def refuse_unused_options(args: argparse.Namespace, forms: Iterable[str]) -> None:
    """Exit with an error for an option of pictures that none of the formats has."""
    options = picture_options(args)
    if not options.given:
        return
    from modelcheck.answers.formats import unused  # noqa: PLC0415 - as below

    if (problem := unused(options, forms)) is not None:
        args.refuse(problem)


def picture_options(args: argparse.Namespace) -> PictureOptions:
    """The look of pictures in the options."""
    return PictureOptions(args.title, args.columns, args.is_captioned, args.show, args.hide)


def draw_asked(
    args: argparse.Namespace, runs: Iterable[Trace], files: Files, output: Output, *, is_explained: bool
) -> None:
    """Write every run in each of the formats asked for."""
    if not args.draw:
        return
    from modelcheck.answers.formats import RunView  # noqa: PLC0415 - what draws is loaded only to draw
    from modelcheck.commands.options.drawn import draw  # noqa: PLC0415 - as above

    options = picture_options(args)
    views = [RunView(trace, _part(args, trace), is_explained, options=options) for trace in runs]
    draw(views, args.draw, args.out or Path(), files, output, seconds=args.max_time)


def _part(args: argparse.Namespace, trace: Trace) -> range | None:
    """The steps of a run that are to be drawn, as far as it has them; all where it has none of them."""
    last = len(trace.steps)
    return args.steps if args.steps is not None and args.steps.start <= last else None


def steps(text: str) -> range:
    """Parse a range of steps such as `40-60`, or one step."""
    found = re.fullmatch(r"(\d{1,9})(?:(?:-|\.\.)(\d{1,9}))?", text)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= first <= last:
        raise argparse.ArgumentTypeError(f"`{text}` is no range of steps such as 40-60")
    return range(first, last + 1)


def _names(text: str) -> tuple[str, ...]:
    """Parse a list of names."""
    found = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    if not all(found):
        raise argparse.ArgumentTypeError(f"`{text}` has an empty name")
    return found


def _title(text: str) -> str:
    """Parse a title."""
    if not text.strip():
        raise argparse.ArgumentTypeError("an empty title is none: leave it out for ours")
    return text


def _columns(text: str) -> int:
    """Parse the number of frames per line."""
    if not re.fullmatch("[1-9][0-9]?", text):
        raise argparse.ArgumentTypeError(f"`{text}` is no number of frames from 1 to 99")
    return int(text)


def _formats(text: str) -> tuple[str, ...]:
    """Parse a list of formats."""
    from modelcheck.commands.options.drawn import formats  # noqa: PLC0415 - as above

    try:
        return formats(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
