/* SPDX-License-Identifier: MIT */
/* The options of commands that take a sequence P: its input, types, device, policy and wishes. */
#pragma once

#include "app/cli/command.h"
#include <ligature/plan.h>

typedef struct {
  char *input, *device, *dtype, *policy, *store;
  GStrv forbid, force, fence;
  gboolean eval, tf32;
  gint64 batch;
} LigSequenceOptions;

/* Which of them a command has. */
typedef enum {
  LIG_OPTION_INPUT = 1 << 0,
  LIG_OPTION_DEVICE = 1 << 1,
  LIG_OPTION_DTYPE = 1 << 2,
  LIG_OPTION_POLICY = 1 << 3,
  LIG_OPTION_WISHES = 1 << 4, /* --forbid, --force, --fence */
  LIG_OPTION_EVAL = 1 << 5,
  LIG_OPTION_PLAN = (1 << 6) - 1,
} LigOptionSet;

/* Entries for those options followed by `more` (null-terminated or null); (transfer container). */
GOptionEntry *
lig_cli_sequence_entries (LigSequenceOptions *options, unsigned set, const GOptionEntry *more);

void lig_cli_clear_options (LigSequenceOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LigSequenceOptions, lig_cli_clear_options)

/* Opens P, says its warnings, and applies --input, --fence, --forbid and --force. */
LigSequence *
lig_cli_open_sequence (const char *text, const LigSequenceOptions *options, GError **error);

/* --device; says which one was taken where it was left out. */
LigDevice *lig_cli_open_device (const LigSequenceOptions *options, GError **error);

/* --dtype, --policy and --tf32 into plan options. FALSE with the error set. */
gboolean
lig_cli_plan_options (const LigSequenceOptions *options, LigPlanOptions *plan, GError **error);

/* The three together, and a plan. Policy `measured` keeps its times in the store. */
LigPlan *lig_cli_compile (const char *text, const LigSequenceOptions *options, GError **error);

/* The same of a sequence that is open. */
LigPlan *
lig_cli_compile_sequence (LigSequence *sequence, const LigSequenceOptions *options, GError **error);
