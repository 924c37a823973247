"""The result of a search for lemmas as JSON."""

from __future__ import annotations

from modelcheck.answers.outcome_json import as_json
from modelcheck.asking.lemmas.proving import LemmaProof


def proof_json(found: LemmaProof) -> dict[str, object]:
    """The result: the verdict, the lemmas and for which obligations they were needed, or what is missing."""
    result = found.result
    names = found.written.names if found.written is not None else {}
    shown = found.proof or found.refuted
    return {
        "model": found.model.name,
        "check": found.check.name,
        "answer": "proved" if found.is_proved else "violated" if found.refuted is not None else "unknown",
        "claims": [each.name for each in found.claims],
        "not_asked": [each.name for each in found.left_out],
        "lemmas": [
            {
                "name": names.get(each.name, each.name),
                "text": each.clause.text,
                "needed_for": names.get(each.needed_for.claim, each.needed_for.claim),
                "after": each.needed_for.action,
            }
            for each in found.lemmas
        ],
        "missing": [str(each) for each in result.missing] if result is not None else [],
        "end": result.end.value if result is not None else None,
        "states": sum(len(each.states) for each in found.samples),
        "questions": found.questions,
        "seconds": found.seconds,
        "text": found.written.text if found.written is not None else None,
        "outcome": as_json(shown) if shown is not None else None,
    }
