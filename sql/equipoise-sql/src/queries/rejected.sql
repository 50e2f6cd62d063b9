# Queries that are not accepted, each with its line. "?" is filled in by EQUIPOISE_WRITE_DOCS=1, to be read before it is committed.

SELECT u, a FROM p WHERE a NOT IN (SELECT x FROM g WHERE g.k = p.k)
----
NOT IN with other conditions is not accepted: the engine has it for one column; write NOT EXISTS

SELECT u, k FROM p EXCEPT ALL SELECT u, k FROM q
----
line 1, column 1: EXCEPT ALL is not accepted: the engine does not count copies there; leave ALL out, or write NOT EXISTS or EXISTS

SELECT u, k FROM p INTERSECT ALL SELECT u, k FROM q
----
line 1, column 1: INTERSECT ALL is not accepted: the engine does not count copies there; leave ALL out, or write NOT EXISTS or EXISTS

SELECT u FROM p TABLESAMPLE BERNOULLI (50)
----
line 1, column 15: TABLESAMPLE is not accepted: it draws other rows every time; leave it out; bounding draws rows privately

SELECT u FROM p TABLESAMPLE SYSTEM (10)
----
line 1, column 15: TABLESAMPLE is not accepted: it draws other rows every time; leave it out; bounding draws rows privately

SELECT u, a FROM p ORDER BY a
----
line 1, column 1: ORDER BY inside is not accepted: rows of a relation have no order; put it behind the outer query, where it is about released rows

SELECT u, a FROM p LIMIT 1
----
line 1, column 1: LIMIT inside is not accepted: which rows are within it depends on all others; put it behind the outer query, where it is about released rows

SELECT u, a FROM p ORDER BY a LIMIT 1
----
line 1, column 1: ORDER BY inside is not accepted: rows of a relation have no order; put it behind the outer query, where it is about released rows

SELECT u, a FROM p FETCH FIRST 1 ROW ONLY
----
line 1, column 1: LIMIT inside is not accepted: which rows are within it depends on all others; put it behind the outer query, where it is about released rows

SELECT u, a FROM p FOR UPDATE
----
line 1, column 1: FOR UPDATE is not accepted: it is not among what was proved safe; leave it out

SELECT u, a FROM p OFFSET 1
----
line 1, column 1: LIMIT inside is not accepted: which rows are within it depends on all others; put it behind the outer query, where it is about released rows

SELECT u, a FROM (SELECT u, a FROM p ORDER BY a LIMIT 2) x
----
line 1, column 19: ORDER BY inside is not accepted: rows of a relation have no order; put it behind the outer query, where it is about released rows

SELECT u, a FROM (SELECT u, a FROM p LIMIT 2) x
----
line 1, column 19: LIMIT inside is not accepted: which rows are within it depends on all others; put it behind the outer query, where it is about released rows

SELECT p.u FROM p JOIN (SELECT k FROM g LIMIT 1) x ON x.k = p.k
----
line 1, column 25: LIMIT inside is not accepted: which rows are within it depends on all others; put it behind the outer query, where it is about released rows

SELECT TOP 3 u FROM p
----
line 1, column 1: TOP is not accepted: it is not among what was proved safe; put LIMIT behind the outer query

SELECT DISTINCT ON (u) u, a FROM p
----
line 1, column 1: DISTINCT ON is not accepted: which row it keeps depends on their order; write MIN or MAX with GROUP BY

SELECT u, ROW_NUMBER() OVER (PARTITION BY u ORDER BY a) AS n FROM p
----
line 1, column 11: a window is not accepted: a row must not see others; aggregate by GROUP BY with the privacy unit, and join that

SELECT u, SUM(a) OVER () AS s FROM p
----
line 1, column 11: a window is not accepted: a row must not see others; aggregate by GROUP BY with the privacy unit, and join that

SELECT u, a FROM p QUALIFY ROW_NUMBER() OVER (ORDER BY a) = 1
----
line 1, column 1: a window is not accepted: a row must not see others; aggregate by GROUP BY with the privacy unit, and join that

WITH RECURSIVE x AS (SELECT u FROM p UNION ALL SELECT u FROM x) SELECT u FROM x
----
line 1, column 1: WITH RECURSIVE is not accepted: it can run for ever; write the steps out

