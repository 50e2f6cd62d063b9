#!/bin/sh
# The median salary of a block, as a pipeline: prints one number, or nothing for a block without rows.
#   equipoise run salaries.csv --epsilon 1 --output number --range 0,200000 -- sh typical_salary.sh
tail -n +2 | cut -d, -f4 | sort -n | awk '{ rows[NR] = $1 } END { if (NR) print rows[int((NR + 1) / 2)] }'
