"""A line through salary and visits by least squares: prints intercept and slope. No packages.

equipoise run salaries.csv --epsilon 1 --delta 1e-6 --output vector:2 --blocks 400 -- python3 line.py
"""
import csv
import sys

points = []
for row in csv.DictReader(sys.stdin):
    try:
        points.append((float(row["visits"]), float(row["salary"])))
    except ValueError:
        pass  # an empty field
middle_x = sum(x for x, _ in points) / len(points)
middle_y = sum(y for _, y in points) / len(points)
slope = sum((x - middle_x) * (y - middle_y) for x, y in points) / sum((x - middle_x) ** 2 for x, _ in points)
print(middle_y - slope * middle_x, slope)
