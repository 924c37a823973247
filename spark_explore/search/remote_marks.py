"""What runs on executors while ways back are looked for: mark goals; ask, answer and mark in one job.

A task of the first and the last stage has a part, which is some shards one after the other;
one of the stage between them has a shard.  NOTE(once) applies here too.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from zlib import crc32

from spark_explore.search.marks import (
    ALONE,
    Aim,
    Lookout,
    MarkedBlock,
    Marks,
    answers,
    dealt,
    entry_size,
    goals,
    marked,
    marks_from_json,
    put,
    tally,
)
from spark_explore.search.remote import SENT, Batches, SparkWorker, answered, numbers, sent, spark_worker
from spark_explore.storage.pieces import Damaged, FilePiece, blocks, of_shard, piece_from_json
from spark_explore.storage.run import left_name, marks_name, unsealed
from spark_explore.storage.sorted_pieces import SortedPiece, count_states
from spec.frozen import frozen

Part = tuple[int, int]  # the first shard, and the one after the last
Named = tuple[int, str]  # a level, and the file with the places of its marks
Asked = tuple[int, list[Any] | None, bytes]  # questions of a part: where they are, or themselves


@frozen
class MarkReader:
    """Reads the states and marks of some shards."""

    here: SparkWorker
    part: Part

    def states(self, level: int) -> list[SortedPiece]:
        """The pieces with the states of a level."""
        own = self.here.level(level)
        return [piece for shard in range(*self.part) for piece in own.of_shard(shard)]

    def marks(self, named: Named) -> list[FilePiece]:
        """The pieces with the marks of a level."""
        store, (_, name) = self.here.store, named
        own = marks_from_json(unsealed(name, store.read(name))["marks"]).pieces
        return [piece for shard in range(*self.part) for piece in of_shard(own, shard, ALONE)]

    def with_marks(self, levels: Iterable[Named]) -> Iterator[MarkedBlock]:
        """Blocks of the levels' states with their marks."""
        for named in levels:
            states, marks = self.states(named[0]), self.marks(named)
            yield from marked(self.here.states, states, marks)

    def kept(self, levels: Iterable[int], aim: Aim, marks: bytes | bytearray) -> list[list[Any]]:
        """Write the marks of levels to one file; their descriptions as JSON data. Raises OSError."""
        name, start, data = marks_name(aim.which), 0, list[list[Any]]()
        for level in levels:
            own = self.here.level(level)
            counts = [count_states(own.of_shard(shard)) for shard in range(*self.part)]
            found = marks[start : start + sum(counts)]
            piece = FilePiece(name, start, self.part[0], tuple(counts), crc32(found))
            data.append(Marks((piece,) if found else (), *tally(found)).as_json())
            start += len(found)
        if start:
            self.here.store.put(name, [bytes(marks)])
        return data


@frozen
class Goals:
    """A Spark task: marks goals in parts, given by number, in all levels."""

    mission: Any
    parts: Sequence[Part]
    levels: int
    aim: Aim

    def __call__(self, batches: Batches) -> Batches:
        """A row for each part."""
        here = spark_worker(self.mission.value)
        yield answered([self._marked(here, number) for number in numbers(batches)])

    def _marked(self, here: SparkWorker, number: int) -> bytes:
        """The marks of one part."""
        reader, found = MarkReader(here, self.parts[number]), bytearray()
        for level in range(self.levels):
            found += goals(here.kernel, self.aim, here.states.blocks(reader.states(level)))
        data = reader.kept(range(self.levels), self.aim, found)
        return json.dumps({"part": number, "levels": data}).encode()


