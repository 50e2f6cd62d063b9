"""Every benchmark that we claim, on one page: what was measured beside whom, with versions and commands, and what we lose first.

all.py [--quick] [--only files,sql] [--out PAGE.md]
    BENCH_PROGRAM is the program `equipoise` as it is packed; `bench/run all` builds it and starts this.
    --quick measures small sizes, once, to see that all of it runs; its page goes to target/benchmarks.md and is no claim.

Each benchmark becomes rows with one ratio, ours over theirs, where less is better. One that could not be run is listed with the reason.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import log10
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PEERS = ["duckdb", "polars", "numpy", "dp-accounting", "datasketches", "diffprivlib", "opendp", "python-dp"]


@dataclass
class Row:
    bench: str
    what: str
    peer: str
    ours: float
    theirs: float
    unit: str

    @property
    def ratio(self) -> float:
        """Ours over theirs, less is better."""
        return self.ours / self.theirs


def files(found: dict) -> Iterator[Row]:
    for case in found["cases"]:
        what = f"a median and counts of 50 groups, {found['rows']:,} rows of {case['file'].split('.')[-1]}"
        yield Row("files", what, case["peer"], case["ours"], case["query"], "CPU s")
        yield Row("files", f"{what}: memory", case["peer"], case["peak"], case["peer_peak"], "MB")


def sql(found: dict) -> Iterator[Row]:
    for query in found["queries"]:
        ours, theirs = query["equipoise"], query["duckdb"]
        what = f"{query['query']} for each of 50 towns, {found['rows']:,} rows of parquet"
        yield Row("sql", what, "duckdb", ours["cpu"], theirs["cpu"], "CPU s")
        yield Row("sql", f"{what}: memory", "duckdb", ours["megabytes"], theirs["megabytes"], "MB")


def speed(found: dict) -> Iterator[Row]:
    for question in found["questions"]:
        if question["theirs"]:
            what = f"{question['question']}, {found['rows']:,} rows"
            yield Row("speed", what, question["yardstick"], 1e3 * question["ours"], 1e3 * question["theirs"], "CPU ms")


def python(found: dict) -> Iterator[Row]:
    yield Row("python", "median of 10,000,000 doubles", "numpy", found["median_cpu_ms"], found["numpy_median_cpu_ms"], "CPU ms")


def median(found: dict) -> Iterator[Row]:
    for row in found["rows"]:
        ours, theirs = statistics.median(row["equipoise"]), statistics.median(row["numpy"])
        yield Row("median", f"median of {row['rows']:,} doubles in memory, epsilon {row['epsilon']}", "numpy", 1e3 * ours, 1e3 * theirs, "CPU ms")


def csv(found: dict) -> Iterator[Row]:
    for task in found["tasks"]:
        ours, theirs = (statistics.median(pair[0] for pair in task[side]) for side in ("equipoise", "polars"))
        yield Row("csv", f"{task['task']}, {found['rows']:,} rows of csv", "polars", ours, theirs, "CPU s")


def noise(found: dict) -> Iterator[Row]:
    for row in found["rows"]:
        ours = statistics.median(row["equipoise"])
        for peer in (key for key in row if f"equipoise_over_{key}" in row):
            # Draws a second, where more is better: as nanoseconds for a draw.
            what = f"one draw of discrete {row['noise']} noise, scale {row['scale']:,}"
            yield Row("noise", what, peer.replace("_", " "), 1e3 / ours, 1e3 / statistics.median(row[peer]), "CPU ns")


def accounting(text: str) -> Iterator[Row]:
    for line in text.splitlines():
        cells = line.split()
        if len(cells) == 10 and re.fullmatch(r"[\d.]+", cells[9]):
            what = f"{cells[3]} releases of {cells[0]} {cells[1]}, rate {cells[2]}, delta {cells[4]}"
            yield Row("accounting", what, "dp-accounting", float(cells[8]), float(cells[7]), "CPU ms")
            yield Row("accounting", f"{what}: total epsilon", "dp-accounting", float(cells[6]), float(cells[5]), "epsilon")


def sketches(text: str) -> Iterator[Row]:
    """Million updates a second, where more is better: as nanoseconds for an update. DataSketches is fed one by one from Python."""
    rates = {found[1].strip(): float(found[2]) for found in re.finditer(r"^(\S.*?) +([\d.]+) \(", text, flags=re.MULTILINE)}
    for ours, theirs in (("HyperLogLog, 2^14 registers", "DataSketches HLL, 2^14, loop"), ("KMV, 16384 hashes", "DataSketches theta (KMV), 2^14, loop")):
        if ours in rates and theirs in rates:
            yield Row("sketches", f"one update of {ours}", theirs.replace(", 2^14", ""), 1e3 / rates[ours], 1e3 / rates[theirs], "CPU ns")


def sparse_vector(text: str) -> Iterator[Row]:
    """Threshold questions beside numpy's noise, which is floating point and private for nobody."""
    times = {found[1]: float(found[2]) for found in re.finditer(r"^ *(ours|numpy, \w+) +([\d.]+) \(", text, flags=re.MULTILINE)}
    for peer in (name for name in times if name != "ours"):
        yield Row("sparse-vector", "a stream of threshold questions", peer, times["ours"], times[peer], "CPU ms")


