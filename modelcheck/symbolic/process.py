"""A solver as a process of its own: SMT-LIB 2 text in, an answer out, never a hang."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from time import monotonic

from modelcheck.processes.endings import ending_words
from modelcheck.processes.safe_path import python
from spec.frozen import frozen

GRACE = 5.0  # seconds that a solver has to keep its own limit of time before it is ended
FIRST = 2.0  # seconds for all but the last try
SEEDS = (1, 2, 3)  # one for each try; 0 is for who asks but once
READ_BY_CVC5 = """
import sys, cvc5
solver = cvc5.Solver()
parser = cvc5.InputParser(solver)
parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, sys.stdin.read(), "obligation")
symbols = parser.getSymbolManager()
while (command := parser.nextCommand()) and not command.isNull():
    print(command.invoke(solver, symbols), end="")
"""  # cvc5's package has no program, so Python reads the text for it
CVC5_VERSION = "import cvc5; print('cvc5', cvc5.__version__)"


class ProcessAnswer(Enum):
    """The answer of a solver; `GAVE_UP` and what follows it are reasons not to know."""

    SAT = "sat"
    UNSAT = "unsat"
    UNKNOWN = "the solver does not know"
    GAVE_UP = "the solver had no time left"
    NO_MEMORY = "the solver had no memory left"
    FAILED = "the solver did not understand the question"
    ENDED = "the solver ended without an answer"

    @property
    def is_known(self) -> bool:
        """Whether the solver decided the question."""
        return self in {ProcessAnswer.SAT, ProcessAnswer.UNSAT}


@frozen
class Said:
    """The answer of a solver, its output, and the seconds it took."""

    answer: ProcessAnswer
    text: str
    seconds: float


@frozen
class Program:
    """An installed solver: its name and command."""

    name: str
    command: tuple[str, ...]

    def version(self) -> str:
        """The solver's version, as it prints it."""
        is_python = self.command[0] == sys.executable
        asked = python("-c", CVC5_VERSION) if is_python else (self.command[0], "--version")
        said = subprocess.run(  # noqa: S603 - ours
            asked, capture_output=True, text=True, check=False, timeout=30
        )
        return next(iter(said.stdout.splitlines()), self.name)


class NoSolver(Exception):  # noqa: N818 - an answer to the user, not a bug
    """Raised when no solver is installed."""

    def __init__(self) -> None:
        super().__init__("no solver is installed; `pip install z3-solver` brings one")


def programs() -> tuple[Program, ...]:
    """The installed solvers, z3 first; looked for in Python's environment and on the path."""
    found = [Program(name, (path,)) for name in ("z3", "cvc5") if (path := _path(name)) is not None]
    if find_spec("cvc5") is not None and all(each.name != "cvc5" for each in found):
        found.append(Program("cvc5 (Python)", python("-c", READ_BY_CVC5)))
    return tuple(found)


def _path(name: str) -> str | None:
    """The path of a program in Python's environment, else on the search path; None if there is none."""
    for folder in (sysconfig.get_path("scripts"), str(Path(sys.executable).parent)):
        if (here := shutil.which(name, path=folder)) is not None:
            return here
    return shutil.which(name)


def insist(program: Program, text: str, *, seconds: float) -> Said:
    """The answer of a solver that is run with several seeds, all but the last for a short time.

    A proof with quantifiers is often found at once or, for one seed in ten, not at all.
    """
    for seed in SEEDS[:-1] if seconds > FIRST else ():
        said = ask(program, text, seconds=FIRST, seed=seed)
        if said.answer not in {ProcessAnswer.UNKNOWN, ProcessAnswer.GAVE_UP, ProcessAnswer.ENDED}:
            return said
    return ask(program, text, seconds=seconds, seed=SEEDS[-1])


def ask(program: Program, text: str, *, seconds: float, megabytes: int = 2000, seed: int = 0) -> Said:
    """The answer of a new solver process to an SMT-LIB text; it is killed on timeout or Ctrl-C."""
    command = [*program.command, *_limits(program, seconds, megabytes, seed)]
    start = monotonic()
    try:
        child = subprocess.Popen(  # noqa: S603 - no shell, and the commands are ours
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
    except OSError as error:
        return Said(ProcessAnswer.FAILED, str(error), 0.0)
    with child:
        try:
            said, _ = child.communicate(text, timeout=seconds + GRACE)
        except subprocess.TimeoutExpired:
            child.kill()
            return Said(ProcessAnswer.GAVE_UP, "", monotonic() - start)
        except BaseException:
            child.kill()
            raise
    spent, answer = monotonic() - start, _answer(said, child.returncode)
    if answer is ProcessAnswer.ENDED:
        return Said(answer, f"its process {ending_words(child.returncode)}", spent)
    if answer is ProcessAnswer.UNKNOWN and spent >= seconds:  # which z3 calls the same
        answer = ProcessAnswer.GAVE_UP
    return Said(answer, said, spent)


def _limits(program: Program, seconds: float, megabytes: int, seed: int) -> tuple[str, ...]:
    """The command-line options that limit time and memory, and set the seed."""
    match program.name:
        case "z3":
            limits = (f"-t:{round(1000 * seconds)}", f"-memory:{megabytes}")
            return (*limits, f"smt.random_seed={seed}", "-in", "-smt2")
        case "cvc5":
            return (f"--tlimit={round(1000 * seconds)}", f"--seed={seed}", "--lang=smt2", "-")
        case _:
            return ()


def _answer(said: str, code: int) -> ProcessAnswer:
    """The answer that a solver's output means; an error before it makes it none."""
    plain = {each.value: each for each in (ProcessAnswer.SAT, ProcessAnswer.UNSAT)} | {
        "unknown": ProcessAnswer.UNKNOWN,
        "timeout": ProcessAnswer.GAVE_UP,
    }
    for line in map(str.strip, said.splitlines()):
        if line in plain:
            return plain[line]
        if "memory" in line:
            return ProcessAnswer.NO_MEMORY
        if "interrupted by timeout" in line:
            return ProcessAnswer.GAVE_UP
        if line.startswith("(error") or "Error" in line:
            return ProcessAnswer.FAILED
    return ProcessAnswer.ENDED if code < 0 else ProcessAnswer.FAILED
