"""Do salaries follow a normal law or a log-normal one? Prints the model that fits a block better. No packages.

equipoise run salaries.csv --epsilon 1 --delta 1e-6 --output label -- python3 choose_model.py
"""
import csv
import math
import statistics
import sys

salaries = []
for row in csv.DictReader(sys.stdin):
    try:
        salaries.append(float(row["salary"]))
    except ValueError:
        pass  # an empty field
salaries = [salary for salary in salaries if salary > 0]
logarithms = [math.log(salary) for salary in salaries]
# The logarithms of the likelihoods at their best parameters, without what both share.
normal = -len(salaries) * math.log(statistics.pstdev(salaries))
log_normal = -len(salaries) * math.log(statistics.pstdev(logarithms)) - sum(logarithms)
print("normal" if normal > log_normal else "log-normal")