SELECT u, random() AS e FROM p
----
function random is not accepted: its value is not a function of the row; leave it out

SELECT u, now() AS e FROM p
----
function now is not accepted: its value depends on when the query runs; write the moment as a literal: TIMESTAMP '2026-01-31 12:00:00'

SELECT u, a FROM p WHERE random() < 0.5
----
function random is not accepted: its value is not a function of the row; leave it out

SELECT u, current_date AS e FROM p
----
function current_date is not accepted: its value depends on when the query runs; write the day as a literal: DATE '2026-01-31'

SELECT u, uuid() AS e FROM p
----
function uuid is not accepted: its value is not a function of the row; leave it out

SELECT p.u, x.e FROM p JOIN (SELECT k, random() AS e FROM g) x ON x.k = p.k
----
function random is not accepted: its value is not a function of the row; leave it out

SELECT p.u, q.b FROM p JOIN q ON p.k = q.k
----
this join is not accepted: a row would belong to two units; join private tables on their privacy units, as in ON a.person = b.person

SELECT p.u, q.b FROM p JOIN q ON p.a < q.b
----
this join is not accepted: a row would belong to two units; join private tables on their privacy units, as in ON a.person = b.person

SELECT p.u, q.b FROM p JOIN q ON p.s = q.s
----
this join is not accepted: a row would belong to two units; join private tables on their privacy units, as in ON a.person = b.person

SELECT p.u, q.b FROM p JOIN q ON p.u < q.u
----
this join is not accepted: a row would belong to two units; join private tables on their privacy units, as in ON a.person = b.person

SELECT p.u, q.b FROM p JOIN q ON p.u = q.u OR p.k = q.k
----
this join is not accepted: a row would belong to two units; join private tables on their privacy units, as in ON a.person = b.person

SELECT p.u, q.b FROM p JOIN q ON upper(p.u) = q.u
----
this join is not accepted: a row would belong to two units; join private tables on their privacy units, as in ON a.person = b.person

SELECT p.u, q.b FROM p JOIN q ON p.u = q.s
----
this join is not accepted: a row would belong to two units; join private tables on their privacy units, as in ON a.person = b.person

SELECT p.u, q.b FROM p JOIN q ON p.u <> q.u
----
this join is not accepted: a row would belong to two units; join private tables on their privacy units, as in ON a.person = b.person

SELECT p.u, q.b FROM p JOIN q ON p.u = '1' AND q.u = '1'
----
this join is not accepted: a row would belong to two units; join private tables on their privacy units, as in ON a.person = b.person

SELECT p.u, q.b FROM p JOIN q ON p.u IS NOT DISTINCT FROM q.s
----
this join is not accepted: a row would belong to two units; join private tables on their privacy units, as in ON a.person = b.person

SELECT p.u FROM p LEFT JOIN q ON p.k = q.k
----
this LEFT JOIN is not accepted: a row would belong to two units; join private tables on their privacy units, as in ON a.person = b.person

SELECT q.u FROM p RIGHT JOIN q ON p.k = q.k
----
this RIGHT JOIN is not accepted: a row would belong to two units; join private tables on their privacy units, as in ON a.person = b.person

SELECT p.u FROM p LEFT SEMI JOIN q ON p.k = q.k
----
IN, EXISTS or INTERSECT is not accepted: a row would belong to two units; join private tables on their privacy units, as in ON a.person = b.person

SELECT p.u FROM p LEFT ANTI JOIN q ON p.k = q.k
----
NOT EXISTS or EXCEPT is not accepted: a row would belong to two units; join private tables on their privacy units, as in ON a.person = b.person

SELECT p.u FROM p FULL JOIN q ON p.u = q.u
----
this FULL JOIN is not accepted: it has no one column that holds the unit of every row; write LEFT JOIN, or UNION ALL of a left and a right one

SELECT COALESCE(p.u, q.u) AS u FROM p FULL JOIN q ON p.u = q.u
----
this FULL JOIN is not accepted: it has no one column that holds the unit of every row; write LEFT JOIN, or UNION ALL of a left and a right one

SELECT p.u, g.x FROM p FULL JOIN g ON p.k = g.k
----
this FULL JOIN is not accepted: it keeps public rows that find no private partner, and those belong to nobody; keep the private side: write LEFT JOIN with the private table first