def quality() -> Iterator[Row]:
    """What `bench/run quality` wrote last: a refusal of ours is a loss without a number, and counted apart."""
    for line in (ROOT / "docs/quality.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) not in (9, 10) or not re.fullmatch(r"[\d,]+", cells[1]):
            continue
        data, _, statistic, epsilon, ours, _, *peers, ratio = cells
        if number(ratio) is None:
            continue
        read = {name: number(cell) for name, cell in zip(("diffprivlib", "opendp", "pydp"), peers)}
        read = {name: value for name, value in read.items() if value}
        if number(ours) is not None and read:
            best = min(read, key=lambda name: read[name])
            yield Row("quality", f"{statistic} of {data}, epsilon {epsilon}", best, number(ours) or 0.0, read[best], "error")


def number(cell: str) -> float | None:
    found = re.match(r"[\d.]+(e-?\d+)?", cell)
    return float(found[0]) if found else None


@dataclass
class Bench:
    command: list[str]
    quick: list[str] | None
    read: Callable[[dict], Iterator[Row]] | Callable[[str], Iterator[Row]]
    json: bool = True


def benches(program: str) -> dict[str, Bench]:
    here, run = sys.executable, str(HERE / "run")
    return {
        "files": Bench([here, "src/files.py", program, "--json"], ["--rows", "200000"], files),
        "sql": Bench([here, "src/sql.py", program, "--json"], ["--rows", "200000", "--rounds", "1"], sql),
        "speed": Bench([here, "speed.py", program, "--json"], ["--rows", "100000", "--rounds", "1"], speed),
        "python": Bench([here, "python.py"], [], python),
        "median": Bench([run, "median", "--json"], None, median),
        "csv": Bench([run, "csv", "--json"], None, csv),
        "noise": Bench([run, "noise", "--json"], None, noise),
        "accounting": Bench([run, "accounting"], None, accounting, json=False),
        "sparse-vector": Bench([run, "sparse-vector"], None, sparse_vector, json=False),
        "sketches": Bench([run, "sketches"], None, sketches, json=False),
    }


def measured(name: str, bench: Bench, quick: bool) -> list[Row]:
    command = bench.command + (bench.quick or [] if quick else [])
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["it failed without a word"])[-1])
    return list(bench.read(json.loads(done.stdout) if bench.json else done.stdout))


def table(rows: list[Row]) -> str:
    lines = ["| ours / theirs | beside | what | ours | theirs | in |", "|---|---|---|---|---|---|"]
    for row in rows:
        lines.append(f"| {row.ratio:.3g} | {row.peer} | {row.what} | {row.ours:.4g} | {row.theirs:.4g} | {row.unit} (`bench/run {row.bench}`) |")
    return "\n".join(lines)


def plot(rows: list[Row]) -> str:
    """Ratios on a scale of factors of ten: to the right of one we lose."""
    style = ".p{fill:#fff}.i{fill:#17212b}.w{fill:#2e7d6b}.l{fill:#b4413c}.a{stroke:#8b96a1}@media (prefers-color-scheme:dark){.p{fill:#14181d}.i{fill:#e8edf2}.w{fill:#63c2ab}.l{fill:#f08a8a}.a{stroke:#75818d}}"
    height = 22 * len(rows) + 40
    middle, ten = 560, 90
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="Ours over theirs" width="860" height="{height}" viewBox="0 0 860 {height}" font-family="system-ui, sans-serif" font-size="11">',
        f'<style>{style}</style><rect class="p" width="860" height="{height}"/>',
    ]
    for place, row in enumerate(rows):
        top = 22 * place + 8
        reach = max(-2.0, min(2.0, log10(row.ratio) if row.ratio > 0 else -2.0)) * ten
        parts.append(f'<rect class="{"l" if reach > 0 else "w"}" x="{min(middle, middle + reach):.1f}" y="{top}" width="{max(abs(reach), 1):.1f}" height="14"/>')
        label = f"{row.what}, {row.peer}"
        parts.append(f'<text class="i" x="8" y="{top + 11}">{label[:62]}</text><text class="i" x="770" y="{top + 11}">{row.ratio:.2f}</text>')
    parts.append(f'<line class="a" x1="{middle}" x2="{middle}" y1="0" y2="{height - 26}"/>')
    parts.append(f'<text class="i" x="{middle}" y="{height - 8}" text-anchor="middle">ours / theirs: 1 in the middle, a factor of ten is a quarter of the width</text></svg>')
    return "\n".join(parts) + "\n"


