{SQLITE} CREATE TABLE results_by_model (
  submission TEXT NOT NULL,
  model TEXT NOT NULL,
  host TEXT NOT NULL,
  basis TEXT NOT NULL,
  created_ms BIGINT NOT NULL,
  sound BIGINT NOT NULL,
  figures TEXT NOT NULL,
  origin TEXT NOT NULL,
  lot TEXT,
  has_doubts BIGINT NOT NULL,
  PRIMARY KEY (model, created_ms, submission)
) WITHOUT ROWID;
{SQLITE} INSERT INTO results_by_model
  SELECT r.submission, r.model, r.host, r.basis, r.created_ms, r.sound, r.figures, s.origin, s.lot,
    CASE WHEN s.doubts = '[]' THEN 0 ELSE 1 END
  FROM results r JOIN submissions s ON s.id = r.submission ORDER BY r.model, r.created_ms, r.submission;
{SQLITE} DROP TABLE results;
{SQLITE} ALTER TABLE results_by_model RENAME TO results;
{SQLITE} CREATE INDEX results_by_time ON results (created_ms) WHERE sound > 0;
{SQLITE} CREATE INDEX results_of_basis ON results (basis, created_ms) WHERE sound > 0;
{SQLITE} CREATE TABLE model_hosts_by_model (
  model TEXT NOT NULL,
  host TEXT NOT NULL,
  host_name TEXT NOT NULL,
  submissions BIGINT NOT NULL,
  PRIMARY KEY (model, host)
) WITHOUT ROWID;
{SQLITE} INSERT INTO model_hosts_by_model SELECT model, host, host_name, submissions FROM model_hosts;
{SQLITE} DROP TABLE model_hosts;
{SQLITE} ALTER TABLE model_hosts_by_model RENAME TO model_hosts;
{POSTGRES} ALTER TABLE results ADD COLUMN origin TEXT NOT NULL DEFAULT '', ADD COLUMN lot TEXT,
  ADD COLUMN has_doubts BIGINT NOT NULL DEFAULT 0;
{POSTGRES} UPDATE results r SET origin = s.origin, lot = s.lot, has_doubts = CASE WHEN s.doubts = '[]' THEN 0 ELSE 1 END
  FROM submissions s WHERE s.id = r.submission;
{POSTGRES} ALTER TABLE results ALTER COLUMN origin DROP DEFAULT, ALTER COLUMN has_doubts DROP DEFAULT;
{POSTGRES} ALTER TABLE results DROP CONSTRAINT results_pkey;
{POSTGRES} ALTER TABLE results ADD PRIMARY KEY (model, created_ms, submission);
{POSTGRES} DROP INDEX results_of_model;
