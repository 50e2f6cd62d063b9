# Inner relations that are accepted. p, q and r are private, with the units u, u and w; g and h are public.

# filters and projections

SELECT * FROM p WHERE a > 0

SELECT * FROM p WHERE k = 1

SELECT * FROM p WHERE s = 'a'

SELECT * FROM p WHERE a IS NULL

SELECT * FROM p WHERE f < 1

SELECT * FROM p WHERE NOT (k = 2)

SELECT * FROM p WHERE k IN (1, 2)

SELECT * FROM p WHERE a BETWEEN -1 AND 7

SELECT * FROM p WHERE s LIKE '%'

SELECT * FROM p WHERE k = 1 OR s = 'B'

SELECT * FROM p WHERE d >= DATE '2000-01-01'

SELECT * FROM p WHERE u = '1'

SELECT * FROM p WHERE u <> '2' AND a IS NOT NULL

SELECT * FROM p WHERE f IS NOT NULL OR d IS NULL

SELECT * FROM p WHERE k IS DISTINCT FROM a

SELECT u, k FROM p

SELECT u, a, k FROM p

SELECT u, s AS t, k FROM p

SELECT u, CASE WHEN a > 0 THEN 'x' ELSE s END AS c FROM p

SELECT u, a > k AS b FROM p

SELECT u, COALESCE(s, 'none') AS s FROM p

SELECT u, upper(s) AS s FROM p

SELECT u, NOT (a = k) AS n FROM p

SELECT u, a IS NULL AS n FROM p

SELECT u, NULLIF(k, 1) AS n FROM p

SELECT u, CASE k WHEN 1 THEN f WHEN 2 THEN 0.5 END AS c FROM p

SELECT u, u AS v FROM p

SELECT u, length(s) AS l FROM p

SELECT u, a + 1 AS e FROM p

SELECT u, a * a AS e FROM p

SELECT u, a / k AS e FROM p

SELECT u, a % k AS e FROM p

SELECT u, -a AS e FROM p

SELECT u, f / 0 AS e FROM p

SELECT u, f * 1e300 AS e FROM p

SELECT u, CAST(s AS INT) AS e FROM p

SELECT u, CAST(a AS SMALLINT) AS e FROM p

SELECT u, abs(a) AS e FROM p

SELECT u, round(f) AS e FROM p

SELECT u, extract(year FROM d) AS e FROM p

SELECT w, m * m AS e FROM r

SELECT w, m / 0 AS e FROM r

SELECT w, CAST(m AS INT) AS e FROM r

SELECT u, a - 9223372036854775807 AS e FROM p

SELECT u, substr(s, 2) AS e FROM p

SELECT u, s FROM p WHERE a + 1 > 0

SELECT u, s FROM p WHERE a / k = 1

SELECT u, s FROM p WHERE CAST(s AS INT) = 1

SELECT u, s FROM p WHERE f / f > 0

SELECT u, s FROM p WHERE abs(a) > 1

SELECT u, s FROM p WHERE a * 2 = 2 OR k = 1

# a private table with a public one

SELECT p.u, p.a, g.x FROM p JOIN g ON p.k = g.k

SELECT p.u, p.a, g.x FROM p JOIN g ON p.k = g.k AND g.x > 0

SELECT p.u, p.a, g.x FROM p JOIN g ON p.u = g.t

SELECT p.u, p.a, g.x FROM p JOIN g ON p.a < g.x

SELECT p.u, p.a, g.x FROM p JOIN g ON p.k = g.k AND p.s = g.t

SELECT p.u, p.a, g.x FROM p JOIN g ON p.s = g.t OR p.k = g.k

SELECT p.u, p.a, g.x FROM p LEFT JOIN g ON p.k = g.k

SELECT p.u, p.a, g.x FROM p LEFT JOIN g ON p.k = g.k AND g.x > 0

SELECT p.u, p.a, g.x FROM p LEFT JOIN g ON p.u = g.t

SELECT p.u, p.a, g.x FROM p LEFT JOIN g ON p.a < g.x

SELECT p.u, p.a, g.x FROM p LEFT JOIN g ON p.k = g.k AND p.s = g.t

SELECT p.u, p.a, g.x FROM p LEFT JOIN g ON p.s = g.t OR p.k = g.k

SELECT p.u, p.a, g.x FROM p INNER JOIN g ON p.k = g.k

SELECT p.u, p.a, g.x FROM p INNER JOIN g ON p.k = g.k AND g.x > 0

