"""Expressions as TLA+, Quint, Python, Alloy and Rust write them, each with what is written here."""

from __future__ import annotations

import re
from collections.abc import Callable

from spec.source import Span
from spec.syntax.error_place import PATH, ErrorPlace, SyntaxMistake
from spec.syntax.foreign_declarations import type_here

_OPERAND_FOLLOWS = r"(?:[:({=<>+*,-]|\b(?:require|and|or|not|implies|in|then|else|if|where))\s*$"
_PROPERTY = r"^\s*(?:invariant|lemma|step|reachable|recoverable)\b"

_IN_RUNS = "`leadsto NAME: true ~> q`, `always eventually NAME: q` or `eventually always NAME: q`"
_IN_EVERY_STATE = "an `invariant` is asked of every state as it is"
_TLA_WORDS = {
    "IF": "write `if c then a else b`",
    "LET": "write `let x = e. …`, or the statement `let x = e` before",
    "CHOOSE": "write `choose x in S where P`, a statement; `the({x in S where P})` is the only one",
    "SUBSET": "write `subsets(S)`",
    "DOMAIN": "leave it out: a map has all keys of its type K, which `forall k: K. …` goes through",
    "UNCHANGED": "leave it out: what no statement changes stays as it is",
}
_OF_ALL = {  # functions of collections that take a function; `$` is the collection, `@` the bound name
    **dict.fromkeys(("forall", "all", "every"), "`forall @ in $. …`"),
    **dict.fromkeys(("exists", "any", "some"), "`exists @ in $. …`"),
    **dict.fromkeys(("filter", "select"), "`{@ in $ where …}`"),
    "map": "`{… for @ in $}`",
    "mapby": "`[@: $ -> …]`",
    "setby": "`$[k] := …`, a statement",
    **dict.fromkeys(("find", "chooseone"), "`choose @ in $ where …`, a statement"),
}
_OF_ANY = "`forall x in S. P`, `{x in S where P}` or `{e for x in S}`, which bind a name themselves"
_COMPREHENDED = {  # `@` is the bound name, `$` the collection, `%` what is made of each
    "all": "`forall @ in $. %`",
    "any": "`exists @ in $. %`",
    "max": "`(max @ in $. %)`",
    "min": "`(min @ in $. %)`",
}


