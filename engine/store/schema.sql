-- SPDX-License-Identifier: MIT
-- The tables of the store. A line of two dashes and a number N begins the statements that lead
-- from version N - 1 to version N; what has shipped is never edited, only followed by another
-- block. Times are microseconds since 1970 in UTC. A real that is not a number is stored as NULL.

-- 1
-- `LIGA`: so that another program's database is not taken for a store.
PRAGMA application_id = 1279870785;

CREATE TABLE experiment (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  hash TEXT NOT NULL, -- SHA-256 of the sequence's text
  sequence TEXT NOT NULL,
  UNIQUE (name, hash)
);

-- Numbers of deleted runs are not used again, so that a process that still writes to a deleted
-- run cannot write to a newer one. A seed is the 64 bits of an unsigned number.
CREATE TABLE run (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  experiment INTEGER NOT NULL REFERENCES experiment ON DELETE CASCADE,
  kind TEXT NOT NULL,
  device TEXT NOT NULL,
  dtype TEXT NOT NULL,
  recipe TEXT NOT NULL,
  policy TEXT NOT NULL,
  seed INTEGER NOT NULL,
  settings TEXT NOT NULL,
  versions TEXT NOT NULL,
  status TEXT NOT NULL,
  message TEXT,
  started INTEGER NOT NULL,
  ended INTEGER,
  host TEXT NOT NULL,
  boot TEXT NOT NULL, -- the boot id and the process namespace in which `pid` means something
  pid INTEGER NOT NULL,
  process_start INTEGER NOT NULL, -- clock ticks since the boot
  heartbeat INTEGER NOT NULL,
  revision TEXT, -- of git
  notes TEXT NOT NULL DEFAULT '',
  starred INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX run_by_experiment ON run (experiment);
CREATE INDEX run_by_start ON run (started);
CREATE INDEX run_running ON run (id) WHERE status = 'running';

CREATE TABLE tag (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY (run, tag)
) WITHOUT ROWID;
CREATE INDEX tag_by_name ON tag (tag);

CREATE TABLE metric (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  name TEXT NOT NULL,
  step INTEGER NOT NULL,
  value REAL,
  PRIMARY KEY (run, name, step)
) WITHOUT ROWID;

CREATE TABLE timing (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  pass TEXT NOT NULL,
  "group" INTEGER NOT NULL,
  step INTEGER NOT NULL,
  microseconds REAL,
  bytes REAL,
  flops REAL,
  PRIMARY KEY (run, pass, "group", step)
) WITHOUT ROWID;

CREATE TABLE fusion (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  pass TEXT NOT NULL,
  "group" INTEGER NOT NULL,
  first_op INTEGER NOT NULL,
  count INTEGER NOT NULL,
  fusion TEXT, -- NULL for an op alone
  UNIQUE (run, pass, "group")
);

CREATE TABLE verdict (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  fusion TEXT NOT NULL,
  pass TEXT NOT NULL,
  first_op INTEGER NOT NULL,
  count INTEGER NOT NULL,
  taken INTEGER NOT NULL,
  reason TEXT,
  observed TEXT,
  required TEXT,
  text TEXT,
  UNIQUE (run, fusion, pass, first_op)
);

CREATE TABLE artifact (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  kind TEXT NOT NULL,
  path TEXT NOT NULL,
  created INTEGER NOT NULL,
  UNIQUE (run, kind, path)
);

CREATE TABLE tuning (
  key TEXT PRIMARY KEY,
  microseconds REAL,
  choice TEXT,
  measured INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE device (
  name TEXT PRIMARY KEY,
  json TEXT NOT NULL,
  measured INTEGER NOT NULL
) WITHOUT ROWID;

-- The journal of edits that no file holds yet.
CREATE TABLE edit (
  id INTEGER PRIMARY KEY,
  document TEXT NOT NULL,
  json TEXT NOT NULL,
  made INTEGER NOT NULL
);
CREATE INDEX edit_by_document ON edit (document);

-- 2
-- What a list of runs shows, so that listing reads no metrics.
ALTER TABLE run ADD COLUMN last_step INTEGER;
ALTER TABLE run ADD COLUMN first_loss REAL;
ALTER TABLE run ADD COLUMN last_loss REAL;
ALTER TABLE run ADD COLUMN eval_loss REAL;
ALTER TABLE run ADD COLUMN eval_accuracy REAL;
UPDATE run SET
  last_step = (SELECT max (step) FROM metric WHERE run = run.id),
  first_loss = (SELECT value FROM metric WHERE run = run.id AND name = 'loss'
                ORDER BY step LIMIT 1),
  last_loss = (SELECT value FROM metric WHERE run = run.id AND name = 'loss'
               ORDER BY step DESC LIMIT 1),
  eval_loss = (SELECT value FROM metric WHERE run = run.id AND name = 'eval-loss'
               ORDER BY step DESC LIMIT 1),
  eval_accuracy = (SELECT value FROM metric WHERE run = run.id AND name = 'eval-accuracy'
                   ORDER BY step DESC LIMIT 1);

-- 3
-- How long a step takes, and an index that lists of runs are filtered and sorted from without a
-- look at the rows, which are long.
ALTER TABLE run ADD COLUMN step_ms REAL;
UPDATE run SET step_ms = CASE kind
  WHEN 'profile' THEN (SELECT sum (microseconds) / 1000 FROM timing WHERE run = run.id)
  ELSE (SELECT value FROM (
          SELECT value, row_number () OVER (ORDER BY value) AS place, count (*) OVER () AS n
          FROM metric WHERE run = run.id AND name = 'step-ms') WHERE place = n / 2 + 1) END
  WHERE status != 'running';
CREATE INDEX run_list ON run (started, experiment, kind, device, dtype, policy, status, starred,
  ended, last_step, last_loss, eval_loss, eval_accuracy, step_ms, uuid, notes);

-- 4
-- By how many microseconds a measured time may be wrong, without which a second look at it decides
-- otherwise than the first. Times without it are measured anew.
ALTER TABLE tuning ADD COLUMN noise REAL;
DELETE FROM tuning WHERE choice IS NULL OR key LIKE 'cover|%';

-- 5
-- From which run a training went on as a new one, and the step of the newest checkpoint.
ALTER TABLE run ADD COLUMN parent TEXT;
ALTER TABLE run ADD COLUMN saved_step INTEGER;
UPDATE run SET saved_step = last_step WHERE kind = 'train' AND status != 'running';
