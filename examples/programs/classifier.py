"""A logistic regression by scikit-learn: who works in care? Prints three coefficients.

equipoise run salaries.csv --epsilon 1 --delta 1e-6 --output vector:3 --range -3,3 -- python3 classifier.py
"""
import csv
import json
import sys

from sklearn.linear_model import LogisticRegression

rows = [row for row in csv.DictReader(sys.stdin) if row["salary"] and row["visits"]]
features = [[float(row["salary"]) / 50_000 - 1, float(row["visits"]) / 10 - 1] for row in rows]
works_in_care = [row["department"] == "care" for row in rows]
model = LogisticRegression().fit(features, works_in_care)
print(json.dumps([*model.intercept_, *model.coef_[0]]))