def _type_before_a_member(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `Role::leader`, `Message::Ack(1)` and `Pair::new(…)`."""
    of = re.search(r"(\w+)\s*(:?)$", place.before)
    member = re.match(r"(::?)(\w+)(\()?", place.here)
    if of is None or member is None or len(of[2]) + len(member[1]) != 2:
        return None
    named = of[1] if member[2] == "new" else member[2]
    help_ = f"write `{named}(…)`" if member[3] else f"write `{named}`"
    what = f"a member or case has no `{of[1]}::` before it"
    if type_here(of[1]):
        what, help_ = (
            f"`{of[1]}` is no type",
            "write `[]` for a sequence, `{}` for a set, `[k: K -> e]` for a map",
        )
    return SyntaxMistake(what, help_, place.from_it(of.start(1), member.end(2)))


_MAP_BEGINS = (
    re.compile(  # what a value follows, then the first key of a map and what separates it from its value
        r"(?:(?::=|[=(,+&>]|\b(?:in|then|require|where|and|or|not|implies))\s*"
        r"([{\[]|[Mm]ap\()\s*(\"?[\w.]+\"?)\s*(:(?![=:])|[-=]>))"
    )
)
_FOR_EVERY_KEY = re.compile(r"\s*([\w.]+)?\s*for\s+(\w+)\s+in\s+([A-Za-z_]\w*)\s*\}")
_TYPE_AND_VALUE = re.compile(r"\s*(\w+)\s*->\s*([\w.]+)?")
_FIRST_VALUE = re.compile(r"\s*([\w.]+)?")
_KEYS_BEFORE = re.compile(r"\bmap\[\s*(\w+)\s*,[^{}\[\]]*\]\s*=\s*$")


def _map_of_pairs(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `{c: 1}` and `[c -> 1]`: a map is of all keys, and no list of some."""
    begun = place.above.rfind("\n", 0, max(0, place.above.rfind("\n"))) + 1  # the line before this one, too
    near, here = place.above[begun:] + place.here, len(place.above) - begun
    found = next((m for m in reversed([*_MAP_BEGINS.finditer(near)]) if m.end(2) <= here), None)
    if found is None or place.found == "|" or re.fullmatch(r"\s*[\w.]*\s*", near[found.end() : here]) is None:
        return None
    ours = _map_here(near[: found.start(1)], found, near[found.end() :])
    at = begun + found.start(1)
    span = Span(at, begun + found.end(3))
    return SyntaxMistake("a map is not written as pairs", ours, span) if ours else None


def _map_here(before: str, begun: re.Match[str], behind: str) -> str:
    """What to write for a map that begins with a key and a value; empty if it may be right so far."""
    every, typed, first = (form.match(behind) for form in (_FOR_EVERY_KEY, _TYPE_AND_VALUE, _FIRST_VALUE))
    if typed is not None:
        right = begun[1] == "["
        return "" if right else f"write `[{begun[2]}: {typed[1]} -> {typed[2] or '…'}]` in square brackets"
    if every is not None:
        return f"write `[{every[2]}: {every[3]} -> {every[1] or '…'}]`: `{every[3]}` is the type of its keys"
    keys = _KEYS_BEFORE.search(before)
    key, value = begun[2].strip('"').rpartition(".")[2], (first and first[1]) or "…"
    made = f"[k: {keys[1] if keys else 'K'} -> if k == {key} then {value} else …]"
    record = f"; a record is `R({key} = {value})`" if not keys and begun[1] == "{" and begun[3] == ":" else ""
    return f"write `{made}`: it has a value for every key{record}"


def _function_as_a_value(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `s.forall(x => P)`, `s.iter().all(|x| P)` and `s.map(lambda x: e)`."""
    arrow = re.search(rf"({PATH})(?:\.\w+\(\))?\.(\w+)\((?:[^()]*,)?\s*\(?(\w+)\)?\s*=?$", place.before)
    bars = re.search(rf"({PATH})(?:\.\w+\(\))?\.(\w+)\((?:[^()]*,)?\s*$", place.before)
    name = re.match(r"\|\s*&?(\w+)\s*\|", place.here)
    if arrow is not None and re.match(r"[=-]?>", place.here):
        called, bound = arrow, arrow[3]
    elif bars is not None and name is not None:
        called, bound = bars, name[1]
    else:
        return None
    collection = re.sub(r"\.(?:into_)?iter$", "", called[1])
    ours = _OF_ALL.get(called[2].lower(), _OF_ANY).replace("$", collection).replace("@", bound)
    return place.says("a function is no value in this language", f"write {ours}")


def _comprehension(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `all(P for x in S)`, `[x for x in S if P]` and `{x for x in S if P}`."""
    if place.found == "if" and re.search(r"\{[^{}]*\bfor\s+\w+\s+in\s+[^{}]*$", place.before):
        return place.says("unexpected `if`", "write `where` before a condition: `{x in S where P}`")
    in_a_set = re.search(r"(?::=|[=(,+&-]|\b(?:in|require|and|or|not))\s*\{[^{}:]*$", place.before)
    if in_a_set and re.match(r":\s*\w+\s*(?:\\in|in|<-)(?!\w)", place.here):
        return place.says("unexpected `:`", "write `{e for x in S}`")
    binder = re.match(rf"for\s+(\w+)\s+in\s+({PATH})\s*(if\b)?", place.here)
    if binder is None:
        return None
    called = re.search(r"\b(all|any|max|min)\(\s*([^()]*?)\s*$", place.before)
    if called is not None:
        ours = (
            _COMPREHENDED[called[1]].replace("@", binder[1]).replace("$", binder[2]).replace("%", called[2])
        )
        ours = ours.replace(". ", " where …. ") if binder[3] else ours
        return place.says("a function does not bind a name", f"write {ours}")
    listed = re.search(r"\[\s*([^\[\]]*?)\s*$", place.before)
    if listed is None:
        return None
    where = " where …" if binder[3] else ""
    made = (
        f"{binder[1]} in {binder[2]}"
        if where and listed[1] == binder[1]
        else f"{listed[1]} for {binder[1]} in {binder[2]}"
    )
    return place.says("there is no sequence of what is made of each", f"write a set: `{{{made}{where}}}`")


def _temporal_operator(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `[]p`, `<>p`, `[]<>p`, `always p` and `eventually p` in a property."""
    if re.search(rf"{_PROPERTY}.*(?:[:(]|\s)\[\]\s*$", place.before):
        if place.here.startswith("<>"):
            return place.says(
                "`[]<>` is not an operator of this language", "write `always eventually NAME: q`"
            )
        return place.says("`[]` is not an operator of this language", f"leave it out: {_IN_EVERY_STATE}")
    if place.here.startswith("<>") and re.search(_OPERAND_FOLLOWS, place.before):
        return place.says("`<>` is not an operator of this language", f"declare {_IN_RUNS}")
    word = re.search(rf"{_PROPERTY}.*:\s*(always|eventually)\s+$", place.before)
    if word is None:
        return None
    help_ = f"leave it out: {_IN_EVERY_STATE}" if word[1] == "always" else f"declare {_IN_RUNS}"
    return SyntaxMistake(f"`{word[1]}` is not an operator of this language", help_, place.before_it(word, 1))


def _leads_to(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `p ~> q` in an invariant, and for `leadsto n: p -> q`."""
    if (
        re.match(r"[-=]>", place.here)
        and re.search(r"^\s*leadsto\b", place.before)
        and "~>" in place.expected
    ):
        return place.says(
            f"unexpected `{place.here[:2]}`", "write `~>` between what is followed and what follows"
        )
    if place.here.startswith("~>"):
        return place.says("`~>` is not an operator inside a condition", "declare `leadsto NAME: p ~> q`")
    return None


def _single_quotes(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `'a'`, and for `x' > x` in a property."""
    if not place.here.startswith("'"):
        return None
    if re.search(_OPERAND_FOLLOWS, place.before) and re.match(r"'[^'\n]*'", place.here):
        return place.says("a quoted text is no value", "the members of an enum are names, without quotes")
    if re.search(_PROPERTY, place.before):
        help_ = "write a `step`: there `x` is the value after the step, and `old(x)` the one before"
        return place.says("`'` is not an operator of this language", help_)
    return None


def _number_of_members(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `#s > 0`."""
    of = re.match(rf"#({PATH})", place.here)
    if of is None or re.search(_OPERAND_FOLLOWS, place.before) is None or place.before.rstrip()[-1:] == "{":
        return None
    return place.says("`#` is not an operator of this language", f"write `size({of[1]})`")


def _equivalence(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `p <=> q`, `p <-> q` and `p iff q`, whose first signs may be read already as ours."""
    late = f"{place.before[-2:]:>2}{place.here}"
    sign = re.match(r"(?:<[=-]>|iff\b)", place.here) or re.match(r"<=>|.<->", late)
    if sign is None:
        return None
    return place.says(f"`{sign[0].strip()[-3:]}` is not an operator of this language", "write `(p) == (q)`")


def _word_of_tla(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `IF c THEN …`, `LET x == e IN …`: the words are read as names."""
    word = re.search(rf"\b({'|'.join(_TLA_WORDS)})\s", place.before)
    if word is None:
        return None
    return SyntaxMistake(
        f"`{word[1]}` is not a word of this language", _TLA_WORDS[word[1]], place.before_it(word, 1)
    )


def _angle_brackets(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `<<1, 2>>`."""
    if not place.here.startswith("<<"):
        return None
    return place.says(
        "`<<` is not a bracket of this language", "write `[a, b]` for a sequence, `(a, b)` for a tuple"
    )


def _comment(place: ErrorPlace) -> SyntaxMistake | None:
    r"""The message for `(* one *)` and `\* one`."""
    if re.match(r"\\\*|\(\*", place.here) or (place.before.endswith("(") and place.here.startswith("*")):
        return place.says(
            "this does not begin a comment", "write `//`: a comment goes to the end of its line"
        )
    return None


def _slice_with_a_colon(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `log[1:]`, `log[:1]` and `log[1:2]`."""
    begun = re.search(rf"({PATH})\[\s*([\w.+-]*)\s*$", place.before)
    ended = re.match(r":\s*([\w.+-]*)\s*\]", place.here)
    if begun is None or ended is None or not begun[2] + ended[1]:
        return None
    of, first, end = begun[1], begun[2], ended[1]
    ours = of + (f"[..{end}]" if end else "") + (f"[{first}..]" if first else "")
    return place.says("`:` does not cut a sequence", f"write `{ours}`")


def _choice_of_python(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `a if p else b`."""
    if place.found != "else":
        return None
    choice = re.search(r"=\s*([^=;{}]+?)\s+if\s+([^;{}]+?)\s*$", place.before)
    if choice is None:
        return None
    return place.says("unexpected `else`", f"write `if {choice[2]} then {choice[1]} else …`")


def _record_in_braces(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `Pair { of: n }` and `Pair(of: n)`."""
    name = re.search(rf"{_OPERAND_FOLLOWS[:-1]}([A-Z]\w*)\s*$", place.before)
    field = re.match(r"\{\s*(\w+)\s*[:=]", place.here)
    if name is not None and field is not None:
        return place.says("a record is written with parentheses", f"write `{name[1]}({field[1]} = …)`")
    argument = re.search(r"\b([A-Z]\w*)\((?:[^()]*,)?\s*(\w+)\s*$", place.before)
    if argument is None or place.found != ":" or ")" not in place.expected:
        return None
    return place.says("`:` does not give a field its value", f"write `{argument[1]}({argument[2]} = …)`")


def _for_all(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `for all n: Node. P`."""
    words = re.search(r"\b(for)\s+$", place.before)
    if words is None or place.found not in {"all", "each", "every"}:
        return None
    at = place.from_it(words.start(1), len(place.found))
    return SyntaxMistake(f"unexpected `{place.found}`", "write `forall`, one word", at)


def _sign_of_rust(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `lead?.x`, `lead!.x`, `vec![…]`, `assert!(…)`, `&n`, `0..=n` and `n !in s`."""
    option = re.search(rf"({PATH})\s*$", place.before)
    part = re.match(r"([?!])\.(\w+)", place.here)
    if option is not None and part is not None:
        help_ = f"test it first (`{option[1]} != none and …`), or write `the({option[1]}).{part[2]}`"
        return place.says(f"`{part[1]}.` is not an operator of this language", help_)
    macro = re.search(r"\b(vec|assert)$", place.before)
    if macro is not None and place.here.startswith("!"):
        ours = "`[…]`" if macro[1] == "vec" else "`assert NAME: e`"
        return place.says(f"`{macro[1]}!` is not a word of this language", f"write {ours}")
    if re.match(r"&\s*\w", place.here) and re.search(_OPERAND_FOLLOWS, place.before):
        return place.says("`&` is not an operator of one value", "leave it out: a value is no reference")
    if place.here.startswith("=") and place.before.endswith(".."):
        return place.says("`..=` is not an operator of this language", "write `..`, which has both ends")
    if re.match(r"!\s*in\b", place.here):
        return place.says("`!in` is not an operator of this language", "write `not in`")
    return None


def _names_of_a_quantifier(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `forall n. P`, `exists t > 0`, `forall n: T, P` and `forall n: T { P }`."""
    found = re.search(r"\b(forall|exists|sum|argmax|argmin)\b([^.]*?)(\w+)\s*$", place.before)
    if found is None or place.found == "," or found[3] in {"forall", "exists"}:
        return None
    if place.found == "{" and "where" in place.expected:
        return place.says(
            "`{` does not end the list of bound names", "write a dot and a space: `forall x in S. P`"
        )
    if place.expected != {":", "in"}:
        return None
    if "," in found[2] and place.found == ".":
        help_ = "write a dot and a space where it ends: `forall x in S. P`"
        return place.says("after a comma another bound name follows", help_)
    help_ = f"write `{found[1]} {found[3]}: T. …` of a type, or `{found[1]} {found[3]} in S. …` of a set"
    return SyntaxMistake(f"`{found[3]}` has no type and no set", help_, place.before_it(found, 3))


def _some_or_no_members(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `some s` and `no s`."""
    word = re.search(r"\b(some|no)\s+$", place.before)
    of = re.match(PATH, place.here)
    if word is None or of is None:
        return None
    help_ = f"write `{of[0]} {'!=' if word[1] == 'some' else '=='} {{}}`"
    return SyntaxMistake(f"`{word[1]}` is not a word of this language", help_, place.before_it(word, 1))


def _bar_after_let(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `let x = e | P`."""
    if place.found != "|" or re.search(r"\blet\s+\w+\s*=[^.|;{}]*$", place.before) is None:
        return None
    return place.says("`|` does not end a `let`", "write a dot and a space: `let x = e. …`")


def _fraction(place: ErrorPlace) -> SyntaxMistake | None:
    """The message for `0.5`."""
    if re.match(r"\.\d", place.here) is None or re.search(r"(?<![\w.])\d+$", place.before) is None:
        return None
    if re.search(r"\brates\b", place.before):
        return None
    return place.says("numbers are whole", "count in smaller parts: `5` of tenths for 0.5")


IN_EXPRESSIONS: tuple[Callable[[ErrorPlace], SyntaxMistake | None], ...] = (
    _map_of_pairs,
    _type_before_a_member,
    _function_as_a_value,
    _comprehension,
    _temporal_operator,
    _leads_to,
    _single_quotes,
    _number_of_members,
    _equivalence,
    _comment,
    _word_of_tla,
    _angle_brackets,
    _slice_with_a_colon,
    _choice_of_python,
    _record_in_braces,
    _for_all,
    _sign_of_rust,
    _names_of_a_quantifier,
    _some_or_no_members,
    _bar_after_let,
    _fraction,
)