SELECT p.u, g.x FROM p RIGHT JOIN g ON p.k = g.k
----
this RIGHT JOIN is not accepted: which public rows it keeps depends on private ones; write an inner join, or keep the private side: LEFT JOIN, IN or EXISTS with the private table outside

SELECT p.u, g.x FROM g LEFT JOIN p ON p.k = g.k
----
this LEFT JOIN is not accepted: which public rows it keeps depends on private ones; write an inner join, or keep the private side: LEFT JOIN, IN or EXISTS with the private table outside

SELECT g.t, g.x FROM g LEFT SEMI JOIN p ON p.k = g.k
----
IN, EXISTS or INTERSECT is not accepted: which public rows it keeps depends on private ones; write an inner join, or keep the private side: LEFT JOIN, IN or EXISTS with the private table outside

SELECT g.t, g.x FROM g LEFT ANTI JOIN p ON p.k = g.k
----
NOT EXISTS or EXCEPT is not accepted: which public rows it keeps depends on private ones; write an inner join, or keep the private side: LEFT JOIN, IN or EXISTS with the private table outside

SELECT t, x FROM g WHERE k IN (SELECT k FROM p)
----
IN, EXISTS or INTERSECT is not accepted: whether a row stays depends on other units' rows; compare the units inside: EXISTS (SELECT 1 FROM b WHERE b.person = a.person AND ..)

SELECT t, x FROM g WHERE t IN (SELECT u FROM p)
----
IN, EXISTS or INTERSECT is not accepted: which public rows it keeps depends on private ones; write an inner join, or keep the private side: LEFT JOIN, IN or EXISTS with the private table outside

SELECT t, x FROM g WHERE NOT EXISTS (SELECT 1 FROM p WHERE p.k = g.k)
----
NOT EXISTS or EXCEPT is not accepted: whether a row stays depends on other units' rows; compare the units inside: EXISTS (SELECT 1 FROM b WHERE b.person = a.person AND ..)

SELECT t, x FROM g WHERE k IN (SELECT k FROM p) OR x > 0
----
IN or EXISTS among other conditions is not accepted: whether a row stays depends on other units' rows; compare the units inside: EXISTS (SELECT 1 FROM b WHERE b.person = a.person AND ..)

SELECT u, a FROM p WHERE k IN (SELECT k FROM g WHERE k IN (SELECT k FROM q))
----
IN, EXISTS or INTERSECT is not accepted: whether a row stays depends on other units' rows; compare the units inside: EXISTS (SELECT 1 FROM b WHERE b.person = a.person AND ..)

SELECT u, a FROM p WHERE k IN (SELECT g.k FROM g JOIN q ON g.k = q.k)
----
IN, EXISTS or INTERSECT is not accepted: whether a row stays depends on other units' rows; compare the units inside: EXISTS (SELECT 1 FROM b WHERE b.person = a.person AND ..)

SELECT u, a FROM p WHERE u NOT IN (SELECT u FROM q)
----
NOT IN is not accepted: one null in a private table would take away everybody's rows; write NOT EXISTS with an equality of units inside

SELECT u, a FROM p WHERE k NOT IN (SELECT k FROM q)
----
NOT IN is not accepted: whether a row stays depends on other units' rows; compare the units inside: EXISTS (SELECT 1 FROM b WHERE b.person = a.person AND ..)

SELECT u, a FROM p WHERE k NOT IN (SELECT k FROM q WHERE q.u = p.u)
----
NOT IN with other conditions is not accepted: the engine has it for one column; write NOT EXISTS

SELECT u, a FROM p WHERE k IN (SELECT k FROM q)
----
IN, EXISTS or INTERSECT is not accepted: whether a row stays depends on other units' rows; compare the units inside: EXISTS (SELECT 1 FROM b WHERE b.person = a.person AND ..)

SELECT u, a FROM p WHERE EXISTS (SELECT 1 FROM q)
----
IN, EXISTS or INTERSECT is not accepted: whether a row stays depends on other units' rows; compare the units inside: EXISTS (SELECT 1 FROM b WHERE b.person = a.person AND ..)

