ALTER TABLE figures ADD COLUMN created_ms BIGINT NOT NULL DEFAULT 0;
UPDATE figures SET created_ms = (SELECT s.created_ms FROM submissions s WHERE s.id = figures.submission);
CREATE INDEX figures_latest ON figures (model, created_ms);
DROP INDEX figures_by_model;
CREATE INDEX figures_by_time ON figures (created_ms, basis, model) WHERE doubt IS NULL;
CREATE INDEX figures_of_basis ON figures (basis, created_ms) WHERE doubt IS NULL;
DROP INDEX figures_by_basis;
CREATE INDEX submissions_priced ON submissions (model, price_date, created_ms) WHERE price_hundredths IS NOT NULL;
CREATE INDEX submissions_hidden ON submissions (id) WHERE state <> 'public';
CREATE INDEX submissions_by_model_and_host ON submissions (model, host, created_ms);
CREATE TABLE model_hosts (
  model TEXT NOT NULL,
  host TEXT NOT NULL,
  host_name TEXT NOT NULL,
  submissions BIGINT NOT NULL,
  PRIMARY KEY (model, host)
);
INSERT INTO model_hosts (model, host, host_name, submissions)
  SELECT model, host, MIN(host_name), COUNT(*) FROM submissions GROUP BY model, host;
