"""How often error bars hold, through the command line: `bench/run coverage [--trials N] [--only mean,correlation]`, which writes
docs/coverage.md, or only the rows of these statistics.

Each answer is held against what its bar says it covers (rows as they were limited) and against the plain truth of the rows. The program
is the one that users run; it takes all coins from the operating system, so that figures change a little from run to run. Edges that are
drawn differ from answer to answer, which `simulate` does not judge: these are asked as anybody would, each time charged to a ledger of
their own, and judged here.
"""

import argparse
import bisect
import collections
import json
import math
import pathlib
import random
import shutil
import subprocess
import tempfile

ROWS = 5000
EPSILON = "1"
KEYS = "north,south,west"
STATISTICS = [
    ["sum"], ["mean"], ["variance"], ["std"], ["median"], ["quantile", "0.1,0.9"], ["iqr"], ["median", "--interval"],
    ["correlation", "y"], ["covariance", "y"], ["histogram", "--quantile-bins", "5"], ["ecdf"],
]
#: Bars that hold all at once, of answers that are asked for so many times.
DRAWN, ASKED = ("histogram", "ecdf"), 100
#: A row whose share lies farther below the stated one than so many standard deviations is a fault: by chance one page in twenty has one.
SIGMAS = 3.4
STATED = 0.95
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


def ends(key: str) -> tuple[float, float]:
    """Between which numbers the rows of a drawn bin or point lie.

    >>> ends("below 3"), ends("3 .. 4.5"), ends("just 7"), ends("at 2")
    ((-inf, 3.0), (3.0, 4.5), (7.0, 7.0), (-inf, 2.0))
    """
    word, _, number = key.partition(" ")
    if word in ("below", "at"):
        return -math.inf, float(number)
    if word == "above":
        return float(number), math.inf
    if word == "just":
        return float(number), float(number)
    low, high = key.split(" .. ")
    return float(low), float(high)


def holds(group: dict, rows: list[float], shares: bool) -> bool:
    """Whether the bar of a bin or point holds for some way to count the rows that are equal to its edges, which is what it says."""
    key = group["key"] if isinstance(group["key"], str) else group["key"][-1]
    low, high = ends(key)
    inside = bisect.bisect_left(rows, high) - bisect.bisect_right(rows, low)
    with_ends = bisect.bisect_right(rows, high) - bisect.bisect_left(rows, low)
    whole = len(rows) if shares else 1
    return inside / whole <= group["error"]["high"] and group["error"]["low"] <= with_ends / whole


def drawn(program: str, file: str, statistic: list[str], grouped: bool, trials: int) -> dict[str, int]:
    """The same for edges that are drawn: how many times all bars of an answer, or of a group, held at once."""
    verb, *rest = statistic
    lines = [line.split(",") for line in pathlib.Path(file).read_text().splitlines()[1:]]
    rows = collections.defaultdict(list)
    for x, _, region in lines:
        # The bars are about rows of seven significant digits.
        rows[region if grouped else ""].append(float(f"{float(x):.6e}"))
    for values in rows.values():
        values.sort()
    found = {"refused": 0, "judged": 0, "held": 0, "plain": 0}
    # A file that a ledger knows cannot be simulated: these questions are about a copy.
    folder = tempfile.TemporaryDirectory()
    copy = shutil.copy(file, folder.name)
    command = [program, verb, copy, "x", *rest, "--epsilon", EPSILON, "--json", "--anyway"]
    command += ["--group-by", "region", "--keys", KEYS] if grouped else []
    for _ in range(trials):
        result = subprocess.run(command, capture_output=True, text=True)
        groups = collections.defaultdict(list)
        for group in json.loads(result.stdout).get("groups") or []:
            groups[group["key"][0] if grouped else ""].append(group)
        for region, values in rows.items():
            answers = groups.get(region, [])
            if not answers or any(group["outcome"] == "refused" for group in answers):
                found["refused"] += 1
                continue
            held = all(holds(group, values, verb == "ecdf") for group in answers)
            found["judged"] += 1
            found["held"] += held
            found["plain"] += held
    folder.cleanup()
    return found


def percent(part: int, of: int) -> str:
    return f"{100 * part / of:.1f} %" if of else "-"


def least(bars: int) -> float:
    """Below which share of so many bars chance does not explain it."""
    return STATED - SIGMAS * math.sqrt(STATED * (1 - STATED) / bars)


def together(lines: list[str]) -> list[str]:
    """All rows of a statistic added up, where bars hold about as often as they say and no oftener."""
    sums: dict[str, list[float]] = collections.defaultdict(lambda: [0, 0.0])
    for line in lines:
        _, _, statistic, _, bars, _, held, _, _ = line.split("|")
        if held.strip() != "-":
            sums[statistic.strip()][0] += int(bars)
            sums[statistic.strip()][1] += int(bars) * float(held.strip().rstrip(" %")) / 100
    text = []
    for statistic, (bars, held) in sums.items():
        off = 200 * math.sqrt(STATED * (1 - STATED) / bars)
        text.append(f"| {statistic} | {bars:.0f} | {100 * held / bars:.2f} % | {off:.2f} |")
    return text


def page(lines: list[str], trials: int) -> str:
    errors = ", ".join(f"{200 * math.sqrt(STATED * (1 - STATED) / bars):.1f} of {bars:,}" for bars in (100, 400, 1000, 3000))
    head = f"""# How often error bars hold

`bench/run coverage` writes this page: {trials} trials each of {ROWS:,} rows at epsilon {EPSILON}, through `equipoise simulate`, bars of 95 %. "As it says" counts
bars against what they say they cover: of a mean, sum or variance the rows as they were limited to the range that the search found, of a
median the rows as they were rounded. "Without limits" counts them against the plain truth of the rows: where a law has a long tail, limiting
moves the answer on purpose, and the bar, which says so in its first words, does not cover that. By group there are three regions of equal size.
Bins and points whose edges are drawn are answers as they are released, not simulated, {ASKED} times each, with all bars of an answer, or of a group of it, counted
as one: they say that they hold at once.

A share is itself off by chance: two standard deviations of one that is 95 % are, in points, {errors} bars. Bars of sums hold as often as
they say and hardly oftener, so that their rows lie on either side of 95 %; most others hold oftener. Added up over all laws, by group and not:

| statistic | bars | as it says | two standard deviations |
|---|---|---|---|
{chr(10).join(together(lines))}

The script fails where a row lies {SIGMAS} standard deviations or more below 95 %, which by chance at most one page in twenty has.

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
    lines, worst, faults = [], 1.0, []
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
                    ask, many = (drawn, min(options.trials, ASKED)) if statistic[0] in DRAWN else (simulated, options.trials)
                    found = ask(options.program, str(file), statistic, grouped, many)
                    judged = found["judged"]
                    worst = min(worst, found["held"] / judged) if judged else worst
                    cells = [law, " ".join(statistic), "yes" if grouped else "", judged, found["refused"]]
                    cells += [percent(found["held"], judged), percent(found["plain"], judged)]
                    lines.append("| " + " | ".join(map(str, cells)) + " |")
                    print(lines[-1], flush=True)
                    if judged and found["held"] / judged < least(judged):
                        faults.append(lines[-1])
    PAGE.write_text(page(lines, options.trials))
    print(f"the least share of bars that held as they say: {percent(round(worst * 10_000), 10_000)}")
    if faults:
        raise SystemExit("too few bars hold for chance:\n" + "\n".join(faults))


if __name__ == "__main__":
    main()
