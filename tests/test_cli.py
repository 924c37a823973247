"""The command line from outside: exit codes, what stands on which stream, how soon it answers."""

from __future__ import annotations

import json
import os
import pty
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from counterexamples.itf.write import write
from counterexamples.text import text
from modelcheck import cli
from modelcheck.commands import explain
from modelcheck.commands.registry import COMMANDS
from tests.consoles import ROOT, run
from tests.counterexamples.runs import divergence

TOY = "tests/counterexamples/toy.rsm"
TINY = "tests/modelcheck/tiny.rsm"
CPU_BOUND = 0.3  # seconds that `--help` may cost, by the design
CPU_FACTOR = 20  # and no more than so many times an empty program, which is about 10 ms


def cpu(*program: str) -> float:
    """Seconds of CPU of the quickest of three runs."""
    best = float("inf")
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *program], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def test_help_answers_at_once() -> None:
    took = cpu("-m", "modelcheck", "--help")

    assert took < max(CPU_BOUND, CPU_FACTOR * cpu("-c", "pass"))


@pytest.mark.parametrize(
    "args",
    [("--help",), ("check", "--help"), ("trace", "--help"), ("trace", "show", "--help"), ("--version",)],
)
def test_help_and_version_go_to_the_output(args: tuple[str, ...]) -> None:
    found = run(*args)

    assert (found.returncode, found.stderr) == (0, "")
    assert "modelcheck" in found.stdout


@pytest.mark.parametrize("args", [(), ("nonsense",), ("check",), ("check", "--nonsense", "x"), ("fmt",)])
def test_a_command_line_that_makes_no_sense_is_wrong_input(args: tuple[str, ...]) -> None:
    found = run(*args)

    assert (found.returncode, found.stdout) == (2, "")
    assert "usage: modelcheck" in found.stderr


def test_an_option_that_is_missing_is_what_to_add() -> None:
    found = run("trace", "play", "kafka", "--check", "jepsen")

    assert found.returncode == 2
    assert found.stderr.endswith("  help: add --html FILE\n")


def test_an_option_with_some_values_that_is_missing_is_told_with_them() -> None:
    found = run("export", "kafka")

    assert found.returncode == 2
    assert "help: add --to tla|" in found.stderr


# ------------------------------------------------------------------ completion

BASH = shutil.which("bash")
OFFERED = """
offered() {
  COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
  _shtab_modelcheck modelcheck "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
  echo "${COMPREPLY[@]}"
}
"""


