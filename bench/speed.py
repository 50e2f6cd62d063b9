"""Every kind of question beside an engine that knows no privacy, on the path that users take: `import equipoise` and the command line, with defaults and
all checks. One table: CPU seconds of ours and of the yardstick in the same run, their ratio, and the ratio of an earlier version.

speed.py EQUIPOISE [--json] [--rows N] [--rounds N] [--only WORDS,..]   (bench/run speed builds what it needs)
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")
# The ratios that were measured when the list of slow questions was made, on another machine: a ratio compares with a ratio.
BEFORE = {
    "mean, memory": 49, "mean, Parquet": 2.9, "variance, memory": 32, "summary, memory": 2.2, "mean in a range, memory": 1.8,
    "histogram of 50 texts, memory": 7.3, "histogram of int32, memory": 35, "mean by 10,000 groups, memory": 15,
    "histogram of 1,000,000 keys, memory": 7, "mean by 1,000,000 groups, memory": 9, "median, CSV": 1.2, "mean, CSV": 2.7, "count with a filter, CSV": 1.7,
    "sparse vector": 14, "linear regression from blocks": 65, "median, memory": 0.14,
}


def cpu(work):
    """CPU seconds of all threads of this process and of the children that ended."""
    begin = time.process_time() + sum(os.times()[2:4])
    work()
    return time.process_time() + sum(os.times()[2:4]) - begin


def program(*words):
    return lambda: subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def cases(equipoise, folder, rows):
    """Name, ours, the yardstick and what it is called. Data is made once and shared."""
    import duckdb
    import numpy as np
    import polars as pl
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    import equipoise as eq

    rng = np.random.default_rng(1)
    salary = np.round(45_000 * np.exp(0.6 * rng.standard_normal(rows)), 2)
    town = rng.integers(0, 50, rows)
    names = np.array([f"town {n:02}" for n in range(50)])
    many, most = rng.integers(0, 10_000, rows), rng.integers(0, 1_000_000, rows)
    texts = pa.array(names[town])
    table = pa.table({"salary": salary, "town": texts, "many": many, "most": most})
    frame = pl.from_arrow(table)
    parquet, comma = f"{folder}/rows.parquet", f"{folder}/rows.csv"
    pa.parquet.write_table(table, parquet)
    pa.csv.write_csv(table.select(["salary", "town"]), comma)
    con = duckdb.connect()
    con.register("rows", table)

    def sql(query):
        return lambda: con.sql(query).fetchall()

    def cli(*words):
        ledger = ["--ledger", f"{folder}/{len(os.listdir(folder))}-{time.monotonic_ns()}.ledger"]
        return program(equipoise, *words, "--epsilon", "1", "--json", *ledger)

    def other(code):
        return program(sys.executable, "-c", code)

    keys = {"epsilon": 1, "delta": 1e-9}
    duck = f"import duckdb; duckdb.sql('SET enable_progress_bar = false'); duckdb.sql(\"SELECT %s FROM '{parquet}'\").fetchall()"
    polar = f"import polars as pl; pl.scan_csv('{comma}').%s.collect()"
    # The rows of Polars' times include its import, and those of DuckDB its import, as ours include the start of a process.
    yield "median, memory", lambda: eq.median(salary, epsilon=1), lambda: np.median(salary), "numpy"
    yield "mean, memory", lambda: eq.mean(salary, epsilon=1), sql("SELECT avg(salary) FROM rows"), "DuckDB"
    yield "mean in a range, memory", lambda: eq.mean(salary, epsilon=1, range=(0, 200_000)), lambda: np.clip(salary, 0, 200_000).mean(), "numpy, clipped"
    yield "variance, memory", lambda: eq.variance(salary, epsilon=1), sql("SELECT var_pop(salary) FROM rows"), "DuckDB"
    yield "summary, memory", lambda: eq.summary(salary, epsilon=1), lambda: frame["salary"].describe(), "Polars"
    yield "mean, Parquet", cli("mean", parquet, "salary"), other(duck % "avg(salary)"), "DuckDB"
    yield "std, Parquet", cli("std", parquet, "salary"), other(duck % "stddev_pop(salary)"), "DuckDB"
    yield "median, Parquet", cli("median", parquet, "salary"), other(duck % "median(salary)"), "DuckDB"
    yield "median, CSV", cli("median", comma, "salary"), other(polar % "select(pl.col('salary').median())"), "Polars"
    yield "mean, CSV", cli("mean", comma, "salary"), other(polar % "select(pl.col('salary').mean())"), "Polars"
    yield "count with a filter, CSV", cli("count", comma, "--where", "salary > 60000"), other(polar % "filter(pl.col('salary') > 60000).select(pl.len())"), "Polars"
    yield "histogram of 50 texts, memory", lambda: eq.histogram(texts, **keys), lambda: frame.group_by("town").len(), "Polars"
    few = town.astype(np.int32)
    yield "histogram of int32, memory", lambda: eq.histogram(few, **keys), lambda: np.unique(few, return_counts=True), "numpy"
    encoded = texts.dictionary_encode()
    yield "histogram of a dictionary, memory", lambda: eq.histogram(encoded, **keys), lambda: pl.Series(encoded).value_counts(), "Polars"
    by = "SELECT {0}, {1} FROM rows GROUP BY {0}"
    yield "mean by 10,000 groups, memory", lambda: eq.mean(table, "salary", group_by="many", **keys), sql(by.format("many", "avg(salary)")), "DuckDB"
    yield "median by 10,000 groups, memory", lambda: eq.median(table, "salary", group_by="many", **keys), sql(by.format("many", "median(salary)")), "DuckDB"
    yield "histogram of 1,000,000 keys, memory", lambda: eq.histogram(table, "most", **keys), sql(by.format("most", "count(*)")), "DuckDB"
    yield "mean by 1,000,000 groups, memory", lambda: eq.mean(table, "salary", group_by="most", **keys), sql(by.format("most", "avg(salary)")), "DuckDB"
    small = salary[:5000].copy()
    for epsilon in ("1", "0.1", "0.01", "0.001"):
        yield f"median of 5,000 rows at epsilon {epsilon}", lambda epsilon=epsilon: eq.median(small, epsilon=epsilon), None, ""
        yield f"mean of 5,000 rows at epsilon {epsilon}", lambda epsilon=epsilon: eq.mean(small, epsilon=epsilon), None, ""
    stream = rng.normal(0, 10, 1_000_000)

    def theirs():
        threshold = 10_000 + rng.laplace(0, 2)
        return np.argmax(stream + rng.laplace(0, 4, len(stream)) > threshold)

    yield "sparse vector", lambda: eq.AboveThreshold(epsilon=1, threshold=10_000, resolution=0.001).answer(stream), theirs, "numpy"
    from sklearn.linear_model import LinearRegression

    features = rng.standard_normal((100_000, 10))
    target = features @ np.arange(10) + rng.standard_normal(100_000)
    from equipoise.sklearn import Private

    yield "linear regression from blocks", lambda: Private(LinearRegression(), epsilon=1, delta=1e-6, mechanism="blocks").fit(features, target), lambda: LinearRegression().fit(features, target), "plain fit"
    items = f"{folder}/items"
    with open(items, "w") as lines:
        lines.writelines(f"{n}\n" for n in rng.integers(0, 1000, 20_000))

    def follow():
        with open(items) as lines:
            subprocess.run([equipoise, "robust", "f2"], stdin=lines, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    yield "20,000 lines of robust f2", follow, None, ""


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("equipoise")
    flags.add_argument("--rows", type=int, default=10**7)
    flags.add_argument("--rounds", type=int, default=3)
    flags.add_argument("--only", default="")
    flags.add_argument("--json", action="store_true")
    said = flags.parse_args()
    warnings.simplefilter("ignore")
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for name, ours, theirs, yardstick in cases(said.equipoise, folder, said.rows):
            if said.only and not any(word in name for word in said.only.split(",")):
                continue
            try:
                both = [(cpu(ours), cpu(theirs) if theirs else None) for _ in range(said.rounds)]
            except Exception as problem:  # one question that cannot be asked must not hide the others
                print(f"{name}: {type(problem).__name__}: {problem}", file=sys.stderr)
                continue
            mine = statistics.median(one for one, _ in both)
            other = statistics.median(one for _, one in both) if theirs else None
            found.append({"question": name, "ours": mine, "yardstick": yardstick, "theirs": other,
                          "ratio": mine / other if other else None, "before": BEFORE.get(name)})
            if not said.json:
                one = found[-1]
                against = f"{other:9.4f} {mine / other:7.2f}" if other else f"{'':>17}"
                print(f"{name:<40} {mine:9.4f} {against} {one['before'] or '':>7}  {yardstick}", flush=True)
    if said.json:
        print(json.dumps({"rows": said.rows, "rounds": said.rounds, "unit": "CPU seconds", "questions": found}, indent=1))


if __name__ == "__main__":
    main()
