-- SPDX-License-Identifier: MIT
-- The tables of the store. A line of two dashes and a number N begins the statements that migrate
-- version N - 1 to version N; a released block is never edited, only followed by another one. Times
-- are microseconds since 1970 in UTC. A real that is not a number is stored as NULL.

-- 1
-- `LIGA`, which distinguishes a store from the databases of other programs.
PRAGMA application_id = 1279870785;

-- Sequences that were trained or profiled, by name.
CREATE TABLE experiment (
  id INTEGER PRIMARY KEY, -- the number that runs refer to
  name TEXT NOT NULL, -- the name from `--name` or from the sequence
  hash TEXT NOT NULL, -- SHA-256 of the sequence's text
  sequence TEXT NOT NULL, -- the document of the .lig file, in JSON
  UNIQUE (name, hash)
);

-- Training runs and profiles. The numbers of deleted runs are not reused, so that a process that
-- still writes to a deleted run cannot write to a newer one. A seed is an unsigned number of 64
-- bits, stored as a signed one.
CREATE TABLE run (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- the number that all other tables refer to
  uuid TEXT NOT NULL UNIQUE, -- the identifier of the run for users and programs
  experiment INTEGER NOT NULL REFERENCES experiment ON DELETE CASCADE, -- its sequence and name
  kind TEXT NOT NULL, -- `train` or `profile`
  device TEXT NOT NULL, -- the device as in `--device`: `cpu`, `cuda:0`
  dtype TEXT NOT NULL, -- the compute and parameter type: `bf16:fp32`
  recipe TEXT NOT NULL, -- the quantization recipe: `none`
  policy TEXT NOT NULL, -- the policy for choosing fusions: `none`, `all`, `measured`
  seed INTEGER NOT NULL, -- the seed for initialization, data order and dropout
  settings TEXT NOT NULL, -- the settings of the run or the profile, in JSON
  versions TEXT NOT NULL, -- versions of program, libraries, device and driver, in JSON
  status TEXT NOT NULL, -- `running`, `done`, `failed`, `cancelled` or `interrupted`
  message TEXT, -- the reason for a failure
  started INTEGER NOT NULL, -- the time of its start
  ended INTEGER, -- the time of its end, NULL while it runs
  host TEXT NOT NULL, -- the name of the machine
  boot TEXT NOT NULL, -- the boot id and the process namespace in which `pid` is valid
  pid INTEGER NOT NULL, -- the number of the process that runs it
  process_start INTEGER NOT NULL, -- the start of that process, in clock ticks since the boot
  heartbeat INTEGER NOT NULL, -- the last time at which the process reported that it is alive
  revision TEXT, -- the git revision from the environment, as set by continuous integration
  notes TEXT NOT NULL DEFAULT '', -- the notes of the user
  starred INTEGER NOT NULL DEFAULT 0 -- 1 if the user starred it
);
CREATE INDEX run_by_experiment ON run (experiment);
CREATE INDEX run_by_start ON run (started);
CREATE INDEX run_running ON run (id) WHERE status = 'running';

-- Tags that users gave to runs.
CREATE TABLE tag (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, -- the run
  tag TEXT NOT NULL, -- the tag
  PRIMARY KEY (run, tag)
) WITHOUT ROWID;
CREATE INDEX tag_by_name ON tag (tag);

-- One value per run, name and step.
CREATE TABLE metric (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, -- the run
  -- `loss`, `eval-loss`, `eval-accuracy`, `step-ms`, `learning-rate`, `gradient-norm`
  name TEXT NOT NULL,
  step INTEGER NOT NULL, -- the optimizer step, from 1
  value REAL, -- the value, NULL if it is infinite or not a number
  PRIMARY KEY (run, name, step)
) WITHOUT ROWID;

-- The times of the groups of a profile.
CREATE TABLE timing (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, -- the run
  pass TEXT NOT NULL, -- `forward`, `backward` or `update`
  -- the number of the group in its pass; for the update, the number of the step in the plan
  "group" INTEGER NOT NULL,
  step INTEGER NOT NULL, -- 0 for the median of all repetitions
  microseconds REAL, -- the time
  bytes REAL, -- the bytes read and written
  flops REAL, -- the number of floating-point operations
  PRIMARY KEY (run, pass, "group", step)
) WITHOUT ROWID;

-- The groups of the plan of a run.
CREATE TABLE fusion (
  id INTEGER PRIMARY KEY, -- the number of the row, in the order of the plan
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, -- the run
  pass TEXT NOT NULL, -- `forward` or `backward`
  "group" INTEGER NOT NULL, -- the number of the group in its pass
  first_op INTEGER NOT NULL, -- the index of its first op
  count INTEGER NOT NULL, -- the number of ops that it covers
  fusion TEXT, -- the name of the fusion, NULL for an unfused op
  UNIQUE (run, pass, "group")
);

