"""A proof of a check's claims for every scope with lemmas that are found, from question to answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import monotonic

import spec.model.ir as ir
from modelcheck.api import check as run_check
from modelcheck.api import task_of
from modelcheck.asking.lemmas.learning import Learner
from modelcheck.asking.lemmas.mixtures import MANY, Strength
from modelcheck.asking.lemmas.questions import ProofQuestions
from modelcheck.asking.lemmas.reached import Reached, reached
from modelcheck.asking.lemmas.search import FoundLemma, LemmaSearch, SearchEnd, SearchResult
from modelcheck.asking.lemmas.trimming import Trimmer
from modelcheck.asking.lemmas.vocabulary import FrameVocabulary
from modelcheck.asking.lemmas.writing import LemmaText, written
from modelcheck.contract.families import looked_at
from modelcheck.contract.result import Holds, Outcome, Violated
from modelcheck.symbolic.process import Program
from modelcheck.symbolic.unbounded.engine import PROVABLE, Prover, provable_of
from spec.frozen import frozen
from spec.load import loads
from spec.meaning.semantics import Machine
from spec.model.interchangeable import symmetric_sorts
from spec.model.kinds import INVARIANTS

NAMES = 2  # that a candidate binds, at first
MOST_NAMES = 3


@frozen
class LemmaOptions:
    """The limits of a search: seconds for a question and in all, names and literals of a lemma, threads."""

    seconds: float
    max_time: float | None
    names: int
    literals: int
    threads: int


@frozen
class LemmaProof:
    """What a search for lemmas found.

    `refuted` is an outcome with a run that violates a claim; then there is nothing else.  `proof` is the
    outcome of the ordinary check of the text `written`, which has the `lemmas` that are needed.
    """

    model: ir.Model
    check: ir.Check
    claims: tuple[ir.Property, ...]
    left_out: tuple[ir.Property, ...]
    samples: tuple[Reached, ...] = ()
    refuted: Outcome | None = None
    result: SearchResult | None = None
    lemmas: tuple[FoundLemma, ...] = ()
    written: LemmaText | None = None
    proof: Outcome | None = None
    questions: int = 0
    seconds: float = 0.0

    @property
    def is_proved(self) -> bool:
        """Whether the ordinary check has proved every claim of the text with the lemmas."""
        return self.proof is not None and all(
            isinstance(each.verdict, Holds) for each in self.proof.findings.results
        )


def provable(model: ir.Model, check: ir.Check) -> tuple[list[ir.Property], list[ir.Property]]:
    """The properties of a check that a proof can be about, and the others.

    Those that the check expects to be violated are among the others, unless it asks about nothing else.
    """
    violated = {
        each.property for each in check.expect if isinstance(each, ir.ExpectVerdict) and not each.holds
    }
    able = [prop for prop in looked_at(model, check) if prop.kind in PROVABLE]
    claims = [prop for prop in able if prop.name not in violated] or able
    return claims, [prop for prop in looked_at(model, check) if prop not in claims]


class ProofSearch:
    """A proof of the claims of a check for every scope, or how far the search for lemmas comes.

    `text` is the file's text, to which lemmas are added for the ordinary check that has the last word.
    """

    def __init__(
        self,
        model: ir.Model,
        check: ir.Check,
        text: str,
        *,
        program: Program,
        options: LemmaOptions,
        tell: Callable[[str], object],
    ) -> None:
        self._model, self._text, self._program, self._options = model, text, program, options
        self._tell, self._start = tell, monotonic()
        claims, others = provable(model, check)
        self._asked = replace(check, only=tuple(each.name for each in claims), expect=())
        task = task_of(model, self._asked, symmetry=False)
        self._claims = provable_of(task)
        self._found = LemmaProof(model, check, tuple(claims), tuple(others))
        self._questions = ProofQuestions(task, program, options.seconds)

    def found(self) -> LemmaProof:
        """The result. Raises what `modelcheck.api.check` does, where the model cannot be checked at all."""
        self._search()
        return replace(self._found, questions=self._questions.count, seconds=monotonic() - self._start)

    def _search(self) -> None:
        """Look for a violation, then for lemmas, and prove with them."""
        self._tell("searching the scope of the check")
        outcome = run_check(self._model, self._asked, threads=self._options.threads)
        is_bad = any(isinstance(each.verdict, Violated) for each in outcome.findings.results)
        if is_bad or outcome.findings.error is not None:
            self._found = replace(self._found, refuted=outcome)
            return
        samples: list[Reached] = []
        for each in reached(self._model, self._asked, self._options.threads):
            samples.append(each)
            self._tell(f"{len(each.states)} states of {len(samples)} scopes")
            refuted = self._refuted(each)
            self._found = replace(self._found, samples=tuple(samples), refuted=refuted)
            if refuted is not None:
                return
        result = self._searched(samples)
        self._found = replace(self._found, result=result, lemmas=result.lemmas)
        if result.end is SearchEnd.PROVED:
            self._prove(result)

    def _refuted(self, found: Reached) -> Outcome | None:
        """The outcome with a run that violates a claim within another scope, if there is one."""
        machine = Machine(self._model, found.scope)
        of_states = [each for each in self._claims if each.kind in INVARIANTS]
        if all(machine.holds(each, state) for each in of_states for state in found.states):
            return None
        asked = replace(self._asked, scope=found.scope)
        return run_check(self._model, asked, threads=self._options.threads)

    def _is_late(self) -> bool:
        """Whether the time limit has passed."""
        most = self._options.max_time
        return most is not None and monotonic() - self._start >= most

    def _searched(self, samples: Sequence[Reached]) -> SearchResult:
        """The result of the search with few names, and where that has too few candidates with more."""
        model, options = self._model, self._options
        vocabulary = FrameVocabulary(model, _idle(model, samples))
        strength = Strength(model, _middle(samples), symmetric_sorts(model))
        for names in range(min(NAMES, options.names), options.names + 1):
            learner = Learner(model, [*vocabulary.frames(names)], samples, strength, options.literals)
            search = LemmaSearch(
                self._questions,
                learner,
                self._claims,
                threads=options.threads,
                is_late=self._is_late,
                tell=self._tell,
            )
            result = search.run()
            if result.end is not SearchEnd.NO_CANDIDATE:
                break
        return result

    def _prove(self, result: SearchResult) -> None:
        """Make the lemmas few, write them down, and prove that text by the ordinary check."""
        self._tell("leaving out lemmas that are not needed")
        trimmer = Trimmer(self._questions, self._claims, result.replies, self._options.threads, self._is_late)
        lemmas = trimmer.needed(result.lemmas)
        name = self._model.source.name
        names = [each.name for each in self._claims]
        new = written(loads(self._text, name), self._model, self._asked, lemmas, names, trimmer.uses(lemmas))
        models = loads(f"{self._text.rstrip()}\n\n{new.text}", name)
        (proved,) = [each for each in models if each.name == new.variant]
        (question,) = [each for each in proved.checks if each.name == new.check]
        self._tell("proving all of it again")
        engine = Prover(self._options.seconds, self._program)
        outcome = run_check(proved, question, engine=engine, threads=self._options.threads)
        self._found = replace(self._found, lemmas=lemmas, written=new, proof=outcome)


def _middle(samples: Sequence[Reached]) -> Reached:
    """The smallest scope with many states, else the one with the most."""
    large = [each for each in samples if len(each.states) >= MANY]
    return large[0] if large else max(samples, key=lambda each: len(each.states))


def _idle(model: ir.Model, samples: Sequence[Reached]) -> list[int]:
    """The variables that have one value in all states that are known: of them nothing can be learned."""
    return [
        index
        for index in range(len(model.variables))
        if all(len({state[index] for state in each.states}) <= 1 for each in samples)
    ]