SELECT u, a FROM p WHERE EXISTS (SELECT 1 FROM q WHERE q.k = p.k)
----
IN, EXISTS or INTERSECT is not accepted: whether a row stays depends on other units' rows; compare the units inside: EXISTS (SELECT 1 FROM b WHERE b.person = a.person AND ..)

SELECT u, a FROM p WHERE NOT EXISTS (SELECT 1 FROM q WHERE q.k = p.k)
----
NOT EXISTS or EXCEPT is not accepted: whether a row stays depends on other units' rows; compare the units inside: EXISTS (SELECT 1 FROM b WHERE b.person = a.person AND ..)

SELECT u, a FROM p WHERE a > (SELECT MIN(b) FROM q)
----
GROUP BY over private rows is not accepted: one row would be made of several units' rows, and would be exact; add the privacy unit to GROUP BY and to the list behind SELECT, or aggregate outside

SELECT u, a FROM p WHERE a > (SELECT AVG(a) FROM p)
----
GROUP BY over private rows is not accepted: one row would be made of several units' rows, and would be exact; add the privacy unit to GROUP BY and to the list behind SELECT, or aggregate outside

SELECT u, a FROM p WHERE a > (SELECT MIN(b) FROM q WHERE q.k = p.k)
----
GROUP BY over private rows is not accepted: one row would be made of several units' rows, and would be exact; add the privacy unit to GROUP BY and to the list behind SELECT, or aggregate outside

SELECT u, (SELECT COUNT(*) FROM q) AS n FROM p
----
GROUP BY over private rows is not accepted: one row would be made of several units' rows, and would be exact; add the privacy unit to GROUP BY and to the list behind SELECT, or aggregate outside

SELECT u, (SELECT x FROM g) AS n FROM p
----
a subquery that stands for a value is not accepted: it may have several rows; make it one aggregate without GROUP BY, as in (SELECT AVG(x) FROM t)

SELECT u, a FROM p WHERE a = (SELECT x FROM g WHERE g.k = p.k)
----
the query is not accepted: Correlated scalar subquery must be aggregated to return at most one row; check its names and types

SELECT u, (SELECT b FROM q WHERE q.u = p.u) AS n FROM p
----
the query is not accepted: Correlated scalar subquery must be aggregated to return at most one row; check its names and types

SELECT u, a FROM p WHERE a = (SELECT MAX(x) FROM g GROUP BY k)
----
a subquery that stands for a value is not accepted: it may have several rows; make it one aggregate without GROUP BY, as in (SELECT AVG(x) FROM t)

SELECT u, a FROM p WHERE a > ALL (SELECT x FROM g)
----
line 1, column 26: this expression is not accepted: it is not among what was proved safe; write it with comparisons, arithmetic, CASE and functions

SELECT u, a FROM p WHERE a = ANY (SELECT b FROM q)
----
line 1, column 26: this expression is not accepted: it is not among what was proved safe; write it with comparisons, arithmetic, CASE and functions

SELECT k, COUNT(*) AS n FROM p GROUP BY k
----
GROUP BY over private rows is not accepted: one row would be made of several units' rows, and would be exact; add the privacy unit to GROUP BY and to the list behind SELECT, or aggregate outside

SELECT COUNT(*) AS n FROM p
----
GROUP BY over private rows is not accepted: one row would be made of several units' rows, and would be exact; add the privacy unit to GROUP BY and to the list behind SELECT, or aggregate outside

SELECT MAX(u) AS u, COUNT(*) AS n FROM p GROUP BY k
----
GROUP BY over private rows is not accepted: one row would be made of several units' rows, and would be exact; add the privacy unit to GROUP BY and to the list behind SELECT, or aggregate outside

SELECT s, SUM(a) AS n FROM p GROUP BY s
----
GROUP BY over private rows is not accepted: one row would be made of several units' rows, and would be exact; add the privacy unit to GROUP BY and to the list behind SELECT, or aggregate outside

SELECT upper(u) AS u, COUNT(*) AS n FROM p GROUP BY upper(u)
----
GROUP BY over private rows is not accepted: one row would be made of several units' rows, and would be exact; add the privacy unit to GROUP BY and to the list behind SELECT, or aggregate outside

SELECT u, COUNT(*) AS n FROM p GROUP BY ROLLUP (u)
----
line 1, column 49: this expression is not accepted: it is not among what was proved safe; write it with comparisons, arithmetic, CASE and functions

