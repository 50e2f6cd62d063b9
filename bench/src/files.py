"""A cold job: one median and counts of fifty departments, out of a file of ten million rows, beside DuckDB and Polars.

Each is a process of its own. Ours is the whole command line, from its start to its receipt: one batch, one scan, one charge.
DuckDB and Polars answer without privacy; the time of their queries alone, without Python and its modules, is told too, and that is what
ours is compared with. In turn, five rounds over; CPU time of all threads.

files.py EQUIPOISE [--json] [--rows N]
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile

ROUNDS = 5
CASES = [("rows.parquet", "duckdb", 1.0), ("rows.csv", "polars", 1.5), ("rows.csv", "duckdb", None)]
QUESTIONS = {
    "epsilon": "2",
    "delta": "1e-6",
    "questions": [
        {"statistic": "median", "column": "salary"},
        {"statistic": "histogram", "column": "department"},
    ],
}

DUCKDB = """
import sys, time, duckdb
duckdb.sql("SET enable_progress_bar = false")
path = sys.argv[1]
begin = time.process_time()
[(median,)] = duckdb.sql(f"SELECT median(salary) FROM '{path}'").fetchall()
counts = duckdb.sql(f"SELECT department, count(*) FROM '{path}' GROUP BY department").fetchall()
print(time.process_time() - begin, median, len(counts))
"""

POLARS = """
import sys, time, polars as pl
path = sys.argv[1]
begin = time.process_time()
rows = pl.scan_parquet(path) if path.endswith("parquet") else pl.scan_csv(path)
median, counts = pl.collect_all([rows.select(pl.col("salary").median()), rows.group_by("department").len()])
print(time.process_time() - begin, median.item(), counts.height)
"""


MAKE = """
import sys, duckdb
folder, rows = sys.argv[1:]
duckdb.sql("SET enable_progress_bar = false")
duckdb.sql(f'''CREATE TABLE rows AS SELECT
    round(45000 * exp(0.6 * sqrt(-2 * ln(1 - random())) * cos(6.283185307179586 * random())), 2) AS salary,
    'department ' || lpad(CAST(CAST(floor(50 * random()) AS INTEGER) AS VARCHAR), 2, '0') AS department
FROM range({rows})''')
duckdb.sql(f"COPY rows TO '{folder}/rows.parquet' (FORMAT parquet)")
duckdb.sql(f"COPY rows TO '{folder}/rows.csv' (FORMAT csv, HEADER)")
"""


def make(folder, rows):
    # In a process of its own: a child begins with the peak of its parent.
    subprocess.run([sys.executable, "-c", MAKE, folder, str(rows)], check=True)
    with open(f"{folder}/questions.json", "w") as file:
        json.dump(QUESTIONS, file)


def run(command):
    """What it printed, its CPU seconds and its peak megabytes."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command[0]} failed: {printed}")
    return printed, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def ours(program, folder, file):
    command = [program, "batch", f"{folder}/questions.json", f"{folder}/{file}", "--json"]
    printed, cpu, peak = run(command)
    median, counts = json.loads(printed)["answers"]
    return {"cpu": cpu, "peak": peak, "median": median["value"], "groups": len(counts["groups"])}


def theirs(peer, folder, file):
    script = DUCKDB if peer == "duckdb" else POLARS
    printed, cpu, peak = run([sys.executable, "-c", script, f"{folder}/{file}"])
    query, median, groups = map(float, printed.split())
    return {"cpu": cpu, "query": query, "peak": peak, "median": median, "groups": groups}


def compare(program, folder, file, peer):
    pairs = []
    for _ in range(ROUNDS + 1):
        pairs.append((ours(program, folder, file), theirs(peer, folder, file)))
        our, their = pairs[-1]
        assert abs(our["median"] / their["median"] - 1) < 0.001 and our["groups"] == their["groups"], pairs[-1]
    return pairs[1:]  # the first round warms the cache


def middle(pairs, side, key):
    return statistics.median(pair[side][key] for pair in pairs)


def main():
    program, *flags = sys.argv[1:]
    rows = int(flags[flags.index("--rows") + 1]) if "--rows" in flags else 10_000_000
    results = []
    with tempfile.TemporaryDirectory() as folder:
        make(folder, rows)
        for file, peer, most in CASES:
            pairs = compare(program, folder, file, peer)
            result = {"file": file, "peer": peer, "most": most, "rounds": pairs}
            result["ours"], result["query"] = middle(pairs, 0, "cpu"), middle(pairs, 1, "query")
            result["process"], result["ratio"] = middle(pairs, 1, "cpu"), result["ours"] / result["query"]
            result["peak"], result["peer_peak"] = middle(pairs, 0, "peak"), middle(pairs, 1, "peak")
            results.append(result)
    if "--json" in flags:
        print(json.dumps({"unit": "CPU seconds, megabytes", "rows": rows, "cases": results}, indent=1))
        return
    print(f"CPU seconds for one median and fifty counts of {rows:,} rows, medians of {ROUNDS} rounds; peak megabytes.")
    print(f"{'file':>12} {'beside':>8} {'its process':>12} {'its query':>10} {'ours':>7} {'/ query':>8} {'MB':>6} {'its MB':>7}")
    for case in results:
        print(
            f"{case['file']:>12} {case['peer']:>8} {case['process']:>12.3f} {case['query']:>10.3f} {case['ours']:>7.3f}"
            f" {case['ratio']:>8.2f} {case['peak']:>6.0f} {case['peer_peak']:>7.0f}"
        )


main()
