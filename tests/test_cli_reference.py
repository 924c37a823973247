"""The reference of the command line is what the parser has, however deep its commands are."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import tools.cli_reference as cli_reference
from modelcheck.commands.registry import COMMANDS
from modelcheck.contract.exits import Exit


def test_the_page_is_that_of_the_parser(in_document: Callable[[Path, str, str], None]) -> None:
    in_document(cli_reference.PAGE, cli_reference.PAGE.read_text(encoding="utf-8"), cli_reference.page())


def test_every_command_has_a_section_and_every_exit_code_a_meaning() -> None:
    page = cli_reference.page()

    assert [name for name in COMMANDS if f"# modelcheck {name}\n" not in page] == []
    assert cli_reference.EXITS.keys() == set(Exit)


def test_commands_below_commands_have_sections_and_other_names_have_none() -> None:
    top = argparse.ArgumentParser(prog="tool")
    groups = top.add_subparsers()
    trace = groups.add_parser("trace", help="look at runs", description="look at runs")
    below = trace.add_subparsers()
    show = below.add_parser("show", aliases=["tell"], help="show a run")
    show.add_argument("trace", metavar="TRACE", help="the run")
    show.add_argument("--as", metavar="FORMAT", default="text", help="in this format (%(default)s)")
    show.add_argument("--lines", choices=("few", "all"), help="how much")
    show.add_argument("--debug", help=argparse.SUPPRESS)
    told = "".join(cli_reference.reference(top))

    assert "## tool trace\n\nLook at runs.\n" in told
    assert "### tool trace show\n\nShow a run.\n\n```text\ntool trace show [OPTION ...] TRACE\n```\n" in told
    assert "| `--as FORMAT` | in this format (text) |\n" in told
    assert "| `--lines few\\|all` | how much |\n" in told
    assert "| [`tool trace show`](#tool-trace-show) | show a run |\n" in told
    assert "tell" not in told
    assert "--debug" not in told