SELECT u, k, COUNT(*) AS n FROM p GROUP BY CUBE (u, k)
----
line 1, column 50: this expression is not accepted: it is not among what was proved safe; write it with comparisons, arithmetic, CASE and functions

SELECT u, k, COUNT(*) AS n FROM p GROUP BY GROUPING SETS ((u), (k))
----
line 1, column 60: this expression is not accepted: it is not among what was proved safe; write it with comparisons, arithmetic, CASE and functions

SELECT u, COUNT(*) AS n FROM p GROUP BY ALL
----
line 1, column 1: GROUP BY ALL is not accepted: it is not among what was proved safe; list the keys

SELECT n, COUNT(*) AS m FROM (SELECT u, COUNT(*) AS n FROM p GROUP BY u) x GROUP BY n
----
GROUP BY over private rows is not accepted: one row would be made of several units' rows, and would be exact; add the privacy unit to GROUP BY and to the list behind SELECT, or aggregate outside

SELECT p.u, x.n FROM p JOIN (SELECT k, COUNT(*) AS n FROM q GROUP BY k) x ON x.k = p.k
----
GROUP BY over private rows is not accepted: one row would be made of several units' rows, and would be exact; add the privacy unit to GROUP BY and to the list behind SELECT, or aggregate outside

SELECT p.u, x.n FROM p CROSS JOIN (SELECT COUNT(*) AS n FROM q) x
----
GROUP BY over private rows is not accepted: one row would be made of several units' rows, and would be exact; add the privacy unit to GROUP BY and to the list behind SELECT, or aggregate outside

SELECT u, array_agg(a) AS l FROM p GROUP BY u
----
aggregate array_agg is not accepted: it is not on the list of aggregates that no order of rows shows in; use count, min, max, bool_and, bool_or, bit_and, bit_or, bit_xor, sum, avg, var or stddev

SELECT u, first_value(a) AS l FROM p GROUP BY u
----
aggregate first_value is not accepted: it is not on the list of aggregates that no order of rows shows in; use count, min, max, bool_and, bool_or, bit_and, bit_or, bit_xor, sum, avg, var or stddev

SELECT u, string_agg(s, ',') AS l FROM p GROUP BY u
----
aggregate string_agg is not accepted: it is not on the list of aggregates that no order of rows shows in; use count, min, max, bool_and, bool_or, bit_and, bit_or, bit_xor, sum, avg, var or stddev

SELECT u, SUM(a ORDER BY k) AS l FROM p GROUP BY u
----
line 1, column 11: an order or limit inside SUM is not accepted: it is not among what was proved safe; leave it out

SELECT u, k FROM p UNION ALL SELECT t, k FROM g
----
UNION is not accepted: public rows among private ones belong to nobody; put private tables together, or public ones

SELECT u, s FROM p UNION ALL SELECT s, u FROM q
----
UNION is not accepted: its parts have their privacy units at different places; select the unit at the same place of every part

SELECT u, k FROM p UNION SELECT t, k FROM g
----
UNION is not accepted: public rows among private ones belong to nobody; put private tables together, or public ones

SELECT u, s FROM p UNION SELECT s, u FROM q
----
UNION is not accepted: its parts have their privacy units at different places; select the unit at the same place of every part

SELECT t, k FROM g EXCEPT SELECT u, k FROM p
----
NOT EXISTS or EXCEPT is not accepted: which public rows it keeps depends on private ones; write an inner join, or keep the private side: LEFT JOIN, IN or EXISTS with the private table outside

SELECT u, s FROM p EXCEPT SELECT s, u FROM q
----
NOT EXISTS or EXCEPT is not accepted: a row would belong to two units; join private tables on their privacy units, as in ON a.person = b.person

SELECT t, k FROM g INTERSECT SELECT u, k FROM p
----
IN, EXISTS or INTERSECT is not accepted: which public rows it keeps depends on private ones; write an inner join, or keep the private side: LEFT JOIN, IN or EXISTS with the private table outside

SELECT u, s FROM p INTERSECT SELECT s, u FROM q
----
IN, EXISTS or INTERSECT is not accepted: a row would belong to two units; join private tables on their privacy units, as in ON a.person = b.person

