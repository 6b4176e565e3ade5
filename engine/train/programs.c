/* SPDX-License-Identifier: MIT */
/* The programs of a run: those that its recipe quantizes and, for calibration before them, those
 * that only record amaxes. */
#include "engine/train/programs.h"
#include "engine/base/layout.h"
#include "engine/figures/communication.h"
#include "engine/ranks/messages.h"
#include "engine/train/control.h"
#include "engine/train/data.h"
#include "engine/train/ranks.h"
#include "engine/train/record-overflow.h"
#include "engine/train/run-private.h"
#include "engine/train/step.h"
#include <ligature/figures.h>
#include <ligature/ranks.h>

#include <glib/gi18n-lib.h>
#include <string.h>

/* The batch is allocated last, so that the programs' memory, which is larger, fails first. */
static gboolean
allocate_batch (LigRun *self, GError **error)
{
  LigTarget target;
  LigShape input;
  LigDtype dtype;
  lig_run_find_target (lig_program_get_plan (self->train), &target);
  lig_dataset_get_input (self->data, &input, &dtype);
  self->input = lig_tensor_new (dtype, &input, error);
  self->targets = self->input ? lig_tensor_new (target.dtype, &target.shape, error) : NULL;
  return self->targets != NULL;
}

/* A step may take minutes on a CPU, so requests are handled within a step; ranks abandon it
 * together. An asynchronous device is faster, and has several steps in flight. */
static void
watch_requests (LigRun *self)
{
  LigProgramInterrupt ask =
    lig_run_ranks (self) ? lig_run_interrupt_together : lig_run_interrupt_step;
  if (lig_device_has (self->device, LIG_DEVICE_ASYNCHRONOUS))
    return;
  lig_program_set_interrupt (self->train, ask, self);
  if (self->eval)
    lig_program_set_interrupt (self->eval, ask, self);
}

/* Returns a program with the groups of `choices`. If these are open, rank 0 chooses for all: each
 * rank would measure different times, and mismatched collectives would hang. If rank 0 fails, the
 * others try without its choice, because they may fail for the same reason. */
static LigProgram *
open_program (LigRun *self, LigPlanOptions *options, char **choices, GError **error)
{
  gboolean open = !*choices, first = lig_run_writes (self);
  if (open && !first && !lig_run_share_choices (self, choices, error))
    return NULL;
  options->choices = *choices;
  g_autoptr (LigProgram) program =
    lig_program_cache_get (self->programs, self->sequence, options, error);
  if (open && first && program)
    *choices = lig_plan_get_choices (lig_program_get_plan (program));
  if (open && first && !lig_run_share_choices (self, choices, program ? error : NULL))
    return NULL;
  return lig_run_share_failure (self, program != NULL, error) ? g_steal_pointer (&program) : NULL;
}

/* Compares the groups of both programs on all ranks. */
static gboolean
compare_groups (LigRun *self, GError **error)
{
  LigProgram *const programs[] = {self->train, self->eval};
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  for (guint i = 0; i < G_N_ELEMENTS (programs); i++) {
    g_autofree char *choices =
      programs[i] ? lig_plan_get_choices (lig_program_get_plan (programs[i])) : NULL;
    if (choices)
      g_checksum_update (sum, (const guchar *) choices, (gssize) strlen (choices) + 1);
  }
  return lig_ranks_agree (lig_run_ranks (self), _ ("the groups of the plan"),
                          g_checksum_get_string (sum), error);
}

/* Returns a hash of the collectives of both programs in a group. */
static double
hash_collectives (LigRun *self, LigRankGroup group)
{
  LigProgram *const programs[] = {self->train, self->eval};
  guint hash = 0;
  for (guint i = 0; i < G_N_ELEMENTS (programs); i++) {
    g_autofree char *list =
      programs[i] ? lig_plan_list_collectives (lig_program_get_plan (programs[i]), group) : NULL;
    hash = 31 * hash + (list ? g_str_hash (list) : 0);
  }
  return hash;
}

/* Compares the collectives of the ranks of each group: mismatched ones would hang. All ranks find
 * the same difference. */
static gboolean
compare_collectives (LigRun *self, GError **error)
{
  LigRanks *ranks = lig_run_ranks (self);
  const LigLayout *layout = lig_device_get_layout (self->device);
  int count = lig_ranks_get_count (ranks);
  double own[LIG_N_GROUPS];
  g_autofree double *all = g_new (double, (gsize) count *LIG_N_GROUPS);
  for (int group = 0; group < LIG_N_GROUPS; group++)
    own[group] = hash_collectives (self, (LigRankGroup) group);
  if (!lig_ranks_gather (ranks, own, LIG_N_GROUPS, all, error))
    return FALSE;
  for (int i = 0; layout && i < count * LIG_N_GROUPS; i++) {
    LigRankGroup group = (LigRankGroup) (i % LIG_N_GROUPS);
    int rank = i / LIG_N_GROUPS;
    int first = rank - lig_layout_place (layout, rank, group) * lig_layout_stride (layout, group);
    if (all[i] == all[first * LIG_N_GROUPS + (int) group])
      continue;
    self->together = TRUE;
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_RANKS,
      _ ("ranks %d and %d: the collectives of their plans differ in group %s; report this fault"),
      first, rank, lig_rank_group_name (group));
    return FALSE;
  }
  return TRUE;
}

/* Opens the programs of one kind in place of the others, releasing their memory first. */
static gboolean
open_programs (LigRun *self, gboolean calibrating, GError **error)
{
  char **choices = calibrating ? &self->calibration_choices : &self->choices;
  LigPlanOptions options = self->eval_options;
  g_autofree char *evaluation = NULL;
  g_clear_pointer (&self->train, lig_program_unref);
  g_clear_pointer (&self->eval, lig_program_unref);
  g_clear_pointer (&self->programs, lig_program_cache_free);
  self->train_options.calibrating = self->eval_options.calibrating = calibrating;
  options.calibrating = calibrating;
  self->programs = lig_program_cache_new (self->state);
  self->train = open_program (self, &self->train_options, choices, error);
  if (!self->train)
    return FALSE;
  if (lig_dataset_get_validation_batches (self->data) > 0 &&
      !(self->eval = open_program (self, &options, &evaluation, error)))
    return FALSE;
  watch_requests (self);
  if (!lig_run_share_failure (self, lig_run_watch_overflow (self, error), error))
    return FALSE;
  return !lig_run_ranks (self) ||
         (compare_groups (self, error) && compare_collectives (self, error));
}

/* A run that calibrates also opens the programs of the recipe first, so that their errors end it
 * now and not after the calibration. */
gboolean
lig_run_compile (LigRun *self, GError **error)
{
  if (!open_programs (self, FALSE, error))
    return FALSE;
  self->plan = lig_plan_ref (lig_program_get_plan (self->train));
  if (self->first_step < self->settings.calibrate && !open_programs (self, TRUE, error))
    return FALSE;
  return lig_run_share_failure (self, allocate_batch (self, error), error);
}

gboolean
lig_run_choose_programs (LigRun *self, gint64 step, GError **error)
{
  if (!self->train_options.calibrating || step <= self->settings.calibrate)
    return TRUE;
  return lig_run_finish_pending (self, error) && open_programs (self, FALSE, error);
}