SELECT p.u, p.a, g.x FROM p INNER JOIN g ON p.u = g.t

SELECT p.u, p.a, g.x FROM p INNER JOIN g ON p.a < g.x

SELECT p.u, p.a, g.x FROM p INNER JOIN g ON p.k = g.k AND p.s = g.t

SELECT p.u, p.a, g.x FROM p INNER JOIN g ON p.s = g.t OR p.k = g.k

SELECT p.u, g.x, g.t FROM g RIGHT JOIN p ON p.k = g.k

SELECT p.u, p.k FROM p LEFT SEMI JOIN g ON p.k = g.k

SELECT p.u, p.k FROM p LEFT ANTI JOIN g ON p.k = g.k

SELECT p.u, g.x, g.t FROM g RIGHT JOIN p ON p.u = g.t

SELECT p.u, p.k FROM p LEFT SEMI JOIN g ON p.u = g.t

SELECT p.u, p.k FROM p LEFT ANTI JOIN g ON p.u = g.t

SELECT p.u, g.x, g.t FROM g RIGHT JOIN p ON p.k = g.k AND p.a > g.x

SELECT p.u, p.k FROM p LEFT SEMI JOIN g ON p.k = g.k AND p.a > g.x

SELECT p.u, p.k FROM p LEFT ANTI JOIN g ON p.k = g.k AND p.a > g.x

SELECT p.u, g.x FROM p, g WHERE p.k = g.k

SELECT p.u, g.x FROM p CROSS JOIN g

SELECT p.u, g.x, h.z FROM p JOIN g ON p.k = g.k JOIN h ON g.k = h.k

SELECT p.u, g.x, h.z FROM p LEFT JOIN g ON p.k = g.k LEFT JOIN h ON p.k = h.k

SELECT p.u, x.x FROM p JOIN (SELECT g.k, g.x FROM g LEFT JOIN h ON g.k = h.k) x ON x.k = p.k

SELECT p.u, x.n FROM p JOIN (SELECT k, COUNT(*) AS n, SUM(x) AS s FROM g GROUP BY k) x ON x.k = p.k

SELECT p.u, p.s FROM p JOIN g USING (k)

SELECT p.u, p.s FROM p LEFT JOIN g USING (k) WHERE x IS NULL

SELECT u, k FROM p WHERE k IN (SELECT k FROM g)

SELECT u, k FROM p WHERE EXISTS (SELECT 1 FROM g WHERE g.k = p.k)

SELECT u, k FROM p WHERE u IN (SELECT t FROM g WHERE t IS NOT NULL)

SELECT u, a FROM p WHERE a IN (SELECT x FROM g WHERE g.k = p.k)

SELECT u, k FROM p WHERE k NOT IN (SELECT k FROM g)

SELECT u, k FROM p WHERE NOT EXISTS (SELECT 1 FROM g WHERE g.k = p.k)

SELECT u, k FROM p WHERE u NOT IN (SELECT t FROM g WHERE t IS NOT NULL)

SELECT u, a FROM p WHERE a > (SELECT MIN(x) FROM g)

SELECT u, a FROM p WHERE a > (SELECT COUNT(*) FROM g WHERE g.k = p.k)

SELECT u, (SELECT MAX(x) FROM g) AS m FROM p

SELECT u, (SELECT COUNT(*) FROM g WHERE g.k = p.k) AS n FROM p

SELECT u, k FROM p WHERE k IN (SELECT k FROM g) OR s = 'a'

SELECT u, k FROM p WHERE k IN (SELECT k FROM g UNION SELECT k FROM h)

SELECT p.u, v.o FROM p JOIN (VALUES (1, 'one'), (2, 'two')) AS v(n, o) ON p.k = v.n

# private tables with each other, on their units

SELECT p.u, q.u AS v, p.a, q.b FROM p JOIN q ON p.u = q.u

SELECT p.u, q.u AS v, p.a, q.b FROM p JOIN q ON p.u = q.u AND p.k = q.k

SELECT p.u, q.u AS v, p.a, q.b FROM p JOIN q ON p.u = q.u AND p.a > q.b

SELECT p.u, q.u AS v, p.a, q.b FROM p JOIN q ON q.u = p.u AND p.s = q.s

SELECT p.u, q.u AS v, p.a, q.b FROM p JOIN q ON p.u = q.u AND (p.k = 1 OR q.k = 2)

SELECT p.u, p.a, q.b FROM p LEFT JOIN q ON p.u = q.u

