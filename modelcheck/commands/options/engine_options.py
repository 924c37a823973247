"""What only some ways to search understand, engines by name or random runs: said once, refused elsewhere."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from secrets import randbelow
from typing import Any

import modelcheck.commands.options.amounts as amounts
from modelcheck.contract.engine import Engine
from modelcheck.engines.registry import ENGINES, engine, random_runs
from modelcheck.search.simulate import DEPTH
from spec.frozen import frozen

SEEDS = 2**32  # as many may be drawn; any may be given
HEAVIEST = 1_000_000  # weight of an action
SIMULATE = "simulate"  # random runs, the way to search that is no engine by name
SPARK = "spark"


@frozen
class EngineOption:
    """A command-line option with the engines that have it, and its arguments for argparse.

    Where `is_keyword`, an engine is made with it as a keyword of the same name.
    """

    ways: tuple[str, ...]
    about: Mapping[str, Any]
    is_keyword: bool = True

    @property
    def among_engines(self) -> Mapping[str, Any]:
        """The arguments for argparse where other engines may be chosen too."""
        if self.ways != (SPARK,):
            return self.about
        return {**self.about, "help": f"with --engine {SPARK}: {self.about['help']}"}


class _Conf(argparse.Action):
    """An argparse action for KEY=VALUE settings of Spark."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Add one KEY=VALUE."""
        key, equals, value = str(values).partition("=")
        if not equals or not key:
            parser.error(f"{option_string} is KEY=VALUE, such as spark.executor.memory=8g, not `{values}`")
        setattr(namespace, self.dest, {**(getattr(namespace, self.dest) or {}), key: value})


OPTIONS = {
    "--seconds": EngineOption(
        ("bmc", "ic3", "induction", "prove"),
        {
            "type": amounts.seconds,
            "metavar": "T",
            "help": "limit each solver query (default: none; with --engine prove 10s)",
        },
    ),
    "--depth": EngineOption(
        ("bmc", "induction", SIMULATE),
        {
            "type": amounts.count,
            "metavar": "D",
            "help": f"limit the length of runs: with --simulate ({DEPTH}), with --engine bmc (20);"
            " with --engine induction the depth of the induction (4)",
        },
    ),
    "--fewest-faults": EngineOption(
        ("bmc",),
        {
            "action": "store_true",
            "help": "with --engine bmc: minimise faults before steps",
        },
    ),
    "--optimise": EngineOption(
        ("explicit",),
        {
            "action": "store_true",
            "help": "with --engine explicit: optimise the compiled model fully before searching, "
            "instead of in the background",
        },
    ),
    "--seed": EngineOption(
        (SIMULATE,),
        {
            "type": int,
            "metavar": "S",
            "help": "seed of the random runs (default: a random one, which is printed)",
        },
        is_keyword=False,
    ),
    "--weight": EngineOption(
        (SIMULATE,),
        {
            "action": "append",
            "metavar": "ACTION=N",
            "help": "with --simulate: choose a step of this action N times as often as another; repeatable",
        },
        is_keyword=False,
    ),
    "--shrink": EngineOption(
        (SIMULATE,),
        {
            "action": "store_true",
            "help": "minimise the random runs that are shown",
        },
        is_keyword=False,
    ),
    "--master": EngineOption(
        (SPARK,),
        {
            "metavar": "URL",
            "help": "the master: local[2], local-cluster[2,1,1024], spark://HOST:PORT, "
            "yarn or k8s://… (default: local[*])",
        },
    ),
    "--patience": EngineOption(
        (SPARK,),
        {
            "type": amounts.seconds,
            "metavar": "T",
            "help": "wait so long for the master, and for its executors "
            "(default: 60s; on yarn and k8s ten times as long)",
        },
    ),
    "--driver-states": EngineOption(
        (SPARK,),
        {
            "type": amounts.count,
            "metavar": "N",
            "help": "search a level of at most N states in the driver, without a job (default: 250k)",
        },
    ),
    "--shards": EngineOption(
        (SPARK,),
        {
            "type": amounts.count,
            "metavar": "N",
            "help": "split the states into N shards (default: two per core)",
        },
    ),
    "--run-dir": EngineOption(
        (SPARK,),
        {
            "metavar": "PLACE",
            "help": "keep the levels in this folder or at this URI (default: a temporary folder)",
        },
    ),
    "--conf": EngineOption(
        (SPARK,),
        {
            "action": _Conf,
            "metavar": "KEY=VALUE",
            "help": "set a property of Spark; repeatable",
        },
    ),
    "--certificate": EngineOption(
        ("prove",),
        {
            "type": Path,
            "metavar": "FILE",
            "help": "with --engine prove: write the proof, for `modelcheck certify`",
        },
        is_keyword=False,
    ),
}


