-- SPDX-License-Identifier: MIT
-- The tables of the store. A line of two dashes and a number N begins the statements that lead
-- from version N - 1 to version N; what has shipped is never edited, only followed by another
-- block. Times are microseconds since 1970 in UTC. A real that is not a number is stored as NULL.

-- 1
-- `LIGA`: so that another program's database is not taken for a store.
PRAGMA application_id = 1279870785;

-- Sequences that were trained or profiled, by name.
CREATE TABLE experiment (
  id INTEGER PRIMARY KEY, -- the number that runs refer to
  name TEXT NOT NULL, -- as `--name` or the sequence has it
  hash TEXT NOT NULL, -- SHA-256 of the sequence's text
  sequence TEXT NOT NULL, -- the document of the .lig file, in JSON
  UNIQUE (name, hash)
);

-- Trainings and profiles. Numbers of deleted runs are not used again, so that a process that still
-- writes to a deleted run cannot write to a newer one. A seed is the 64 bits of an unsigned number.
CREATE TABLE run (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- the number that all other tables refer to
  uuid TEXT NOT NULL UNIQUE, -- the name of the run for people and programs
  experiment INTEGER NOT NULL REFERENCES experiment ON DELETE CASCADE, -- the sequence and its name
  kind TEXT NOT NULL, -- `train` or `profile`
  device TEXT NOT NULL, -- as `--device` has it: `cpu`, `cuda:0`
  dtype TEXT NOT NULL, -- types of activations and parameters: `bf16:fp32`
  recipe TEXT NOT NULL, -- how values are quantized: `none`
  policy TEXT NOT NULL, -- how fusions were chosen: `none`, `all`, `measured`
  seed INTEGER NOT NULL, -- of initial values, order and dropout
  settings TEXT NOT NULL, -- of the training or the profile, in JSON
  versions TEXT NOT NULL, -- of the program, its libraries, the device and its driver, in JSON
  status TEXT NOT NULL, -- `running`, `done`, `failed`, `cancelled` or `interrupted`
  message TEXT, -- why it failed
  started INTEGER NOT NULL, -- when it was begun
  ended INTEGER, -- when it ended, NULL while it runs
  host TEXT NOT NULL, -- the name of the machine
  boot TEXT NOT NULL, -- the boot id and the process namespace in which `pid` means something
  pid INTEGER NOT NULL, -- of the process that runs it
  process_start INTEGER NOT NULL, -- clock ticks since the boot
  heartbeat INTEGER NOT NULL, -- the last sign of life of the process
  revision TEXT, -- of git, where the run was begun
  notes TEXT NOT NULL DEFAULT '', -- what a person wrote about it
  starred INTEGER NOT NULL DEFAULT 0 -- 1 if a person marked it
);
CREATE INDEX run_by_experiment ON run (experiment);
CREATE INDEX run_by_start ON run (started);
CREATE INDEX run_running ON run (id) WHERE status = 'running';

-- Words that people gave to runs.
CREATE TABLE tag (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, -- the run
  tag TEXT NOT NULL, -- the word
  PRIMARY KEY (run, tag)
) WITHOUT ROWID;
CREATE INDEX tag_by_name ON tag (tag);

-- One value per run, name and step.
CREATE TABLE metric (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, -- the run
  -- `loss`, `eval-loss`, `eval-accuracy`, `step-ms`, `learning-rate`, `gradient-norm`
  name TEXT NOT NULL,
  step INTEGER NOT NULL, -- the optimizer step, from 1
  value REAL, -- NULL where it is infinite or not a number
  PRIMARY KEY (run, name, step)
) WITHOUT ROWID;

-- How long the groups of a profile take.
CREATE TABLE timing (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, -- the run
  pass TEXT NOT NULL, -- `forward`, `backward` or `update`
  -- its number in the pass; of the update, the number of the step in the plan
  "group" INTEGER NOT NULL,
  step INTEGER NOT NULL, -- 0: the median of all repetitions
  microseconds REAL, -- the time
  bytes REAL, -- read and written
  flops REAL, -- floating-point operations
  PRIMARY KEY (run, pass, "group", step)
) WITHOUT ROWID;