-- The decision about each fusion at each place.
CREATE TABLE verdict (
  id INTEGER PRIMARY KEY, -- the number of the row, in the order of the plan
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, -- the run
  fusion TEXT NOT NULL, -- the name of the fusion
  pass TEXT NOT NULL, -- `forward`, `backward` or `joint`
  first_op INTEGER NOT NULL, -- the index of the first op
  count INTEGER NOT NULL, -- the number of ops
  taken INTEGER NOT NULL, -- 1 if the fusion was chosen
  reason TEXT, -- the condition that decided
  observed TEXT, -- the value that was found
  required TEXT, -- the value that the condition requires
  text TEXT, -- the sentence for users
  UNIQUE (run, fusion, pass, first_op)
);

-- Files that a run wrote.
CREATE TABLE artifact (
  id INTEGER PRIMARY KEY, -- the number of the row, in the order of writing
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, -- the run
  kind TEXT NOT NULL, -- `checkpoint`
  path TEXT NOT NULL, -- the absolute file name
  created INTEGER NOT NULL, -- the time at which it was first written
  UNIQUE (run, kind, path)
);

-- Measured times, so that no kernel or fusion is measured twice.
CREATE TABLE tuning (
  -- device, library versions, kernel or fusion, shapes and types, joined by `|`
  key TEXT PRIMARY KEY,
  microseconds REAL, -- the time
  choice TEXT, -- the chosen algorithm
  measured INTEGER NOT NULL -- the time of the measurement
) WITHOUT ROWID;

-- Measured peak rates of devices.
CREATE TABLE device (
  name TEXT PRIMARY KEY, -- the name that the device reports
  json TEXT NOT NULL, -- its facts in JSON: memory, bandwidth, rates
  measured INTEGER NOT NULL -- the time of the measurement
) WITHOUT ROWID;

-- The journal of edits that are not saved in a file yet.
CREATE TABLE edit (
  id INTEGER PRIMARY KEY, -- the number of the row, in the order of the edits
  document TEXT NOT NULL, -- the file or the unsaved document
  json TEXT NOT NULL, -- the edit
  made INTEGER NOT NULL -- the time of the edit
);
CREATE INDEX edit_by_document ON edit (document);

-- 2
-- The columns that a list of runs shows, so that listing reads no metrics.
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
-- The time of a step, and an index by which lists of runs are filtered and sorted without reading
-- the rows, which are long.
ALTER TABLE run ADD COLUMN step_ms REAL; -- the median step time of a run or a profile
UPDATE run SET step_ms = CASE kind
  WHEN 'profile' THEN (SELECT sum (microseconds) / 1000 FROM timing WHERE run = run.id)
  ELSE (SELECT value FROM (
          SELECT value, row_number () OVER (ORDER BY value) AS place, count (*) OVER () AS n
          FROM metric WHERE run = run.id AND name = 'step-ms') WHERE place = n / 2 + 1) END
  WHERE status != 'running';
CREATE INDEX run_list ON run (started, experiment, kind, device, dtype, policy, status, starred,
  ended, last_step, last_loss, eval_loss, eval_accuracy, step_ms, uuid, notes);

-- 4
-- The uncertainty of a measured time. Without it, a later decision from the stored time could
-- differ from the first one. Times without it are remeasured.
ALTER TABLE tuning ADD COLUMN noise REAL; -- the uncertainty of the time, in microseconds
DELETE FROM tuning WHERE choice IS NULL OR key LIKE 'cover|%';

-- 5
-- The run that a new run continues, and the step of the newest checkpoint.
ALTER TABLE run ADD COLUMN parent TEXT; -- the uuid of the run whose checkpoint began this one
ALTER TABLE run ADD COLUMN saved_step INTEGER; -- the step of the newest checkpoint
UPDATE run SET saved_step = last_step WHERE kind = 'train' AND status != 'running';

-- 6
-- Runs of one sequence over lists of settings, one after another.
CREATE TABLE sweep (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- the number of the row, in the order of their starts
  uuid TEXT NOT NULL UNIQUE, -- the identifier of the sweep for users and programs
  name TEXT NOT NULL, -- the name from `--name` or from the sequence
  document TEXT NOT NULL, -- sequence, device, initial weights, settings and axes, in JSON
  started INTEGER NOT NULL -- the time of its start
);

-- The sweep of a run, and the other inputs of a repetition besides sequence, settings and versions.
ALTER TABLE run ADD COLUMN sweep TEXT; -- the uuid of the sweep to which this run belongs
ALTER TABLE run ADD COLUMN point INTEGER; -- the index of its settings in the sweep, from 0
ALTER TABLE run ADD COLUMN inputs TEXT; -- hashes of its data and weights, threads and so on, in JSON
CREATE INDEX run_by_sweep ON run (sweep) WHERE sweep IS NOT NULL;