SELECT p.u, p.a, q.b FROM p LEFT JOIN q ON p.u = q.u AND p.k = q.k

SELECT p.u, p.a, q.b FROM p LEFT JOIN q ON p.u = q.u AND p.a > q.b

SELECT p.u, p.a, q.b FROM p LEFT JOIN q ON q.u = p.u AND p.s = q.s

SELECT p.u, p.a, q.b FROM p LEFT JOIN q ON p.u = q.u AND (p.k = 1 OR q.k = 2)

SELECT q.u, p.a, q.b FROM p RIGHT JOIN q ON p.u = q.u

SELECT q.u, p.a, q.b FROM p RIGHT JOIN q ON p.u = q.u AND p.k = q.k

SELECT q.u, p.a, q.b FROM p RIGHT JOIN q ON p.u = q.u AND p.a > q.b

SELECT q.u, p.a, q.b FROM p RIGHT JOIN q ON q.u = p.u AND p.s = q.s

SELECT q.u, p.a, q.b FROM p RIGHT JOIN q ON p.u = q.u AND (p.k = 1 OR q.k = 2)

SELECT p.u, p.k FROM p LEFT SEMI JOIN q ON p.u = q.u

SELECT p.u, p.k FROM p LEFT SEMI JOIN q ON p.u = q.u AND p.k = q.k

SELECT p.u, p.k FROM p LEFT SEMI JOIN q ON p.u = q.u AND p.a < q.b

SELECT p.u, p.k FROM p LEFT ANTI JOIN q ON p.u = q.u

SELECT p.u, p.k FROM p LEFT ANTI JOIN q ON p.u = q.u AND p.k = q.k

SELECT p.u, p.k FROM p LEFT ANTI JOIN q ON p.u = q.u AND p.a < q.b

SELECT q.u, q.k FROM p RIGHT SEMI JOIN q ON p.u = q.u

SELECT q.u, q.k FROM p RIGHT SEMI JOIN q ON p.u = q.u AND p.k = q.k

SELECT q.u, q.k FROM p RIGHT ANTI JOIN q ON p.u = q.u

SELECT q.u, q.k FROM p RIGHT ANTI JOIN q ON p.u = q.u AND p.k = q.k

SELECT p.u, q.u AS v, q.b FROM p LEFT JOIN q ON p.u = q.u

SELECT p.u AS v, q.u, q.b FROM p RIGHT JOIN q ON p.u = q.u

SELECT p.u, q.b FROM p, q WHERE p.u = q.u

SELECT p.u, q.b, r.m FROM p, q, r WHERE p.u = q.u AND q.u = r.w

SELECT p.u, q.b, r.m FROM p JOIN q ON p.u = q.u JOIN r ON r.w = q.u

SELECT p.u, q.b, r.m FROM p LEFT JOIN q ON p.u = q.u LEFT JOIN r ON r.w = p.u

SELECT p.u, q.b, g.x FROM p JOIN q ON p.u = q.u JOIN g ON g.k = q.k AND g.k = p.k

SELECT p.u, q.b, g.x FROM p JOIN q ON p.u = q.u LEFT JOIN g ON g.x = p.a

SELECT one.u, two.a FROM p one JOIN p two ON one.u = two.u

SELECT one.u, two.a FROM p one JOIN p two ON one.u = two.u AND one.k < two.k

SELECT one.u, two.a FROM p one LEFT JOIN p two ON one.u = two.u AND one.a < two.a

SELECT p.u, r.y FROM p JOIN r ON p.u = r.w WHERE r.y

SELECT p.u, r.y FROM p JOIN r ON p.u = r.w AND p.a = r.a

SELECT p.u FROM p JOIN q USING (u)

SELECT p.u, p.a FROM p LEFT JOIN q USING (u, k)

SELECT w, a FROM r WHERE w IN (SELECT u FROM p)

SELECT u, a FROM p WHERE u IN (SELECT u FROM q WHERE b > 0)

SELECT u, a FROM p WHERE u IN (SELECT u FROM q WHERE q.k = p.k)

SELECT u, a FROM p WHERE EXISTS (SELECT 1 FROM q WHERE q.u = p.u)

SELECT u, a FROM p WHERE NOT EXISTS (SELECT 1 FROM q WHERE q.u = p.u)

SELECT u, a FROM p WHERE EXISTS (SELECT 1 FROM q WHERE q.u = p.u AND q.k = p.k)

SELECT u, a FROM p WHERE NOT EXISTS (SELECT 1 FROM q WHERE q.u = p.u AND q.b > p.a)

