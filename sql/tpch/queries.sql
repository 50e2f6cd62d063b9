-- The 22 queries of TPC-H in private form, unit = customer. lineitem has the column l_custkey beside its own (run.py adds it): a private
-- table names its unit. In OPTIONS(..) run.py and the test put the price, the units and the public tables; how many groups of a customer
-- count is said where a customer has several, because one is drawn otherwise.

-- Q1: one table
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(.., max_groups_contributed=4) l_returnflag, l_linestatus, SUM(l_quantity) AS sum_qty, SUM(l_extendedprice) AS sum_base_price, SUM(l_extendedprice * (1 - l_discount)) AS sum_disc_price, COUNT(*) AS count_order
FROM (SELECT * FROM lineitem.parquet WHERE l_shipdate <= DATE '1998-09-02') l GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus

-- Q2: public tables alone, as it is
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(..) COUNT(*) FROM part.parquet p, supplier.parquet s, partsupp.parquet ps, nation.parquet n, region.parquet r
WHERE p_partkey = ps_partkey AND s_suppkey = ps_suppkey AND p_size = 15 AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'EUROPE'

-- Q3: all unshipped orders of a segment together; as it is, every group is one customer's
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(..) SUM(l_extendedprice * (1 - l_discount)) AS revenue FROM customer.parquet c, orders.parquet o, lineitem.parquet l
WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15'

-- Q4: the units compared inside
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(.., max_groups_contributed=5) o_orderpriority, COUNT(*) AS order_count FROM orders.parquet o
WHERE o_orderdate >= DATE '1993-07-01' AND o_orderdate < DATE '1993-10-01' AND EXISTS (SELECT 1 FROM lineitem.parquet l WHERE l.l_custkey = o.o_custkey AND l.l_orderkey = o.o_orderkey AND l.l_commitdate < l.l_receiptdate)
GROUP BY o_orderpriority ORDER BY o_orderpriority

-- Q5
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(..) n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer.parquet c, orders.parquet o, lineitem.parquet l, supplier.parquet s, nation.parquet n, region.parquet r
WHERE c_custkey = o_custkey AND l_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'ASIA' AND o_orderdate >= DATE '1994-01-01' AND o_orderdate < DATE '1995-01-01'
GROUP BY n_name ORDER BY revenue DESC

-- Q6: one table
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(..) SUM(l_extendedprice * l_discount) AS revenue
FROM (SELECT * FROM lineitem.parquet WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24) l

