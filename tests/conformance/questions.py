"""What engines are asked: a question of every model at hand, and of random ones, each by its name.

`kafka` is the smallest check of a protocol that nothing breaks, `kafka, broken` the smallest that something
does; a file of the tests is asked by its name, and `seed 17000` is the first random model, from that seed
on, of which the reference engine has something to say within a second or so.
"""

from __future__ import annotations

from functools import cache
from itertools import count
from pathlib import Path
from random import Random

from modelcheck.api import check
from modelcheck.contract.engine import Limits
from spec.diagnostics import SpecError
from spec.load import load, loads
from spec.model.ir import Check, Model
from spec.model.values import ModelError
from tests.model_texts import model_text
from tests.protocol_checks import named_check, smallest

TESTS = Path(__file__).parents[1]
FOUND = sorted((TESTS / "modelcheck/agreement").glob("*.rsm"))  # in which engines once differed
WRITTEN = {
    path.stem: path
    for path in (
        *FOUND,
        *sorted((TESTS / "modelcheck/published").glob("*.rsm")),
        TESTS / "modelcheck/tiny.rsm",
        TESTS / "counterexamples/toy.rsm",
        TESTS / "spec/seeds.rsm",
    )
}
SMALL = 3000  # states that the reference engine has in a second or two
BROKEN = ", broken"
SEED = "seed "
FEWEST = 4  # states of most random models

Question = tuple[Model, Check]


def of_protocol(name: str) -> list[str]:
    """The names of the questions about a protocol, the smallest first: those that are small, or one."""
    some = [(smallest(name, violated=broken), broken) for broken in (False, True)]
    sized = sorted((each.states, broken) for each, broken in some if each is not None)
    return [name + BROKEN * broken for n, (states, broken) in enumerate(sized) if n == 0 or states < SMALL]


@cache
def question(name: str) -> Question:
    """The model and the check of a name."""
    if name.startswith(SEED):
        return random_question(int(name.removeprefix(SEED)))
    if name in WRITTEN:
        model = load(WRITTEN[name])[0]
        return model, model.checks[0]
    chosen = smallest(name.removesuffix(BROKEN), violated=name.endswith(BROKEN))
    assert chosen is not None
    return named_check(name.removesuffix(BROKEN), chosen.name)


def random_question(first: int) -> Question:
    """Of the first random model from a seed on that is no trifle, and small enough to be searched."""
    for seed in count(first):
        try:
            (model,) = loads(model_text(Random(seed).randrange))  # noqa: S311 - no secret
            asked = model.checks[0]
            found = check(model, asked, engine="reference", limits=Limits(states=SMALL)).findings
        except (SpecError, ModelError):
            continue
        if not found.end.partial and (found.stats.states >= FEWEST or seed % FEWEST == 0):
            return model, asked
    raise AssertionError