SELECT u, a FROM p WHERE NOT EXISTS (SELECT 1 FROM q JOIN g ON q.k = g.k WHERE q.u = p.u)

SELECT u, a FROM p WHERE EXISTS (SELECT 1 FROM q WHERE q.u = p.u) AND k IN (SELECT k FROM g)

SELECT u, a FROM p WHERE EXISTS (SELECT 1 FROM q WHERE q.u = p.u) OR k = 1

SELECT u, a FROM p WHERE a > (SELECT MIN(b) FROM q WHERE q.u = p.u)

SELECT u, a FROM p WHERE a >= (SELECT MAX(a) FROM p two WHERE two.u = p.u)

SELECT u, (SELECT COUNT(*) FROM q WHERE q.u = p.u) AS n FROM p

SELECT u, (SELECT SUM(b) FROM q WHERE q.u = p.u AND q.k = p.k) AS n FROM p

SELECT u, a FROM p WHERE (SELECT COUNT(*) FROM r WHERE r.w = p.u) > 1

# set operations and DISTINCT

SELECT u, k FROM p UNION ALL SELECT u, k FROM q

SELECT u, s FROM p UNION ALL SELECT u, s FROM q

SELECT u, a FROM p UNION ALL SELECT w, a FROM r

SELECT * FROM (SELECT u, k FROM p WHERE k > 1 UNION ALL SELECT u, k FROM q WHERE k < 4) x WHERE u <> '3'

SELECT u, k FROM p UNION SELECT u, k FROM q

SELECT u, s FROM p UNION SELECT u, s FROM q

SELECT u, a FROM p UNION SELECT w, a FROM r

SELECT * FROM (SELECT u, k FROM p WHERE k > 1 UNION SELECT u, k FROM q WHERE k < 4) x WHERE u <> '3'

SELECT u, k FROM p EXCEPT SELECT u, k FROM q

SELECT u, s FROM p EXCEPT SELECT u, s FROM q

SELECT u, a FROM p EXCEPT SELECT w, a FROM r

SELECT * FROM (SELECT u, k FROM p WHERE k > 1 EXCEPT SELECT u, k FROM q WHERE k < 4) x WHERE u <> '3'

SELECT u, k FROM p INTERSECT SELECT u, k FROM q

SELECT u, s FROM p INTERSECT SELECT u, s FROM q

SELECT u, a FROM p INTERSECT SELECT w, a FROM r

SELECT * FROM (SELECT u, k FROM p WHERE k > 1 INTERSECT SELECT u, k FROM q WHERE k < 4) x WHERE u <> '3'

SELECT u, k FROM p UNION ALL SELECT u, k FROM q UNION ALL SELECT w, a FROM r

SELECT u, k FROM p EXCEPT SELECT t, k FROM g

SELECT u, k FROM p INTERSECT SELECT t, k FROM g

SELECT u FROM p EXCEPT SELECT u FROM q

SELECT u FROM p INTERSECT SELECT u FROM q

SELECT u FROM p UNION SELECT w FROM r

SELECT u, k FROM p EXCEPT SELECT u, k FROM p WHERE k = 1

SELECT u, k FROM p UNION ALL (SELECT u, k FROM q EXCEPT SELECT w, a FROM r)

SELECT DISTINCT u FROM p

SELECT DISTINCT u, k FROM p

SELECT DISTINCT u, s, k FROM p

SELECT DISTINCT * FROM p

SELECT DISTINCT u, f FROM p

SELECT DISTINCT u, a > 0 AS b FROM p

SELECT DISTINCT p.u, g.x FROM p JOIN g ON p.k = g.k

SELECT DISTINCT p.u, q.b FROM p LEFT JOIN q ON p.u = q.u

# GROUP BY with the unit among its keys

SELECT u, COUNT(*) AS n FROM p GROUP BY u

SELECT u, k, COUNT(*) AS n FROM p GROUP BY u, k

SELECT u, COUNT(a) AS n FROM p GROUP BY u

SELECT u, k, COUNT(a) AS n FROM p GROUP BY u, k

SELECT u, SUM(a) AS n FROM p GROUP BY u

SELECT u, k, SUM(a) AS n FROM p GROUP BY u, k

SELECT u, SUM(f) AS n FROM p GROUP BY u

SELECT u, k, SUM(f) AS n FROM p GROUP BY u, k

SELECT u, MIN(a) AS n, MAX(a) AS m FROM p GROUP BY u

