/* SPDX-License-Identifier: MIT */
/* Resumes a run from a checkpoint bit for bit, or rejects the checkpoint if that is impossible. */
#include "engine/data/training.h"
#include "engine/measure/choices.h"
#include "engine/store/writing.h"
#include "engine/train/checkpoint.h"
#include "engine/train/overrides.h"
#include "engine/train/programs.h"
#include "engine/train/ranks.h"
#include "engine/train/run-private.h"
#include "engine/train/sample.h"
#include "kernels/threads.h"
#include <ligature/kernels.h>
#include <ligature/store.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>

static const char *
require (LigTensorFile *file, const char *key, GError **error)
{
  const char *value = lig_tensor_file_get_metadata (file, key);
  if (!value)
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                 _ ("it is not a checkpoint of a run: it has no %s"), key);
  return value;
}

static gboolean
number (LigTensorFile *file, const char *key, guint64 *value, GError **error)
{
  const char *text = require (file, key, error);
  if (!text)
    return FALSE;
  if (g_ascii_string_to_unsigned (text, 10, 0, G_MAXINT64, value, NULL))
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("%s is '%s', expected a number"), key, text);
  return FALSE;
}

/* The checkpoint contains the GPU's algorithms; another card or other library versions may lack
 * them. */
static gboolean
check_gpu (LigRun *self, LigTensorFile *file, GError **error)
{
  const char *before = require (file, "ligature.machine", error);
  g_autofree char *today = lig_run_describe_machine (self->device);
  if (!before)
    return FALSE;
  if (g_str_equal (before, today)) {
    lig_algorithms_preset (lig_tensor_file_get_metadata (file, "ligature.algorithms"));
    return TRUE;
  }
  g_set_error (
    error, LIG_ERROR, LIG_ERROR_DEVICE,
    _ ("it was made on %s, this is %s: the bits would differ; start a new run from its weights"),
    before, today);
  return FALSE;
}

/* Returns the number of ranks that wrote a checkpoint. */
static int
count_ranks (LigTensorFile *file)
{
  const char *text = lig_tensor_file_get_metadata (file, "ligature.ranks");
  guint64 ranks = 1;
  if (text)
    g_ascii_string_to_unsigned (text, 10, 1, LIG_MAX_PEERS, &ranks, NULL);
  return (int) MAX (ranks, 1);
}

/* Returns whether the plan of the ranks that wrote a checkpoint has the same ops as the plan of the
 * current ranks. Then its groups are chosen again. */
static gboolean
has_same_parts (LigRun *self, LigTensorFile *file)
{
  LigLayout layout;
  const char *text = lig_tensor_file_get_metadata (file, "ligature.parallel");
  if (!text || !lig_layout_parse (&layout, text, count_ranks (file), NULL))
    lig_layout_init (&layout, 1);
  LigDevice *device = self->device;
  return lig_layout_size (&layout, LIG_GROUP_TENSOR) ==
           lig_device_get_n_ranks (device, LIG_GROUP_TENSOR) &&
         lig_layout_size (&layout, LIG_GROUP_CONTEXT) ==
           lig_device_get_n_ranks (device, LIG_GROUP_CONTEXT) &&
         lig_layout_size (&layout, LIG_GROUP_EXPERT) ==
           lig_device_get_n_ranks (device, LIG_GROUP_EXPERT);
}

/* Another summation order would give other bits. */
static gboolean
check_machine (LigRun *self, LigTensorFile *file, GError **error)
{
  guint64 threads;
  const char *device = require (file, "ligature.device", error);
  if (!device)
    return FALSE;
  if (!lig_device_same_backend (self->device, device)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE,
                 _ ("it was made on %s and cannot be resumed bit for bit on %s; start a new run "
                    "from its weights"),
                 device, lig_device_get_name (self->device));
    return FALSE;
  }
  if (lig_device_has (self->device, LIG_DEVICE_CHOOSES))
    return check_gpu (self, file, error);
  const char *level = require (file, "ligature.instructions", error);
  if (!level || !number (file, "ligature.threads", &threads, error))
    return FALSE;
  if (!g_str_equal (level, lig_cpu_level ())) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE,
                 _ ("it was made with CPU instructions %s, this process uses %s; set "
                    "LIGATURE_CPU=%s, or start a new run from its weights"),
                 level, lig_cpu_level (), level);
    return FALSE;
  }
  if (threads > (guint64) omp_get_thread_limit ()) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE,
                 g_dngettext (GETTEXT_PACKAGE,
                              "it was made with %" PRIu64
                              " thread, this process may have %d (OMP_THREAD_LIMIT); with fewer "
                              "the bits would differ, start a new run from its weights",
                              "it was made with %" PRIu64
                              " threads, this process may have %d (OMP_THREAD_LIMIT); with fewer "
                              "the bits would differ, start a new run from its weights",
                              (gulong) (threads)),
                 threads, omp_get_thread_limit ());
    return FALSE;
  }
  /* Another number of ranks sums gradients in another order in any case. */
  if (count_ranks (file) == lig_device_get_n_ranks (self->device, LIG_GROUP_ALL))
    self->threads = (int) CLAMP (threads, 1, 4096);
  return TRUE;
}