@frozen
class Ask:
    """A Spark task: looks one step ahead from unmarked states, and asks about the successors."""

    mission: Any
    parts: Sequence[Part]
    at: Sequence[Named]
    folder: int  # of what is left for the next stage
    aim: Aim

    def __call__(self, batches: Batches) -> Batches:
        """The questions by shard, and for each part its marks and number of questions."""
        here = spark_worker(self.mission.value)
        for number in numbers(batches):
            yield from sent(self._rows(here, number))

    def _rows(self, here: SparkWorker, number: int) -> Iterator[tuple[int, bytes | None, bytes]]:
        """The rows of one part."""
        lookout, marks, asked = Lookout(here.kernel, self.aim), bytearray(), 0
        kept, size = list[bytes](), 0
        try:
            for block, old in MarkReader(here, self.parts[number]).with_marks(self.at):
                own = bytearray(old)
                for questions in lookout.ahead(block, own, len(marks)):
                    kept.append(questions)
                    size += len(questions)
                    if size > SENT:
                        yield from self._dealt(here, number, b"".join(kept))
                        asked, kept, size = asked + size, [], 0
                marks += own
        finally:
            lookout.close()
        yield from self._dealt(here, number, b"".join(kept))
        data = {"part": number, "asked": (asked + size) // entry_size(here.kernel)}
        yield number, json.dumps(data).encode(), bytes(marks)

    def _dealt(self, here: SparkWorker, part: int, questions: bytes) -> Iterator[tuple[int, bytes, bytes]]:
        """The questions by shard, in a file or inline."""
        if not questions:
            return
        width, start = entry_size(here.kernel), 0
        block, counts = dealt(here.kernel, questions, here.shards)
        left = FilePiece(left_name(self.folder), 0, 0, counts, 0)
        if here.by_files:
            here.store.put(left.name, [block])
        for shard, count in enumerate(counts):
            own = left.of(shard, width)
            if own is not None:
                data = {"from": part, "left": own.as_json() if here.by_files else None}
                here_ = b"" if here.by_files else block[start : start + width * count]
                yield shard, json.dumps(data).encode(), here_
            start += width * count


@frozen
class AnswerQuestions:
    """A Spark task: answers for shards whether successors have a mark in `seen`.

    Rows of `Ask` that hold the marks of a part are handed on to `WriteMarks` as they are.
    """

    mission: Any
    seen: Sequence[Named]

    def __call__(self, batches: Batches) -> Batches:
        """For each block of questions a row for the part that asked.

        It has how many were read, and the numbers of the states that lead to one with a mark.
        """
        here = spark_worker(self.mission.value)
        asked: dict[int, list[Asked]] = defaultdict(list)
        for batch in batches:
            for shard, said, block in zip(*(batch.column(n).to_pylist() for n in range(3)), strict=True):
                data = json.loads(said)
                if "part" in data:
                    yield from sent(iter([(data["part"], said, block)]))
                    continue
                asked[shard].append((data["from"], data["left"], block))
        for shard in sorted(asked):
            yield from sent(self._rows(here, shard, asked.pop(shard)))

    def _rows(
        self, here: SparkWorker, shard: int, asked: Sequence[Asked]
    ) -> Iterator[tuple[int, bytes, bytes]]:
        """The answers of one shard."""
        reader, width = MarkReader(here, (shard, shard + 1)), entry_size(here.kernel)
        questions = [
            b"".join(blocks(here.store, [piece_from_json(left)], width)) if left else block
            for _, left, block in asked
        ]
        found = answers(here.kernel, here.shards, questions, reader.with_marks(self.seen))
        for (part, _, _), block, ways in zip(asked, questions, found, strict=True):
            yield part, json.dumps({"read": len(block) // width}).encode(), ways


@frozen
class WriteMarks:
    """A Spark task: writes the marks of parts, with the answers applied."""

    mission: Any
    parts: Sequence[Part]
    at: Sequence[Named]
    aim: Aim

    def __call__(self, batches: Batches) -> Batches:
        """A row for each part."""
        here = spark_worker(self.mission.value)
        own: dict[int, tuple[int, bytes]] = {}
        ways: dict[int, list[bytes]] = defaultdict(list)
        read: dict[int, int] = defaultdict(int)
        for batch in batches:
            for part, said, block in zip(*(batch.column(n).to_pylist() for n in range(3)), strict=True):
                data = json.loads(said)
                if "part" in data:
                    own[part] = data["asked"], block
                else:
                    ways[part].append(block)
                    read[part] += data["read"]
        if any(own[part][0] != read[part] for part in own) or not own.keys() >= read.keys():
            raise Damaged("not every question was answered once")
        yield answered([self._marked(here, part, own[part][1], ways[part]) for part in sorted(own)])

    def _marked(self, here: SparkWorker, part: int, old: bytes, ways: Sequence[bytes]) -> bytes:
        """The marks of one part after the answers."""
        marks = bytearray(old)
        for each in ways:
            put(here.kernel, marks, each, self.aim)
        data = MarkReader(here, self.parts[part]).kept([level for level, _ in self.at], self.aim, marks)
        return json.dumps({"part": part, "levels": data}).encode()
