UPDATE models SET submissions = models.submissions - h.hidden
  FROM (SELECT model, COUNT(*) AS hidden FROM submissions
    WHERE id IN (SELECT id FROM submissions WHERE state <> 'public') GROUP BY model) h
  WHERE models.model = h.model;
UPDATE model_hosts SET submissions = model_hosts.submissions - h.hidden
  FROM (SELECT model, host, COUNT(*) AS hidden FROM submissions
    WHERE id IN (SELECT id FROM submissions WHERE state <> 'public') GROUP BY model, host) h
  WHERE model_hosts.model = h.model AND model_hosts.host = h.host;
DELETE FROM models WHERE submissions <= 0;
DELETE FROM model_hosts WHERE submissions <= 0;
UPDATE catalogue SET version = 'public names';
