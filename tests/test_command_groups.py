"""Commands in groups: their help, and the former names, which do the same and name the new ones."""

from __future__ import annotations

import pytest

from counterexamples.itf.write import write
from modelcheck import cli
from modelcheck.commands.registry import ALIASES, COMMANDS, TABLE, CommandGroup
from tests.consoles import run
from tests.counterexamples.runs import divergence

TOY = "tests/counterexamples/toy.rsm"
TINY = "tests/modelcheck/tiny.rsm"
GROUPS = [name for name, entry in TABLE.items() if isinstance(entry, CommandGroup)]
MOST_LINES = 26  # of `modelcheck --help`: a screen
HIDDEN_VERBS = {"say", "tell", "answer", "ask"}  # of a summary: a command acts
FORMER_LINES = {  # a former command line, and today's
    f"show - {TOY}": f"trace show - {TOY}",
    f"show - {TOY} --explain": f"trace show - {TOY} --why",
    f"graph {TINY} --check as_expected --merge up": f"trace graph {TINY} --check as_expected --merge up",
    "review missing.properties": "kafka review missing.properties",
    "at-rest tests/modelcheck/kafka/files/clusters/power_loss --json": (
        "kafka inspect tests/modelcheck/kafka/files/clusters/power_loss --json"
    ),
    "grade --json": "library grade --json",
    "protocols": "library list",
    "protocols --json": "library list --json",
    "protocols raft": "library show raft",
    "protocols --json raft": "library show raft --json",
    "protocols show raft": "library show raft --source",
    "protocols show --json raft": "library show raft --source --json",
    "protocols show": "library show --source",
    "protocols rfat": "library show rfat",
    "bench --against nobody": "",
}


def test_help_is_a_screen_of_sentences_that_begin_with_a_verb() -> None:
    shown = run("--help").stdout

    assert len(shown.splitlines()) <= MOST_LINES
    assert all(f"\n  {name} " in shown and entry.summary in shown for name, entry in TABLE.items())
    for entry in (*TABLE.values(), *COMMANDS.values()):
        verb = entry.summary.split()[0]

        assert verb[0].isupper()
        assert verb.lower() not in HIDDEN_VERBS
        assert not entry.summary.endswith(".")


@pytest.mark.parametrize("name", GROUPS)
def test_a_group_lists_its_commands(name: str) -> None:
    group = TABLE[name]
    assert isinstance(group, CommandGroup)
    shown, alone = run(name, "--help"), run(name)

    assert (shown.returncode, shown.stderr) == (0, "")
    assert (alone.returncode, alone.stdout, alone.stderr) == (2, "", shown.stdout)
    assert shown.stdout.startswith(f"usage: modelcheck {name} COMMAND")
    for word, command in group.commands.items():
        assert f"\n  {word} " in shown.stdout
        assert command.summary in shown.stdout


@pytest.mark.parametrize("former", ALIASES)
def test_a_former_name_takes_what_the_command_takes(former: str, capsys: pytest.CaptureFixture[str]) -> None:
    if (name := ALIASES[former]) in COMMANDS:
        codes = [cli.main([*words, "--help"]) for words in ([former], name.split())]
        shown, said = capsys.readouterr()
        before, after = shown[: len(shown) // 2], shown[len(shown) // 2 :]

        assert codes == [0, 0]
        assert before == after
        assert said == f"modelcheck: `{former}` is now `{name}`\n"


@pytest.mark.parametrize(("former", "today"), FORMER_LINES.items())
def test_a_former_name_does_the_same_and_names_the_new_one_once(former: str, today: str) -> None:
    trace = write(divergence())
    before = run(*former.split(), stdin=trace)
    notice, _, said = before.stderr.partition("\n")

    assert notice.startswith("modelcheck: `")
    assert before.stderr.count(" is now `") == 1
    if today:
        after = run(*today.split(), stdin=trace)

        assert (before.returncode, before.stdout, said) == (after.returncode, after.stdout, after.stderr)
    else:
        assert (before.returncode, before.stdout) == (2, "")
        assert notice.endswith("is now `python -m tools.bench`")


@pytest.mark.parametrize("name", ["lsp", "mcp"])
def test_the_former_names_of_servers_leave_their_streams_alone(name: str) -> None:
    before, after = run(name), run("serve", name)

    assert (before.returncode, before.stdout) == (after.returncode, after.stdout)
    assert before.stderr == f"modelcheck: `{name}` is now `serve {name}`\n{after.stderr}"


def test_a_name_has_one_command() -> None:
    former = [each.formerly for each in COMMANDS.values() if each.formerly]

    assert len(former) == len(set(former))
    assert not set(former) & TABLE.keys()
