CREATE TABLE results (
  submission TEXT NOT NULL PRIMARY KEY,
  model TEXT NOT NULL,
  host TEXT NOT NULL,
  basis TEXT NOT NULL,
  created_ms BIGINT NOT NULL,
  sound BIGINT NOT NULL,
  figures TEXT NOT NULL
);
CREATE INDEX results_of_model ON results (model, created_ms);
CREATE INDEX results_by_time ON results (created_ms) WHERE sound > 0;
CREATE INDEX results_of_basis ON results (basis, created_ms) WHERE sound > 0;
DROP TABLE figures;
DROP INDEX submissions_by_model;
{POSTGRES} ALTER TABLE submissions ALTER COLUMN document SET STORAGE EXTERNAL;
DROP TABLE trigrams;
ALTER TABLE models DROP COLUMN grams;
CREATE TABLE catalogue (
  name TEXT NOT NULL PRIMARY KEY,
  version TEXT NOT NULL
);
INSERT INTO catalogue (name, version) SELECT 'models', 'first' WHERE EXISTS (SELECT 1 FROM models);
