CREATE TABLE submissions (
  id TEXT NOT NULL PRIMARY KEY,
  created_ms BIGINT NOT NULL,
  changed_ms BIGINT NOT NULL,
  month TEXT NOT NULL,
  state TEXT NOT NULL,
  origin TEXT NOT NULL,
  source TEXT,
  model TEXT NOT NULL,
  title TEXT NOT NULL,
  card TEXT NOT NULL,
  host TEXT NOT NULL,
  host_name TEXT NOT NULL,
  lot TEXT,
  basis TEXT NOT NULL,
  figures TEXT NOT NULL,
  doubts TEXT NOT NULL,
  verdicts TEXT NOT NULL,
  price_hundredths BIGINT,
  price_currency TEXT,
  price_date TEXT,
  revision BIGINT NOT NULL,
  reports BIGINT NOT NULL,
  submitter TEXT,
  document_sha256 TEXT NOT NULL,
  token_hash TEXT NOT NULL,
  key_hash TEXT UNIQUE,
  sent_sha256 TEXT NOT NULL,
  document {BYTES} NOT NULL
);
{POSTGRES} ALTER TABLE submissions ALTER COLUMN document SET STORAGE EXTERNAL;
CREATE INDEX submissions_by_time ON submissions (created_ms);
CREATE INDEX submissions_by_host ON submissions (host, created_ms);
CREATE INDEX submissions_in_dump ON submissions (month, model {BYTEWISE}, id {BYTEWISE});
CREATE INDEX submissions_by_state ON submissions (state, created_ms) WHERE state <> 'public';
CREATE INDEX submissions_reported ON submissions (created_ms) WHERE reports > 0;
CREATE INDEX submissions_by_submitter ON submissions (submitter, created_ms);
CREATE TABLE tombstones (
  id TEXT NOT NULL PRIMARY KEY,
  deleted_ms BIGINT NOT NULL
);
CREATE TABLE months (
  month TEXT NOT NULL PRIMARY KEY,
  changed_ms BIGINT NOT NULL,
  version TEXT NOT NULL
);
CREATE TABLE audit (
  id TEXT NOT NULL PRIMARY KEY,
  at_ms BIGINT NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  reason TEXT NOT NULL
);
CREATE TABLE administrators (
  name TEXT NOT NULL PRIMARY KEY,
  created_ms BIGINT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE
);
CREATE TABLE secrets (
  name TEXT NOT NULL PRIMARY KEY,
  secret TEXT NOT NULL
);
CREATE TABLE bans (
  submitter TEXT NOT NULL PRIMARY KEY,
  banned_ms BIGINT NOT NULL
);
