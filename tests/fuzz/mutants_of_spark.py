"""Wrong changes of what Spark is asked: questions as tables, and states as columns; see `mutants.py`."""

from __future__ import annotations

TABLE, ASKERS = "spark_explore/questions", "tests/spark_explore/test_askers.py"
COLUMNS = "spark_explore/columns.py"
UNPACKED = "tests/spark_explore/test_tables.py -k (every_type)or(wherever)or(asked_for)"
OF_SPARK = (
    ("questions have one key", f"{TABLE}/answered.py", "repr(each.key)", "repr(None)", ASKERS),
    ("each row is a question of its own", f"{TABLE}/answered.py", "repr(each.key)",
           "repr((row, each.key))", ASKERS),
    ("a row of a question that is known has none", f"{TABLE}/answered.py",
           "                    found.append(", "                    question and found.append(", ASKERS),
    ("the first row that asks has no question", f"{TABLE}/answered.py",
           "question = None if key in sent", "question = None if not sent", ASKERS),
    ("what is wrong with a row ends its task", f"{TABLE}/answered.py",
           "        yield TableQuestion((PROBLEM, told), NoQuestion(told), {})", "        raise", ASKERS),
    ("the answer of a question that cannot be asked has no problem", f"{TABLE}/answered.py",
           "yield {PROBLEM: question.problem}", "yield {}", ASKERS),
    ("checks of other faults are one question", f"{TABLE}/of_models.py", "check.budget, ", "", ASKERS),
    ("a check has the name of the model", f"{TABLE}/of_models.py", '"check": check.name',
           '"check": model.name', ASKERS),
    ("a cluster has the brokers that its files show", f"{TABLE}/of_kafka.py",
           "*map(values.get, GIVEN)", "*map(values.get, GIVEN[:2]), None", ASKERS),
    ("any number of faults is survived where one is", f"{TABLE}/of_kafka.py",
           '"survives_any": answer.survived is None', '"survives_any": answer.survived is not None', ASKERS),
    ("a value across two words is cut", COLUMNS, "if shift + width > WORD:", "if False:", UNPACKED),
    ("a value anywhere across two words is cut", COLUMNS, "if per_row > 1:", "if False:", UNPACKED),
    ("a number begins at 0", COLUMNS, ".astype(np.int64) + packing.lo)", ".astype(np.int64))",
           UNPACKED),
    ("an option has the value one later", COLUMNS, "own[:, word] -= borrows", "pass", UNPACKED),
    ("an option borrows from every word", COLUMNS, "borrows * (own[:, word] == 0)", "borrows",
           UNPACKED),
    ("the cases of a union share their tag", COLUMNS, "np.flatnonzero(tags == ordinal)",
           "np.flatnonzero(tags >= ordinal)", UNPACKED),
    ("a map has its keys the other way round", COLUMNS, "np.array(packing.offsets, np.int64)",
           "np.array(packing.offsets[::-1], np.int64)", UNPACKED),
    ("a sequence begins with its second element", COLUMNS, "(np.arange(ends[-1]) - ends[rows])",
           "(np.arange(ends[-1]) - ends[rows] + 1)", UNPACKED),
    ("a set is read from its last member", COLUMNS, 'bitorder="little"', 'bitorder="big"', UNPACKED),
    ("what is scattered is at its neighbour", COLUMNS,
           "where[at], there[at] = np.arange(len(at)), True",
           "where[at], there[at] = np.arange(len(at))[::-1], True", UNPACKED),
    ("every column is unpacked", "spark_explore/tables.py",
           "pa.schema([here.schema.field(name) for name in names])", "here.schema", UNPACKED),
    ("a column has the bits of the first", "spark_explore/tables.py",
           "column.array(PackedCodes(part, offset))", "column.array(PackedCodes(part, 0))", UNPACKED),
)  # fmt: skip