def versions() -> str:
    found = [f"Python {platform.python_version()}"]
    for package in PEERS:
        try:
            found.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return ", ".join(found)


def page(rows: list[Row], missing: dict[str, str], quick: bool) -> str:
    rows = sorted(rows, key=lambda row: -row.ratio)
    lost, won = [row for row in rows if row.ratio > 1], [row for row in rows if row.ratio <= 1]
    # Refused half of the time or more, where a rival answers.
    refused = (ROOT / "docs/quality.md").read_text().count("| inf |\n")
    day = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    note = "**Measured with `--quick`, on small sizes and once: no claim.**\n\n" if quick else ""
    gone = "".join(f"- {name}: {reason}\n" for name, reason in missing.items())
    return f"""# Side by side

Written by `bench/run all` on {day}; do not edit. Beside: {versions()}; {os.cpu_count()} cores, {platform.machine()}.

{note}Each row divides ours by theirs, so that less is better and above 1 we lose. CPU time is that of all threads; memory is the peak of the whole process. Those who answer without privacy
(DuckDB, Polars, numpy) are the speed to compare with, not rivals in privacy. Errors are those of [quality.md](quality.md), where diffprivlib, OpenDP and PyDP are given bounds and Equipoise is given nothing; on top of its rows
here, {refused} questions of that page were refused by us and answered by a rival.

![Ratios of speed and memory, ours over theirs](pictures/benchmarks.svg)

## Where we lose: {len(lost)} rows

{table(lost)}

## Where we do not: {len(won)} rows

{table(won)}

## Not measured

{gone}
"""


def headline(rows: list[Row]) -> str:
    """Five rows for the README: the worst and the best of speed, of errors, and the worst of memory; losses first."""
    speed = sorted((row for row in rows if row.unit.startswith("CPU")), key=lambda row: -row.ratio)
    error = sorted((row for row in rows if row.unit == "error" and row.theirs > 0), key=lambda row: -row.ratio)
    memory = sorted((row for row in rows if row.unit == "MB"), key=lambda row: -row.ratio)
    picked = [group[place] for group, places in ((speed, (0, -1)), (error, (0, -1)), (memory, (0,))) for place in places if group]
    return table(sorted(picked, key=lambda row: -row.ratio)) + "\n"


def named_elsewhere(rows: list[Row]) -> None:
    """The section of the README, and the page's place on the site."""
    readme, site = ROOT / "README.md", ROOT / "mkdocs.yml"
    before, rest = readme.read_text().split("## Beside others\n", 1)
    after = rest.split("\n## ", 1)[1]
    words = (
        "Ours over theirs, so that less is better: the worst and the best of speed and of errors, and the worst of memory. Those who answer without privacy are the speed to compare with; "
        "diffprivlib, OpenDP and PyDP are given bounds, Equipoise is given nothing.\n[docs/benchmarks.md](docs/benchmarks.md) has every row, those that we lose first; `bench/run all` writes it."
    )
    readme.write_text(f"{before}## Beside others\n\n{words}\n\n{headline(rows)}\n## {after}")
    place, line = "      - How far off answers are: quality.md\n", "      - Side by side: benchmarks.md\n"
    if line not in site.read_text():
        site.write_text(site.read_text().replace(place, place + line))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--out")
    options = parser.parse_args()
    program = os.environ["BENCH_PROGRAM"]
    wanted = [name for name in options.only.split(",") if name]
    rows, missing = list(quality()), {}
    for name, bench in benches(program).items():
        if wanted and name not in wanted:
            missing[name] = "left out by --only"
        elif options.quick and bench.quick is None:
            missing[name] = "left out by --quick"
        else:
            print(f"bench/run {name}", file=sys.stderr)
            try:
                rows += measured(name, bench, options.quick)
            except (RuntimeError, ValueError, KeyError, OSError) as problem:
                missing[name] = f"failed: {problem}"
    # What was not measured whole is no claim.
    partial = options.quick or bool(wanted)
    out = Path(options.out) if options.out else ROOT / ("target/benchmarks.md" if partial else "docs/benchmarks.md")
    picture = out.parent / "pictures" / "benchmarks.svg"
    picture.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page(rows, missing, options.quick))
    picture.write_text(plot(sorted((row for row in rows if row.bench != "quality"), key=lambda row: -row.ratio)))
    if not partial:
        named_elsewhere(rows)
    print(f"{out}: {len(rows)} rows, {len(missing)} benchmarks not measured")


if __name__ == "__main__":
    main()