SELECT u, k, MIN(a) AS n, MAX(a) AS m FROM p GROUP BY u, k

SELECT u, MIN(f) AS n, MAX(f) AS m FROM p GROUP BY u

SELECT u, k, MIN(f) AS n, MAX(f) AS m FROM p GROUP BY u, k

SELECT u, AVG(a) AS n FROM p GROUP BY u

SELECT u, k, AVG(a) AS n FROM p GROUP BY u, k

SELECT u, AVG(f) AS n FROM p GROUP BY u

SELECT u, k, AVG(f) AS n FROM p GROUP BY u, k

SELECT u, COUNT(DISTINCT k) AS n FROM p GROUP BY u

SELECT u, k, COUNT(DISTINCT k) AS n FROM p GROUP BY u, k

SELECT u, MIN(s) AS n, MAX(s) AS m FROM p GROUP BY u

SELECT u, k, MIN(s) AS n, MAX(s) AS m FROM p GROUP BY u, k

SELECT u, MIN(d) AS n, MAX(d) AS m FROM p GROUP BY u

SELECT u, k, MIN(d) AS n, MAX(d) AS m FROM p GROUP BY u, k

SELECT u, SUM(a) + COUNT(*) AS n FROM p GROUP BY u

SELECT u, k, SUM(a) + COUNT(*) AS n FROM p GROUP BY u, k

SELECT u, SUM(CASE WHEN a > 0 THEN 1 ELSE 0 END) AS n FROM p GROUP BY u

SELECT u, k, SUM(CASE WHEN a > 0 THEN 1 ELSE 0 END) AS n FROM p GROUP BY u, k

SELECT u, COUNT(*) FILTER (WHERE k = 1) AS n FROM p GROUP BY u

SELECT u, k, COUNT(*) FILTER (WHERE k = 1) AS n FROM p GROUP BY u, k

SELECT w, SUM(m) AS s, AVG(m) AS g FROM r GROUP BY w

SELECT w, bool_and(y) AS s, bool_or(y) AS g FROM r GROUP BY w

SELECT u, COUNT(*) AS n FROM p GROUP BY u HAVING COUNT(*) > 1

SELECT u, f, COUNT(*) AS n FROM p GROUP BY u, f

SELECT u, s, COUNT(*) AS n FROM p WHERE a > 0 GROUP BY u, s HAVING MIN(a) > 0

SELECT u, a > 0 AS b, COUNT(*) AS n FROM p GROUP BY u, a > 0

SELECT p.u, g.t, COUNT(*) AS n FROM p JOIN g ON p.k = g.k GROUP BY p.u, g.t

SELECT p.u, COUNT(q.b) AS n, SUM(q.b) AS s FROM p LEFT JOIN q ON p.u = q.u GROUP BY p.u

SELECT p.u, q.k, MAX(p.a) AS m FROM p JOIN q ON p.u = q.u GROUP BY p.u, q.k

SELECT q.u, COUNT(*) AS n FROM p JOIN q ON p.u = q.u GROUP BY q.u, p.u

SELECT k, u, COUNT(*) AS n FROM p GROUP BY 1, 2

SELECT u, n FROM (SELECT u, COUNT(*) AS n FROM p GROUP BY u) x WHERE n > 1

SELECT u, MAX(n) AS m FROM (SELECT u, k, COUNT(*) AS n FROM p GROUP BY u, k) x GROUP BY u

# WITH, subqueries in FROM, and all together

WITH x AS (SELECT u, COUNT(*) AS n FROM q GROUP BY u) SELECT p.u, p.a, x.n FROM p JOIN x ON x.u = p.u

WITH x AS (SELECT u, COUNT(*) AS n FROM q GROUP BY u) SELECT p.u, p.a, x.n FROM p LEFT JOIN x ON x.u = p.u

WITH x AS (SELECT k, MAX(x) AS m FROM g GROUP BY k), y AS (SELECT u, k FROM p) SELECT y.u, x.m FROM y JOIN x ON x.k = y.k

WITH x AS (SELECT * FROM p), y AS (SELECT * FROM x WHERE a > 0) SELECT u, a FROM y UNION ALL SELECT u, b FROM q

WITH x(v, c) AS (SELECT u, COUNT(*) FROM p GROUP BY u) SELECT v, c FROM x

WITH x AS (SELECT u, k FROM p) SELECT one.u, two.k FROM x one JOIN x two ON one.u = two.u