def add_engine_options(group: argparse._ArgumentGroup) -> None:
    """Add the option that selects an engine, and the engines' own options."""
    either = group.add_mutually_exclusive_group()
    either.add_argument(
        "--engine", choices=ENGINES, help="select the engine (default: the fastest that can check the model)"
    )
    either.add_argument(
        "--simulate", type=amounts.count, metavar="N", help="simulate N random runs instead of searching"
    )
    either.add_argument(
        "--estimate",
        action="store_true",
        help="estimate the number of states from smaller scopes, without a verdict",
    )
    either.add_argument(
        "--next-scope",
        action="store_true",
        help="repeat each check with each bound one larger, alone and together, and report answers "
        "that change",
    )
    for flag, option in OPTIONS.items():
        group.add_argument(flag, **option.among_engines)


def add_symmetry(parser: argparse._ActionsContainer) -> None:
    """Add `--symmetry` and `--no-symmetry`."""
    parser.add_argument(
        "--symmetry",
        action=argparse.BooleanOptionalAction,
        help="reduce by symmetry: identify states that differ only in the names of members "
        "(default: as the check says)",
    )


def add_partial_order(parser: argparse._ActionsContainer) -> None:
    """Add `--partial-order` and `--no-partial-order`."""
    parser.add_argument(
        "--partial-order",
        action=argparse.BooleanOptionalAction,
        help="reduce by partial order: leave steps for later that others commute with; runs may then have "
        "more steps than the shortest (default: no)",
    )


def engine_by(args: argparse.Namespace) -> Engine | None:
    """The engine asked for, with its options; exits with an error for another engine's option."""
    way = SIMULATE if args.simulate is not None else args.engine
    keywords = keywords_of(args, way)
    if way == SIMULATE:
        seed = randbelow(SEEDS) if args.seed is None else args.seed
        return random_runs(args.simulate, seed, DEPTH if args.depth is None else args.depth, weights_of(args))
    if way == SPARK:
        keywords |= _resumed(args)
    return None if way is None else engine(way, **keywords)


def weights_of(args: argparse.Namespace) -> dict[str, int]:
    """The weights of actions given, by name; exits for a weight that is no whole number up to HEAVIEST."""
    found = {}
    for text in args.weight or ():
        name, _, number = text.partition("=")
        if not (name and number.isdecimal() and int(number) <= HEAVIEST):
            args.refuse(f"--weight is ACTION=N, with N from 0 to {HEAVIEST:,}, not `{text}`")
        found[name] = int(number)
    return found


def keywords_of(args: argparse.Namespace, way: str | None) -> dict[str, Any]:
    """The options given, as keyword arguments of an engine; exits for another engine's option."""
    given = _given(args)
    for flag in given:
        if way not in OPTIONS[flag].ways:
            args.refuse(f"{flag} is for {_alternatives(OPTIONS[flag].ways)}")
    return {_name(flag): value for flag, value in given.items() if OPTIONS[flag].is_keyword}


def _resumed(args: argparse.Namespace) -> dict[str, Any]:
    """The folder of a Spark search to resume, if any, as a keyword argument."""
    if args.checkpoint is not None:
        args.refuse("--engine spark writes down every level in its --run-dir: leave out --checkpoint")
    if args.resume is None:
        return {}
    if args.run_dir is not None:
        args.refuse("--resume continues in the folder of that run: leave out --run-dir")
    return {"run_dir": args.resume, "resume": True}


def engine_again(args: argparse.Namespace) -> list[str]:
    """The command-line words for the same engine and options; none for the default."""
    if args.engine is None:
        return []
    given = {flag: value for flag, value in _given(args).items() if OPTIONS[flag].is_keyword}
    return ["--engine", args.engine, *(word for each in given.items() for word in _typed(*each))]


def _given(args: argparse.Namespace) -> dict[str, Any]:
    """The engine options given, by name."""
    values = {flag: getattr(args, _name(flag), None) for flag in OPTIONS}
    return {flag: value for flag, value in values.items() if value is not None and value is not False}


def _typed(flag: str, value: object) -> list[str]:
    """An option as command-line words."""
    match value:
        case True:
            return [flag]
        case float():
            return [flag, f"{value:g}"]
        case dict():
            return [word for key, each in value.items() for word in (flag, f"{key}={each}")]
        case _:
            return [flag, str(value)]


def _name(flag: str) -> str:
    """The name of an option as a Python keyword."""
    return flag.removeprefix("--").replace("-", "_")


def _alternatives(ways: tuple[str, ...]) -> str:
    """The ways to select engines, in words: `--engine bmc or prove, or --simulate N`."""
    *others, last = [way for way in ways if way != SIMULATE] or [""]
    engines = f"--engine {', '.join(others)} or {last}" if others else f"--engine {last}" if last else ""
    return ", or ".join(filter(None, (engines, "--simulate N" if SIMULATE in ways else "")))