/* A changed file would give other batches. If there is a hash, it decides, because descriptions are
 * translated and change between versions. */
static gboolean
check_data (LigRun *self, LigTensorFile *file, GError **error)
{
  const char *before = lig_tensor_file_get_metadata (file, "ligature.data");
  const char *today = lig_dataset_describe (self->data);
  g_autofree char *content =
    g_strdup_printf ("%016" G_GINT64_MODIFIER "x", lig_dataset_get_content (self->data));
  const char *read = lig_tensor_file_get_metadata (file, "ligature.content");
  if (read && g_str_equal (read, content) && lig_dataset_get_content (self->data) != 0)
    return TRUE;
  if (before && read && g_str_equal (before, today) && !g_str_equal (read, content)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                 _ ("the data has changed: it is still %s, but its content differs (hash %s, was "
                    "%s); start a new run from the weights"),
                 today, content, read);
    return FALSE;
  }
  if (!before || g_strcmp0 (before, today) == 0)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
               _ ("the data has changed: it is %s, was %s; start a new run from the weights"),
               today, before);
  return FALSE;
}

/* Reads everything that this rank needs from the file, without communication. */
static gboolean
restore (LigRun *self, LigTensorFile *file, const char *const *overrides, GError **error)
{
  guint64 step, micro_step, position;
  const char *sequence = require (file, "ligature.sequence", error);
  const char *settings = sequence ? require (file, "ligature.settings", error) : NULL;
  const char *choices = settings ? require (file, "ligature.choices", error) : NULL;
  if (!choices || !number (file, "ligature.step", &step, error) ||
      !number (file, "ligature.micro_step", &micro_step, error) ||
      !number (file, "ligature.position", &position, error) || !check_machine (self, file, error))
    return FALSE;
  self->sequence = lig_sequence_from_json (sequence, -1, NULL, error);
  if (!self->sequence || !lig_run_settings_read_record (&self->settings, settings, error) ||
      !lig_run_apply_overrides (self, overrides, (gint64) step, error) ||
      !lig_run_prepare (self, FALSE, error) ||
      (!self->changes_data && !check_data (self, file, error)))
    return FALSE;
  if (!lig_run_check_arrays (self, file, (gint64) step, error) ||
      !lig_state_load (self->state, file, error) ||
      !lig_state_load_moments (self->state, file, error))
    return FALSE;
  lig_state_set_steps (self->state, micro_step, step);
  lig_dataset_seek (self->data, self->changes_data ? 0 : position);
  if (has_same_parts (self, file) && !self->replans) {
    self->choices = g_strdup (choices);
    self->calibration_choices =
      g_strdup (lig_tensor_file_get_metadata (file, "ligature.calibration_choices"));
  }
  self->first_step = self->saved_step = (gint64) step;
  self->progress.step = self->progress.first_step = self->first_step;
  return TRUE;
}

/* Reads the file on each rank, and makes the programs together with the others. */
static LigTensorFile *
open_file (LigRun *self, const char *checkpoint, const char *const *overrides, GError **error)
{
  g_autoptr (LigTensorFile) file = lig_tensor_file_load (checkpoint, error);
  gboolean fine = file && restore (self, file, overrides, error);
  if (file && !fine)
    g_prefix_error (error, "%s: ", checkpoint);
  if (!lig_run_share_failure (self, fine, error))
    return NULL;
  if (lig_run_check_left (self, file, error) && lig_run_compare_ranks (self, error) &&
      lig_run_compile (self, error) &&
      lig_run_share_failure (self, lig_run_prepare_samples (self, error), error))
    return g_steal_pointer (&file);
  g_prefix_error (error, "%s: ", checkpoint);
  return NULL;
}

LigRun *
lig_run_resume (const char *checkpoint,
                LigDevice *device,
                const char *const *overrides,
                LigStore *store,
                GError **error)
{
  g_autoptr (LigRun) self = g_object_new (LIG_TYPE_RUN, NULL);
  self->device = g_object_ref (device);
  self->store = store ? g_object_ref (store) : NULL;
  self->checkpoint = g_canonicalize_filename (checkpoint, NULL);
  g_autoptr (LigTensorFile) file = open_file (self, checkpoint, overrides, error);
  if (!file)
    return NULL;
  gboolean fine = lig_run_check_checkpoint (self, error) && lig_run_take_up (self, file, error);
  if (!lig_run_share_failure (self, fine, error))
    return NULL;
  if (self->uuid)
    lig_store_add_artifact (self->store, self->uuid, "checkpoint", self->checkpoint);
  return g_steal_pointer (&self);
}

char *
lig_run_checkpoint_device (const char *checkpoint, GError **error)
{
  g_autoptr (LigTensorFile) file = lig_tensor_file_load (checkpoint, error);
  const char *device = file ? require (file, "ligature.device", error) : NULL;
  if (file && !device)
    g_prefix_error (error, "%s: ", checkpoint);
  return g_strdup (device);
}