SELECT k FROM p UNION ALL SELECT k FROM q
----
this list behind SELECT is not accepted: its rows lose their privacy unit; select the unit as it is, as in SELECT person, ..

SELECT k FROM p EXCEPT SELECT k FROM q
----
this list behind SELECT is not accepted: its rows lose their privacy unit; select the unit as it is, as in SELECT person, ..

SELECT u, k FROM p UNION ALL BY NAME SELECT k, u FROM q
----
line 1, column 1: BY NAME is not accepted: it is not among what was proved safe; list the columns in one order

SELECT k, a FROM p
----
this list behind SELECT is not accepted: its rows lose their privacy unit; select the unit as it is, as in SELECT person, ..

SELECT DISTINCT k FROM p
----
this list behind SELECT is not accepted: its rows lose their privacy unit; select the unit as it is, as in SELECT person, ..

SELECT upper(u) AS u, a FROM p
----
this list behind SELECT is not accepted: its rows lose their privacy unit; select the unit as it is, as in SELECT person, ..

SELECT u || 'x' AS u, a FROM p
----
this list behind SELECT is not accepted: its rows lose their privacy unit; select the unit as it is, as in SELECT person, ..

SELECT CASE WHEN a > 0 THEN u ELSE '1' END AS u, a FROM p
----
this list behind SELECT is not accepted: its rows lose their privacy unit; select the unit as it is, as in SELECT person, ..

SELECT '1' AS u, a FROM p
----
this list behind SELECT is not accepted: its rows lose their privacy unit; select the unit as it is, as in SELECT person, ..

SELECT x.k, x.a FROM (SELECT k, a FROM p) x
----
this list behind SELECT is not accepted: its rows lose their privacy unit; select the unit as it is, as in SELECT person, ..

SELECT p.u, x.a FROM p JOIN (SELECT k, a FROM r) x ON x.k = p.k
----
the query is not accepted: No field named k; check its names and types

SELECT p.u, x.a FROM p JOIN (SELECT a FROM r) x ON x.a = p.a
----
this list behind SELECT is not accepted: its rows lose their privacy unit; select the unit as it is, as in SELECT person, ..

SELECT p.u, x.b FROM p JOIN (SELECT upper(u) AS v, b FROM q) x ON x.v = p.u
----
this list behind SELECT is not accepted: its rows lose their privacy unit; select the unit as it is, as in SELECT person, ..

SELECT k, x FROM g
----
a query about public tables alone is not accepted: nobody's privacy is at stake; name the private tables and their units: OPTIONS(privacy_unit_column=[orders.person])

SELECT g.k, h.z FROM g JOIN h ON g.k = h.k
----
a query about public tables alone is not accepted: nobody's privacy is at stake; name the private tables and their units: OPTIONS(privacy_unit_column=[orders.person])

SELECT u FROM p NATURAL JOIN q
----
NATURAL JOIN is not accepted: which columns it compares depends on what tables happen to have; write ON or USING

SELECT p.u FROM p, LATERAL (SELECT 1 AS o FROM q WHERE q.u = p.u) x
----
line 1, column 29: LATERAL is not accepted: it is not among what was proved safe; write a join

SELECT u, unnest(make_array(1, 2)) AS e FROM p
----
function make_array is not accepted: it is not on the list of total functions; leave it out, or compute it from the released rows

SELECT p.u FROM p CROSS JOIN UNNEST([1, 2]) AS t(e)
----
line 1, column 38: this in FROM is not accepted: it is not among what was proved safe; name a table or write a subquery

SELECT * FROM generate_series(1, 3)
----
line 1, column 15: a table function is not accepted: it is not among what was proved safe; name a table

SELECT u, a FROM p WHERE s SIMILAR TO 'a'
----
line 1, column 26: this expression is not accepted: it is not among what was proved safe; write it with comparisons, arithmetic, CASE and functions

SELECT u, a & 1 AS e FROM p
----
line 1, column 11: the operator & is not accepted: it is not among what was proved safe; write comparisons, arithmetic, AND and OR

SELECT u, s ~ 'a' AS e FROM p
----
line 1, column 11: the operator ~ is not accepted: it is not among what was proved safe; write comparisons, arithmetic, AND and OR

SELECT u, a FROM p WHERE a = $1
----
an expression Placeholder is not accepted: it has no total form; leave it out, or compute it from the released rows