@pytest.mark.skipif(BASH is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("modelcheck t", "trace"),
        ("modelcheck kafka re", "review reproduce"),
        ("modelcheck trace show --wh", "--why"),
        ("modelcheck check --fewest", "--fewest-faults"),
        ("modelcheck check --engine i", "ic3 induction"),
        ("modelcheck check tests/modelcheck/tin", "tests/modelcheck/tiny.rsm"),
        ("modelcheck kafka reproduce --kafka-home tests/mod", "tests/modelcheck"),
    ],
)
def test_bash_offers_commands_options_values_and_files(words: str, offered: str) -> None:
    script = run("--completion", "bash").stdout
    asked = f"{script}\n{OFFERED}\noffered {words}"

    done = subprocess.run([str(BASH), "-c", asked], cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.stdout.split() == offered.split(), done.stderr


@pytest.mark.parametrize("shell", ["zsh", "tcsh"])
def test_other_shells_have_all_commands(shell: str) -> None:
    found = run("--completion", shell)

    assert (found.returncode, found.stderr) == (0, "")
    assert all(word in found.stdout for name in COMMANDS for word in name.split())


@pytest.mark.parametrize("args", [("--completion",), ("--completion", "fish")])
def test_a_shell_that_is_not_known_is_wrong_input(args: tuple[str, ...]) -> None:
    found = run(*args)

    assert found.returncode == 2
    assert "--completion" in found.stderr


# --------------------------------------------------------------------- explain


def test_explain_tells_what_the_registry_knows() -> None:
    found = run("explain", "r0801")

    assert found.returncode == 0
    assert found.stdout.startswith("R0801: a trace that is not JSON\n")


def test_explain_suggests_the_code_that_was_meant() -> None:
    found = run("explain", "R081")

    assert (found.returncode, found.stdout) == (2, "")
    assert "did you mean `R08" in found.stderr


def test_explain_lists_all_codes() -> None:
    codes = json.loads(run("explain", "--json").stdout)

    assert {"code": "R0801", "title": "a trace that is not JSON"} in codes


# ------------------------------------------------------------------------ show


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "divergence.itf.json"
    path.write_text(write(divergence()), encoding="utf-8")
    return path


def test_show_tells_the_story_of_a_trace(trace: Path) -> None:
    found = run("trace", "show", str(trace), TOY)

    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.replace(TOY, "toy.rsm") == text(divergence())


def test_show_reads_a_trace_from_the_input(trace: Path) -> None:
    told = run("trace", "show", "-", TOY, stdin=trace.read_text()).stdout

    assert told.replace(TOY, "toy.rsm") == text(divergence())


def test_show_refuses_a_trace_that_does_not_replay(trace: Path) -> None:
    whole = json.loads(trace.read_text())
    whole["states"][2]["epoch"] = 3
    trace.write_text(json.dumps(whole))
    found = run("trace", "show", str(trace), TOY)

    assert (found.returncode, found.stdout) == (2, "")
    assert (
        "this is not a run of toy: step 2: write(a) does not lead to this state: epoch is 3" in found.stderr
    )


def test_show_says_when_the_model_has_changed(trace: Path, tmp_path: Path) -> None:
    changed = tmp_path / "toy.rsm"
    changed.write_text(
        (ROOT / TOY).read_text().replace("require free: leader != r", "require free: leader == r")
    )
    found = run("trace", "show", str(trace), str(changed))

    assert found.returncode == 2
    assert "guard `free` (leader == r) is false: leader is none" in found.stderr
    assert "was written for another text of toy" in found.stderr


def test_show_takes_a_scope_for_a_trace_of_another_tool(trace: Path) -> None:
    whole = json.loads(trace.read_text())
    del whole["#meta"]
    trace.write_text(json.dumps(whole))

    assert run("trace", "show", str(trace), TOY).returncode == 2
    assert run("trace", "show", str(trace), TOY, "--check", "two").returncode == 0


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("missing", None, "cannot be read"),
        ("folder", b"", "cannot be read"),
        ("binary", b"\x7fELF\0\0", "binary"),
        ("latin", "é".encode("latin-1"), "no text in UTF-8"),
        ("empty", b"", "the text ends"),
        ("other", b"hello", "not JSON"),
        ("utf-16", "{}".encode("utf-16"), "UTF-16"),
        ("bom", "{}".encode("utf-8-sig"), "has a list `vars`"),
    ],
)
def test_show_says_what_is_wrong_with_a_file(
    name: str, content: bytes | None, said: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    found = run("trace", "show", str(path), TOY)

    assert (found.returncode, found.stdout) == (2, "")
    assert said in found.stderr
    assert "Traceback" not in found.stderr


def test_mistakes_are_json_where_json_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "broken.rsm"
    path.write_text("protocol p\nsort Replica\ninvariant x: y")
    found = run("check", str(path), "--json")

    assert (found.returncode, found.stderr) == (2, "")
    assert json.loads(found.stdout)["errors"][0]["line"] == 3


# ----------------------------------------------------------------------- check


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("--check", "as_expected"), 0),
        (("--check", "as_expected", "--strict"), 1),
        (("--check", "surprise"), 1),
        (("--check", "as_expected", "--check", "surprise"), 1),
        (("--check", "as_expected", "--faults", "0"), 0),
        (("--check", "as_expected", "--faults", "1"), 1),
        (("--check", "as_expected", "--property", "low"), 0),
        (("--check", "large", "--max-states", "500"), 3),
        (("--check", "large", "--max-time", "0.2s"), 3),
        (("--check", "nonsense"), 2),
        (("--check", "as_expected", "--property", "lw"), 2),
        (("--check", "as_expected", "--scope", "Replicas=2"), 2),
        (("--check", "as_expected", "--config", "unclean=maybe"), 2),
        (("--check", "as_expected", "--faults", "crsh=1"), 2),
        (("--check", "as_expected", "--of", "tinny"), 2),
        (("--check", "as_expected", "--max-time", "soon"), 2),
    ],
)
def test_check_exits_as_the_verdicts_are(args: tuple[str, ...], code: int) -> None:
    found = run("check", TINY, *args)

    assert found.returncode == code
    assert "Traceback" not in found.stderr
    assert (found.stdout == "") == (code == 2)


def test_check_tells_a_violation_that_nobody_expects_as_a_story() -> None:
    told = run("check", TINY, "--check", "surprise").stdout

    assert "safe is violated in 6 steps, with 1 fault (crash)" in told
    assert "a crashes." in told
    assert "low is violated" not in told.split("\n\n", 1)[1]  # expected, so told only on demand


def test_check_shows_expected_violations_on_demand() -> None:
    assert "\n\n" not in run("check", TINY, "--check", "as_expected").stdout
    assert "safe is violated in 6 steps" in run("check", TINY, "--check", "as_expected", "-v").stdout


