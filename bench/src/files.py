"""One median and counts for each department: by DuckDB or Polars, as a process of its own.

files.py make FOLDER ROWS            writes rows.parquet and rows.csv
files.py duckdb|polars PATH          prints CPU seconds of the process, of the query alone, peak kilobytes, median, departments
"""

import resource
import sys
import time

name, path = sys.argv[1:3]
if name == "make":
    import duckdb

    duckdb.sql(
        f"""CREATE TABLE rows AS SELECT
            round(45000 * exp(0.6 * sqrt(-2 * ln(1 - random())) * cos(6.283185307179586 * random())), 2) AS salary,
            'department ' || lpad(CAST(CAST(floor(50 * random()) AS INTEGER) AS VARCHAR), 2, '0') AS department
        FROM range({sys.argv[3]})"""
    )
    duckdb.sql(f"COPY rows TO '{path}/rows.parquet' (FORMAT parquet)")
    duckdb.sql(f"COPY rows TO '{path}/rows.csv' (FORMAT csv, HEADER)")
    sys.exit()

if name == "duckdb":
    import duckdb

    begin = time.process_time()
    [(median,)] = duckdb.sql(f"SELECT median(salary) FROM '{path}'").fetchall()
    counts = duckdb.sql(f"SELECT department, count(*) FROM '{path}' GROUP BY department").fetchall()
else:
    import polars as pl

    begin = time.process_time()
    rows = pl.scan_parquet(path) if path.endswith("parquet") else pl.scan_csv(path)
    median, counts = pl.collect_all([rows.select(pl.col("salary").median()), rows.group_by("department").len()])
    median, counts = median.item(), counts.rows()
query = time.process_time() - begin
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(time.process_time(), query, peak, median, len(counts))
