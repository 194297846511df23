-- What more operations in flight bring
-- Random writes of 4 KiB by queue depth. Both tables are sorted by model: with a WHERE on r.model and p.model an engine reads a part of them.
SELECT r.model AS card,
       p.queue_depth AS depth,
       COUNT(*) AS phases,
       median(p.iops) AS median_iops,
       MAX(p.latency_max_ns) AS longest_wait_ns
FROM phases AS p
JOIN runs AS r ON r.id = p.run
WHERE p.op = 'write' AND p.pattern = 'random' AND p.block_size_bytes = 4096
  AND p.state = 'measured' AND NOT p.in_doubt AND p.iops IS NOT NULL
GROUP BY r.model, p.queue_depth
ORDER BY card, depth
