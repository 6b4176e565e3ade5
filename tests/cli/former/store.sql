-- SPDX-License-Identifier: MIT
PRAGMA application_id=1279870785;
PRAGMA user_version=8;
BEGIN TRANSACTION;
CREATE TABLE artifact (
  id INTEGER PRIMARY KEY, -- the number of the row, in the order of writing
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, -- the run
  kind TEXT NOT NULL, -- `checkpoint`
  path TEXT NOT NULL, -- the absolute file name
  created INTEGER NOT NULL, -- the time at which it was first written
  UNIQUE (run, kind, path)
);
INSERT INTO "artifact" VALUES(1,1,'checkpoint','@FOLDER@/c.safetensors',1795980486196962);
CREATE TABLE device (
  name TEXT PRIMARY KEY, -- the name that the device reports
  json TEXT NOT NULL, -- its facts in JSON: memory, bandwidth, rates
  measured INTEGER NOT NULL -- the time of the measurement
) WITHOUT ROWID;
CREATE TABLE edit (
  id INTEGER PRIMARY KEY, -- the number of the row, in the order of the edits
  document TEXT NOT NULL, -- the file or the unsaved document
  json TEXT NOT NULL, -- the edit
  made INTEGER NOT NULL -- the time of the edit
);
CREATE TABLE experiment (
  id INTEGER PRIMARY KEY, -- the number that runs refer to
  name TEXT NOT NULL, -- the name from `--name` or from the sequence
  hash TEXT NOT NULL, -- SHA-256 of the sequence's text
  sequence TEXT NOT NULL, -- the document of the .lig file, in JSON
  UNIQUE (name, hash)
);
INSERT INTO "experiment" VALUES(1,'former','22a49a4a43707e00ec4de9cb8135b418e1feb7a7d9fe4ab4ec6f9695097b7bea','{
  "ligature": 1,
  "name": "former",
  "input": {"shape": [8, 2], "dtype": "fp32"},
  "types": {"compute": "fp32"},
  "ops": [
    {"op": "make-extra-output", "to": "x"},
    {"op": "linear", "out-features": 4},
    {"op": "make-extra-output", "to": "y"},
    {"op": "recall", "from": "x"},
    {"op": "linear", "out-features": 4},
    {"op": "add-extra-input", "from": "y"},
    {"op": "gelu"},
    {"op": "linear", "out-features": 2},
    {"op": "cross-entropy"}
  ]
}
');
INSERT INTO "experiment" VALUES(2,'former','ea610360c40bea8f4a4278d6c2851d0ae79f5e0e254b059aa30a97035f62cdb0','{
  "ligature": 1,
  "name": "former",
  "input": {"shape": [8, 2], "dtype": "fp32"},
  "ops": [
    {"op": "make-extra-output", "to": "x"},
    {"op": "linear", "out-features": 4},
    {"op": "make-extra-output", "to": "y"},
    {"op": "recall", "from": "x"},
    {"op": "linear", "out-features": 4},
    {"op": "add-extra-input", "from": "y"},
    {"op": "gelu"},
    {"op": "linear", "out-features": 2},
    {"op": "cross-entropy"}
  ]
}
');
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
INSERT INTO "fusion" VALUES(1,1,'forward',0,0,1,NULL);
INSERT INTO "fusion" VALUES(2,1,'forward',1,1,2,'forward-linear-bias-activation');
INSERT INTO "fusion" VALUES(3,1,'forward',2,3,1,NULL);
INSERT INTO "fusion" VALUES(4,1,'forward',3,4,1,NULL);
INSERT INTO "fusion" VALUES(5,1,'forward',4,5,3,'forward-linear-bias-add');
INSERT INTO "fusion" VALUES(6,1,'forward',5,8,1,NULL);
INSERT INTO "fusion" VALUES(7,1,'forward',6,9,2,'forward-linear-bias-activation');
INSERT INTO "fusion" VALUES(8,1,'forward',7,11,1,NULL);
INSERT INTO "fusion" VALUES(9,1,'backward',0,1,2,'backward-linear-bias');
INSERT INTO "fusion" VALUES(10,1,'backward',1,3,1,NULL);
INSERT INTO "fusion" VALUES(11,1,'backward',2,5,2,'backward-linear-bias');
INSERT INTO "fusion" VALUES(12,1,'backward',3,7,1,NULL);
INSERT INTO "fusion" VALUES(13,1,'backward',4,8,1,NULL);
INSERT INTO "fusion" VALUES(14,1,'backward',5,9,2,'backward-linear-bias');
INSERT INTO "fusion" VALUES(15,1,'backward',6,11,1,NULL);
INSERT INTO "fusion" VALUES(16,2,'forward',0,0,1,NULL);
INSERT INTO "fusion" VALUES(17,2,'forward',1,1,2,'forward-linear-bias-activation');
INSERT INTO "fusion" VALUES(18,2,'forward',2,3,1,NULL);
INSERT INTO "fusion" VALUES(19,2,'forward',3,4,1,NULL);
INSERT INTO "fusion" VALUES(20,2,'forward',4,5,3,'forward-linear-bias-add');
INSERT INTO "fusion" VALUES(21,2,'forward',5,8,1,NULL);
INSERT INTO "fusion" VALUES(22,2,'forward',6,9,2,'forward-linear-bias-activation');
INSERT INTO "fusion" VALUES(23,2,'forward',7,11,1,NULL);
INSERT INTO "fusion" VALUES(24,2,'backward',0,1,2,'backward-linear-bias');
INSERT INTO "fusion" VALUES(25,2,'backward',1,3,1,NULL);
INSERT INTO "fusion" VALUES(26,2,'backward',2,5,2,'backward-linear-bias');
INSERT INTO "fusion" VALUES(27,2,'backward',3,7,1,NULL);
INSERT INTO "fusion" VALUES(28,2,'backward',4,8,1,NULL);
INSERT INTO "fusion" VALUES(29,2,'backward',5,9,2,'backward-linear-bias');
INSERT INTO "fusion" VALUES(30,2,'backward',6,11,1,NULL);
CREATE TABLE metric (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, -- the run
  -- `loss`, `eval-loss`, `eval-accuracy`, `step-ms`, `learning-rate`, `gradient-norm`
  name TEXT NOT NULL,
  step INTEGER NOT NULL, -- the optimizer step, from 1
  value REAL, -- the value, NULL if it is infinite or not a number
  PRIMARY KEY (run, name, step)
) WITHOUT ROWID;
INSERT INTO "metric" VALUES(1,'eval-accuracy',4,1.0);
INSERT INTO "metric" VALUES(1,'eval-accuracy',8,1.0);
INSERT INTO "metric" VALUES(1,'eval-accuracy',12,1.0);
INSERT INTO "metric" VALUES(1,'eval-loss',4,3.38664638996124256475e-01);
INSERT INTO "metric" VALUES(1,'eval-loss',8,8.691210374236106595e-02);
INSERT INTO "metric" VALUES(1,'eval-loss',12,2.41223453544080271293e-02);
INSERT INTO "metric" VALUES(1,'gradient-norm',1,0.0739864632487297);
INSERT INTO "metric" VALUES(1,'gradient-norm',2,5.980739593505859375e-01);
INSERT INTO "metric" VALUES(1,'gradient-norm',3,1.05477094650268554687e+00);
INSERT INTO "metric" VALUES(1,'gradient-norm',4,8.09059441089630126953e-01);
INSERT INTO "metric" VALUES(1,'gradient-norm',5,7.56732642650604248046e-01);
INSERT INTO "metric" VALUES(1,'gradient-norm',6,1.01321065425872802734e+00);
INSERT INTO "metric" VALUES(1,'gradient-norm',7,1.70610463619232177734e+00);
INSERT INTO "metric" VALUES(1,'gradient-norm',8,1.04392910003662109375e+00);
INSERT INTO "metric" VALUES(1,'gradient-norm',9,5.43862700462341308593e-01);
INSERT INTO "metric" VALUES(1,'gradient-norm',10,8.01881372928619384765e-01);
INSERT INTO "metric" VALUES(1,'gradient-norm',11,0.782671332359314);
INSERT INTO "metric" VALUES(1,'gradient-norm',12,4.2403131723403930664e-01);
INSERT INTO "metric" VALUES(1,'learning-rate',1,0.05);
INSERT INTO "metric" VALUES(1,'learning-rate',2,0.05);
INSERT INTO "metric" VALUES(1,'learning-rate',3,0.05);
INSERT INTO "metric" VALUES(1,'learning-rate',4,0.05);
INSERT INTO "metric" VALUES(1,'learning-rate',5,0.05);
INSERT INTO "metric" VALUES(1,'learning-rate',6,0.05);
INSERT INTO "metric" VALUES(1,'learning-rate',7,0.05);
INSERT INTO "metric" VALUES(1,'learning-rate',8,0.05);
INSERT INTO "metric" VALUES(1,'learning-rate',9,0.05);
INSERT INTO "metric" VALUES(1,'learning-rate',10,0.05);
INSERT INTO "metric" VALUES(1,'learning-rate',11,0.05);
INSERT INTO "metric" VALUES(1,'learning-rate',12,0.05);
INSERT INTO "metric" VALUES(1,'loss',1,6.91646218299865722656e-01);
INSERT INTO "metric" VALUES(1,'loss',2,6.26919031143188476562e-01);
INSERT INTO "metric" VALUES(1,'loss',3,6.50169193744659423828e-01);
INSERT INTO "metric" VALUES(1,'loss',4,5.01958310604095458984e-01);
INSERT INTO "metric" VALUES(1,'loss',5,3.68941009044647216796e-01);
INSERT INTO "metric" VALUES(1,'loss',6,2.57363796234130859375e-01);
INSERT INTO "metric" VALUES(1,'loss',7,2.89518535137176513671e-01);
INSERT INTO "metric" VALUES(1,'loss',8,1.3089993596076965332e-01);
INSERT INTO "metric" VALUES(1,'loss',9,1.30623742938041687011e-01);
INSERT INTO "metric" VALUES(1,'loss',10,1.10056802630424499511e-01);
INSERT INTO "metric" VALUES(1,'loss',11,7.40280374884605407714e-02);
INSERT INTO "metric" VALUES(1,'loss',12,5.92335797846317291259e-02);
INSERT INTO "metric" VALUES(1,'step-ms',1,1.35999998747138306498e-01);
INSERT INTO "metric" VALUES(1,'step-ms',2,1.50000014400575309991e-02);
INSERT INTO "metric" VALUES(1,'step-ms',3,1.00000015663681551814e-02);
INSERT INTO "metric" VALUES(1,'step-ms',4,1.00000015663681551814e-02);
INSERT INTO "metric" VALUES(1,'step-ms',5,9.99999974737875163555e-03);
INSERT INTO "metric" VALUES(1,'step-ms',6,9.99999974737875163555e-03);
INSERT INTO "metric" VALUES(1,'step-ms',7,9.99999974737875163555e-03);
INSERT INTO "metric" VALUES(1,'step-ms',8,9.99999974737875163555e-03);
INSERT INTO "metric" VALUES(1,'step-ms',9,8.99999940884299576282e-03);
INSERT INTO "metric" VALUES(1,'step-ms',10,1.00000015663681551814e-02);
INSERT INTO "metric" VALUES(1,'step-ms',11,9.99999974737875163555e-03);
INSERT INTO "metric" VALUES(1,'step-ms',12,9.99999974737875163555e-03);
CREATE TABLE recipe_error (
  run INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE, -- the profile of the recipe
  comparison TEXT NOT NULL, -- the identifier that all profiles of one comparison share
  recipe TEXT NOT NULL, -- the recipe with its parameters; `none`: what others are compared with
  output REAL, -- the relative error of the output of the sequence
  gradient REAL, -- the relative error of all gradients of parameters together
  bytes INTEGER NOT NULL, -- the bytes of a training by this recipe, 0 if they are unknown
  ops TEXT NOT NULL -- the errors of its ops, as in the JSON of the comparison
);
CREATE TABLE run (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- the number that all other tables refer to
  uuid TEXT NOT NULL UNIQUE, -- the identifier of the run for users and programs
  experiment INTEGER NOT NULL REFERENCES experiment ON DELETE CASCADE, -- its sequence and name
  kind TEXT NOT NULL, -- `train` or `profile`
  device TEXT NOT NULL, -- the device as in `--device`: `cpu`, `cuda:0`
  dtype TEXT NOT NULL, -- the types of activations and parameters: `bf16:fp32`
  recipe TEXT NOT NULL, -- the quantization recipe: `none`
  policy TEXT NOT NULL, -- the policy for choosing fusions: `none`, `all`, `measured`
  seed INTEGER NOT NULL, -- the seed of initial values, data order and dropout
  settings TEXT NOT NULL, -- the settings of the training or the profile, in JSON
  versions TEXT NOT NULL, -- versions of program, libraries, device and driver, in JSON
  status TEXT NOT NULL, -- `running`, `done`, `failed`, `cancelled` or `interrupted`
  message TEXT, -- the reason for a failure
  started INTEGER NOT NULL, -- the time of its start
  ended INTEGER, -- the time of its end, NULL while it runs
  host TEXT NOT NULL, -- the name of the machine
  boot TEXT NOT NULL, -- the boot id and the process namespace in which `pid` is valid
  pid INTEGER NOT NULL, -- the number of the process that runs it
  process_start INTEGER NOT NULL, -- the start of that process, in clock ticks since the boot
  heartbeat INTEGER NOT NULL, -- the last time at which the process reported that it runs
  revision TEXT, -- the git revision from the environment, as set by continuous integration
  notes TEXT NOT NULL DEFAULT '', -- the notes of the user
  starred INTEGER NOT NULL DEFAULT 0 -- 1 if the user starred it
, last_step INTEGER, first_loss REAL, last_loss REAL, eval_loss REAL, eval_accuracy REAL, step_ms REAL, parent TEXT, saved_step INTEGER, sweep TEXT, point INTEGER, inputs TEXT);
INSERT INTO "run" VALUES(1,'a1fe5ecf-f7cb-4461-8ace-a2a7d0c70e34',1,'train','cpu','fp32:fp32','none','all',3,'{"data": "csv:@FOLDER@/rows.csv?held-out=0.25&missing=refuse&task=class&split=random", "steps": 12, "batch": 0, "lr": 0.05, "min-lr": 0.0, "schedule-steps": 0, "warmup": 0, "calibrate": 0, "momentum": 0.0, "weight-decay": 0.0, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "clip": 0.0, "loss-scale": 0.0, "accumulate": 1, "eval-every": 4, "eval-batches": 0, "checkpoint": "c.safetensors", "checkpoint-every": 0, "seed": 3, "tf32": 0, "nondeterministic": 0, "shard-optimizer": 0, "bucket-size": 25}','{"ligature": "0.1.0", "device": "a CPU", "libraries": "ligature 0.1.0, baseline, 1 thread"}','done',NULL,1795980486196590,1795980486199026,'host','boot',1,1,1795980486199026,NULL,'',0,12,6.91646218299865722656e-01,5.92335797846317291259e-02,2.41223453544080271293e-02,1.0,9.99999974737875163555e-03,NULL,12,NULL,NULL,'{"data": "csv: 40 rows of 2 features and 1 target, 30 for training, 10 held out at random", "content": "704a4d27e4a26855", "choices": "forward-linear-bias-activation@1+2 forward-linear-bias-add@5+3 forward-linear-bias-activation@9+2 backward-linear-bias@1+2 backward-linear-bias@5+2 backward-linear-bias@9+2", "threads": 1, "instructions": "baseline"}');
INSERT INTO "run" VALUES(2,'87e9808a-e3c2-4445-be12-942716d96969',2,'profile','cpu','fp32','none','all',0,'{"tf32": false, "nondeterministic": false, "recompute": "none", "health": {"driver": "", "clock_mhz": null, "memory_clock_mhz": null, "power_w": null, "power_limit_w": null, "temperature_c": null, "throttling": ""}, "conditions": {"processors": 2, "load": 2.91357421875, "others": 0.04054290324445367, "shared": null, "synchronous": true, "clocks": "", "disturbances": []}, "attention": []}','{"ligature": "0.1.0", "device": "a CPU", "libraries": "ligature 0.1.0, baseline, 1 thread", "driver": ""}','done',NULL,1795980487033848,1795980487034887,'host','boot',1,1,1795980487034887,NULL,'',0,NULL,NULL,NULL,NULL,NULL,0.0085015,NULL,NULL,NULL,NULL,'{"training": true, "input-gradient": false, "accumulate": false, "optimizer": "adamw", "parameters": "fp32", "rounds": 20, "choices": "forward-linear-bias-activation@1+2 forward-linear-bias-add@5+3 forward-linear-bias-activation@9+2 backward-linear-bias@1+2 backward-linear-bias@5+2 backward-linear-bias@9+2", "threads": 1, "instructions": "baseline"}');
CREATE TABLE spread (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, -- the run
  figure TEXT NOT NULL, -- `forward`, `backward`, `update`, `forward-backward` or `step`
  count INTEGER NOT NULL, -- the number of measurements
  microseconds REAL, -- their median
  lower REAL, -- the first quartile, in microseconds
  upper REAL, -- the third quartile, in microseconds
  PRIMARY KEY (run, figure)
) WITHOUT ROWID;
INSERT INTO "spread" VALUES(2,'backward',20,3.70050000000000034461e+00,3.68500000000000049737e+00,3.73525);
INSERT INTO "spread" VALUES(2,'forward',20,3.1645,3.15500000000000024868e+00,3.19);
INSERT INTO "spread" VALUES(2,'forward-backward',20,6.86450000000000049027e+00,6.84100000000000108002e+00,6.923);
INSERT INTO "spread" VALUES(2,'step',20,8.5015,8.456,8.55125000000000135003e+00);
INSERT INTO "spread" VALUES(2,'update',20,1.60750000000000015099e+00,1.572,1.6845);
CREATE TABLE sweep (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- the number of the row, in the order of their starts
  uuid TEXT NOT NULL UNIQUE, -- the identifier of the sweep for users and programs
  name TEXT NOT NULL, -- the name from `--name` or from the sequence
  document TEXT NOT NULL, -- sequence, device, initial weights, settings and axes, in JSON
  started INTEGER NOT NULL -- the time of its start
);
CREATE TABLE tag (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, -- the run
  tag TEXT NOT NULL, -- the tag
  PRIMARY KEY (run, tag)
) WITHOUT ROWID;
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
INSERT INTO "timing" VALUES(2,'backward',0,0,0.8465,240.0,128.0);
INSERT INTO "timing" VALUES(2,'backward',1,0,0.0,0.0,0.0);
INSERT INTO "timing" VALUES(2,'backward',2,0,8.2100000000000006306e-01,240.0,128.0);
INSERT INTO "timing" VALUES(2,'backward',3,0,0.0,0.0,0.0);
INSERT INTO "timing" VALUES(2,'backward',4,0,0.466,384.0,448.0);
INSERT INTO "timing" VALUES(2,'backward',5,0,0.9815,456.0,256.0);
INSERT INTO "timing" VALUES(2,'backward',6,0,0.5655,232.0,96.0);
INSERT INTO "timing" VALUES(2,'forward',0,0,0.0,0.0,0.0);
INSERT INTO "timing" VALUES(2,'forward',1,0,5.81000000000000071942e-01,240.0,128.0);
INSERT INTO "timing" VALUES(2,'forward',2,0,0.0,0.0,0.0);
INSERT INTO "timing" VALUES(2,'forward',3,0,0.0,0.0,0.0);
INSERT INTO "timing" VALUES(2,'forward',4,0,8.01500000000000101252e-01,368.0,128.0);
INSERT INTO "timing" VALUES(2,'forward',5,0,4.31000000000000049737e-01,256.0,320.0);
INSERT INTO "timing" VALUES(2,'forward',6,0,0.52,232.0,128.0);
INSERT INTO "timing" VALUES(2,'forward',7,0,0.811,168.0,96.0);
INSERT INTO "timing" VALUES(2,'update',11,0,0.461,1564.0,768.0);
INSERT INTO "timing" VALUES(2,'update',12,0,4.71000000000000029753e-01,3100.0,2304.0);
INSERT INTO "timing" VALUES(2,'update',13,0,0.4605,3100.0,2304.0);
CREATE TABLE tuning (
  -- device, library versions, kernel or fusion, shapes and types, joined by `|`
  key TEXT PRIMARY KEY,
  microseconds REAL, -- the time
  choice TEXT, -- the chosen algorithm
  measured INTEGER NOT NULL -- the time of the measurement
, noise REAL) WITHOUT ROWID;
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
CREATE INDEX run_by_experiment ON run (experiment);
CREATE INDEX run_by_start ON run (started);
CREATE INDEX run_running ON run (id) WHERE status = 'running';
CREATE INDEX tag_by_name ON tag (tag);
CREATE INDEX edit_by_document ON edit (document);
CREATE INDEX run_list ON run (started, experiment, kind, device, dtype, policy, status, starred,
  ended, last_step, last_loss, eval_loss, eval_accuracy, step_ms, uuid, notes);
CREATE INDEX run_by_sweep ON run (sweep) WHERE sweep IS NOT NULL;
CREATE INDEX recipe_error_by_comparison ON recipe_error (comparison);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('run',2);
COMMIT;
