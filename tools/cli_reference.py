"""Every command with its options, as the parser has them: `docs/reference/cli.md`.

`python -m tools.cli_reference` writes the page; a test holds it to the parser.  Costs the import of every
command.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from modelcheck.commands.parsers import add_commands
from modelcheck.contract.exits import Exit

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "cli.md"
ABOUT = """\
# Command line

Every command with its arguments and options.
`modelcheck COMMAND --help` shows the same in a terminal.
`python -m tools.cli_reference` writes this page from the parser.
"""
EXITS = {
    Exit.EXPECTED: "everything is as expected",
    Exit.VIOLATED: "a property is violated, or an answer is not the expected one",
    Exit.WRONG: "the input is wrong, or the output cannot be written",
    Exit.UNKNOWN: "unknown: a limit or Ctrl-C ended the search before there was a verdict",
    Exit.BUG: "a bug in modelcheck",
}


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    return 0


def page() -> str:
    """The page as Markdown."""
    return "".join((ABOUT, *_exits(), *reference(whole())))


def whole() -> argparse.ArgumentParser:
    """One parser with all groups and commands below it."""
    top = argparse.ArgumentParser(prog="modelcheck", add_help=False)
    add_commands(top)
    return top


def reference(parser: argparse.ArgumentParser, level: int = 2) -> Iterator[str]:
    """The commands below a parser, however deep: a list of them, then each with what it takes."""
    commands = _commands(parser)
    if commands:
        yield "\n| command | description |\n| --- | --- |\n"
        yield from (
            f"| [`{each.prog}`](#{_anchor(each.prog)}) | {_cell(about)} |\n" for each, about in commands
        )
    for each, about in commands:
        yield f"\n{'#' * level} {each.prog}\n\n{_sentence(each.description or about)}\n"
        yield f"\n```text\n{_usage(each)}\n```\n"
        yield from _arguments(each)
        yield from reference(each, level + 1)


def _commands(parser: argparse.ArgumentParser) -> list[tuple[argparse.ArgumentParser, str]]:
    """The commands just below a parser, each with what it does; other names of one, and hidden ones, not."""
    return [
        (below.choices[choice.dest], choice.help or "")
        for below in parser._actions  # noqa: SLF001 - argparse has no other way to list them
        if isinstance(below, argparse._SubParsersAction)  # noqa: SLF001 - as above
        for choice in below._get_subactions()  # noqa: SLF001 - as above
        if choice.help != argparse.SUPPRESS
    ]


def _usage(parser: argparse.ArgumentParser) -> str:
    """How a command is written, without its options, which the table has."""
    words = [parser.prog, "[OPTION ...]"] if _options(parser) else [parser.prog]
    return " ".join((*words, *map(_place, _positional(parser))))


def _place(action: argparse.Action) -> str:
    if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - as above
        return "COMMAND ..."
    name = _metavar(action)
    match action.nargs:
        case "?":
            return f"[{name}]"
        case "*":
            return f"[{name} ...]"
        case "+":
            return f"{name} [{name} ...]"
        case _:
            return name


def _arguments(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The tables of a command: what it takes by place, then its options, by the groups that it has."""
    places = [each for each in _positional(parser) if each.help]
    if places:
        yield from _table("argument", ((f"`{_metavar(each)}`", each) for each in places))
    for group in parser._action_groups:  # noqa: SLF001 - as above
        options = [each for each in group._group_actions if each in _options(parser)]  # noqa: SLF001 - as above
        if options:
            titled = group.title not in {None, "options", "positional arguments"}
            yield f"\n**{_sentence(group.title or '')}**\n" if titled else ""
            yield from _table("option", ((_written(each), each) for each in options))


def _table(title: str, rows: Iterator[tuple[str, argparse.Action]]) -> Iterator[str]:
    yield f"\n| {title} | description |\n| --- | --- |\n"
    yield from (f"| {written} | {_cell(_help(action))} |\n" for written, action in rows)


def _positional(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    actions = parser._actions  # noqa: SLF001 - as above
    return [each for each in actions if not each.option_strings and each.help != argparse.SUPPRESS]


def _options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """The options but for `--help`, which all commands have."""
    actions = parser._actions  # noqa: SLF001 - as above
    return [
        each
        for each in actions
        if each.option_strings and each.help != argparse.SUPPRESS and "--help" not in each.option_strings
    ]


def _written(action: argparse.Action) -> str:
    """An option with its value: `-v`, `--verbose`; `--faults N`."""
    value = "" if action.nargs == 0 else _metavar(action)
    value = f"[{value}]" if action.nargs == "?" else f"{value} ..." if action.nargs in {"+", "*"} else value
    return ", ".join(f"`{f'{name} {value}'.strip()}`" for name in action.option_strings).replace("|", "\\|")


def _metavar(action: argparse.Action) -> str:
    named: str | Sequence[str] | None = action.metavar
    if named is None and action.choices is not None:
        named = "|".join(map(str, action.choices))
    if named is None:
        named = action.dest.upper() if action.option_strings else action.dest
    return named if isinstance(named, str) else " ".join(named)


def _help(action: argparse.Action) -> str:
    """The help of an option, with its default in place of `%(default)s`."""
    text = action.help or ""
    return text % {**vars(action), "prog": "modelcheck"} if "%" in text else text


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|").replace("<", "\\<")


def _sentence(text: str) -> str:
    first = f"{text[:1].upper()}{text[1:]}"
    return first if first.endswith((".", "!", "?", ":")) else f"{first}."


def _anchor(heading: str) -> str:
    return heading.replace(" ", "-")


def _exits() -> Iterator[str]:
    yield "\n## Exit codes\n\n| code | meaning |\n| ---: | --- |\n"
    yield from (f"| {code.value} | {meaning} |\n" for code, meaning in EXITS.items())
    yield "\n## Commands\n"


if __name__ == "__main__":
    main()
