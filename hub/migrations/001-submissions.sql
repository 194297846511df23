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
CREATE INDEX submissions_by_time ON submissions (created_ms);
CREATE INDEX submissions_by_model ON submissions (model, created_ms);
CREATE INDEX submissions_by_host ON submissions (host, created_ms);
CREATE INDEX submissions_by_month ON submissions (month, id);
CREATE TABLE figures (
  submission TEXT NOT NULL,
  quantity TEXT NOT NULL,
  model TEXT NOT NULL,
  host TEXT NOT NULL,
  basis TEXT NOT NULL,
  rate DOUBLE PRECISION NOT NULL,
  low DOUBLE PRECISION,
  high DOUBLE PRECISION,
  doubt TEXT,
  PRIMARY KEY (submission, quantity)
);
CREATE INDEX figures_by_model ON figures (model, quantity);
CREATE INDEX figures_by_basis ON figures (basis, quantity, model);
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
  submissions BIGINT NOT NULL,
  grams BIGINT NOT NULL
);
CREATE TABLE trigrams (
  gram TEXT NOT NULL,
  model TEXT NOT NULL,
  PRIMARY KEY (gram, model)
);
CREATE TABLE tombstones (
  id TEXT NOT NULL PRIMARY KEY,
  deleted_ms BIGINT NOT NULL
);
CREATE TABLE months (
  month TEXT NOT NULL PRIMARY KEY,
  changed_ms BIGINT NOT NULL
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
CREATE TABLE attempts (
  client TEXT NOT NULL,
  hour BIGINT NOT NULL,
  attempts BIGINT NOT NULL,
  PRIMARY KEY (client, hour)
);
CREATE TABLE secrets (
  name TEXT NOT NULL PRIMARY KEY,
  secret TEXT NOT NULL
);
