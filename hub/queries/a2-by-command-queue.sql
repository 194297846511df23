-- A2 with and without the command queue
-- Runs without a verdict are left out. Cards and hosts with a queue may differ from others in more than the queue.
SELECT CASE WHEN command_queue THEN 'in use' WHEN command_queue IS NULL THEN 'unknown' ELSE 'not in use' END AS queue,
       COUNT(*) AS judged,
       SUM(CASE WHEN a2 = 'meets' THEN 1 ELSE 0 END) AS passed,
       AVG(CASE WHEN a2 = 'meets' THEN 100 ELSE 0 END) AS passed_percent
FROM runs
WHERE a2 IN ('meets', 'misses')
GROUP BY CASE WHEN command_queue THEN 'in use' WHEN command_queue IS NULL THEN 'unknown' ELSE 'not in use' END
ORDER BY queue