SELECT x.u, x.a FROM (SELECT u, a FROM p UNION ALL SELECT w, a FROM r) x JOIN q ON q.u = x.u

SELECT x.u, x.n FROM (SELECT u, COUNT(*) AS n FROM p GROUP BY u) x LEFT JOIN (SELECT u, COUNT(*) AS n FROM q GROUP BY u) y ON x.u = y.u WHERE y.n IS NULL OR x.n > y.n

SELECT x.u, x.k FROM (SELECT DISTINCT u, k FROM p) x WHERE NOT EXISTS (SELECT 1 FROM q WHERE q.u = x.u AND q.k = x.k)

SELECT x.v, g.x FROM (SELECT u AS v, k FROM p) AS x JOIN g ON g.k = x.k WHERE x.v IN (SELECT u FROM q)

SELECT p.u, g.x FROM (p JOIN q ON p.u = q.u) LEFT JOIN g ON g.k = p.k

SELECT u, a FROM p WHERE u IN (SELECT w FROM r WHERE a IN (SELECT x FROM g))

SELECT u, k FROM p WHERE k IN (SELECT k FROM g WHERE x > (SELECT MIN(x) FROM g))

SELECT u, SUM(n) AS s FROM (SELECT u, COUNT(*) AS n FROM p GROUP BY u, k UNION ALL SELECT u, b FROM q) x GROUP BY u HAVING SUM(n) > 0

# what an attacker tries: nulls and empty sides of NOT IN, keys with extremes, NaN and two zeros, names that hide others, units in odd places

SELECT u, a FROM p WHERE a NOT IN (SELECT x FROM g)

SELECT u, s FROM p WHERE s NOT IN (SELECT t FROM g)

SELECT u, f FROM p WHERE f NOT IN (SELECT z FROM h)

SELECT u, a FROM p WHERE a NOT IN (SELECT x FROM g WHERE x > 9000 AND x < 9001)

SELECT u, a FROM p WHERE NOT (a IN (SELECT x FROM g) AND s = 'a')

SELECT u, k FROM p WHERE u IN (SELECT t FROM g)

SELECT p.u, g.x FROM p JOIN g ON p.a = g.x

SELECT p.u, g.t FROM g JOIN p ON g.x = p.a

SELECT p.u, g.x FROM p LEFT JOIN g ON p.a IS NOT DISTINCT FROM g.x

SELECT p.u, h.z FROM p JOIN h ON p.f = h.z

SELECT p.u, h.z FROM p LEFT JOIN h ON p.f = h.z AND p.k = h.k

SELECT p.u, q.b FROM p JOIN q ON p.u = q.u AND p.a = q.b

SELECT p.u, r.m FROM p LEFT JOIN r ON p.u = r.w AND p.a = r.m

SELECT p.u, q.b FROM p JOIN q ON p.u = q.u WHERE p.u = '1' OR q.u = '2'

SELECT x.u, g.x FROM (WITH y AS (SELECT u, k FROM p) SELECT * FROM y) x JOIN g ON g.k = x.k

WITH g AS (SELECT u, k FROM p) SELECT "u", "k" FROM "g"

SELECT u, u AS v FROM p UNION ALL SELECT s, u FROM q

SELECT p.u, v.u AS o FROM p JOIN (VALUES ('1'), ('2'), (NULL)) AS v(u) ON v.u <> p.u

SELECT u, COUNT(*) AS n FROM (SELECT u FROM p UNION ALL SELECT u FROM q) x GROUP BY u HAVING COUNT(*) > (SELECT COUNT(*) FROM h)

SELECT u, a FROM p WHERE EXISTS (SELECT 1 FROM q WHERE q.u = p.u AND q.k = p.k) AND NOT EXISTS (SELECT 1 FROM r WHERE r.w = p.u)

SELECT p.u, x.n FROM p LEFT JOIN (SELECT u, COUNT(DISTINCT f) AS n FROM p GROUP BY u) x ON x.u = p.u

SELECT u, a FROM p WHERE u = (SELECT MAX(u) FROM q WHERE q.u = p.u AND q.k = 1)

SELECT u, COALESCE((SELECT SUM(b) FROM q WHERE q.u = p.u), 0) AS n FROM p

SELECT q.u, p.a FROM p RIGHT JOIN q USING (u)

SELECT u, COUNT(DISTINCT f) AS n, SUM(DISTINCT_F.c) AS c FROM (SELECT DISTINCT u, f, 1 AS c FROM p) AS DISTINCT_F GROUP BY u
