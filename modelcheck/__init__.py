"""Does the property hold?  In Python: `load`, `check`, `sweep`, `draw`, `play`, `replay`, `begin`, `grade`.

>>> import modelcheck
>>> modelcheck.check("raft", "elections")
<Outcome raft · elections: holds>

Each name is loaded when it is first used, so the import costs nothing.
"""

# Nothing is imported here, also not `__future__`: with `python -m modelcheck` this runs while the current
# folder still comes before Python's own library.  See NOTE(safe-path).
TYPE_CHECKING = False  # for type checkers a name that is true

if TYPE_CHECKING:
    from counterexamples.trace import Trace
    from modelcheck.answers.notebook import PlayPage
    from modelcheck.api import Unsupported
    from modelcheck.contract.result import Holds, Outcome, Unknown, Violated
    from modelcheck.python_api import begin, check, draw, grade, load, play, replay, sweep
    from modelcheck.teaching.course.grading import Grade
    from spec.diagnostics import SpecError
    from spec.model.ir import Check, Model

__all__ = [
    "Check",
    "Grade",
    "Holds",
    "Model",
    "Outcome",
    "PlayPage",
    "SpecError",
    "Trace",
    "Unknown",
    "Unsupported",
    "Violated",
    "begin",
    "check",
    "draw",
    "grade",
    "load",
    "play",
    "replay",
    "sweep",
]
_OWNERS = {
    **dict.fromkeys(
        ("begin", "check", "draw", "grade", "load", "play", "replay", "sweep"), "modelcheck.python_api"
    ),
    **dict.fromkeys(("Holds", "Outcome", "Unknown", "Violated"), "modelcheck.contract.result"),
    **dict.fromkeys(("Check", "Model"), "spec.model.ir"),
    "PlayPage": "modelcheck.answers.notebook",
    "Grade": "modelcheck.teaching.course.grading",
    "SpecError": "spec.diagnostics",
    "Trace": "counterexamples.trace",
    "Unsupported": "modelcheck.api",
}


if not TYPE_CHECKING:  # for a type checker a module that has it would have every name

    def __getattr__(name: str) -> object:
        """A public name, from the module that owns it."""
        from importlib import import_module  # noqa: PLC0415 - as above

        if name not in _OWNERS:
            raise AttributeError(f"module 'modelcheck' has no attribute {name!r}")
        return getattr(import_module(_OWNERS[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
