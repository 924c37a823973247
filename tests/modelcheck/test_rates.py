"""`modelcheck rates` against closed forms, and against Storm where it is installed."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

import modelcheck
from modelcheck.asking.rates.chain import BEYOND, LOSS, Chain, Event, lumped
from modelcheck.asking.rates.solved import Between, TooMany, solved
from modelcheck.cli import main
from spec.model.rates import YEAR
from tests.consoles import marked

ROOT = Path(__file__).parents[2]
MIRROR = """
protocol mirror

sort Disk

process Disk { durable up: bool = true }

fault fail(d: Disk) {
  require up: d.up
  d.up := false
}
repair rebuild(d: Disk) {
  require down: not d.up
  require source: exists o: Disk. o.up
  d.up := true
}

invariant kept says "some disk has the data": exists d: Disk. d.up
recoverable whole says "all disks have the data": forall d: Disk. d.up

check two { scope Disk = 2  faults any  expect kept violated }
check three { scope Disk = 3  faults any  rates fail = 1/y, rebuild = 1/d  expect kept violated }
"""

Run = Callable[..., tuple[int, str, str]]
Golden = Callable[[str, str], None]


@pytest.fixture
def rates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`rates(text, "--rate", "fail=1/y")`: the exit code, and what was printed and told."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run(text: str, *options: str) -> tuple[int, str, str]:
        Path("model.rsm").write_text(text, encoding="utf-8")
        code = main(["rates", "model.rsm", *options])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def near(value: Between) -> float:
    """The one value of what no choice changes."""
    assert value.best is not None
    assert value.worst is not None
    assert math.isclose(value.best, value.worst, rel_tol=1e-9)
    return value.worst


def birth_death(births: list[float], deaths: list[float], loss: float, down: int) -> Chain:
    """States 0 to n, up by `births` and down by `deaths`; from n at the rate `loss` a loss."""
    events = [Event(n, rate, (n + 1,)) for n, rate in enumerate(births)]
    events += [Event(n + 1, rate, (n,)) for n, rate in enumerate(deaths)]
    events += [Event(len(births), loss, (LOSS,))] if loss else []
    return Chain(tuple(n >= down for n in range(len(births) + 1)), tuple(events), (0,), len(births) + 1)


# ------------------------------------------------------------------ closed forms


@pytest.mark.parametrize(("fail", "mend"), [(1.0, 1.0), (1e-9, 1.0), (3.0, 0.01), (1e-7, 1e3)])
def test_the_mean_time_of_a_mirror_is_that_of_the_textbook(fail: float, mend: float) -> None:
    """(3λ + μ) / 2λ²: Patterson, Gibson and Katz, SIGMOD 1988."""
    chain = birth_death([2 * fail], [mend], fail, down=1)

    assert math.isclose(near(solved(chain, 1.0).mean), (3 * fail + mend) / (2 * fail**2), rel_tol=1e-12)


def test_the_mean_time_of_n_replicas_is_the_sum_of_the_ways_up() -> None:
    """Birth and death: h(k) = 1/λk + μk/λk · h(k-1) is the time from k to k + 1."""
    fail, mend, many = 1e-5, 0.5, 5
    births = [(many - k) * fail for k in range(many - 1)]
    deaths = [(k + 1) * mend for k in range(many - 1)]
    step, total = 0.0, 0.0
    for k, birth in enumerate([*births, fail]):
        step = 1 / birth + (deaths[k - 1] / birth * step if k else 0.0)
        total += step

    assert math.isclose(near(solved(birth_death(births, deaths, fail, 1), 1.0).mean), total, rel_tol=1e-12)


def test_one_part_that_is_mended_is_down_as_long_as_its_rates_say() -> None:
    """A(t) = μ/(λ+μ) + λ/(λ+μ) e^-(λ+μ)t, and its integral."""
    fail, mend, time = 2.0, 30.0, 1.7
    both = fail + mend
    down = fail / both * (time - (1 - math.exp(-both * time)) / both)
    found = solved(birth_death([fail], [mend], 0.0, down=1), time)

    assert math.isclose(near(found.downtime), down, rel_tol=1e-12)
    assert math.isclose(near(found.down), -math.expm1(-fail * time), rel_tol=1e-12)
    assert near(found.loss) == 0.0
    assert near(found.mean) == math.inf


def test_a_loss_after_so_many_steps_alike_is_that_of_an_erlang_time() -> None:
    rate, many, time = 0.7, 4, 0.01
    chain = birth_death([rate] * (many - 1), [0.0] * (many - 1), rate, down=9)
    chain = Chain(chain.down, tuple(event for event in chain.events if event.rate), (0,), many)
    mean = rate * time
    tail = sum(math.exp(-mean) * mean**k / math.factorial(k) for k in range(many, 30))

    assert math.isclose(near(solved(chain, time).loss), tail, rel_tol=1e-12)


def test_a_queue_with_little_room_is_full_as_often_as_the_formula_says() -> None:
    """M/M/1/K with a load of x: x^K (1-x) / (1-x^(K+1)); over a long time the start does not matter."""
    comes, served, room, time = 0.8, 1.0, 4, 1e7
    chain = birth_death([comes] * room, [served] * room, 0.0, down=room)
    load = comes / served
    full = load**room * (1 - load) / (1 - load ** (room + 1))

    assert math.isclose(near(solved(chain, time).downtime) / time, full, rel_tol=1e-5)


def test_a_rare_loss_keeps_its_digits() -> None:
    found = solved(birth_death([1e-12], [1e3], 1e-12, down=9), 1.0)

    assert math.isclose(near(found.loss), 1e-12 * 1e-12 / 1e3, rel_tol=2e-3)


# ------------------------------------------------------------------ choices, and what is beyond


def chosen() -> Chain:
    """From 0 an event leads to 1 or to 2, which are lost at different rates."""
    events = (Event(0, 1.0, (1, 2)), Event(1, 1.0, (LOSS,)), Event(2, 10.0, (LOSS,)))
    return Chain((False, True, False), events, (0,), 3)


def test_a_choice_has_a_best_and_a_worst() -> None:
    found = solved(chosen(), 1e-3)
    assert found.loss.best is not None
    assert found.loss.worst is not None

    assert found.mean == Between(2.0, 1.1)
    assert math.isclose(found.loss.best, 1 - math.exp(-1e-3) * (1 + 1e-3), rel_tol=1e-6)
    assert 9 < found.loss.worst / found.loss.best < 10
    assert found.down.best == 0.0


def test_what_can_be_put_off_for_ever_has_no_mean_at_best() -> None:
    events = (Event(0, 1.0, (0, 1)), Event(1, 1.0, (LOSS,)))
    found = solved(Chain((False, False), events, (0,), 2), 1.0)

    assert found.mean == Between(math.inf, 2.0)


def test_a_step_beyond_the_scope_is_harmless_at_best_and_a_loss_at_worst() -> None:
    events = (Event(0, 1.0, (LOSS,)), Event(0, 3.0, (BEYOND,)))
    found = solved(Chain((False,), events, (0,), 1), 100.0)
    assert found.loss.best is not None
    assert found.loss.worst is not None

    assert math.isclose(found.loss.best, 0.25)
    assert math.isclose(found.loss.worst, 1.0)
    assert found.mean == Between(math.inf, 0.25)


def test_states_that_nothing_tells_apart_are_one_and_the_numbers_stay() -> None:
    fail, mend = 0.5, 4.0
    events = [Event(0, fail, (1,)), Event(0, fail, (2,))]
    events += [Event(each, mend, (0,)) for each in (1, 2)]
    events += [Event(each, fail, (LOSS,)) for each in (1, 2)]
    chain = Chain((False, True, True), tuple(events), (0,), 3)
    small = lumped(chain)

    assert len(small.down) == 2
    assert math.isclose(near(solved(small, 1.0).mean), near(solved(chain, 1.0).mean), rel_tol=1e-12)
    assert math.isclose(near(solved(small, 1.0).loss), near(solved(chain, 1.0).loss), rel_tol=1e-12)


def test_more_states_than_can_be_solved_are_refused() -> None:
    with pytest.raises(TooMany):
        solved(birth_death([1.0] * 2000, [1.0] * 2000, 1.0, down=9), 1.0)


def test_storm_finds_the_same_mean_and_the_same_odds(tmp_path: Path) -> None:
    storm = pytest.importorskip("stormpy", minversion="2.0", reason="stormpy 2 is not installed")
    fail, mend, time = 0.3, 2.0, 1.5
    text = f"""
        ctmc
        module disks
          down : [0..3] init 0;
          [] down < 3 -> (3 - down) * {fail} : (down' = down + 1);
          [] down > 0 & down < 3 -> down * {mend} : (down' = down - 1);
        endmodule
        rewards true : 1; endrewards
        label "lost" = down = 3;
    """
    path = tmp_path / "disks.sm"
    path.write_text(text, encoding="utf-8")
    program = storm.parse_prism_program(str(path), prism_compatibility=True)
    asked = f'R=? [F "lost"]; P=? [F<={time} "lost"]'
    properties = storm.parse_properties(asked, program)
    model = storm.build_model(program, properties)
    values = [storm.model_checking(model, each).get_value(model.initial_states[0]) for each in properties]
    found = solved(birth_death([3 * fail, 2 * fail], [mend, 2 * mend], fail, down=9), time)

    assert [near(found.mean), near(found.loss)] == pytest.approx(values, rel=1e-5)


def drawn(seed: int, states: int = 12) -> Chain:
    """A chain of a ring and chords, with a loss from some states, and some in which the service is down."""
    random = Random(seed)  # noqa: S311 - no secret
    events = [Event(each, random.uniform(0.1, 4), ((each + 1) % states,)) for each in range(states)]
    events += [
        Event(random.randrange(states), random.uniform(0.01, 9), (random.randrange(states),))
        for _ in range(2 * states)
    ]
    events += [Event(random.randrange(states), random.uniform(0.01, 0.5), (LOSS,)) for _ in range(3)]
    kept = tuple(event for event in events if event.outcomes != (event.state,))
    return Chain(tuple(random.random() < 0.4 for _ in range(states)), kept, (0,), states)


@pytest.mark.parametrize("seed", range(6))
def test_storm_finds_the_same_of_random_chains(seed: int, tmp_path: Path) -> None:
    storm = pytest.importorskip("stormpy", minversion="2.0", reason="stormpy 2 is not installed")
    chain, time = drawn(seed), 0.8
    lost = len(chain.down)
    steps = [(event.state, event.rate, event.outcomes[0]) for event in chain.events]
    commands = [f"[] s={here} -> {rate!r} : (s'={lost if to == LOSS else to});" for here, rate, to in steps]
    is_down = " | ".join(f"s={number}" for number, down in enumerate(chain.down) if down) or "false"
    text = f"""
        ctmc
        module chain
          s : [0..{lost}] init 0;
          {" ".join(commands)}
        endmodule
        rewards "time" true : 1; endrewards
        rewards "down" {is_down} : 1; endrewards
        label "lost" = s={lost};
        label "down" = {is_down};
    """
    path = tmp_path / "chain.sm"
    path.write_text(text, encoding="utf-8")
    program = storm.parse_prism_program(str(path), prism_compatibility=True)
    asked = (
        f'R{{"time"}}=? [F "lost"]; P=? [F<={time} "lost"]; R{{"down"}}=? [C<={time}]; P=? [F<={time} "down"]'
    )
    properties = storm.parse_properties(asked, program)
    model = storm.build_model(program, properties)
    values = [storm.model_checking(model, each).get_value(model.initial_states[0]) for each in properties]
    found = solved(chain, time)

    assert [near(each) for each in (found.mean, found.loss, found.downtime, found.down)] == pytest.approx(
        values, rel=1e-5
    )


# ------------------------------------------------------------------ from a model


def test_a_model_comes_to_what_the_textbook_says(rates: Run) -> None:
    code, out, _ = rates(MIRROR, "--check", "two", "--rate", "fail=1/y", "--rate", "rebuild=1/d", "--json")
    answer = json.loads(out)
    fail, mend = 1 / YEAR, 1 / 86_400

    assert code == 0
    assert answer["mean_seconds_to_loss"]["worst"] == pytest.approx((3 * fail + mend) / (2 * fail**2))
    assert (answer["states"], answer["classes"], answer["choices_matter"]) == (3, 2, False)


def test_the_answer_reads_well(rates: Run, golden: Golden) -> None:
    _, out, _ = rates(MIRROR, "--check", "three")

    golden("cards/rates.mirror.txt", out)


def test_the_model_and_the_answer_that_the_document_shows_are_these() -> None:
    page = ROOT / "docs/how-to/estimate-time-to-loss.md"
    (model,) = marked(page, "model: mirror", "rsm")
    (shown,) = marked(page, "output: mirror", "text")

    assert model == MIRROR.lstrip("\n")
    assert shown == (ROOT / "tests/golden/cards/rates.mirror.txt").read_text(encoding="utf-8")


CHOICE = """
protocol choice
state { place: 0..4 = 0, lost: bool = false, tries: 0..3 = 0 }
fault slip { require place == 0  place := 1 }
fault fall { require place == 2 or place == 3  lost := true }
repair back { require place == 2  place := 0 }
action left { require place == 1  place := 2 }
action right { require place == 1  place := 3 }
invariant kept: not lost
check all { faults any  expect kept violated }
"""


def test_a_choice_among_immediate_steps_that_matters_is_told(rates: Run, golden: Golden) -> None:
    given = ("--rate", "slip=1/d", "--rate", "fall=1/d", "--rate", "back=9/d")
    _, out, _ = rates(CHOICE, *given)
    _, told, _ = rates(CHOICE, *given, "--json")
    answer = json.loads(told)

    assert answer["mean_seconds_to_loss"]["worst"] == pytest.approx(2 * 86_400)
    assert answer["mean_seconds_to_loss"]["best"] == pytest.approx(11 * 86_400)
    golden("cards/rates.choice.txt", out)


def test_a_step_beyond_the_scope_is_told_unless_it_is_part_of_the_question(rates: Run) -> None:
    text = """
        protocol counts
        nat N
        state { n: N = 0, lost: bool = false }
        fault more { n := n + 1 }
        fault lose { lost := true }
        invariant kept: not lost
        check all { scope N = 2  faults any  expect kept violated }
    """
    given = ("--rate", "more=1/d", "--rate", "lose=1/d", "--json")
    beyond = json.loads(rates(text, *given)[1])
    bounded = json.loads(rates(text, *given, "--bound", "N")[1])

    assert beyond["beyond"] == ["N"]
    assert beyond["mean_seconds_to_loss"]["best"] is None
    assert bounded["mean_seconds_to_loss"]["best"] == pytest.approx(86_400)


def test_the_start_itself_may_be_a_loss(rates: Run) -> None:
    text = CHOICE.replace("lost: bool = false", "lost: bool = true")
    answer = json.loads(rates(text, "--rate", "slip=1/d", "--json")[1])

    assert answer["mean_seconds_to_loss"]["worst"] == 0.0
    assert answer["loss"]["best"] == 1.0


# ------------------------------------------------------------------ rates of the check itself


WITH_RATES = MIRROR.replace(
    "scope Disk = 2  faults any", "scope Disk = 2  faults any  rates fail = 15/1000y, rebuild = 1/d"
)


def test_the_rates_of_a_check_count_as_if_they_had_been_typed(rates: Run) -> None:
    typed = rates(MIRROR, "--check", "two", "--rate", "fail=0.015/y", "--rate", "rebuild=1/d", "--json")
    own = json.loads(rates(WITH_RATES, "--check", "two", "--json")[1])
    beside = json.loads(typed[1])

    assert own["rates_by"] == {"fail": "the check two", "rebuild": "the check two"}
    assert beside["rates_by"] == {"fail": "--rate", "rebuild": "--rate"}
    assert own["rates_per_second"] == pytest.approx(beside["rates_per_second"], rel=1e-15)
    assert own["loss"] == pytest.approx(beside["loss"])


def test_a_rate_that_is_typed_counts_in_place_of_that_of_the_check(rates: Run, golden: Golden) -> None:
    _, out, _ = rates(WITH_RATES, "--check", "two", "--rate", "fail=2/y")
    _, told, _ = rates(MIRROR, "--check", "two", "--rate", "fail=2/y", "--rate", "rebuild=1/d")

    assert out.partition("•")[0] == told.partition("•")[0]
    golden("cards/rates.overridden.txt", out)


def test_a_part_of_a_rate_is_of_several_units(rates: Run) -> None:
    answers = [
        json.loads(rates(MIRROR, "--check", "two", "--rate", f"fail={text}", "--json")[1])
        for text in ("2/100d", "0.02/d")
    ]

    assert answers[0]["loss"] == pytest.approx(answers[1]["loss"])


def test_the_rates_that_the_manual_of_the_language_shows_are_those_of_a_mirror(rates: Run) -> None:
    text = (ROOT / "spec/language.md").read_text(encoding="utf-8")
    model = re.search(r"```rsm\n(protocol beacon\n.*?)```", text, re.DOTALL)
    assert model is not None
    answer = json.loads(rates(model[1], "--json")[1])
    fail, mend = 1.5 / YEAR, 1 / (7 * 86_400)

    assert answer["mean_seconds_to_loss"]["worst"] == pytest.approx((3 * fail + mend) / (2 * fail**2))


def test_a_check_with_rates_is_searched_as_one_without(tmp_path: Path) -> None:
    answers = []
    for text in (MIRROR, WITH_RATES):
        path = tmp_path / "model.rsm"
        path.write_text(text, encoding="utf-8")
        outcome = modelcheck.check(path, "two", engine="reference")
        run = outcome.trace("kept")
        assert run is not None
        answers.append((run.steps, outcome.findings.stats.states))

    assert answers[0] == answers[1]


# ------------------------------------------------------------------ mistakes


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("zero", ["--rate", "fail=0/y"]),
        ("negative", ["--rate", "fail=-1/y"]),
        ("no_number", ["--rate", "fail=often/y"]),
        ("no_period", ["--rate", "fail=1/0y"]),
        ("no_unit", ["--rate", "fail=1"]),
        ("unknown_unit", ["--rate", "fail=1/week"]),
        ("unknown_action", ["--rate", "fial=1/y"]),
        ("twice", ["--rate", "fail=1/y", "--rate", "fail=2/y"]),
        ("none", []),
        ("unknown_limit", ["--rate", "fail=1/y", "--bound", "Epoch"]),
        ("too_many", ["--rate", "fail=1/y", "--max-states", "2"]),
    ],
)
def test_a_mistake_is_told(name: str, options: list[str], rates: Run, golden: Golden) -> None:
    code, out, err = rates(MIRROR, "--check", "two", *options)

    assert (code, out) == (2, "")
    golden(f"diagnostics/rates/{name}.txt", err)


def test_a_plain_action_has_no_rate(rates: Run) -> None:
    code, _, err = rates(CHOICE, "--rate", "left=1/d")

    assert code == 2
    assert "R0920" in err
    assert "`left` is neither a fault nor a repair" in err


def test_a_model_without_an_initial_state_is_refused(rates: Run) -> None:
    text = MIRROR.replace("fault fail", "init { choose v in {true} where false }\nfault fail")

    code, _, err = rates(text, "--check", "three")

    assert code == 2
    assert "R0608" in err


def test_immediate_steps_that_never_stop_are_refused(rates: Run) -> None:
    steps = "require place >= 2  place := if place == 4 then 3 else 4"
    text = CHOICE.replace("require place == 1  place := 3", steps)
    code, _, err = rates(text, "--rate", "slip=1/d")

    assert code == 2
    assert "R0923" in err