-- Q7
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(.., max_groups_contributed=2) supp_nation, cust_nation, l_year, SUM(volume) AS revenue
FROM (SELECT c_custkey, n1.n_name AS supp_nation, n2.n_name AS cust_nation, EXTRACT(YEAR FROM l_shipdate) AS l_year, l_extendedprice * (1 - l_discount) AS volume
FROM supplier.parquet s, lineitem.parquet l, orders.parquet o, customer.parquet c, nation.parquet n1, nation.parquet n2
WHERE s_suppkey = l_suppkey AND o_orderkey = l_orderkey AND o_custkey = l_custkey AND c_custkey = o_custkey AND s_nationkey = n1.n_nationkey AND c_nationkey = n2.n_nationkey AND ((n1.n_name = 'FRANCE' AND n2.n_name = 'GERMANY') OR (n1.n_name = 'GERMANY' AND n2.n_name = 'FRANCE')) AND l_shipdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31') shipping
GROUP BY supp_nation, cust_nation, l_year ORDER BY supp_nation, cust_nation, l_year

-- Q8
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(.., max_groups_contributed=2) o_year, SUM(CASE WHEN nation = 'BRAZIL' THEN volume ELSE 0 END) / SUM(volume) AS mkt_share
FROM (SELECT c_custkey, EXTRACT(YEAR FROM o_orderdate) AS o_year, l_extendedprice * (1 - l_discount) AS volume, n2.n_name AS nation
FROM part.parquet p, supplier.parquet s, lineitem.parquet l, orders.parquet o, customer.parquet c, nation.parquet n1, nation.parquet n2, region.parquet r
WHERE p_partkey = l_partkey AND s_suppkey = l_suppkey AND l_orderkey = o_orderkey AND l_custkey = o_custkey AND o_custkey = c_custkey AND c_nationkey = n1.n_nationkey AND n1.n_regionkey = r_regionkey AND r_name = 'AMERICA' AND s_nationkey = n2.n_nationkey AND o_orderdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31' AND p_type = 'ECONOMY ANODIZED STEEL') all_nations
GROUP BY o_year ORDER BY o_year

-- Q9: by nation; years would make 175 groups
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(.., max_groups_contributed=25) nation, SUM(amount) AS sum_profit
FROM (SELECT o_custkey, n_name AS nation, l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity AS amount
FROM part.parquet p, supplier.parquet s, lineitem.parquet l, partsupp.parquet ps, orders.parquet o, nation.parquet n
WHERE s_suppkey = l_suppkey AND ps_suppkey = l_suppkey AND ps_partkey = l_partkey AND p_partkey = l_partkey AND o_orderkey = l_orderkey AND o_custkey = l_custkey AND s_nationkey = n_nationkey AND p_name LIKE '%green%') profit
GROUP BY nation ORDER BY nation

-- Q10: by nation; as it is, every group is one customer
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(..) n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue FROM customer.parquet c, orders.parquet o, lineitem.parquet l, nation.parquet n
WHERE c_custkey = o_custkey AND l_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate >= DATE '1993-10-01' AND o_orderdate < DATE '1994-01-01' AND l_returnflag = 'R' AND c_nationkey = n_nationkey
GROUP BY n_name ORDER BY revenue DESC LIMIT 20

-- Q11: public tables alone, as it is
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(..) SUM(ps_supplycost * ps_availqty) AS value FROM partsupp.parquet ps, supplier.parquet s, nation.parquet n
WHERE ps_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_name = 'GERMANY'

-- Q12
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(.., max_groups_contributed=2) l_shipmode, COUNTIF(o_orderpriority IN ('1-URGENT', '2-HIGH')) AS high_line_count, COUNTIF(o_orderpriority NOT IN ('1-URGENT', '2-HIGH')) AS low_line_count
FROM orders.parquet o, lineitem.parquet l WHERE o_orderkey = l_orderkey AND o_custkey = l_custkey AND l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate AND l_receiptdate >= DATE '1994-01-01' AND l_receiptdate < DATE '1995-01-01'
GROUP BY l_shipmode ORDER BY l_shipmode

-- Q13
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(..) c_count, COUNT(*) AS custdist
FROM (SELECT c_custkey, COUNT(o_orderkey) AS c_count FROM customer.parquet c LEFT JOIN orders.parquet o ON c_custkey = o_custkey AND o_comment NOT LIKE '%special%requests%' GROUP BY c_custkey) c_orders
GROUP BY c_count ORDER BY custdist DESC, c_count DESC

-- Q14
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(..) 100 * SUM(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0 END) / SUM(l_extendedprice * (1 - l_discount)) AS promo_revenue
FROM lineitem.parquet l, part.parquet p WHERE l_partkey = p_partkey AND l_shipdate >= DATE '1995-09-01' AND l_shipdate < DATE '1995-10-01'

-- Q15: as it is
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(..) COUNT(*) FROM supplier.parquet s, (SELECT l_suppkey AS supplier_no, SUM(l_extendedprice * (1 - l_discount)) AS total_revenue FROM lineitem.parquet l WHERE l_shipdate >= DATE '1996-01-01' AND l_shipdate < DATE '1996-04-01' GROUP BY l_suppkey) revenue0
WHERE s_suppkey = supplier_no

-- Q16: public tables alone, as it is
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(..) p_brand, COUNT(*) AS supplier_cnt FROM partsupp.parquet ps, part.parquet p WHERE p_partkey = ps_partkey AND p_brand <> 'Brand#45' GROUP BY p_brand

-- Q17: as it is
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(..) SUM(l_extendedprice) / 7 AS avg_yearly FROM lineitem.parquet l, part.parquet p
WHERE p_partkey = l_partkey AND p_brand = 'Brand#23' AND p_container = 'MED BOX' AND l_quantity < (SELECT 0.2 * AVG(l2.l_quantity) FROM lineitem.parquet l2 WHERE l2.l_partkey = p.p_partkey)

-- Q18: how many large orders there are, and their price; as it is, every group is one customer
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(..) COUNT(*) AS orders, SUM(o_totalprice) AS total FROM orders.parquet o
WHERE EXISTS (SELECT 1 FROM (SELECT l_custkey, l_orderkey FROM lineitem.parquet GROUP BY l_custkey, l_orderkey HAVING SUM(l_quantity) > 250) x WHERE x.l_custkey = o.o_custkey AND x.l_orderkey = o.o_orderkey)

-- Q19
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(..) SUM(l_extendedprice * (1 - l_discount)) AS revenue FROM lineitem.parquet l, part.parquet p
WHERE p_partkey = l_partkey AND l_shipinstruct = 'DELIVER IN PERSON' AND l_shipmode IN ('AIR', 'AIR REG') AND ((p_brand = 'Brand#12' AND l_quantity BETWEEN 1 AND 11 AND p_size BETWEEN 1 AND 5) OR (p_brand = 'Brand#23' AND l_quantity BETWEEN 10 AND 20 AND p_size BETWEEN 1 AND 10) OR (p_brand = 'Brand#34' AND l_quantity BETWEEN 20 AND 30 AND p_size BETWEEN 1 AND 15))

-- Q20: as it is
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(..) COUNT(*) FROM supplier.parquet s WHERE s_suppkey IN (SELECT ps_suppkey FROM partsupp.parquet ps WHERE ps_availqty > (SELECT 0.5 * SUM(l_quantity) FROM lineitem.parquet l WHERE l_partkey = ps_partkey AND l_suppkey = ps_suppkey AND l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01'))

-- Q21: by nation of the supplier; as it is, 100 groups of suppliers
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(.., max_groups_contributed=10) n_name, COUNT(*) AS numwait FROM supplier.parquet s, lineitem.parquet l1, orders.parquet o, nation.parquet n
WHERE s_suppkey = l1.l_suppkey AND o_orderkey = l1.l_orderkey AND o_custkey = l1.l_custkey AND o_orderstatus = 'F' AND l1.l_receiptdate > l1.l_commitdate AND s_nationkey = n_nationkey
AND EXISTS (SELECT 1 FROM lineitem.parquet l2 WHERE l2.l_custkey = l1.l_custkey AND l2.l_orderkey = l1.l_orderkey AND l2.l_suppkey <> l1.l_suppkey)
AND NOT EXISTS (SELECT 1 FROM lineitem.parquet l3 WHERE l3.l_custkey = l1.l_custkey AND l3.l_orderkey = l1.l_orderkey AND l3.l_suppkey <> l1.l_suppkey AND l3.l_receiptdate > l3.l_commitdate)
GROUP BY n_name ORDER BY numwait DESC

-- Q22: as it is
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(..) cntrycode, COUNT(*) AS numcust, SUM(c_acctbal) AS totacctbal
FROM (SELECT c_custkey, SUBSTRING(c_phone FROM 1 FOR 2) AS cntrycode, c_acctbal FROM customer.parquet c WHERE c_acctbal > (SELECT AVG(c2.c_acctbal) FROM customer.parquet c2 WHERE c2.c_acctbal > 0) AND NOT EXISTS (SELECT 1 FROM orders.parquet o WHERE o.o_custkey = c.c_custkey)) custsale
GROUP BY cntrycode ORDER BY cntrycode