SELECT * EXCLUDE (a) FROM p
----
line 1, column 8: this behind * is not accepted: it is not among what was proved safe; list the columns

SELECT u INTO x FROM p
----
line 1, column 1: INTO is not accepted: it is not among what was proved safe; leave it out

EXPLAIN SELECT u FROM p
----
this is not accepted: one query is expected; write SELECT .. FROM ..

INSERT INTO p VALUES ('1')
----
this is not accepted: one query is expected; write SELECT .. FROM ..

CREATE TABLE x AS SELECT u FROM p
----
this is not accepted: one query is expected; write SELECT .. FROM ..

SELECT u FROM p; SELECT u FROM q
----
this is not accepted: one query is expected; write SELECT .. FROM ..

SELECT u FROM p WHERE
----
this is not accepted: Expected: an expression, found: EOF; write SELECT .. FROM .. JOIN .. ON .. WHERE ..

SELECT nothing FROM p
----
the query is not accepted: No field named nothing; check its names and types

SELECT u, no_such_function(a) AS e FROM p
----
the query is not accepted: Invalid function 'no_such_function'; check its names and types

SELECT u, k + s AS e FROM p
----
the query is not accepted: Cannot coerce arithmetic expression Int64 + Utf8 to valid types; check its names and types

SELECT * FROM p JOIN q ON p.u = q.u AND q.nothing = 1
----
the query is not accepted: No field named q.nothing; check its names and types

SELECT u, repeat(s, a) AS e FROM p
----
function repeat is not accepted: argument 2 must be a literal, so that no row decides it; write it as a constant

SELECT u, lpad(s, a) AS e FROM p
----
function lpad is not accepted: argument 2 must be a literal, so that no row decides it; write it as a constant

WITH x AS (SELECT u FROM p), x AS (SELECT u FROM q) SELECT u FROM x
----
line 1, column 30: a second WITH query called 'x' is not accepted: it would hide the first one; give it another name

SELECT u FROM p AS OF TIMESTAMP '2026-01-01'
----
line 1, column 23: this is not accepted: Expected: end of statement, found: TIMESTAMP; write SELECT .. FROM .. JOIN .. ON .. WHERE ..

SELECT u, a FROM p WHERE EXISTS (SELECT 1 FROM q WHERE q.u = p.u OR q.k = 1)
----
IN, EXISTS or INTERSECT is not accepted: a row would belong to two units; join private tables on their privacy units, as in ON a.person = b.person

SELECT u, a FROM p WHERE EXISTS (SELECT 1 FROM q WHERE p.u = '1')
----
IN, EXISTS or INTERSECT is not accepted: whether a row stays depends on other units' rows; compare the units inside: EXISTS (SELECT 1 FROM b WHERE b.person = a.person AND ..)

SELECT u, a FROM p WHERE EXISTS (SELECT COUNT(*) FROM q)
----
GROUP BY over private rows is not accepted: one row would be made of several units' rows, and would be exact; add the privacy unit to GROUP BY and to the list behind SELECT, or aggregate outside

SELECT u, CASE WHEN EXISTS (SELECT 1 FROM q) THEN 1 ELSE 0 END AS e FROM p
----
this subquery is not accepted: it could not be made a join; write a join, or a subquery with an equality of units inside

SELECT p.u, q.b FROM p JOIN q ON p.u = q.u || ''
----
this join is not accepted: a row would belong to two units; join private tables on their privacy units, as in ON a.person = b.person

SELECT p.u, q.b FROM p JOIN q ON COALESCE(p.u, 'x') = q.u
----
this join is not accepted: a row would belong to two units; join private tables on their privacy units, as in ON a.person = b.person

SELECT p.u, q.b FROM p JOIN q ON CASE WHEN p.k = 1 THEN p.u ELSE p.s END = q.u
----
this join is not accepted: a row would belong to two units; join private tables on their privacy units, as in ON a.person = b.person

SELECT p.u, q.b FROM p JOIN q ON (p.u = q.u) IS NOT FALSE
----
this join is not accepted: a row would belong to two units; join private tables on their privacy units, as in ON a.person = b.person

SELECT p.u, q.b FROM p JOIN q ON CAST(p.u AS INT) = CAST(q.u AS INT)
----
this join is not accepted: a row would belong to two units; join private tables on their privacy units, as in ON a.person = b.person

