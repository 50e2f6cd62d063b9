"""How often error bars hold, by simulation through the command line: `bench/run coverage [--trials N] [--only mean,correlation]`, which writes
docs/coverage.md, or only the rows of these statistics.

Each answer is held against what its bar says it covers (rows as they were limited) and against the plain truth of the rows. The program
is the one that users run; `simulate` takes all coins from the operating system, so that figures change a little from run to run.
"""

import argparse
import json
import pathlib
import random
import subprocess
import tempfile

ROWS = 5000
EPSILON = "1"
KEYS = "north,south,west"
STATISTICS = [
    ["sum"], ["mean"], ["variance"], ["std"], ["median"], ["quantile", "0.1,0.9"], ["iqr"], ["median", "--interval"],
    ["correlation", "y"], ["covariance", "y"],
]
PAGE = pathlib.Path(__file__).parent.parent / "docs" / "coverage.md"


def laws() -> dict[str, list[float]]:
    """Five laws, the same rows each time."""
    draw = random.Random(7)
    bimodal = [draw.gauss(20, 2) if draw.random() < 0.5 else draw.gauss(900, 40) for _ in range(ROWS)]
    lognormal = [draw.lognormvariate(10, 0.6) for _ in range(ROWS)]
    return {
        "lognormal": lognormal,
        "Pareto(2)": [draw.paretovariate(2) for _ in range(ROWS)],
        "integers with ties": [float(draw.randrange(20)) for _ in range(ROWS)],
        "bimodal": bimodal,
        "one row of 1e12": [1e12, *lognormal[1:]],
    }


def simulated(program: str, file: str, statistic: list[str], grouped: bool, trials: int) -> dict[str, int]:
    """Answers, refusals, and bars that held, over all series of one simulation."""
    verb, *rest = statistic
    command = [program, "simulate", "--json", "--trials", str(trials), verb, file, "x", *rest, "--epsilon", EPSILON]
    if grouped:
        command += ["--group-by", "region", "--keys", KEYS]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    found = {"refused": 0, "judged": 0, "held": 0, "plain": 0}
    for series in json.loads(result.stdout)["series"]:
        found["refused"] += series["refused"]
        bars = series.get("bars") or {"judged": 0, "held": 0}
        found["judged"] += bars["judged"]
        found["held"] += bars["held"]
        found["plain"] += bars.get("held_without_limits", bars["held"])
    return found


def percent(part: int, of: int) -> str:
    return f"{100 * part / of:.1f} %" if of else "-"


def page(lines: list[str], trials: int) -> str:
    head = f"""# How often error bars hold

`bench/run coverage` writes this page: {trials} trials each of {ROWS:,} rows at epsilon {EPSILON}, through `equipoise simulate`, bars of 95 %. "As it says" counts
bars against what they say they cover: of a mean, sum or variance the rows as they were limited to the range that the search found, of a
median the rows as they were rounded. "Without limits" counts them against the plain truth of the rows: where a law has a long tail, limiting
moves the answer on purpose, and the bar, which says so in its first words, does not cover that. By group there are three regions of equal size.

| law | statistic | by group | bars | refused | as it says | without limits |
|---|---|---|---|---|---|---|
"""
    return head + "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench/run coverage", description=__doc__)
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--only", default="", help="statistics by name, with commas between them; other rows stay as they are")
    parser.add_argument("--program", default=str(pathlib.Path(__file__).parent.parent / "target" / "release" / "equipoise"))
    options = parser.parse_args()
    only = [name for name in options.only.split(",") if name]
    known = PAGE.read_text().splitlines() if only else []
    lines, worst = [], 1.0
    with tempfile.TemporaryDirectory() as folder:
        for law, rows in laws().items():
            file = pathlib.Path(folder) / "rows.csv"
            regions = KEYS.split(",")
            # A second column that rises with the first, and does not follow from it.
            text = "".join(f"{row!r},{row * (0.5 + place % 7 / 7)!r},{regions[place % 3]}\n" for place, row in enumerate(rows))
            file.write_text("x,y,region\n" + text)
            for statistic in STATISTICS:
                if only and statistic[0] not in only:
                    lines += [line for line in known if line.startswith(f"| {law} | {' '.join(statistic)} |")]
                    continue
                for grouped in (False, True):
                    found = simulated(options.program, str(file), statistic, grouped, options.trials)
                    judged = found["judged"]
                    worst = min(worst, found["held"] / judged) if judged else worst
                    cells = [law, " ".join(statistic), "yes" if grouped else "", judged, found["refused"]]
                    cells += [percent(found["held"], judged), percent(found["plain"], judged)]
                    lines.append("| " + " | ".join(map(str, cells)) + " |")
                    print(lines[-1], flush=True)
    PAGE.write_text(page(lines, options.trials))
    print(f"the least share of bars that held as they say: {percent(round(worst * 10_000), 10_000)}")


if __name__ == "__main__":
    main()
