"""Subsample and aggregate on Spark: the block of a person is a keyed hash, blocks are made and functions run where the rows lie, and votes come back.

The key is drawn after the charge. For every key a person's rows lie in one block, so that one person changes as many votes as for rows here. Each block is
voted on once, those that nobody is in too, and all rows with a name lie in some block: what does not add up is asked for once more and then lost.
"""

from __future__ import annotations

import functools
import json
from typing import Any, NamedTuple

from .. import __version__, _equipoise
from .._columns import quietly
from .._declared import declared
from .._errors import DataError, LostError, RequestError
from .._subsample import COUNTED, Asked, reader
from .._workers import clock
from .cells import ibis, refusal
from .engine import TooLate
from .rows import canonical
from .spark import SparkEngine
from .table import ElsewhereTable, elsewhere
from .voting import BLOCK, ROW, Voter, is_there, packed

_LOST = "the data could not be read to the end; the charge stands and the answer is lost"
_HASH = "equipoise_hash"
_RESULT = "block long, rows long, vote string"
#: The columns of ours that stand beside those of the table.
_OWN = (BLOCK, ROW, _HASH, "equipoise_id")


class Dealt(NamedTuple):
    """People in blocks: whoever has the key knows the block of each."""

    key: str
    blocks: int


class AskedElsewhere(Asked):
    """Functions and a table in Spark whose rows they get in blocks."""

    def _take(self, data: Any, unit: Any) -> None:
        table = data if isinstance(data, ElsewhereTable) else elsewhere(data)
        if not isinstance(table.engine, SparkEngine):
            raise DataError(f"blocks are made where rows lie in Spark alone, and these lie in {table.engine.called}; give a Spark DataFrame, or rows here")
        if not isinstance(unit, str):
            raise RequestError("rows in Spark are dealt by the person whose they are; name the column of persons with unit=")
        self._engine: SparkEngine = table.engine.fresh()  # type: ignore[assignment]
        quietly(lambda: self._check(table.names, unit), "the table is of a kind of which no blocks can be made; give another")
        self.person, self.rows, self.people = unit, 0, None

    def _check(self, names: list[str], unit: str) -> None:
        """Refuse, by the schema alone, what blocks cannot be made of."""
        import pandas  # noqa: F401 blocks are its tables, here as there
        from .._blocks_arrow import check

        schema = self._engine.table.schema()
        told = [name for name in names if name.lower() in _OWN]
        if told:
            raise RequestError(f"blocks need the name '{_equipoise.shown(told[0])}' themselves, which a column has; rename it in the table")
        if str(self._engine.session.conf.get("spark.sql.caseSensitive")).lower() != "true" and len({name.lower() for name in names}) != len(names):
            raise RequestError("two columns have one name but for large and small letters, which are one name to Spark; rename one in the table")
        if names.count(unit) != 1:
            raise RequestError(f"no column is called '{_equipoise.shown(unit)}'. There are: {', '.join(map(_equipoise.shown, names[:8]))}")
        why = refusal(schema[unit], "text", only_there=False)
        if why is not None:
            raise DataError(f"the column '{_equipoise.shown(unit)}' {why}; cast it in the table, and ask about that")
        for field in schema.to_pyarrow():
            check(field.type, field.name)
        declared(self.types, names)

    def work(self, *, n_jobs: int | None, time_limit: float | None, progress: bool, show_output: bool) -> None:
        """How the functions are run."""
        if n_jobs is not None:
            raise RequestError("n_jobs is for rows here: Spark runs as many blocks side by side as it has cores; leave it out")
        if show_output:
            raise RequestError("show_output is for functions that run here: what they print on executors is not shown; leave it out")
        self._time_limit, self._progress = time_limit, progress
        self._packed: dict[tuple[int, str], bytes] = {}

    def words(self, said: dict[str, Any], **more: Any) -> dict[str, Any]:
        if said["mechanism"] in COUNTED or said["rate"] is not None or said["size"] is not None:
            raise RequestError("samples that share rows are drawn of rows here; leave out mechanism=, rate= and size=, so that each person is in one block")
        words = super().words(said, **more)
        answering = [one for several in self.analyses.values() for one in several] if self.then is not None else self.functions
        choosing = self.functions if self.then is not None else []
        for one, output in [*((one, "label") for one in choosing), *((one, words["output"]) for one in answering)]:
            self._packed[id(one), output] = quietly(
                functools.partial(packed, one, reader(output)),
                "the function cannot be handed to executors; let it hold nothing that cannot be pickled",
                RequestError,
            )
        self._try()
        return words

    def _try(self) -> None:
        """Have executors read the functions on no data at all, before anything is charged."""
        there = is_there(list(self._packed.values()))

        def tried() -> list[str]:
            rows = self._engine.session.range(1).groupBy("id").applyInArrow(there, "there string")
            return [str(row["there"]) for row in rows.collect()]

        try:
            found = self._engine._timed(lambda: self._engine.tagged(tried))
        except (RuntimeError, TooLate):
            found = []
        if found != [__version__]:
            raise RequestError(
                f"the executors cannot run the function; install equipoise {__version__} with pandas on them, and let the function hold and "
                "import only what they have"
            )

    def settings(self, request_id: str | None, time_limit: float | None) -> list[str]:
        return [*super().settings(request_id, time_limit), f"table={self._engine.called}"]

    def deal(self, ballot: _equipoise.Ballot) -> Any:
        """A key, after the charge."""
        return Dealt(ballot.key(), int(json.loads(ballot.summary)["blocks"]))

    def votes(self, functions: list[Any], dealt: Any, output: str) -> list[Any]:
        voter = Voter(tuple(self._packed[id(one), output] for one in functions), self.types, dealt.key, self._time_limit)
        with clock(self._progress):
            for _ in range(2):
                try:
                    votes = self._engine._timed(lambda: self._engine.tagged(lambda: self._run(voter, dealt)))
                except TooLate:
                    break
                except RuntimeError:
                    continue
                except BaseException:
                    self._engine.cancel()
                    raise
                if votes is not None:
                    return list(votes)
        raise LostError(_LOST)

    def _run(self, voter: Voter, dealt: Dealt) -> list[Any] | None:
        """The votes of all blocks; nothing where they do not add up."""
        people = self._people(dealt.key)
        expected = int(people.count().to_pyarrow().as_py())
        of_block = f"cast(conv({_HASH}, 16, 10) as bigint) % {dealt.blocks} as {BLOCK}"
        frame = self._engine.frame(people)
        kept = [f"`{name.replace('`', '``')}`" for name in frame.columns if name != _HASH]
        frame = frame.selectExpr(*kept, of_block, f"true as {ROW}")
        # Blocks that nobody is in are voted on too, as they are here.
        every = self._engine.session.range(dealt.blocks).selectExpr(f"id as {BLOCK}", f"false as {ROW}")
        frame = frame.unionByName(every, allowMissingColumns=True)

        def vote(table: Any) -> Any:
            return voter.vote(table)

        found = frame.groupBy(BLOCK).applyInArrow(vote, _RESULT).collect()
        votes = {int(row["block"]): row["vote"] for row in found}
        counted = sum(int(row["rows"]) for row in found)
        if len(found) != dealt.blocks or sorted(votes) != list(range(dealt.blocks)) or counted != expected:
            return None
        return [None if votes[place] is None else json.loads(votes[place]) for place in range(dealt.blocks)]

    def _people(self, key: str) -> Any:
        """The rows that somebody's name stands in, with a hash of that name: 60 bits as hexadecimal digits."""
        table = self._engine.table
        assert self.person is not None
        rows = table.mutate(equipoise_id=canonical(self._engine, table[self.person]))
        rows = rows.filter(rows.equipoise_id.notnull())
        digits = self._engine.sha256(ibis().literal(key) + rows.equipoise_id).substr(0, 15)
        return rows.select(*table.columns, **{_HASH: digits})
