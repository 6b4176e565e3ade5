/* SPDX-License-Identifier: MIT */
/* The common parts of the tests of datasets: files in a temporary folder, datasets opened from
 * them, batches, and checks of rejections. */
#pragma once

#include "tests/base/folder.h"
#include <ligature/dataset.h>

#include <glib/gstdio.h>
#include <string.h>

/* The temporary folder, created by start_tests(). */
static char *folder;

static inline char *
in_folder (const char *name)
{
  return g_build_filename (folder, name, NULL);
}

static inline void
write_file (const char *name, gconstpointer content, gsize length)
{
  g_autofree char *path = in_folder (name);
  g_autoptr (GError) error = NULL;
  g_file_set_contents (path, content, (gssize) length, &error);
  g_assert_no_error (error);
}

static inline void
write_text (const char *name, const char *text)
{
  write_file (name, text, strlen (text));
}

/* Opens KIND:FOLDER/REST for the shape `batch` or `batch x length`. */
static inline LigDataset *
try_open (const char *kind, const char *rest, gint64 batch, gint64 length, GError **error)
{
  g_autofree char *spec = g_strdup_printf ("%s:%s/%s", kind, folder, rest);
  LigShape shape;
  lig_shape_init (&shape, length > 0 ? 2 : 1, batch, length);
  return lig_dataset_open (spec, &shape, LIG_FP32, 0, 7, error);
}

static inline LigDataset *
open_data (const char *kind, const char *rest, gint64 batch, gint64 length)
{
  g_autoptr (GError) error = NULL;
  LigDataset *data = try_open (kind, rest, batch, length, &error);
  g_assert_no_error (error);
  return data;
}

static inline void
assert_error_has (GError *error, int code, const char *words)
{
  g_assert_error (error, LIG_ERROR, code);
  if (!strstr (error->message, words))
    g_test_fail_printf ("'%s' lacks '%s'", error->message, words);
  g_assert_cmpint (error->message[strlen (error->message) - 1], !=, '.');
}

static inline void
assert_rejected (const char *kind, const char *rest, gint64 length, int code, const char *words)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDataset) data = try_open (kind, rest, 2, length, &error);
  g_assert_null (data);
  assert_error_has (error, code, words);
}

static inline LigTarget
make_target (LigDtype dtype, gint64 rows, gint64 columns, gint64 classes)
{
  LigTarget target = {.dtype = dtype, .classes = classes};
  lig_shape_init (&target.shape, columns > 0 ? 2 : 1, rows, columns);
  return target;
}

static inline void
assert_bind_rejected (LigDataset *data, LigTarget target, int code, const char *words)
{
  g_autoptr (GError) error = NULL;
  g_assert_false (lig_dataset_bind (data, &target, &error));
  assert_error_has (error, code, words);
}

static inline void
bind (LigDataset *data, LigTarget target)
{
  g_autoptr (GError) error = NULL;
  lig_dataset_bind (data, &target, &error);
  g_assert_no_error (error);
}

static inline LigTensor *
make_input (LigDataset *data)
{
  LigShape shape;
  LigDtype dtype;
  lig_dataset_get_input (data, &shape, &dtype);
  return lig_tensor_new (dtype, &shape, NULL);
}

static inline LigTensor *
make_targets (LigTarget target)
{
  return lig_tensor_new (target.dtype, &target.shape, NULL);
}

static inline void
next (LigDataset *data, LigTensor *input, LigTensor *targets)
{
  g_autoptr (GError) error = NULL;
  lig_dataset_next (data, input, targets, &error);
  g_assert_no_error (error);
}

static inline gint64
validation (LigDataset *data, gint64 batch, LigTensor *input, LigTensor *targets)
{
  g_autoptr (GError) error = NULL;
  gint64 valid = -1;
  lig_dataset_validation (data, batch, input, targets, &valid, &error);
  g_assert_no_error (error);
  return valid;
}

static inline gint32
integer (LigTensor *tensor, gint64 i)
{
  g_assert_cmpint (tensor->dtype, ==, LIG_INT32);
  return ((gint32 *) tensor->data)[i];
}

static inline void
start_tests (int *argc, char ***argv)
{
  g_test_init (argc, argv, NULL);
  folder = g_dir_make_tmp ("ligature-XXXXXX", NULL);
}

static inline int
finish_tests (void)
{
  int status = g_test_run ();
  remove_folder (folder);
  g_free (folder);
  return status;
}
