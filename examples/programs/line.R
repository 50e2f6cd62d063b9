# A line through salary and visits by R's lm: prints intercept and slope.
#   equipoise run salaries.csv --epsilon 1 --delta 1e-6 --output vector:2 --blocks 400 -- Rscript line.R
rows <- read.csv(file("stdin"))
cat(coef(lm(salary ~ visits, rows)), "\n")
