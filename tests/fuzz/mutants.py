"""Wrong changes of our own engines, each with what is to find it: `python -m tests.fuzz.mutants`.

They are the test of the tests: a change that nothing finds says where a test is missing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from tests.fuzz.__main__ import say
from tests.fuzz.mutants_of_spark import OF_SPARK

ROOT = Path(__file__).parents[2]
PACKAGES = ("spec", "counterexamples", "modelcheck", "spark_explore")
COPIED = (*PACKAGES, "tests", "tools", "pyproject.toml")
MODELS = 400  # that a change may stay hidden in
SECONDS = 600


@dataclass(frozen=True)
class Mutant:
    """A wrong change: what is wrong, in which file, which text it replaces by which, and what looks for it.

    `by` is a look of the fuzzer at models, or a test.
    """

    what: str
    file: str
    old: str
    new: str
    by: str


PLAIN, TWO, RESUMED, BMC = "explicit, 1 thread", "explicit, 2 threads", "explicit, resumed", "bmc"
SYMMETRIC, LAST, REPRESENTATIVES = "explicit, symmetry", "last layer", "representatives"
DISK, DISK_RESUMED, ON_DISK = "disk", "disk, resumed", "modelcheck/explicit/disk"
QUEUES, COMMUTING = "partial order, queues", "tests/modelcheck/test_partial_order.py"
FAIR_RUNS = "tests/modelcheck/test_liveness.py"
EXPLICIT, AGREEMENT = "modelcheck/explicit", "tests/conformance/test_engines.py"
CODEGEN = f"{EXPLICIT}/codegen"
STATES, PUT_IN_ORDER = f"{CODEGEN}/states", "tests/modelcheck/explicit/test_representatives.py"
SAMPLING, SAMPLER = f"{CODEGEN}/search/sampling.py", "tests/modelcheck/explicit/test_sampler.py"
OPERATORS = "tests/conformance/test_operators.py"
UNBOUNDED = "modelcheck/symbolic/unbounded"
EDGES = "tests/by_the_manual/test_by_the_manual.py"
ORDINALS = "tests/modelcheck/test_ordinals.py --all -k not(protocols)"
MUTANTS = (
    Mutant("one bit too few for a value", f"{CODEGEN}/values/packing.py", "return (count - 1).bit_length()",
           "return max(count - 2, 0).bit_length()", PLAIN),
    Mutant("a map without room for its last key", f"{CODEGEN}/values/packing.py",
           "return self.of.width * self.count", "return self.of.width * max(self.count - 1, 1)", PLAIN),
    Mutant("a fault wakes what waits for it", f"{CODEGEN}/search/insertion.py",
           "fn.fork(fn.and_(waits, fn.not_(by_fault)), wakes, done)", "fn.fork(waits, wakes, done)", PLAIN),
    Mutant("one fault more than the budget leads nowhere new", f"{CODEGEN}/search/questions.py",
           "fn.leave_if(fn.not_(there), yes)", "_ = there", PLAIN),
    Mutant("ways back: beyond the scope and within it are swapped", f"{CODEGEN}/search/questions.py",
           "if mark == BEYOND:", "if mark == FINE:", PLAIN),
    Mutant("a mark of the state before: something went on", f"{CODEGEN}/search/expansion.py",
           'fn.write("%ctx", i64(0), WENT)', 'fn.read("%ctx", WENT)', PLAIN),
    Mutant("the wrong number of a successor", f"{CODEGEN}/search/expansion.py",
           'fn.write("%ctx", fn.add(ordinal, i64(1)), ORDINAL)',
           'fn.write("%ctx", fn.add(ordinal, i64(2)), ORDINAL)', PLAIN),
    Mutant("a cut step is not counted", f"{CODEGEN}/search/steps.py",
           "        if not self.probe:\n            self._count(self.context.cut",
           "        if self.probe:\n            self._count(self.context.cut", PLAIN),
    Mutant("one fault of a kind too many", f"{CODEGEN}/search/steps.py",
           "return fn.at_most(most, spent)", "return fn.less(most, spent)", PLAIN),
    Mutant("a broken assert stays broken", f"{CODEGEN}/search/steps.py",
           "            fn.store(cell, FALSE)", "            fn.store(cell, fn.load(cell))", PLAIN),
    Mutant("what one choice has changed, the next one finds", f"{CODEGEN}/search/steps.py",
           "            saved.copy_to(self.after)", "            _ = saved", PLAIN),
    Mutant("the members of two rounds are mixed", f"{CODEGEN}/search/steps.py",
           "self.scene.slots.update(slots)", "_ = slots", f"{AGREEMENT} -k choice_in_rounds"),
    Mutant("a range ends one later", f"{CODEGEN}/expressions/fitting.py", "inside if most <= hi else",
           "inside if most <= hi + 1 else", PLAIN),
    Mutant("a bound is one higher", f"{CODEGEN}/expressions/fitting.py",
           "fn.less(i64(self.scope.limit(name)), live.v)",
           "fn.less(i64(self.scope.limit(name) + 1), live.v)", PLAIN),
    Mutant("a cut hides an error beside it", f"{CODEGEN}/expressions/fitting.py",
           "for bound in FitLimit:", "for bound in reversed(FitLimit):", f"{AGREEMENT} -k error_beside"),
    Mutant("a cut hides an error beside it, of solvers", "modelcheck/grounding/fits.py",
           "    env.error(terms, terms.any(found.errors))\n    env.cut(terms, terms.any(found.cuts))\n",
           "    env.cut(terms, terms.any(found.cuts))\n    env.error(terms, terms.any(found.errors))\n",
           f"{AGREEMENT} -k error_beside"),
    Mutant("a sequence may be one longer", f"{CODEGEN}/expressions/fitting.py",
           "self._leave_if_both(here, self.fn.less(i64(most), size(self.fn, live).v), to)",
           "self._leave_if_both(here, self.fn.less(i64(most + 1), size(self.fn, live).v), to)", PLAIN),
    Mutant("one renaming is not tried", f"{CODEGEN}/states/canonical.py",
           "for chosen in product(*(permutations(range(size)) for size in sizes.values())):",
           "for chosen in [*product(*(permutations(range(size)) for size in sizes.values()))][1:]:",
           SYMMETRIC),
    Mutant("members with one key are in no order", f"{CODEGEN}/states/canonical.py",
           "found = fn.and_(found, fn.up_to(keys[name][one], keys[name][two]))",
           "found = fn.and_(found, fn.below(keys[name][one], keys[name][two]))", SYMMETRIC),
    Mutant("the key of the first member is that of the second", f"{CODEGEN}/states/signatures.py",
           "parts = [*self._of_own(sort, member, state)]",
           "parts = [*self._of_own(sort, max(member, 1), state)]",
           SYMMETRIC),
    Mutant("the keys of a map keep their names", f"{CODEGEN}/states/renamer.py",
           "offset_of(fn, packing, i64(index) if moves is None else moves.numbers[index])",
           "offset_of(fn, packing, i64(index))", SYMMETRIC),
    Mutant("members with one signature are taken in one order", f"{STATES}/canonical.py",
           "if not is_exact:", "if False:", REPRESENTATIVES),
    Mutant("all that is said of members is taken for exact", f"{STATES}/signatures.py",
           "is_exact = local and _fit(parts[0]) and all(each.exact for each in parts[0])", "is_exact = True",
           REPRESENTATIVES),
    Mutant("pairs in a set relate no members", "modelcheck/search/symmetry.py",
           "return _named(inner, sorts) < 2", "return True", f"{PUT_IN_ORDER} -k related"),
    Mutant("what a member has in a map relates no members", "modelcheck/search/symmetry.py",
           "return not _named(inner, sorts)", "return True", f"{PUT_IN_ORDER} -k related"),
    Mutant("all members with one signature are alike", f"{STATES}/canonical.py",
           "same = fn.and_(same, fn.eq(mine, other))", "_ = mine, other", REPRESENTATIVES),
    Mutant("a signature that knows the number of its member", f"{STATES}/signatures.py",
           "yield Feature(fn.resize(fn.eq(live.v, i64(self.member)), WORD), 1)",
           "yield Feature(fn.resize(fn.below(live.v, i64(self.member)), WORD), 1)", REPRESENTATIVES),
    Mutant("no member of a sort is the first", f"{STATES}/signatures.py",
           "yield from self._if(there, self.at(some(fn, live, packed), inner, own=own))",
           "yield from self.at(some(fn, live, packed), inner, own=own)", REPRESENTATIVES),
    Mutant("a signature by the order of another sort's members", f"{STATES}/signatures.py",
           "elif self.by.names_none(key):", "elif True:", REPRESENTATIVES),
    Mutant("what a set says of a member is said of the first", f"{STATES}/signatures.py",
           "exchange = exchanged(size, 0, look.member)", "exchange = exchanged(size, 0, 0)", REPRESENTATIVES),
    Mutant("the last order of members is not tried", f"{STATES}/arranging.py",
           "with fn.loop(size, i64(1)) as place:", "with fn.loop(size, i64(2)) as place:", REPRESENTATIVES),
    Mutant("orders go on among members with other signatures", f"{STATES}/arranging.py",
           "return fn.and_(fn.eq(first, second), lower)", "return fn.or_(fn.eq(first, second), lower)",
           REPRESENTATIVES),
    Mutant("what is behind a place does not ascend again", f"{STATES}/arranging.py",
           "    _sort_from(fn, order, kinds, fn.add(turned, i64(1)))\n", "", REPRESENTATIVES),
    Mutant("members that are alike are not put together", f"{STATES}/arranging.py",
           "    _sort_from(fn, order, kinds, i64(0))\n", "", REPRESENTATIVES),
    Mutant("members with one signature are alike, by definition", "modelcheck/search/symmetry.py",
           "if self._renamed(state, ((name, exchanged(size, group[0], member)),)) == state:", "if True:",
           REPRESENTATIVES),
    Mutant("the wrong side of a difference", f"{CODEGEN}/values/sets.py",
           "return Live(both, fn.and_(x, fn.not_(y)))", "return Live(both, fn.and_(y, fn.not_(x)))", PLAIN),
    Mutant("a set has a member twice", f"{CODEGEN}/values/members.py",
           "return more if packing.repeated else Live(packing, fn.select(found, live.v, more.v))",
           "return more", f"{AGREEMENT} -k wide_members"),
    Mutant("the cases of a union share the bits of a mask", f"{CODEGEN}/values/members.py",
           "                before += places_without_gaps(case)\n", "", f"{AGREEMENT} -k one_union"),
    Mutant("for all is there is", f"{CODEGEN}/expressions/quantifiers.py",
           "hit = fn.and_(passes, body if exists else fn.not_(body))", "hit = fn.and_(passes, body)", PLAIN),
    Mutant("a tie is no error", f"{CODEGEN}/expressions/quantifiers.py",
           "        wrong = fn.or_(wrong, fn.load(tied))", "        pass", PLAIN),
    Mutant("a part of a level that is left begins where it began", f"{EXPLICIT}/search/rounds.py",
           "parts.append((shard, first + done, count - done))", "parts.append((shard, first, count - done))",
           "tests/modelcheck/explicit/test_explicit.py -k room_for"),
    Mutant("the depth of what a fault leads to", f"{EXPLICIT}/search/rounds.py",
           "self.seeds.append((at.depth + 1, self.space.waiting()))",
           "self.seeds.append((at.depth, self.space.waiting()))", PLAIN),
    Mutant("cut steps: free ones and faults are swapped", f"{EXPLICIT}/search/tally.py",
           "sum(cut[0::2]), sum(cut[1::2])", "sum(cut[1::2]), sum(cut[0::2])", PLAIN),
    Mutant("the first run found is taken for the best", "modelcheck/search/finds.py",
           "if name not in self.best or find.cost < self.best[name].cost:",
           "if name not in self.best:", f"{AGREEMENT} -k cheaper_later"),
    Mutant("two threads count as one", f"{EXPLICIT}/search/tally.py",
           "self.words[place] = sum(worker.context[place] for worker in workers)",
           "self.words[place] = max(worker.context[place] for worker in workers)", TWO),
    Mutant("a checkpoint forgets what waits", f"{EXPLICIT}/search/checkpoint.py",
           '"seeds": [[depth, list(counts)] for depth, counts in search.seeds],', '"seeds": [],', RESUMED),
    Mutant("a checkpoint swaps two sums", f"{EXPLICIT}/search/checkpoint.py",
           '"so_far": list(search.sums),', '"so_far": list(search.sums[::-1]),', RESUMED),
    Mutant("only the newest run is looked up", f"{ON_DISK}/levels.py",
           "subtracted(self.arrays, pieces, self.seen, self.helpers)",
           "subtracted(self.arrays, pieces, self.seen[-1:], self.helpers)", DISK),
    Mutant("what is in two sources is merged twice", f"{CODEGEN}/search/sorted_states.py",
           "fn.select(less, i64(0), width)", "fn.select(first, i64(0), width)", DISK),
    Mutant("the sorted states are in the other place", f"{ON_DISK}/runs.py",
           "(other if is_other else states)", "(states if is_other else other)", DISK),
    Mutant("on disk, what waits enters a step late", f"{ON_DISK}/levels.py",
           "self.due.append((depth, due))", "self.due.append((depth + 1, due))", DISK),
    Mutant("on disk, some of what waits is lost", f"{ON_DISK}/levels.py",
           "for depth, run in self.due:", "for depth, run in self.due[1:]:", DISK),
    Mutant("where memory is full, what waits is lost", f"{ON_DISK}/levels.py",
           "in ((False, self._apart), (True, self._due_apart)):", "in ((False, self._apart),):", DISK),
    Mutant("the first state of a block is looked up in the block before", f"{ON_DISK}/runs.py",
           "max(0, bisect_right(self.firsts,", "max(0, -1 + bisect_right(self.firsts,", DISK),
    Mutant("runs are joined without one of them", f"{ON_DISK}/levels.py",
           "for run in self.seen[-2:]]", "for run in self.seen[-1:]]", DISK),
    Mutant("the end of a longer source is not merged", f"{ON_DISK}/merging.py",
           "                yield from source\n", "", DISK),
    Mutant("on disk, a find is in a state of the first block", f"{ON_DISK}/levels.py",
           "(address, HERE | first)", "(address, HERE)", DISK),
    Mutant("no run on disk is found back to a fault", f"{ON_DISK}/ways.py",
           "depth, by_fault=True)", "depth, by_fault=False)", DISK),
    Mutant("on disk, one more fault adds nothing", f"{ON_DISK}/levels.py",
           "        return self._has_unseen()\n", "        return False\n", DISK),
    Mutant("a checkpoint on disk forgets what waits", f"{ON_DISK}/search.py",
           '"due": due(whole.due),', '"due": [],', DISK_RESUMED),
    Mutant("a checkpoint on disk swaps two sums", f"{ON_DISK}/search.py",
           '"so_far": whole.sums,', '"so_far": whole.sums[::-1],', DISK_RESUMED),
    Mutant("a search on disk keeps the counts of a level that is not whole", f"{ON_DISK}/search.py",
           "self.tally.restore(whole.counts,", "self.tally.restore(self.tally.as_words(),", DISK_RESUMED),
    Mutant("questions with and without a way back share code", f"{EXPLICIT}/native/kernel.py",
           "own = (recoverable(task), of_fair_runs(task))", "own = (of_fair_runs(task),)", "family"),
    Mutant("questions with and without fair runs share code", f"{EXPLICIT}/native/kernel.py",
           "own = (recoverable(task), of_fair_runs(task))", "own = (recoverable(task),)", "family"),
    Mutant("a config that varies is read as what is asked for", f"{CODEGEN}/expressions/parameters.py",
           "packing(self._types[expr.name], scope, unions)", "packing(expr.type, scope, unions)", "family"),
    Mutant("a strong promise is taken for a weak one", f"{EXPLICIT}/search/endless.py",
           "self.frame[WEAK], self.frame[STRONG] = self.weak, self.strong",
           "self.weak, self.strong = self.frame[WEAK], self.frame[STRONG] = self.weak | self.strong, 0",
           f"{FAIR_RUNS} -k strong"),
    Mutant("a weak promise is taken for a strong one", f"{EXPLICIT}/search/endless.py",
           "self.frame[WEAK], self.frame[STRONG] = self.weak, self.strong",
           "self.weak, self.strong = self.frame[WEAK], self.frame[STRONG] = 0, self.weak | self.strong",
           f"{FAIR_RUNS} -k weak_fairness"),
    Mutant("one state without a way back to it is a circle", f"{CODEGEN}/search/graphs.py",
           "        put(fn, part, root, i64(0))\n",
           "        put(fn, circle, root, label)\n"
           '        fn.write("%frame", fn.add(fn.read("%frame", IN_CIRCLES), i64(1)), IN_CIRCLES)\n',
           f"{FAIR_RUNS} -k strong"),
    Mutant("what is left of a component is not looked at again", f"{CODEGEN}/search/graphs.py",
           "goes_on = fn.and_(stays, fn.not_(keeps))", "goes_on = FALSE", f"{FAIR_RUNS} -k strong"),
    Mutant("a fair step beyond the scope is not possible", f"{CODEGEN}/search/liveness.py",
           "fn.write(possible, fn.or_(fn.load(inside), fn.load(cut)), number)",
           "fn.write(possible, fn.load(inside), number)", PLAIN),
    Mutant("what is true now and then is stable", f"{CODEGEN}/search/claims.py",
           "UNSERVED if is_passed else 0", "0", FAIR_RUNS),
    Mutant("who waits meets no fault", f"{CODEGEN}/search/liveness.py",
           'fn.leave_if(fn.not_(V(1, "%paid")), on)', "fn.leave_if(const(1, 1), on)",
           f"{FAIR_RUNS} -k waiting"),
    Mutant("the last state that leads to another is its predecessor", "modelcheck/search/interpreted.py",
           "self._seeds.setdefault(key, here.number)", "self._seeds[key] = here.number", PLAIN),
    Mutant("a fault costs nothing", "modelcheck/search/interpreted.py",
           "place = Place(faults + 1, after, here.number, step.step, step.state)",
           "place = Place(faults, after, here.number, step.step, step.state)", PLAIN),
    Mutant("one fault more than the budget breaks nothing", "modelcheck/search/interpreted.py",
           "if probe.best or probe.error:", "if probe.error:", f"{AGREEMENT} -k broken_beyond"),
    Mutant("a map under a renaming", "spec/model/renaming.py",
           "moved[new] = value[old] if one is None", "moved[old] = value[old] if one is None", "orbits"),
    Mutant("members that look alike are taken in one order", "modelcheck/search/symmetry.py",
           "for arranged in product(*map(_orders, tied)):",
           "for arranged in [tuple(sum(groups, ()) for groups in tied)]:",
           "orbits"),
    Mutant("a signature that knows the name", "modelcheck/search/symmetry.py",
           "0 if value is None else 1 if value == member else 2",
           "0 if value is None else 2 if value <= member else 1", "orbits"),
    Mutant("a `for` whose order can be seen", "spec/model/interchangeable.py",
           "if both := sorted(written & read):", "if both := []:",
           "tests/modelcheck/test_interchangeable.py"),
    Mutant("a quantifier stops early and hides an error", "spec/meaning/evaluate.py",
           "return some if to_the_end else first", "return first", f"{AGREEMENT} -k natural"),
    Mutant("a range without its last number", "spec/meaning/evaluate.py",
           "return lambda frame: range(first(frame), last(frame) + 1)",
           "return lambda frame: range(first(frame), last(frame))", PLAIN),
    Mutant("a guard that said no is taken for the next one", "spec/meaning/semantics.py",
           "refused.add((self.action.name, index))", "refused.add((self.action.name, index + 1))", PLAIN),
    Mutant("what comes after a cut is done", "spec/meaning/execute.py",
           "        if frame[ENDED] is None:\n            try:\n                do(frame)",
           "        if True:\n            try:\n                do(frame)", PLAIN),
    Mutant("a solver may have one fault more", "modelcheck/symbolic/bounded.py",
           "limits.append(self._runs.at_most(self._faults[name], most - (name == then)))",
           "limits.append(self._runs.at_most(self._faults[name], most + 1))",
           "tests/modelcheck/symbolic/test_bounded.py -k than_the_budget"),
    Mutant("a solver is not asked about errors", "modelcheck/symbolic/bounded.py",
           "        if self._errors:\n            erring", "        if False:\n            erring", BMC),
    Mutant("names that a step has distinguished still change", "modelcheck/symbolic/renaming.py",
           "self._apart[n] = runs.named(runs.either([self._apart[n], runs.last_step(swap.rules)]))",
           "_ = self._apart[n]", "tests/modelcheck/symbolic/test_bounded.py -k told_apart"),
    Mutant("the sides of a branch are swapped", "modelcheck/grounding/steps.py",
           "state = [shapes.ite(test, x, y)", "state = [shapes.ite(test, y, x)", BMC),
    Mutant("a proof where a run goes on", "modelcheck/symbolic/finite/induction.py",
           "if not self._asks(self._base):", "if self._asks(self._base):", "induction"),
    Mutant("a run that has come to a start goes on", "modelcheck/symbolic/finite/ic3.py",
           "if frames.is_initial(predecessor.cube):", "if False:", "ic3"),
    Mutant("a proof need not be true at the start", f"{UNBOUNDED}/obligations.py",
           "if claim.kind in INVARIANTS:\n                found.append(",
           "if False:\n                found.append(",
           "tests/modelcheck/symbolic/test_unbounded.py -k false_at_the_start"),
    Mutant("a proof does not know of faults", f"{UNBOUNDED}/engine.py", "task.budget.actions(task.model))",
           "tuple(a for a in task.model.actions if not a.is_fault))",
           "tests/modelcheck/symbolic/test_unbounded.py -k rules_out"),
    Mutant("sets that are as large as all together share a member", f"{UNBOUNDED}/theory.py",
           "many = less(self.all_of(one.of.name), add(*sizes))",
           "many = at_most(self.all_of(one.of.name), add(*sizes))",
           "tests/modelcheck/symbolic/test_unbounded_assumed.py -k two_halves"),
    Mutant("infinite sets have a greatest member", f"{UNBOUNDED}/theory.py",
           "if finite is not None and any(", "if finite is None and any(",
           "tests/modelcheck/symbolic/test_unbounded_assumed.py -k without_end"),
    Mutant("a claim is proved of the state before a step", f"{UNBOUNDED}/obligations.py",
           "return self._says(claim, SmtEnv(env.state, {}, before, (name, args)))",
           "return self._says(claim, SmtEnv(before, {}, before, (name, args)))",
           "tests/fuzz/test_fuzz.py -k change_that_breaks"),
    Mutant("a certificate chooses its claims", f"{UNBOUNDED}/certificate.py",
           "        if prop.name not in names:", "        if False:",
           "tests/modelcheck/symbolic/test_certificates.py -k tampered"),
    Mutant("what is longer begins with what is shorter", f"{CODEGEN}/expressions/operations.py",
           "return truth(fn.and_(fits, fn.eq(fn.and_(x, kept), y)))",
           "return truth(fn.eq(fn.and_(x, kept), fn.and_(y, kept)))", f"{OPERATORS} -k starts_with"),
    Mutant("the last entry but one, of solvers", "modelcheck/grounding/expressions.py",
           "return shapes.pick(row.length, row.slots, 1) if row.slots else shapes.nothing(expr.type)",
           "return shapes.pick(row.length, row.slots, 2) if row.slots else shapes.nothing(expr.type)",
           f"{OPERATORS} -k last"),
    Mutant("a prefix may be longer, to TLC", "modelcheck/export/tla/library.py",
           "StartsWith(s, t) == Len(t) <= Len(s) /\\ SubSeq(s, 1, Len(t)) = t",
           "StartsWith(s, t) == SubSeq(s, 1, IF Len(t) < Len(s) THEN Len(t) ELSE Len(s)) = s",
           f"{OPERATORS} -k tlc"),
    Mutant("TLC starts to count at one", "modelcheck/export/tla/module.py",
           '"{words.sets[nat.name]} == 0..{most}"', '"{words.sets[nat.name]} == 1..{most}"', "tlc"),
    Mutant("rumur begins in one state alone", "modelcheck/export/murphi.py",
           "for n, start in enumerate(made.starts):", "for n, start in enumerate(made.starts[:1]):", "rumur"),
    Mutant("the members of an enum are in the order of their names", "spec/elaboration/names.py",
           "enum = t.Enum(name, tuple(dict.fromkeys(m.text for m in members)))",
           "enum = t.Enum(name, tuple(sorted({m.text for m in members})))", "other names"),
    Mutant("an editor does not rename what declares a name", "spec/editing/renaming.py",
           "        if meant & homes:\n            found",
           "        if meant & homes and at != home[1]:\n            found",
           "other names, by an editor"),
    Mutant("the last action of a text never happens", "spec/model/ir.py",
           "return tuple(action.name for action in self.actions if not action.is_fault)",
           "return tuple(action.name for action in self.actions[:-1] if not action.is_fault)",
           "another order"),
    Mutant("a variant adds no guard", "spec/elaboration/variants.py",
           "body=(*action.body[:head], guard, *action.body[head:])", "body=action.body", "variant"),
    Mutant("the checks of an imported file count", "spec/imports.py",
           "for each in parse(base).items if isinstance(each, s.CheckDecl)]",
           "for each in parse(base).items if isinstance(each, s.VariantDecl)]", "import"),
    Mutant("a bound that is typed is that of a nat", "modelcheck/asking/overrides.py",
           "networks[name] = _number(option, text, 0, LARGEST_NAT)",
           "nats[name] = _number(option, text, 0, LARGEST_NAT)", "settings"),
    Mutant("what is taken away needs no parentheses", "spec/formatting/expressions.py",
           "_operand(part, binds + (number > 0), op,", "_operand(part, binds, op,", "layout"),
    Mutant("a tuple is read from its end", "counterexamples/itf/decode.py",
           'return tuple(_inside("#tup", decode, found["#tup"]))',
           'return tuple(_inside("#tup", decode, found["#tup"]))[::-1]', "trace files"),
    Mutant("states keep the names of members", "modelcheck/search/first_names.py",
           "return tuple(self._value(variable.type, value) for variable, value in pairs)", "return state",
           "runs in another order"),
    Mutant("a fault changes places with what needs it", "counterexamples/reorder.py",
           "return between if between is not None and self._after(between, first) == end else None",
           "return between", "runs in another order"),
    Mutant("the first step of a run always stays", "modelcheck/diagnosis/shrink.py",
           "lambda trace: range(len(trace.steps))", "lambda trace: range(1, len(trace.steps))", "shrink"),
    Mutant("the first part of a run is not left out", "modelcheck/diagnosis/rerun.py",
           "for end in range(len(numbers), 0, -size):", "for end in range(len(numbers), size, -size):",
           "core"),
    Mutant("the ways to go wrong stand as they were found", "modelcheck/diagnosis/distinct/search.py",
           "runs = sorted((run for run, _ in self._kept), key=lambda run: (run.faults, len(run.steps)))",
           "runs = [run for run, _ in self._kept][::-1]", "distinct"),
    Mutant("random runs have faults beyond the budget", "modelcheck/search/simulate.py",
           "if self._faults != self.budget.total:", "if self._faults >= 0:", "simulate"),
    Mutant("compiled runs: faults beyond the budget", SAMPLING, "may_fail if step.action.is_fault else",
           "const(1, 1) if step.action.is_fault else", "simulate"),
    Mutant("compiled runs: one fault too many", SAMPLING, 'may_fail = fn.below(self._get(fn, "faults")',
           'may_fail = fn.up_to(self._get(fn, "faults")', "simulate"),
    Mutant("compiled runs: faults are not counted", SAMPLING,
           'self._put(fn, "faults", fn.add(self._get(fn, "faults"), by_fault))', "_ = by_fault", "simulate"),
    Mutant("compiled runs: choices are not in the order of the definition", SAMPLING,
           "in_order: ClassVar[bool] = True", "in_order: ClassVar[bool] = False",
           f"{SAMPLER} -k order_of_the_definition"),
    Mutant("compiled runs: the step before the one that was drawn", SAMPLING,
           "fn.fork(fn.below(drawn, fn.read(weighed, now)), found, on)",
           "fn.fork(fn.up_to(drawn, fn.read(weighed, now)), found, on)", "simulate"),
    Mutant("compiled runs: always the first step of an action", SAMPLING,
           "fn.mul(place, i64(8 * self.entry))", "fn.mul(place, i64(0))", "simulate"),
    Mutant("compiled runs: one is added to each weight", f"{EXPLICIT}/sampler.py",
           "wish.weights.get(name, 1)", "1 + wish.weights.get(name, 0)", f"{SAMPLER} -k weights"),
    Mutant("compiled runs: a deadlock is passed over", SAMPLING,
           "fn.goto(self._look)\n        fn.begin(goes_on)", "fn.goto(goes_on)\n        fn.begin(goes_on)",
           "simulate"),
    Mutant("compiled runs: a broken step is passed over", SAMPLING,
           "fn.leave_if(fn.ne(untouched, i64(NOWHERE)), self._look)", "_ = untouched", "simulate"),
    Mutant("compiled runs: an error of a property is passed over", SAMPLING,
           'fn.or_(self._get(fn, "wanted"), i64(ERROR_BIT))', 'self._get(fn, "wanted")',
           f"{SAMPLER} -k what_a_run_decides"),
    Mutant("compiled runs: cut steps are counted again after each run", SAMPLING,
           'fn.write("%ctx", i64(0), place)', "_ = place", f"{SAMPLER} -k limit_of_states"),
    Mutant("compiled runs: the first initial state begins all", SAMPLING,
           'self._below(fn, self._get(fn, "start_count"))', "self._below(fn, i64(1))",
           f"{SAMPLER} -k several_states"),
    Mutant("compiled runs: what was looked at is counted there too", f"{EXPLICIT}/sampler.py",
           "        ctypes.memset(self._own, 0, ctypes.sizeof(self._own))\n", "", "simulate"),
    Mutant("a way out may go through what is wrong", "modelcheck/diagnosis/futures.py",
           "reach.sources_of({*reach.unseen, *(self._bad & reach.numbers.keys())})",
           "{*reach.unseen, *self._bad}", "no return"),
    Mutant("a guard that some action never asks is needless", "modelcheck/asking/necessity/search.py",
           "return not all(a in idle or _is_unrefused(part, asked.model, a, stands) for a in actions)",
           "return False", "necessity"),
    Mutant("a fault has one event for all of its parameters", "modelcheck/asking/rates/chain.py",
           "found.setdefault((step.step.action, step.step.args), set())",
           "found.setdefault((step.step.action, ()), set())", "rates"),
    Mutant("all points of a sweep have the value of the first", "modelcheck/asking/sweep.py",
           "for each, value in zip(axes, values, strict=True):\n        if each.name in switches",
           "for each, value in ((a, a.values[0]) for a in axes):\n        if each.name in switches", "sweep"),
    Mutant("a page takes a broken property for the next one", f"{EXPLICIT}/wasm/records.py",
           "fn.shl(breaks, i64(number + 1))", "fn.shl(breaks, i64(number + 2))", "play"),
    Mutant("a table says of no state that nothing can happen", "modelcheck/answers/precomputed.py",
           "return YES if self._deadlock is not None and self._truth(self._deadlock, state) == NO else NO",
           "return NO", "play, table"),
    # what all engines share, so that no comparison between them can tell
    Mutant("greater or equal is greater", "spec/elaboration/operations.py",
           '">": Op.LT, ">=": Op.LE}', '">": Op.LT, ">=": Op.LT}', "manual"),
    Mutant("implies goes from right to left", "spec/elaboration/operations.py",
           "return ir.Implies(*parts, type", "return ir.Implies(*parts[::-1], type", "manual"),
    Mutant("the first of a queue overtakes itself", "spec/elaboration/networks.py",
           'first = one if fault == "reorder" else', 'first = one if fault == "drop" else', "manual"),
    Mutant("the copy of a message comes last", "spec/elaboration/networks.py",
           "(twice, tail)", "(ir.Apply(Op.CONCAT, (head, tail), type=channel.type, span=span), alone)",
           f"{EDGES} -k fifo"),
    Mutant("a wipe puts back what is durable", "spec/elaboration/statements.py",
           'if var.storage == "volatile" and var.init is not None',
           'if var.storage == "durable" and var.init is not None', "manual"),
    Mutant("a member is read again after each field that is put back", "spec/elaboration/statements.py",
           "        member = self._once(member, made)\n", "", f"{EDGES} -k wiped"),
    Mutant("what is flushed stays so when a log is rewritten", "spec/elaboration/statements.py",
           "(flushed, kept), type=count", "(flushed, flushed), type=count", "manual"),
    Mutant("a power loss keeps everything", "spec/elaboration/statements.py",
           "(self._read(_flushed(var), path, span), size)", "(size, size)", "manual"),
    Mutant("a variant leaves a field stored as it was", "spec/elaboration/variants.py",
           "return replace(var, storage=change.storage)", "return var", f"{EDGES} -k variants"),
    Mutant("a budget by kind allows the kinds that it leaves out", "spec/model/ir.py",
           "self.kinds.get(fault, 0) != 0", "self.kinds.get(fault, 1) != 0", "manual"),
    Mutant("one fault more than the budget is not tried", "modelcheck/search/layers.py",
           "or not self.task.faults or not self._leads_elsewhere()", "or bool(self.task.faults)", "manual"),
    Mutant("the value of an option is not in use", f"{CODEGEN}/states/in_use.py",
           "return self._if(fn.is_set(live.v), some(fn, live, packed), inner)", "return i64(0)", ORDINALS),
    Mutant("members of a set are not in use", f"{CODEGEN}/states/in_use.py",
           "return fn.resize(live.v, 64)", "return i64(0)", ORDINALS),
    Mutant("fields of a message are not in use", f"{CODEGEN}/states/in_use.py",
           "word = self._any(self.in_(part, inner) for part, inner in pairs)", "word = i64(0)", ORDINALS),
    Mutant("entries of a sequence are not in use", f"{CODEGEN}/states/in_use.py",
           "count = length(fn, live)", "count = i64(0)", ORDINALS),
    Mutant("the rank of a value is one too high", f"{CODEGEN}/states/renamer.py",
           "below = fn.sub(fn.shl(i64(1), number), i64(1))", "below = fn.shl(i64(1), number)", ORDINALS),
    Mutant("no step leaves a gap", f"{CODEGEN}/search/steps.py",
           'return "emit" if gaps or not scope.unbounded', 'return "emit" if not scope.unbounded', ORDINALS),
    Mutant("a step that makes a value leaves no gap", "spec/model/values_in_use.py",
           "    return made or any(", "    return any(", ORDINALS),
    Mutant("what is added to another place drops nothing", "spec/model/values_in_use.py",
           "return _place_of(old) != (statement.var, _path_of(statement.path))", "return False", ORDINALS),
    Mutant("x + 1 of any value is a new one", f"{CODEGEN}/expressions/expressions.py",
           "at.fn.leave_if(at.fn.at_most(found.v, most), at.error)", "_ = most", ORDINALS),
    Mutant("by definition, x + 1 of any value is a new one", "spec/meaning/evaluate.py",
           "if made <= greatest:", "if made < 0:", ORDINALS),
    Mutant("0 is squeezed like other values", "spec/meaning/ranks.py",
           "values = sorted({0, *in_use(state)})", "values = sorted({*in_use(state)} or {0})", ORDINALS),
    Mutant("a search without room for all values is believed", "modelcheck/engines/room.py",
           "while not found.end.partial and _lacks_room(task, found)",
           "while not found.end.partial and not task", ORDINALS),
    Mutant("two more than a value is a new one too", "spec/model/ordinals.py",
           "len(ones) != 1 or not _is_one(ones[0])", "len(ones) != 1", ORDINALS),
    Mutant("the last layer forgets what a guard reads", "spec/model/influence.py",
           "read = [*asked, *(expr for action in actions for expr in expressions_before(action))]",
           "read = [*asked]", LAST),
    Mutant("the last layer forgets what is asked", "spec/model/influence.py",
           "read = [*asked, *(expr", "read = [*(expr", LAST),
    Mutant("the last layer forgets what conditions read", "spec/model/influence.py",
           "read += [expr for each in statements for expr in _always_read(each, total)]", "read += []", LAST),
    Mutant("the last layer forgets what becomes the value of what counts", "spec/model/influence.py",
           "found |= more", "break", LAST),
    Mutant("the last layer forgets what decides whether a step is cut", "spec/model/influence.py",
           "if not (isinstance(statement, Assign) and _is_stored(last, total)):",
           "if not isinstance(statement, Assign):", LAST),
    Mutant("all layers after the first forget", "modelcheck/search/forgotten.py",
           "return task.forgets and 0 < faults == task.budget.total",
           "return task.forgets and 0 < faults", LAST),
    Mutant("what a fault leads to forgets in every layer", f"{CODEGEN}/search/expansion.py",
           "fn.below(i64(1), fn.add(before, by_fault))",
           "fn.below(i64(0), fn.add(before, by_fault))", LAST),
    Mutant("the code forgets nothing", f"{CODEGEN}/states/layout.py",
           "return ~(lost >> WORD * word) & (1 << WORD) - 1",
           "return (lost | ~lost) & (1 << WORD) - 1", LAST),
    Mutant("a run looks for states with all they have", f"{EXPLICIT}/search/runs.py",
           "last = is_last(self.task, faults + (found.step.action in self.task.faults))",
           "last = False", LAST),
    Mutant("a state that has forgotten says that more faults add nothing", "modelcheck/search/layers.py",
           "if self.forgotten and is_last(self.task, faults):",
           "if self.forgotten and not self.task:", LAST),
    Mutant("a way back is asked of states that have forgotten", "modelcheck/search/forgotten.py",
           "PropertyKind.STEP, PropertyKind.ASSERT}",
           "PropertyKind.STEP, PropertyKind.ASSERT, PropertyKind.RECOVERABLE}", LAST),
    # which steps are left for later
    Mutant("steps are left for later for ever", "modelcheck/search/interpreted.py",
           "return enough if is_later else successors", "return enough", QUEUES),
    Mutant("what a property reads may change later", "modelcheck/search/persistent.py",
           "shown = self.visible & changing | self.named", "shown = self.named", QUEUES),
    Mutant("a fault is no step that may come first", "modelcheck/search/persistent.py",
           "if with_faults and more & self.faults:", "if with_faults and more & self.faults & 0:", QUEUES),
    Mutant("what has no step stays so by itself", "modelcheck/search/persistent.py",
           "found |= self.enabling[group][part]", "found |= 0", QUEUES),
    Mutant("no other binding of parameters comes up", "modelcheck/search/persistent.py",
           "found = self.entering[group] if self.is_open[group] or not failed else 0",
           "found = 0", QUEUES),
    Mutant("what is written twice is written in any order", "modelcheck/search/persistent.py",
           "if (a.kind not in CHANGES and b.kind not in CHANGES) or not a.meets(b):",
           "if (a.kind not in CHANGES or b.kind in CHANGES) or not a.meets(b):", QUEUES),
    Mutant("two append in any order", "modelcheck/search/persistent.py",
           "if a.kind is b.kind is AccessKind.ADD:",
           "if a.kind is b.kind and a.kind in (AccessKind.ADD, AccessKind.APPEND):", QUEUES),
    Mutant("a part of an element is not of it", "modelcheck/search/accesses.py",
           "return self.var == other.var and all(",
           "return self.var == other.var and len(self.keys) == len(other.keys) and all(", COMMUTING),
    Mutant("a key that is not known is another one", "modelcheck/search/accesses.py",
           "a is None or b is None or a == b", "a == b", COMMUTING),
    Mutant("whoever receives takes the first message", "modelcheck/search/accesses.py",
           "if not heads or self.assigned.count(statement.var)", "if self.assigned.count(statement.var)",
           COMMUTING),
    Mutant("guards read nothing", "modelcheck/search/accesses.py",
           "            head.append(frozenset(self.reader.reads(expr, known)))",
           "            head.append(frozenset())", QUEUES),
    Mutant("a full queue is like any other", "modelcheck/search/accesses.py",
           "return isinstance(of, Seq) and of.limit is not None and isinstance(of.limit.of, str)",
           "return isinstance(of, Seq)", COMMUTING),
    Mutant("the last layer is believed of one more fault", "modelcheck/search/layers.py",
           "if self.task.partial_order and self.task.faults and faults == self.budget.total:",
           "if self.task.partial_order and self.task.faults and faults == -1:", COMMUTING),
    *(Mutant(*each) for each in OF_SPARK),
)  # fmt: skip


def command(by: str) -> list[str]:
    """What looks for a change."""
    if by.startswith("tests/"):
        return [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *by.split()]
    words = [sys.executable, "-m", "tests.fuzz", "--models", str(MODELS), "--first", "--only", by]
    return [*words, "--with", by, f"--{by}-every", "1"] if by in {"tlc", "spin", "rumur"} else words


def finds(by: str, mutant: Mutant | None = None) -> tuple[bool, str]:
    """Whether something is found in a copy of the tree, with a wrong change or without; and what."""
    with TemporaryDirectory() as folder:
        place = Path(folder) / "tree"
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / name, place / name)
        if mutant is not None:
            path = place / mutant.file
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        env = os.environ | {"MODELCHECK_CACHE": f"{folder}/kernels", "PYTHONPATH": str(place)}
        run = partial(subprocess.run, cwd=place, env=env, capture_output=True, text=True, timeout=SECONDS)
        try:
            done = run(command(by), check=False)
        except subprocess.TimeoutExpired:
            return False, f"nothing in {SECONDS} seconds"
    if done.returncode not in {0, 1}:
        return False, f"it did not work: {(done.stderr or done.stdout).strip()[-300:]}"
    lines = [line for line in done.stdout.splitlines() if line.startswith(("== ", "FAILED"))]
    if done.returncode == 1 and not lines:
        return False, f"it did not work: {(done.stderr or done.stdout).strip()[-300:]}"
    return done.returncode == 1, lines[0].removeprefix("== ") if lines else ""


@cache
def is_clean(by: str) -> bool:
    """Whether nothing is found where nothing was changed."""
    return not finds(by)[0]


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code: 0 where all changes are found, and nothing where there is none."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.mutants", description=__doc__)
    parser.add_argument("numbers", nargs="*", type=int, help="only these (all)")
    chosen = parser.parse_args(argv).numbers or range(1, len(MUTANTS) + 1)
    missed = 0
    for number in chosen:
        mutant, began = MUTANTS[number - 1], monotonic()
        found, what = finds(mutant.by, mutant)
        seconds = monotonic() - began
        clean = is_clean(mutant.by)
        missed += not (found and clean)
        said = "found" if found and clean else "MISSED" if not found else "not clean without it"
        say(f"{number:>2}  {said:<7} {seconds:>4.0f} s  {mutant.what} ({mutant.file}) by {mutant.by}: {what}")
    say(f"{len(chosen) - missed} of {len(chosen)} found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
