-- Used life by model, where the card tells it
-- The card's own upper bound, in steps of 10 percent; most SD cards tell nothing.
SELECT model,
       MIN(model_name) AS name,
       COUNT(*) AS cards,
       MIN(life_used_percent_max) AS least_percent,
       median(life_used_percent_max) AS median_percent,
       MAX(life_used_percent_max) AS most_percent
FROM runs
WHERE life_used_percent_max IS NOT NULL
GROUP BY model
ORDER BY model
