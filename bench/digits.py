#!/usr/bin/env python3
"""How many significant digits a quantile needs: what rounding rows does, beside what privacy does.

    bench/digits.py            the tables of docs/decisions/0040-seven-significant-digits.md (some of them)

No packages. For each column the median and the interquartile range of rounded rows are held against those of the rows as they
are; beside them the error that the draw by inverse sensitivity has in 19 cases of 20 at epsilon 1, from the rows themselves: the
length of a value is about twice its rank, so ranks r or more away have a chance of about e^-r, and 3 ranks are 19 of 20.
"""

import math
import random
from decimal import ROUND_HALF_UP, Decimal

DIGITS = (6, 7, 9)
ROWS = 100_000
WHOLE = 10**10


def rounded(value, digits, wholes):
    """The nearest decimal of so many digits; of a number below 10^10 at least the nearest whole number."""
    if value == 0 or (wholes and abs(value) < WHOLE and value == int(value)):
        return value
    exact = Decimal(value)
    step = exact.adjusted() + 1 - digits
    if wholes and abs(value) < WHOLE:
        step = min(step, 0)
    return float(exact.quantize(Decimal((0, (1,), step)), ROUND_HALF_UP))


def columns(rows):
    draw = random.Random(7)
    many = range(rows)
    return {
        "seconds since 1970, one day": [1.7e9 + draw.random() * 86_400 for _ in many],
        "seconds since 1970, one year": [1.7e9 + draw.random() * 31_557_600 for _ in many],
        "prices in cents, 5 to 2000": [round(math.exp(draw.gauss(4, 1)), 2) for _ in many],
        "latitudes of one city": [draw.gauss(52.52, 0.05) for _ in many],
        "incomes": [math.exp(draw.gauss(10.5, 0.5)) for _ in many],
        "balances to 10^9, in cents": [round(math.exp(draw.gauss(18, 1)), 2) for _ in many],
        "probabilities about 10^-6": [math.exp(draw.gauss(-14, 1)) for _ in many],
    }


def quantile(ordered, fraction, off=0):
    rank = math.ceil(len(ordered) * fraction) + off
    return ordered[min(max(rank, 1), len(ordered)) - 1]


def middle(ordered, off=0):
    return quantile(ordered, 0.5, off)


def spread(ordered, off=0):
    return quantile(ordered, 0.75, off) - quantile(ordered, 0.25, -off)


def values(digits, wholes):
    """How many decimals there are of every magnitude: as `Digits` of the core counts them."""
    many = 10**digits
    for top in range(digits - 323, 309):
        step = top + 1 - digits
        step = min(step, 0) if wholes and top < 10 else step
        many += 9 * 10 ** (top - step)
    return 2 * many - 1


def main():
    print("| rows may have | values | ranks off at epsilon 1, proved for 19 of 20 |\n|---|---|---|")
    kinds = [(f"{digits} digits", values(digits, False)) for digits in DIGITS]
    kinds += [(f"{digits} digits, or whole below 10^10", values(digits, True)) for digits in DIGITS]
    kinds += [("15 digits", values(15, True)), ("every float", 2 * 0x7FEF_FFFF_FFFF_FFFF + 1)]
    for name, many in kinds:
        print(f"| {name} | {many:.3g} | {math.ceil(2 * math.log(19 * (many - 1))) // 2} |")
    print(f"\n| median, iqr of {ROWS:,} rows | privacy | " + " | ".join(heads()) + " |")
    print("|---|---|" + "---|" * len(heads()))
    for name, column in columns(ROWS).items():
        print(f"| {name} | " + " | ".join(cells(sorted(column))) + " |")


def cells(ordered):
    """What privacy does and what each rounding does, to the median and to the interquartile range."""
    both = []
    # A quartile has half of epsilon and fails half as often: 7 ranks.
    for of, off, fractions in ((middle, 3, [0.5]), (spread, 7, [0.25, 0.75])):
        truth = of(ordered)
        errors = [max(abs(of(ordered, off) - truth), abs(of(ordered, -off) - truth))]
        for wholes in (False, True):
            errors += [sum(worst(ordered, p, digits, wholes) for p in fractions) for digits in DIGITS]
        both.append([f"{error / abs(truth):.0e}" if error else "0" for error in errors])
    return [", ".join(pair) for pair in zip(*both)]


def heads():
    return [f"{digits} digits" for digits in DIGITS] + [f"{digits}, or whole" for digits in DIGITS]


def worst(ordered, fraction, digits, wholes):
    """The most that rounding moves any of 201 rows around a quantile: rounding keeps their order, so the quantile moves so far."""
    near = [quantile(ordered, fraction, off) for off in range(-100, 101)]
    return max(abs(rounded(row, digits, wholes) - row) for row in near)


if __name__ == "__main__":
    main()
