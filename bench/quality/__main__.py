"""Accuracy side by side: ours without bounds and with, diffprivlib, OpenDP and PyDP with good bounds, on real data and on laws."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from concurrent.futures import Future, ProcessPoolExecutor
from functools import partial
from pathlib import Path

import asking
import data
from kept import Kept
from report import HEADING, Measured, line, measure, page, table, verdict

PAGE = Path(__file__).resolve().parents[2] / "docs" / "quality.md"


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/run quality", description=__doc__)
    parser.add_argument("--only", type=_names, metavar="NAMES", help=f"statistics: {', '.join(asking.STATISTICS)}")
    parser.add_argument("--data", type=_names, metavar="NAMES", help=f"data sets: {', '.join(data.TABLES)}")
    parser.add_argument("--eps", type=_names, metavar="NUMBERS", help="epsilons [default: 0.1,1]")
    parser.add_argument("--trials", type=int, default=40, help="at least so many of each method [default: 40]")
    parser.add_argument("--most", type=int, default=400, help="and up to so many, while they are quick [default: 400]")
    parser.add_argument("--seconds", type=float, default=0.5, help="as long as they take less [default: 0.5]")
    parser.add_argument("--jobs", type=int, default=2, help="processes [default: 2]")
    parser.add_argument("--anew", action="store_true", help="measure also what this build has measured before")
    parser.add_argument("--page", type=Path, help="where to write the page [default: docs/quality.md, of all rows only]")
    options = parser.parse_args()
    for given, known in ((options.only, asking.STATISTICS), (options.data, data.TABLES)):
        for name in given or ():
            if name not in known:
                parser.error(f"'{name}' is none of: {', '.join(known)}")
    return options


def _keep(kept: Kept, done: Future[Measured]) -> None:
    if not done.cancelled() and done.exception() is None:
        kept.put(done.result())


def main() -> None:
    options = _options()
    wanted = [
        row
        for row in asking.rows([float(epsilon) for epsilon in options.eps or ("0.1", "1")])
        if (options.only is None or row.statistic in options.only) and (options.data is None or row.of.data in options.data)
    ]
    if not wanted:
        sys.exit("bench/run quality: no row is about these data and these statistics")
    begin = time.perf_counter()
    kept = Kept(options.trials, options.most, options.seconds)
    before = {} if options.anew else {row: found for row in wanted if (found := kept.get(row)) is not None}
    if before:
        print(f"{len(before)} rows were measured before by this build; --anew measures them again\n")
    measuring = partial(measure, least=options.trials, most=options.most, seconds=options.seconds)
    found = []
    # New processes: what a library holds of randomness and of threads is not shared by a fork.
    pool = ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn"))
    try:
        coming = {row: pool.submit(measuring, row) for row in wanted if row not in before}
        for running in coming.values():
            running.add_done_callback(partial(_keep, kept))
        print(table(HEADING, []), flush=True)
        for row in wanted:
            found.append(before[row] if row in before else coming[row].result())
            print(f"| {' | '.join(line(found[-1]))} |", flush=True)
    finally:
        pool.shutdown(cancel_futures=True)
    print(f"\n{verdict(found)}\n\n{time.perf_counter() - begin:.0f} seconds", flush=True)
    whole = options.only is None and options.data is None and options.eps is None
    if options.page is not None or whole:
        (options.page or PAGE).write_text(page(found))


if __name__ == "__main__":
    main()
