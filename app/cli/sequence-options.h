/* SPDX-License-Identifier: MIT */
/* The options of commands that take a sequence P: its input, types, device, policy and fusion
 * constraints. */
#pragma once

#include "app/cli/command.h"
#include "app/cli/switches.h"
#include <ligature/layout.h>
#include <ligature/plan.h>
#include <ligature/run.h>

typedef struct _LigOptimizer LigOptimizer;
typedef struct _LigStore LigStore;
typedef struct _LigTuning LigTuning;

typedef struct {
  char *input, *device, *dtype, *policy, *recompute, *recipe, *store, *parallel, *optimizer,
    *bucket_size;
  GStrv forbid, force, fence;
  gboolean eval, runs;
  int tf32;             /* 1, 0, or LIG_CLI_UNSET if neither --tf32 nor --no-tf32 was given */
  int nondeterministic; /* the same */
  int shard_optimizer;  /* the same */
  gint64 batch;
  int ranks; /* INT_MIN if --ranks was not given */
} LigSequenceOptions;

/* The sets of options that a command may have. */
typedef enum {
  LIG_OPTION_INPUT = 1 << 0,
  LIG_OPTION_DEVICE = 1 << 1,
  LIG_OPTION_DTYPE = 1 << 2,
  LIG_OPTION_POLICY = 1 << 3,
  LIG_OPTION_OVERRIDES = 1 << 4, /* --forbid, --force, --fence */
  LIG_OPTION_EVAL = 1 << 5,
  LIG_OPTION_TF32 = 1 << 6, /* and --nondeterministic, --recipe */
  LIG_OPTION_PLAN = (1 << 7) - 1,
  LIG_OPTION_RUNS = 1 << 7,  /* the device must be able to run */
  LIG_OPTION_RANKS = 1 << 8, /* --ranks, --parallel and --optimizer */
  LIG_OPTION_SHARD = 1 << 9, /* --shard-optimizer */
} LigOptionSet;

/* Returns entries for these options followed by `more` (null-terminated or NULL); (transfer
 * container). */
GOptionEntry *
lig_cli_sequence_entries (LigSequenceOptions *options, unsigned set, const GOptionEntry *more);

void lig_cli_clear_options (LigSequenceOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LigSequenceOptions, lig_cli_clear_options)

/* Opens P, prints its warnings, and applies --input, --fence, --forbid and --force. */
LigSequence *
lig_cli_open_sequence (const char *text, const LigSequenceOptions *options, GError **error);

/* Applies these options to a sequence that was opened in another way. Returns FALSE with an error
 * set. */
gboolean
lig_cli_adjust_sequence (LigSequence *sequence, const LigSequenceOptions *options, GError **error);

/* Opens the device of --device. Without the option it chooses one and prints its name. */
LigDevice *lig_cli_open_device (const LigSequenceOptions *options, GError **error);

/* Checks the value of --dtype. */
gboolean lig_cli_check_dtype (const char *text, GError **error);

/* Sets plan options from --dtype, --policy, --recompute, --tf32, --nondeterministic,
 * --shard-optimizer and --bucket-size. Returns FALSE with the error set. */
gboolean
lig_cli_plan_options (const LigSequenceOptions *options, LigPlanOptions *plan, GError **error);

/* Makes the plan that of one of several ranks, by --ranks and --parallel, with the update of
 * --optimizer, which is read into `optimizer`. Returns FALSE with the error set. */
gboolean lig_cli_shard_plan (const LigSequenceOptions *options,
                             LigSequence *sequence,
                             LigDevice *device,
                             LigOptimizer *optimizer,
                             LigPlanOptions *plan,
                             GError **error);

/* Opens the sequence and the device, sets the options and compiles a plan. Policy `measured` keeps
 * its times in the store. */
LigPlan *lig_cli_compile (const char *text, const LigSequenceOptions *options, GError **error);

/* Does the same for an open sequence. */
LigPlan *
lig_cli_compile_sequence (LigSequence *sequence, const LigSequenceOptions *options, GError **error);

/* Initializes the measured times of the store of --store. Returns the store, which must outlive
 * them; (transfer full), null if it cannot be opened. */
LigStore *lig_cli_open_times (const LigSequenceOptions *options, LigTuning *tuning);

/* Returns the exit code of a command that has printed a plan: it fails if the plan does not fit in
 * the memory of the device. @device: (nullable): the plan's own by default */
int lig_cli_fit_code (LigPlan *plan, LigDevice *device);

/* Compiles the plan of a training step, with the update of the settings' optimizer. A part of a
 * model, which has no loss, also computes the gradient of its input. */
LigPlan *lig_cli_compile_step (LigSequence *sequence,
                               LigDevice *device,
                               const LigSequenceOptions *options,
                               const LigRunSettings *settings,
                               GError **error);