SELECT x.u FROM (SELECT q.u AS u, p.k FROM p LEFT JOIN q ON p.u = q.u) x
----
this list behind SELECT is not accepted: its rows lose their privacy unit; select the unit as it is, as in SELECT person, ..

SELECT x.u FROM (SELECT q.u AS u, p.u AS v FROM p LEFT JOIN q ON p.u = q.u) x
----
this list behind SELECT is not accepted: its rows lose their privacy unit; select the unit as it is, as in SELECT person, ..

SELECT u, (SELECT MAX(b) FROM q WHERE q.u = p.u OR q.u IS NULL) AS m FROM p
----
this subquery is not accepted: it could not be made a join; write a join, or a subquery with an equality of units inside

SELECT k FROM p GROUP BY k HAVING COUNT(DISTINCT u) > 1
----
GROUP BY over private rows is not accepted: one row would be made of several units' rows, and would be exact; add the privacy unit to GROUP BY and to the list behind SELECT, or aggregate outside

SELECT p.u, x.c FROM p JOIN (SELECT DISTINCT k AS c FROM q) x ON x.c = p.k
----
this list behind SELECT is not accepted: its rows lose their privacy unit; select the unit as it is, as in SELECT person, ..

SELECT u FROM p UNION ALL VALUES ('1')
----
UNION is not accepted: public rows among private ones belong to nobody; put private tables together, or public ones

SELECT v.u FROM p JOIN (VALUES ('1')) AS v(u) ON v.u = p.u
----
this list behind SELECT is not accepted: its rows lose their privacy unit; select the unit as it is, as in SELECT person, ..

WITH p AS (SELECT t AS u, k FROM g) SELECT u, k FROM p
----
a query about public tables alone is not accepted: nobody's privacy is at stake; name the private tables and their units: OPTIONS(privacy_unit_column=[orders.person])

SELECT u FROM (SELECT u FROM p WHERE 1 = 0) x
----
a query about public tables alone is not accepted: nobody's privacy is at stake; name the private tables and their units: OPTIONS(privacy_unit_column=[orders.person])

SELECT u FROM p WHERE k IN (SELECT k FROM g ORDER BY x LIMIT 1)
----
line 1, column 29: ORDER BY inside is not accepted: rows of a relation have no order; put it behind the outer query, where it is about released rows

SELECT "U" FROM p
----
the query is not accepted: No field named "U". Did you mean 'p.u'?; check its names and types

SELECT p.u FROM p JOIN r ON p.u = r.a
----
this join is not accepted: a row would belong to two units; join private tables on their privacy units, as in ON a.person = b.person

SELECT p.u FROM p JOIN q one ON p.u = one.u JOIN q two ON two.k = one.k
----
this join is not accepted: a row would belong to two units; join private tables on their privacy units, as in ON a.person = b.person

SELECT u FROM p WHERE u IN (SELECT u FROM q UNION SELECT t FROM g)
----
UNION is not accepted: public rows among private ones belong to nobody; put private tables together, or public ones

SELECT u, MIN(k) OVER (PARTITION BY u) AS n FROM p
----
line 1, column 11: a window is not accepted: a row must not see others; aggregate by GROUP BY with the privacy unit, and join that

SELECT u, a FROM p WHERE (SELECT COUNT(*) FROM q WHERE q.k = p.k AND q.u <> p.u) > 0
----
this subquery is not accepted: it could not be made a join; write a join, or a subquery with an equality of units inside

SELECT u, MAX(v) AS v FROM (SELECT p.u, q.u AS v FROM p JOIN g ON p.k = g.k JOIN q ON q.k = g.k) x GROUP BY u
----
this join is not accepted: a row would belong to two units; join private tables on their privacy units, as in ON a.person = b.person

SELECT u, k NOT IN (SELECT k FROM g) AS e FROM p
----
this subquery is not accepted: it could not be made a join; write a join, or a subquery with an equality of units inside

SELECT u, CASE WHEN EXISTS (SELECT 1 FROM q WHERE q.u = p.u AND q.k = p.k) THEN 1 ELSE 0 END AS e FROM p
----
this subquery is not accepted: it could not be made a join; write a join, or a subquery with an equality of units inside