def test_quiet_is_a_line_for_each_check() -> None:
    found = run("check", TINY, TINY, "--check", "as_expected", "--quiet")

    assert found.stdout.splitlines()[:2] == ["tiny · as_expected: as expected"] * 2
    assert found.stdout.splitlines()[-1] == "2 checks: 2 as expected"


def test_a_changed_question_is_not_held_against_what_the_check_expects() -> None:
    found = run("check", TINY, "--check", "as_expected", "--scope", "Epoch=3")

    assert found.returncode == 1
    assert "the command line changes the check" in found.stdout


def test_json_is_a_list_of_outcomes() -> None:
    found = run("check", TINY, "--check", "as_expected", "--json")
    (data,) = json.loads(found.stdout)

    assert (found.returncode, found.stderr) == (0, "")
    assert {"format", "version", "model", "check", "scope", "config", "faults", "exit", "partial"} <= set(
        data
    )
    assert {"properties", "mismatches", "engine", "stats", "error", "text", "file"} <= set(data)


def test_a_written_trace_can_be_shown(tmp_path: Path) -> None:
    path = tmp_path / "loss.itf.json"
    check = run("check", TINY, "--check", "as_expected", "--property", "safe", "--itf", str(path))
    shown = run("trace", "show", str(path), TINY)

    assert check.returncode == 1
    assert shown.returncode == 0
    assert shown.stdout.startswith("safe is violated in 6 steps, with 1 fault (crash)\n")


def test_several_traces_get_names_of_their_own(tmp_path: Path) -> None:
    run("check", TINY, "--check", "as_expected", "--itf", str(tmp_path))

    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "tiny.as_expected.full.itf.json",
        "tiny.as_expected.safe.itf.json",
    ]


def test_a_folder_for_traces_is_made(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "runs"
    run("check", TINY, "--check", "as_expected", "--property", "safe", "--itf", str(folder))

    assert [path.name for path in folder.iterdir()] == ["tiny.as_expected.safe.itf.json"]


def test_a_trace_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    found = run(
        "check", TINY, "--check", "as_expected", "--itf", str(tmp_path / "no" / "such" / "x.itf.json")
    )

    assert found.returncode == 2
    assert "cannot be written" in found.stderr


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("missing.rsm", None),
        ("empty.rsm", b""),
        ("binary.rsm", b"\x7fELF\0\0\1"),
        ("latin.rsm", "protocol é".encode("latin-1")),
        ("ten-megabytes.rsm", b"protocol p // x\n" * 700_000),
        ("folder.rsm", b"folder"),
        ("nested.rsm", b"protocol p invariant x: " + b"(" * 50_000),
    ],
)
def test_a_file_that_is_no_model_is_wrong_input(name: str, content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / name
    if content == b"folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    found = run("check", str(path))

    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith(str(path))
    assert "Traceback" not in found.stderr
    assert len(found.stderr) < 2_000


def test_a_model_without_checks_says_what_it_needs(tmp_path: Path) -> None:
    path = tmp_path / "bare.rsm"
    path.write_text(
        "protocol bare\nnat N\nstate { x: N = 0 }\naction go { x := x + 1 }\ninvariant low: x < 3\n"
    )

    assert "--scope N=3" in run("check", str(path)).stderr
    assert run("check", str(path), "--scope", "N=2").returncode == 0
    assert run("check", str(path), "--scope", "N=5").returncode == 1


def start(*args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "modelcheck", *args],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUTF8": "1"},
    )


def test_an_interrupted_search_tells_what_it_has(tmp_path: Path) -> None:
    running = start("check", TINY, "--check", "large", "--checkpoint", str(tmp_path), "--every", "0.05")
    while not list(tmp_path.glob("state-*")):  # then it is searching
        assert running.poll() is None
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    try:
        told, said = running.communicate(timeout=60)
    finally:
        running.kill()  # one that does not hear would search on for hours, beside all other tests

    assert running.returncode == 3
    assert "PARTIAL: interrupted" in told
    assert "Traceback" not in said


def test_a_reader_who_leaves_is_no_error() -> None:
    running = start("check", TINY, "--check", "surprise", "-v")
    assert running.stdout is not None
    assert running.stderr is not None
    running.stdout.close()
    with running.stderr:
        said = running.stderr.read()

    assert said == ""
    assert running.wait(timeout=60) == 1


def test_a_bug_of_ours_asks_to_be_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> int:
        raise AssertionError("impossible")

    monkeypatch.setattr(explain, "run", fail)

    assert cli.main(["explain", "R0101"]) == 70
    assert "Traceback" in (said := capsys.readouterr().err)
    assert "please report" in said


# ---------------------------------------------------------------------- colour


def test_a_pipe_gets_no_colour() -> None:
    assert "\x1b" not in run("check", TINY, "--check", "surprise").stdout
    assert (
        "\x1b"
        in run("check", TINY, "--check", "surprise", environment={"FORCE_COLOR": "1", "TERM": "xterm"}).stdout
    )


