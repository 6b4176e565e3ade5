/* SPDX-License-Identifier: MIT */
/* Common parts of the tests of training: a folder for each test with a store and data, runs from an
 * expression and settings, and access to the resulting store and checkpoints. */
#pragma once

#include "tests/base/folder.h"
#include <ligature/dataset.h>
#include <ligature/device.h>
#include <ligature/plan.h>
#include <ligature/run.h>
#include <ligature/sequence.h>
#include <ligature/store-rows.h>
#include <ligature/store.h>
#include <ligature/tensor-file.h>

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* Sanitizers make everything about ten times slower, so long tests are shortened with them. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SLOWNESS 10
#else
#define SLOWNESS 1
#endif

/* Every test has its own folder with a store. */
typedef struct {
  char *folder;
  LigStore *store;
  LigDevice *device;
} Fixture;

static inline void
set_up (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  f->folder = g_dir_make_tmp ("lig-train-XXXXXX", &error);
  g_assert_no_error (error);
  g_autofree char *path = g_build_filename (f->folder, "runs.db", NULL);
  f->store = lig_store_open (path, &error);
  g_assert_no_error (error);
  f->device = lig_device_open ("cpu", &error);
  g_assert_no_error (error);
}

static inline void
tear_down (Fixture *f, gconstpointer data)
{
  g_clear_object (&f->store);
  g_clear_object (&f->device);
  remove_folder (f->folder);
  g_free (f->folder);
}

static inline char *
in_folder (Fixture *f, const char *name)
{
  return g_build_filename (f->folder, name, NULL);
}

/* Writes a file into the folder and returns `kind:PATH`. */
static inline char *
write_data (Fixture *f, const char *kind, const char *name, const char *bytes, gssize length)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = in_folder (f, name);
  g_file_set_contents (path, bytes, length, &error);
  g_assert_no_error (error);
  return g_strconcat (kind, ":", path, NULL);
}

/* Returns the next number from -1 to 1 of a sequence that is the same on every machine. */
static inline double
draw (guint32 *seed)
{
  *seed = *seed * 1664525 + 1013904223;
  return (double) (*seed >> 8) / (1 << 23) - 1;
}

static inline void
set (LigRunSettings *settings, const char *assignments)
{
  g_auto (GStrv) words = g_strsplit (assignments, " ", -1);
  for (char **word = words; *word; word++) {
    g_autoptr (GError) error = NULL;
    g_auto (GStrv) parts = g_strsplit (*word, "=", 2);
    if (!**word)
      continue;
    lig_run_settings_set (settings, parts[0], parts[1], &error);
    g_assert_no_error (error);
  }
}

/* Returns a prepared run or an error; `assignments` are settings, `lr=0.1 steps=20`. */
static inline LigRun *
try_run (Fixture *f,
         const char *expression,
         const char *input,
         const char *data,
         const char *assignments,
         const char *init,
         GError **error)
{
  g_auto (LigRunSettings) settings;
  lig_run_settings_init (&settings);
  set (&settings, assignments);
  g_free (settings.data);
  settings.data = g_strdup (data);
  g_autoptr (LigSequence) sequence = lig_sequence_open (expression, NULL, error);
  if (!sequence)
    return NULL;
  if (input) {
    LigShape shape;
    LigDtype dtype = LIG_FP32;
    g_assert_true (lig_shape_parse (input, &shape, &dtype, NULL));
    lig_sequence_set_input (sequence, &shape, dtype);
  }
  return lig_run_new (sequence, f->device, &settings, init, f->store, error);
}

static inline LigRun *
new_run (
  Fixture *f, const char *expression, const char *input, const char *data, const char *assignments)
{
  g_autoptr (GError) error = NULL;
  LigRun *run = try_run (f, expression, input, data, assignments, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (run);
  return run;
}

static inline LigRunProgress
finish (LigRun *run)
{
  g_autoptr (GError) error = NULL;
  LigRunProgress progress;
  lig_run_start (run);
  lig_run_wait (run, &error);
  g_assert_no_error (error);
  lig_run_get_progress (run, &progress);
  return progress;
}

/* Trains to the end. */
static inline LigRunProgress
train (
  Fixture *f, const char *expression, const char *input, const char *data, const char *assignments)
{
  g_autoptr (LigRun) run = new_run (f, expression, input, data, assignments);
  LigRunProgress progress = finish (run);
  g_assert_cmpint (progress.status, ==, LIG_RUN_DONE);
  g_assert_cmpint (progress.step, ==, progress.steps);
  return progress;
}

/* Reads a metric of a run; its steps have to be first, first + every, … */
static inline GArray *
read_metric (Fixture *f, const char *uuid, const char *name, gint64 first, gint64 every)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) steps = NULL;
  GArray *values = NULL;
  g_assert_true (lig_store_flush (f->store, &error));
  lig_store_get_metric (f->store, uuid, name, &steps, &values, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < steps->len; i++)
    g_assert_cmpint (g_array_index (steps, gint64, i), ==, first + (gint64) i * every);
  return values;
}

