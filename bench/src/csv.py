"""One column of a CSV file by Polars: a line "task path" in, "CPU wall result" in seconds out."""

import sys
import time

import polars as pl

for line in sys.stdin:
    task, path = line.split()
    cpu, wall = time.process_time(), time.perf_counter()
    column = pl.scan_csv(path).select("salary")
    if task == "sum":
        result = column.sum().collect().item()
    else:
        result = column.collect().height
    print(time.process_time() - cpu, time.perf_counter() - wall, result, flush=True)
