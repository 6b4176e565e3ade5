/* SPDX-License-Identifier: MIT */
/* Verifies the plan of a run on batches of its data. */
#include "engine/train/data.h"
#include "engine/train/run-private.h"
#include <ligature/verification.h>

#include <string.h>

typedef struct {
  LigRun *run;
  GArray *positions; /* of guint64: the data position of each batch */
} Source;

/* Each batch is requested once per program, and is the same. */
static gboolean
feed (LigProgram *program, guint batch, gpointer data, GError **error)
{
  Source *source = data;
  LigRun *run = source->run;
  if (batch < source->positions->len) {
    lig_dataset_seek (run->data, g_array_index (source->positions, guint64, batch));
  } else {
    guint64 position = lig_dataset_get_position (run->data);
    g_array_append_val (source->positions, position);
  }
  return lig_dataset_next (run->data, run->input, run->targets, error) &&
         lig_run_set_batch (run, program, run->input, run->targets, error);
}

LigVerification *
lig_run_verify (LigRun *self, const LigVerificationOptions *options, GError **error)
{
  LigVerificationOptions whole = LIG_VERIFICATION_OPTIONS_INIT;
  g_autoptr (GArray) positions = g_array_new (FALSE, FALSE, sizeof (guint64));
  Source source = {self, positions};
  guint64 before = lig_dataset_get_position (self->data);
  if (options)
    memcpy (&whole, options, MIN (options->size, sizeof whole));
  whole.feed = feed;
  whole.feed_data = &source;
  LigVerification *found = lig_plan_verify (self->plan, &whole, error);
  lig_dataset_seek (self->data, before);
  return found;
}
