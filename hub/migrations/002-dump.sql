ALTER TABLE months ADD COLUMN version TEXT NOT NULL DEFAULT 'first';
CREATE INDEX submissions_in_dump ON submissions (month, model {BYTEWISE}, id {BYTEWISE});
DROP INDEX submissions_by_month;