-- The groups of the plan of a run.
CREATE TABLE fusion (
  id INTEGER PRIMARY KEY, -- in the order of the plan
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, -- the run
  pass TEXT NOT NULL, -- `forward` or `backward`
  "group" INTEGER NOT NULL, -- its number in the pass
  first_op INTEGER NOT NULL, -- the index of its first op
  count INTEGER NOT NULL, -- how many ops it covers
  fusion TEXT, -- NULL for an op alone
  UNIQUE (run, pass, "group")
);

-- What was decided about each fusion at each place.
CREATE TABLE verdict (
  id INTEGER PRIMARY KEY, -- in the order of the plan
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, -- the run
  fusion TEXT NOT NULL, -- the fusion
  pass TEXT NOT NULL, -- `forward`, `backward` or `joint`
  first_op INTEGER NOT NULL, -- the index of the first op
  count INTEGER NOT NULL, -- how many ops
  taken INTEGER NOT NULL, -- 1 if the fusion was chosen
  reason TEXT, -- the condition that decided
  observed TEXT, -- what was found
  required TEXT, -- what the condition asks for
  text TEXT, -- the sentence for people
  UNIQUE (run, fusion, pass, first_op)
);

-- Files that a run wrote.
CREATE TABLE artifact (
  id INTEGER PRIMARY KEY, -- in the order of their writing
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, -- the run
  kind TEXT NOT NULL, -- `checkpoint`
  path TEXT NOT NULL, -- the absolute file name
  created INTEGER NOT NULL, -- when it was first written
  UNIQUE (run, kind, path)
);

-- Measured times, so that no kernel or fusion is measured twice.
CREATE TABLE tuning (
  -- device, library versions, kernel or fusion, shapes and types, joined by `|`
  key TEXT PRIMARY KEY,
  microseconds REAL, -- the time
  choice TEXT, -- what was chosen
  measured INTEGER NOT NULL -- when
) WITHOUT ROWID;

-- Measured ceilings of devices.
CREATE TABLE device (
  name TEXT PRIMARY KEY, -- the device as it names itself
  json TEXT NOT NULL, -- its facts: memory, bandwidth, rates
  measured INTEGER NOT NULL -- when
) WITHOUT ROWID;

-- The journal of edits that no file holds yet.
CREATE TABLE edit (
  id INTEGER PRIMARY KEY, -- in the order of the edits
  document TEXT NOT NULL, -- the file or the unsaved document
  json TEXT NOT NULL, -- the edit
  made INTEGER NOT NULL -- when
);
CREATE INDEX edit_by_document ON edit (document);

-- 2
-- What a list of runs shows, so that listing reads no metrics.
ALTER TABLE run ADD COLUMN last_step INTEGER; -- the newest step with a value
ALTER TABLE run ADD COLUMN first_loss REAL; -- the first value of `loss`
ALTER TABLE run ADD COLUMN last_loss REAL; -- the last value of `loss`
ALTER TABLE run ADD COLUMN eval_loss REAL; -- the last value of `eval-loss`
ALTER TABLE run ADD COLUMN eval_accuracy REAL; -- the last value of `eval-accuracy`
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
ALTER TABLE run ADD COLUMN step_ms REAL; -- the median step of a training, the sum of a profile
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
ALTER TABLE tuning ADD COLUMN noise REAL; -- how many microseconds the time may be wrong
DELETE FROM tuning WHERE choice IS NULL OR key LIKE 'cover|%';

-- 5
-- From which run a training went on as a new one, and the step of the newest checkpoint.
ALTER TABLE run ADD COLUMN parent TEXT; -- the uuid of the run whose checkpoint began this one
ALTER TABLE run ADD COLUMN saved_step INTEGER; -- the step of the newest checkpoint
UPDATE run SET saved_step = last_step WHERE kind = 'train' AND status != 'running';
