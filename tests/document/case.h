/* SPDX-License-Identifier: MIT */
/* Shared by the tests of documents, with and without a window: a document with its own session and
 * store, filling it, and waiting for its plan. */
#pragma once

#include "ui/document/document.h"
#include <ligature/plan.h>

#include <stdlib.h>
#include <string.h>

/* Creates a folder, a session with a store in it, and a document for @device. */
static inline void
make_document (char **folder, LigSession **session, LigDocument **doc, const char *device)
{
  g_autoptr (GError) error = NULL;
  *folder = g_dir_make_tmp ("ligature-XXXXXX", NULL);
  g_autofree char *store = g_build_filename (*folder, "store.db", NULL);
  *session = lig_session_new (store, &error);
  g_assert_no_error (error);
  *doc = lig_document_new (*session);
  lig_document_set_device (*doc, device);
}

/* Takes ownership of @folder. */
static inline void
remove_folder (char *folder)
{
  g_autofree char *command = g_strdup_printf ("rm -rf '%s'", folder);
  g_assert_cmpint (system (command), ==, 0);
  g_free (folder);
}

/* Returns whether a thread of that name is running. */
static inline gboolean
has_thread (const char *name)
{
  gboolean found = FALSE;
  const char *task;
  g_autoptr (GDir) tasks = g_dir_open ("/proc/self/task", 0, NULL);
  while (tasks && !found && (task = g_dir_read_name (tasks))) {
    g_autofree char *file = g_build_filename ("/proc/self/task", task, "comm", NULL);
    g_autofree char *comm = NULL;
    if (g_file_get_contents (file, &comm, NULL, NULL))
      found = g_str_equal (g_strchomp (comm), name);
  }
  return found;
}

/* Frees all three, of which it takes ownership, and waits until a planner thread releases the
 * document. */
static inline void
free_document (char *folder, LigSession *session, LigDocument *doc)
{
  gpointer watched = doc;
  gint64 until = g_get_monotonic_time () + 20 * G_USEC_PER_SEC;
  g_object_add_weak_pointer (G_OBJECT (doc), &watched);
  while (g_main_context_iteration (NULL, FALSE))
    continue;
  g_object_unref (doc);
  while (watched && g_get_monotonic_time () < until)
    if (!g_main_context_iteration (NULL, FALSE))
      g_usleep (1000);
  g_assert_null (watched);
  /* The compiling thread ends by itself, and must not outlive the process. */
  while (has_thread ("plan") && g_get_monotonic_time () < until)
    g_usleep (1000);
  g_object_unref (session);
  remove_folder (folder);
}

static inline gboolean
wake_up (gpointer data)
{
  return G_SOURCE_CONTINUE;
}

/* Iterates the main loop until @condition holds, for at most two minutes. */
#define WAIT_FOR(condition) \
  G_STMT_START \
  { \
    gint64 until_ = g_get_monotonic_time () + 120 * G_USEC_PER_SEC; \
    guint source_ = g_timeout_add (5, wake_up, NULL); \
    while (!(condition) && g_get_monotonic_time () < until_) \
      g_main_context_iteration (NULL, TRUE); \
    g_source_remove (source_); \
    g_assert_true (condition); \
  } \
  G_STMT_END

static inline void
wait_for_plan (LigDocument *doc)
{
  WAIT_FOR (!lig_document_is_stale (doc));
}

/* Replaces the document's sequence. @input, as in `8x6:fp32`, and the JSON in @train may be null.
 */
static inline void
fill_with (LigDocument *doc, const char *expression, const char *input, const char *train)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression (expression, &error);
  LigShape shape;
  LigDtype dtype = LIG_FP32;
  g_assert_no_error (error);
  if (input) {
    g_assert_true (lig_shape_parse (input, &shape, &dtype, &error));
    lig_sequence_set_input (sequence, &shape, dtype);
  }
  if (train)
    lig_sequence_set_train (sequence, train);
  lig_document_replace (doc, sequence, "Test");
}

static inline void
fill (LigDocument *doc, const char *expression)
{
  fill_with (doc, expression, NULL, NULL);
}

static inline void
assert_text (LigDocument *doc, const char *expected)
{
  g_autofree char *text = lig_sequence_to_expression (lig_document_get_sequence (doc));
  g_assert_cmpstr (text, ==, expected);
}

static inline LigOp *
op_at (LigDocument *doc, const char *path)
{
  const LigRow *row = lig_document_find_path (doc, path);
  g_assert_nonnull (row);
  return row->op;
}

typedef struct {
  char *folder;
  LigSession *session;
  LigDocument *doc;
} DocumentFixture;

static inline void
set_up_document (DocumentFixture *f, gconstpointer data)
{
  make_document (&f->folder, &f->session, &f->doc, "cpu");
}

static inline void
tear_down_document (DocumentFixture *f, gconstpointer data)
{
  free_document (f->folder, f->session, f->doc);
}

#define ADD_DOCUMENT_TEST(path, func) \
  g_test_add (path, DocumentFixture, NULL, set_up_document, func, tear_down_document)
