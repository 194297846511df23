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
  host TEXT NOT NULL,
  host_name TEXT NOT NULL,
  lot TEXT,
  doubts TEXT NOT NULL,
  price_hundredths BIGINT,
  price_currency TEXT,
  price_date TEXT,
  revision BIGINT NOT NULL,
  document {BYTES} NOT NULL,
  document_sha256 TEXT NOT NULL,
  token_hash TEXT NOT NULL,
  key_hash TEXT UNIQUE,
  sent_sha256 TEXT NOT NULL
);
{POSTGRES} ALTER TABLE submissions ALTER COLUMN document SET STORAGE EXTERNAL;
CREATE INDEX submissions_by_time ON submissions (created_ms);
CREATE INDEX submissions_by_host ON submissions (host, created_ms);
CREATE INDEX submissions_by_model_and_host ON submissions (model, host, created_ms);
CREATE INDEX submissions_in_dump ON submissions (month, model {BYTEWISE}, id {BYTEWISE});
CREATE INDEX submissions_priced ON submissions (model, price_date, created_ms) WHERE price_hundredths IS NOT NULL;
CREATE INDEX submissions_hidden ON submissions (id) WHERE state <> 'public';
CREATE TABLE results (
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
) {CLUSTERED};
CREATE INDEX results_by_time ON results (created_ms) WHERE sound > 0;
CREATE INDEX results_of_basis ON results (basis, created_ms) WHERE sound > 0;
CREATE TABLE models (
  model TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  maker TEXT,
  product TEXT,
  manufacturer_id TEXT,
  oem_id TEXT,
  revision TEXT,
  transport TEXT,
  capacity_bytes BIGINT,
  submissions BIGINT NOT NULL
);
CREATE TABLE model_hosts (
  model TEXT NOT NULL,
  host TEXT NOT NULL,
  host_name TEXT NOT NULL,
  submissions BIGINT NOT NULL,
  PRIMARY KEY (model, host)
) {CLUSTERED};
CREATE TABLE catalogue (
  name TEXT NOT NULL PRIMARY KEY,
  version TEXT NOT NULL
);
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