@pytest.mark.parametrize("quiet", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_gets_colour_unless_told_otherwise(quiet: dict[str, str]) -> None:
    assert "\x1b[" in on_a_terminal({"TERM": "xterm-256color"})
    assert "\x1b[" not in on_a_terminal(quiet)


def test_output_that_is_not_unicode_gets_ascii() -> None:
    told = run(
        "trace",
        "show",
        "-",
        TOY,
        stdin=write(divergence()),
        environment={"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
    )

    assert told.returncode == 0
    assert "leader none -> a" in told.stdout


def on_a_terminal(environment: dict[str, str]) -> str:
    """What a terminal sees of a check."""
    ours, theirs = pty.openpty()
    plain = {k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "FORCE_COLOR"}}
    with subprocess.Popen(
        [sys.executable, "-m", "modelcheck", "check", TINY, "--check", "as_expected"],
        cwd=ROOT,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env=plain | {"TERM": "xterm-256color"} | environment,
    ):
        os.close(theirs)
        seen = b""
        try:
            while part := os.read(ours, 65536):
                seen += part
        except OSError:  # the other side is closed
            pass
    os.close(ours)
    return seen.decode()


def test_an_assumption_that_does_not_hold_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "few.rsm"
    path.write_text(
        "protocol few\nsort S\nstate { x: bool = false }\n"
        "assume many: size(S) >= 3\ncheck a { scope S = 1 }\n"
    )
    done = run("check", str(path))

    assert done.returncode == 2
    assert "few.rsm:4:1: error[R0907]: a: the assumption `many` does not hold" in done.stderr


# ------------------------------------------------------------------- arguments


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("chek", "x"), "did you mean `check`?"),
        (("kafak", "review"), "did you mean `kafka`?"),
        (("reveiw", "x"), "did you mean `kafka review`?"),
        (("at-rset", "x"), "did you mean `kafka inspect`?"),
        (("inspect", "x"), "did you mean `kafka inspect`?"),
        (("kafka", "reveiw", "x"), "did you mean `kafka review`?"),
        (("kafka", "check", "x"), "did you mean `modelcheck check`?"),
        (("library", "shwo", "x"), "did you mean `library show`?"),
        (("serve", "lps"), "did you mean `serve lsp`?"),
        (("check", TINY, "--engine", "bcm"), "did you mean `bmc`?"),
        (("check", TINY, "--fewst-faults"), "did you mean `--fewest-faults`?"),
        (("export", TINY, "--to", "tla", "-o", "there"), "did you mean `--out`?"),
        (("check", TINY, "--depth", "0", "--engine", "bmc"), "`0` is not a number above 0"),
        (("check", TINY, "--depth", "4"), "--depth is for --engine bmc"),
        (("check", TINY, "--seed", "0"), "--seed is for --simulate N"),
        (("check", TINY, "--checkpoint", "a", "--resume", "a"), "give it alone"),
        (("check", TINY, "--disk", "a", "--resume", "a"), "give one of them alone"),
    ],
    ids=str,
)
def test_a_wrong_argument_is_told_in_a_few_lines(args: tuple[str, ...], told: str) -> None:
    found = run(*args)

    assert (found.returncode, found.stdout) == (2, "")
    assert told in found.stderr
    assert len(found.stderr.splitlines()) <= 3


@pytest.mark.parametrize(
    "more",
    [("--html", "{}/missing/page.html"), ("--itf", "{}/missing/t.itf.json"), ("--html", "{}")],
    ids=str,
)
def test_a_file_that_cannot_be_written_is_told_before_the_search(
    more: tuple[str, str], tmp_path: Path
) -> None:
    found = run("check", TINY, "--check", "large", more[0], more[1].format(tmp_path))

    assert (found.returncode, found.stdout) == (2, "")
    assert "cannot be written" in found.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_certificate_is_of_one_check_as_it_stands(tmp_path: Path) -> None:
    prove = ("check", TINY, "--engine", "prove", "--certificate", str(tmp_path / "c"))
    several = run(*prove)
    changed = run(*prove, "--check", "large", "--faults", "0")

    assert (several.returncode, changed.returncode) == (2, 2)
    assert "a certificate is of one check, and these are 3" in several.stderr
    assert "leave out --faults" in changed.stderr


def test_a_library_that_is_missing_is_no_bug_of_ours() -> None:
    program = (
        "import sys\nsys.modules['rich.console'] = None\nfrom modelcheck import cli\n"
        f"sys.exit(cli.main(['check', '{TINY}', '--check', 'as_expected']))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, "FORCE_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == "modelcheck: rich.console is not installed, and needed for this\n"