static inline double
value_at (GArray *values, guint i)
{
  g_assert_cmpuint (i, <, values->len);
  return g_array_index (values, double, i);
}

/* Compares to the last bit. */
static inline void
assert_same_values (GArray *a, GArray *b, guint count)
{
  g_assert_cmpuint (a->len, ==, count);
  g_assert_cmpuint (b->len, ==, count);
  for (guint i = 0; i < count; i++)
    if (value_at (a, i) != value_at (b, i))
      g_error ("step %u: %.17g and %.17g", i + 1, value_at (a, i), value_at (b, i));
}

static inline void
assert_same_metric (Fixture *f, const char *a, const char *b, const char *name, guint count)
{
  g_autoptr (GArray) left = read_metric (f, a, name, 1, 1);
  g_autoptr (GArray) right = read_metric (f, b, name, 1, 1);
  assert_same_values (left, right, count);
}

static inline LigTensorFile *
load_tensors (const char *path)
{
  g_autoptr (GError) error = NULL;
  LigTensorFile *file = lig_tensor_file_load (path, &error);
  g_assert_no_error (error);
  return file;
}

static inline LigTensor *
get_tensor (LigTensorFile *file, const char *name)
{
  g_autoptr (GError) error = NULL;
  LigTensor *tensor = lig_tensor_file_get (file, name, &error);
  g_assert_no_error (error);
  return tensor;
}

/* Checks that two checkpoints contain the same numbers, to the last bit. */
static inline void
assert_same_tensors (const char *a, const char *b)
{
  g_autoptr (LigTensorFile) left = load_tensors (a), right = load_tensors (b);
  const char *const *names = lig_tensor_file_get_names (left);
  g_assert_cmpuint (g_strv_length ((GStrv) names), ==,
                    g_strv_length ((GStrv) lig_tensor_file_get_names (right)));
  for (; *names; names++) {
    g_autoptr (LigTensor) x = get_tensor (left, *names), y = get_tensor (right, *names);
    g_assert_cmpmem (x->data, lig_tensor_bytes (x), y->data, lig_tensor_bytes (y));
  }
}

/* Adds an fp32 tensor to a file of weights. */
static inline void
add_tensor (LigTensorFile *file, const char *name, const char *shape, const float *values)
{
  LigShape parsed;
  LigDtype dtype = LIG_FP32;
  g_assert_true (lig_shape_parse (shape, &parsed, &dtype, NULL));
  g_autoptr (LigTensor) tensor = lig_tensor_new (LIG_FP32, &parsed, NULL);
  memcpy (tensor->data, values, lig_tensor_bytes (tensor));
  lig_tensor_file_add (file, name, tensor);
}

static inline void
assert_message (GError *error, const char *part)
{
  g_assert_nonnull (error);
  if (!strstr (error->message, part))
    g_error ("'%s' does not say '%s'", error->message, part);
}

static inline guint
count_runs (Fixture *f)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) runs = lig_store_list_runs (f->store, NULL, &error);
  g_assert_no_error (error);
  return runs->len;
}

static inline void
assert_status (Fixture *f, const char *uuid, const char *status)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigRunRow) row = lig_store_find_run (f->store, uuid, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (row->status, ==, status);
}

/* Checkpoints without a given name are written below the folder of this process's tests. */
static inline int
run_tests (void)
{
  g_autofree char *folder = g_dir_make_tmp ("lig-data-XXXXXX", NULL);
  g_setenv ("XDG_DATA_HOME", folder, TRUE);
  g_unsetenv ("LIGATURE_STORE");
  int status = g_test_run ();
  remove_folder (folder);
  return status;
}