-- 7
-- The distribution of repeated measurements, so that runs can be compared up to their noise.
CREATE TABLE spread (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, -- the run
  figure TEXT NOT NULL, -- `forward`, `backward`, `update`, `forward-backward` or `step`
  count INTEGER NOT NULL, -- the number of measurements
  microseconds REAL, -- their median
  lower REAL, -- the first quartile, in microseconds
  upper REAL, -- the third quartile, in microseconds
  PRIMARY KEY (run, figure)
) WITHOUT ROWID;

-- 8
-- The errors of recipes, as measured by `lig profile --compare-recipes` and the window.
CREATE TABLE recipe_error (
  run INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE, -- the profile of the recipe
  comparison TEXT NOT NULL, -- the identifier that all profiles of one comparison share
  recipe TEXT NOT NULL, -- the recipe with its parameters; `none`: the baseline of the comparison
  output REAL, -- the relative error of the output of the sequence
  gradient REAL, -- the relative error of all gradients of parameters together
  bytes INTEGER NOT NULL, -- the bytes of a training run with this recipe, 0 if unknown
  ops TEXT NOT NULL -- the errors of its ops, as in the JSON of the comparison
);
CREATE INDEX recipe_error_by_comparison ON recipe_error (comparison);

-- 9
-- Texts that a run generated while it trained, to show what the model has learned.
CREATE TABLE sample (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, -- the run
  step INTEGER NOT NULL, -- the step after which it was generated
  number INTEGER NOT NULL, -- the index of its prompt, from 0
  prompt TEXT NOT NULL, -- the prompt
  text TEXT NOT NULL, -- the text that follows it
  tokens TEXT NOT NULL, -- the generated tokens, numbers separated by spaces
  microseconds REAL, -- the time that it took
  PRIMARY KEY (run, step, number)
) WITHOUT ROWID;

-- 10
-- The trash: deleted runs can be restored for some weeks.
ALTER TABLE run ADD COLUMN deleted INTEGER; -- the time at which it was moved to the trash
CREATE INDEX run_deleted ON run (deleted) WHERE deleted IS NOT NULL;

-- 11
-- The distributions of trained parameters and of their gradients during a run, from `--histograms`.
CREATE TABLE histogram (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, -- the run
  number INTEGER NOT NULL, -- the place of the tensor in the order of the ops, from 0
  step INTEGER NOT NULL, -- the step after which the values were counted
  parameter TEXT NOT NULL, -- the path of the parameter: `1.weight`
  gradient INTEGER NOT NULL, -- 1 for the gradient of the parameter, 0 for the parameter
  elements INTEGER NOT NULL, -- the number of all values
  zeros INTEGER NOT NULL, -- the number of values that are 0
  nan INTEGER NOT NULL, -- the number of values that are not a number
  infinite INTEGER NOT NULL, -- the number of infinite values
  min REAL, -- the smallest finite value
  max REAL, -- the largest finite value
  mean REAL, -- the mean of the finite values
  rms REAL, -- the root mean square of the finite values
  -- for positive, then for negative values: the first bin with values, the number of bins up to the
  -- last one with values, and their counts, in groups of seven bits, the lowest first. Bin b has
  -- the magnitudes from 2^(b - 127) to below 2^(b - 126), bin 0 all smaller ones
  bins BLOB NOT NULL,
  PRIMARY KEY (run, number, step)
) WITHOUT ROWID;

-- The size of the sample of an accuracy, without which two accuracies cannot be compared.
ALTER TABLE run ADD COLUMN eval_rows INTEGER; -- the rows or tokens that `eval_accuracy` counts

-- 12
-- The load of the experts of a mixture during a run, from `--load-every`.
CREATE TABLE expert_load (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, -- the run
  number INTEGER NOT NULL, -- the place of the router in the order of the ops, from 0
  step INTEGER NOT NULL, -- the step whose last micro-batch was counted
  path TEXT NOT NULL, -- the path of the op with the router: `1.0.0`
  loads TEXT NOT NULL, -- a JSON array: the rows that selected each expert
  balance REAL, -- the load-balancing loss before its coefficient; 1: perfectly balanced, but not with `top-k=1` and another score than softmax
  z REAL, -- the mean squared log-sum-exp of the router's logits
  PRIMARY KEY (run, number, step)
) WITHOUT ROWID;

-- 13
-- The rows that had no room in their expert, from `capacity`; 0 without a capacity.
ALTER TABLE expert_load ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0; -- the number of these rows
