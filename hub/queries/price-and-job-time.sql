-- Price against job time
-- The job is that of the ranking's system card: 32,000 random writes and 13,000 random reads of 4 KiB.
SELECT model,
       price_currency,
       basis,
       COUNT(*) AS results,
       MIN(price) AS lowest_price,
       median(32000 / random_write_iops + 13000 / random_read_iops) AS median_job_s
FROM runs
WHERE price IS NOT NULL AND random_write_iops > 0 AND random_read_iops > 0
GROUP BY model, price_currency, basis
ORDER BY median_job_s, model, price_currency, basis
