-- Random writes of one model by host
-- Only figures of one basis (method and host) are compared. A figure in doubt is null and left out.
SELECT basis,
       COUNT(*) AS results,
       MIN(random_write_iops) AS lowest_iops,
       median(random_write_iops) AS median_iops,
       MAX(random_write_iops) AS highest_iops
FROM runs
WHERE model = 'MODEL' AND random_write_iops IS NOT NULL
GROUP BY basis
ORDER BY basis
